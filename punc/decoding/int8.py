"""Converts the weights of an ONNX graph to int8: matrices are stored and, optionally, multiplied in eight bits.

A large matrix w is stored as int8 numbers q with one scale s per row: w ≈ q s, with errors up to s / 2. The scale of a
row is its largest |w| divided by 127 or, if the model multiplies by w in int8, by 63.
"""

from collections.abc import Iterator, Set
from typing import Any

import numpy as np

SMALL = 4096  # matrices with fewer numbers stay float
DOMAIN = "com.microsoft"  # the domain of ONNX Runtime's own operators
INT8, SCALE, FLOAT = ".int8", ".scale", ".float"  # suffixes: int8 weights, their scales, and the weights cast to float


def dequantized(arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the float array of each weight of a graph. `arrays`: the graph's initializers by name."""
    for name, array in arrays.items():
        if name.endswith(INT8):
            name = name.removesuffix(INT8)
            yield name, array * arrays[name + SCALE]
        elif not name.endswith(SCALE):
            yield name, array


def to_int8(model: Any, multiply: bool = False) -> None:
    """Convert the large weights of an ONNX model to int8. If `multiply` is true, the model also multiplies in int8."""
    from onnx import helper
    _store(model.graph, _multiply(model.graph) if multiply else set())
    if any(node.domain == DOMAIN for node in model.graph.node):
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))


def _multiply(graph: Any) -> set[str]:
    """Make an ONNX graph multiply by its large weights in int8. Return the names of these weights. The activations are
    quantized at run time, with one scale for the whole batch. Linear layers with more inputs than outputs stay
    float. The second layer of a feed-forward block is such a layer: its inputs, the outputs of a GELU, vary too much in
    magnitude. If these layers were quantized, too, 1.5 times as many of an encoder's labels would change."""
    sizes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    made_by = {output: node for node in graph.node for output in node.output}
    nodes, found = [], set[str]()
    for node in graph.node:
        if node.op_type == "LSTM":
            weights = [_origin(name, made_by) for name in node.input[1:3]]
            replaced = all(np.prod(sizes[weight]) >= SMALL for weight in weights)
            nodes += _int8_lstm(node, weights, sizes[weights[1]][1], graph) if replaced else [node]
        else:
            transpose = made_by.get(node.input[1]) if node.op_type == "MatMul" else None
            weights = list(transpose.input) if transpose is not None and transpose.op_type == "Transpose" else []
            outputs, inputs = sizes.get(weights[0], (0, 0)) if weights else (0, 0)
            replaced = outputs * inputs >= SMALL and inputs <= outputs
            nodes += _int8_product(node, weights[0]) if replaced else [node]
        if replaced:
            found.update(weights)
    kept, used = [], {output.name for output in graph.output}
    for node in reversed(nodes):
        if used.intersection(node.output):
            kept.append(node)
            used.update(node.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    return found


def _origin(name: str, made_by: dict[str, Any]) -> str:
    """Return the name of the weight from which the exported graph computes the LSTM matrix `name`."""
    while name in made_by:
        name = made_by[name].input[0]
    return name


def _int8_product(node: Any, weight: str) -> list[Any]:
    from onnx import TensorProto, helper
    (x, _), (y,) = node.input, node.output
    return [helper.make_node("DynamicQuantizeLinear", [x], [f"{y}.x", f"{y}.x_scale", f"{y}.x_zero"]),
            helper.make_node("Transpose", [weight + INT8], [f"{y}.w"], perm=(1, 0)),
            helper.make_node("MatMulInteger", [f"{y}.x", f"{y}.w", f"{y}.x_zero"], [f"{y}.sum"]),
            helper.make_node("Cast", [f"{y}.sum"], [f"{y}.float"], to=TensorProto.FLOAT),
            helper.make_node("Transpose", [weight + SCALE], [f"{y}.w_scale"], perm=(1, 0)),
            helper.make_node("Mul", [f"{y}.x_scale", f"{y}.w_scale"], [f"{y}.scale"]),
            helper.make_node("Mul", [f"{y}.float", f"{y}.scale"], [y])]


def _int8_lstm(node: Any, weights: list[str], hidden: int, graph: Any) -> list[Any]:
    """Return the nodes that replace an LSTM with `hidden` units. `weights` names its input matrix and its recurrent
    matrix. Add the constants that the nodes need to the graph. The order of the gates is i, f, g, o in PyTorch, but
    i, o, f, g in ONNX."""
    from onnx import helper, numpy_helper
    y = node.output[0]
    gates = np.arange(4 * hidden).reshape(4, hidden)[[0, 3, 1, 2]].ravel()
    graph.initializer.extend([numpy_helper.from_array(gates, f"{y}.gates"), numpy_helper.from_array(
        np.zeros((1, 4 * hidden), np.int8), f"{y}.zeros"), numpy_helper.from_array(np.zeros(1, np.int64), f"{y}.axis")])
    nodes, inputs = [], list(node.input) + [""] * (8 - len(node.input))
    for place, weight in enumerate(weights, 1):
        for kind in (INT8, SCALE):
            nodes += [helper.make_node("Gather", [weight + kind, f"{y}.gates"], [f"{y}.{place}{kind}.sorted"], axis=0),
                      helper.make_node("Transpose", [f"{y}.{place}{kind}.sorted"], [f"{y}.{place}{kind}"], perm=(1, 0))]
        nodes.append(helper.make_node("Unsqueeze", [f"{y}.{place}{INT8}", f"{y}.axis"], [f"{y}.{place}"]))
        inputs[place] = f"{y}.{place}"
        inputs += [f"{y}.{place}{SCALE}", f"{y}.zeros"]
    nodes.append(helper.make_node("DynamicQuantizeLSTM", inputs, list(node.output), domain=DOMAIN,
                                  hidden_size=hidden, direction="forward"))
    return nodes


def _store(graph: Any, multiplied: Set[str]) -> None:
    """Store the large float matrices of an ONNX graph as int8 with scales, and add nodes that restore float matrices.
    The matrices in `multiplied` are not restored, because the model multiplies by them in int8. They get only 7 bits:
    processors without VNNI add two products in 16 bits, which could overflow with 8-bit factors."""
    from onnx import TensorProto, helper, numpy_helper
    stored, nodes = [], []
    for tensor in graph.initializer:
        matrix = numpy_helper.to_array(tensor)
        if matrix.dtype != np.float32 or matrix.ndim != 2 or matrix.size < SMALL:
            stored.append(tensor)
            continue
        name = tensor.name
        scale = np.abs(matrix).max(axis=1, keepdims=True) / np.float32(63 if name in multiplied else 127)
        rounded = np.rint(matrix / np.where(scale > 0, scale, 1)).astype(np.int8)
        stored += [numpy_helper.from_array(rounded, name + INT8), numpy_helper.from_array(scale, name + SCALE)]
        if name not in multiplied:
            nodes += [helper.make_node("Cast", [name + INT8], [name + FLOAT], to=TensorProto.FLOAT),
                      helper.make_node("Mul", [name + FLOAT, name + SCALE], [name])]
    nodes += list(graph.node)
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(stored)
    graph.node.extend(nodes)
