"""Layers of LSTM by ONNX Runtime: many texts side by side, in two thirds of the time that NumPy takes.

The graph is made in memory from a packed model's arrays, so a packed model is the same with and without these
libraries, the extra `onnx`.
"""

from collections.abc import Sequence

import numpy as np

Layer = Sequence[Sequence[np.ndarray]]  # for each direction weight_ih, weight_hh, bias_ih, bias_hh, gates i, f, g, o
OPSET, IR_VERSION = 17, 8  # of 2022; every ONNX Runtime of these years reads them


class OnnxLayers:
    """Layers of LSTM, one on top of the other, in one direction or in both.

    layers   the arrays of each layer, as torch names and orders them

    Raises ImportError without ONNX Runtime.
    """

    def __init__(self, layers: Sequence[Layer]):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # processes share the cores
        self._session = onnxruntime.InferenceSession(_graph(layers), options, providers=["CPUExecutionProvider"])

    def run(self, inputs: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """inputs (T, B, D) and how many steps each text has, (B,) → states (T, B, H or 2H); 0 after a text."""
        return self._session.run(None, {"inputs": inputs, "lengths": lengths.astype(np.int32)})[0]


def _graph(layers: Sequence[Layer]) -> bytes:
    """The layers as an ONNX model."""
    from onnx import TensorProto, helper, numpy_helper
    nodes, constants, name = [], [], "inputs"
    for number, layer in enumerate(layers):
        size = layer[0][1].shape[1]
        arrays = {
            "weight": [_reordered(inputs) for inputs, _, _, _ in layer],
            "hidden": [_reordered(hidden) for _, hidden, _, _ in layer],
            "bias": [np.append(_reordered(first), _reordered(second)) for _, _, first, second in layer],
            "shape": [0, 0, len(layer) * size]}
        kinds = dict.fromkeys(arrays, np.float32) | {"shape": np.int64}
        constants += [numpy_helper.from_array(np.array(array, kinds[kind]), f"{kind}{number}")
                      for kind, array in arrays.items()]
        direction = "bidirectional" if len(layer) == 2 else "forward"
        nodes += [helper.make_node("LSTM", [name, *(f"{kind}{number}" for kind in ("weight", "hidden", "bias")),
                                            "lengths"], [f"states{number}"], hidden_size=size, direction=direction),
                  helper.make_node("Transpose", [f"states{number}"], [f"turned{number}"], perm=[0, 2, 1, 3]),
                  helper.make_node("Reshape", [f"turned{number}", f"shape{number}"], [f"outputs{number}"])]
        name = f"outputs{number}"
    depths = layers[0][0][0].shape[1], len(layers[-1]) * layers[-1][0][1].shape[1]
    values = [helper.make_tensor_value_info(*value) for value in (
        ("inputs", TensorProto.FLOAT, ["steps", "texts", depths[0]]), ("lengths", TensorProto.INT32, ["texts"]),
        (name, TensorProto.FLOAT, ["steps", "texts", depths[1]]))]
    graph = helper.make_graph(nodes, "layers", values[:2], values[2:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                             ir_version=IR_VERSION).SerializeToString()


def _reordered(array: np.ndarray) -> np.ndarray:
    """Gates i, f, g, o → i, o, f, g, as ONNX orders them."""
    i, f, g, o = np.split(array, 4)
    return np.concatenate([i, o, f, g])
