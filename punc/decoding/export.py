"""A neural model as an ONNX file, for programs without Python or PyTorch.

    model.onnx                        the model; ONNX Runtime computes the labels that punc computes
    labels.txt, vocab, casing.txt …   as in the model's own directory

A model that reads whole texts has the inputs `tokens`, int64 (B, T), and `pauses`, float32 (B, T) seconds, NaN unknown,
if it reads any. A text that is shorter than its row is filled up with `</s>`. The outputs are `labels`, int64 (B, T),
and `log_probs`, float32 (B, T, L); the latter is missing if the model scores sequences of labels.

A model that reads left to right is exported as one step. Its inputs are a token (B,), the pause (B,) of the slot that
the step decides, and `state_0`, `state_1`, …, which are zeros at the start of a stream. The outputs are the label (B,)
and `log_probs` (B, L) of the slot `lookahead` tokens back, and `next_0`, `next_1`, …, the states of the next step.

The file's metadata has punc (its version), model, token_type, lookahead (empty for whole texts), and labels, their
names with blanks between.

PyTorch has two exporters. This is the older one, which makes one operator of a layer of LSTM. With the newer one, a
`bi_lstm` gives the same labels, but its export takes half a minute of processor time, not one second.
"""

import logging
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.decoding.archive import read_arrays
from punc.decoding.packed_model import WEIGHTS, load_packed
from punc.decoding.shipped import CASING, SPEC, is_packed
from punc.models.base import Model, NeuralModel, build, load
from punc.tokens.tokenizer import TOKENIZER_FILES
from punc.tokens.vocabulary import END

logger = logging.getLogger(__name__)

FILE = "model.onnx"
OPSET = 17  # version of ONNX's operators: ONNX Runtime 1.13 of 2022 and later
ROWS, STEPS = 5, 40  # what is computed by both after the export
TIE = 1e-4  # nats; rounding may decide between labels that are closer


def export(directory: Path, out: Path, int8: bool = False) -> None:
    """Export the model of a directory, trained or packed. `out` is replaced as a whole, or left as it was.

    int8   matrix products with weights are in 8 bits; that is checked before, in 32

    Raises InputError if there is no model, if it is not a neural one, or if onnx or onnxruntime is not installed.
    """
    onnx, _ = _packages()
    model = neural_model(directory)
    if any((out / name).is_file() for name in ("final.pt", SPEC)):
        raise InputError("OUT-DIR has a model of punc", "name another OUT-DIR; that model would be lost", out)
    with atomic_dir(out, FILE, [CASING, "labels.txt", *TOKENIZER_FILES]) as tmp:
        graph = Graph(model).eval()  # the exporter restores this mode
        inputs = graph.example(2, 3)
        graph(*inputs)  # what is computed once becomes a constant
        names = graph.names(len(inputs))
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # about the older exporter, and about shapes that are constant
            torch.onnx.export(graph, inputs, str(tmp / FILE), dynamo=False, opset_version=OPSET, input_names=names[0],
                              output_names=names[1], dynamic_axes=graph.axes(inputs, *names))
        file = onnx.load(str(tmp / FILE))
        onnx.helper.set_model_props(file, facts(model))
        onnx.save(file, str(tmp / FILE))
        _check(graph, tmp / FILE)
        if int8:
            quantize(tmp / FILE)
        model.tokenizer.write(tmp)
        model.labels.write(tmp / "labels.txt")
        if (directory / CASING).is_file():
            shutil.copyfile(directory / CASING, tmp / CASING)
        size = (tmp / FILE).stat().st_size
    logger.info("%s: %s, %.1f MB; ONNX Runtime gives the same labels%s", out / FILE, model.spec["model"], size / 1e6,
                " before its weights are int8" * int8)


def _packages() -> tuple[Any, Any]:
    """The modules onnx and onnxruntime. Raises InputError if one is not installed."""
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise InputError(f"{error.name} is not installed", "pip install 'punc-toolkit[onnx]'") from None
    return onnx, onnxruntime


def quantize(file: Path) -> None:
    """Make the weights of matrix products 8-bit integers; inputs of the products are rounded as they come.

    Weights have 7 bits of range: processors without VNNI add two products in 16 bits.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic
    logging.disable(logging.WARNING)  # advice on models of pictures
    try:
        quantize_dynamic(str(file), str(file), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True,
                         op_types_to_quantize=["MatMul"])
    finally:
        logging.disable(logging.NOTSET)


def neural_model(directory: Path) -> NeuralModel:
    """The neural model of a directory in PyTorch, also if it is packed. Raises InputError if there is none."""
    if not is_packed(directory):
        model: Model = load(directory)
        if not isinstance(model, NeuralModel):
            raise InputError(f"a {model.spec['model']} cannot be exported", "export a neural model", directory)
        if model.reads_turns:
            raise InputError("a model with --speaker-changes true cannot be exported", "train it without", directory)
        return model
    packed = load_packed(directory)
    model = build({"model": packed.spec["model"], "options": packed.spec["options"], "labels": len(packed.labels),
                   "vocabulary": len(packed.tokenizer.vocabulary), "token_type": packed.tokenizer.token_type})
    arrays = {name: torch.from_numpy(array) for name, array in read_arrays(directory / WEIGHTS).items()}
    arrays.pop("pause_bounds", None)  # part of the code of the layer
    model.load_state_dict(arrays)
    model.vocabulary, model.tokenizer, model.labels = packed.tokenizer.vocabulary, packed.tokenizer, packed.labels
    assert isinstance(model, NeuralModel)
    return model.eval()


def facts(model: Model) -> dict[str, str]:
    """The metadata of the file."""
    ahead = "" if model.lookahead is None else str(model.lookahead)
    return {"punc": punc.__version__, "model": model.spec["model"], "token_type": model.token_type, "lookahead": ahead,
            "labels": " ".join(model.labels.names)}


class Graph(nn.Module):
    """What is exported of a model, with the inputs and outputs that this module's docstring describes."""

    def __init__(self, model: NeuralModel):
        super().__init__()
        self.model, self.whole = model, model.lookahead is None

    def forward(self, tokens: Tensor, pauses: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        model = self.model
        if not self.whole:
            logits, state = model.traceable(tokens.unsqueeze(1), pauses.unsqueeze(1), state)
            return logits[:, 0].argmax(1), logits[:, 0].log_softmax(1), *state
        logits, _ = model.traceable(tokens, pauses, ())
        if model.sequential:
            return (model.traceable_best(logits, tokens),)
        return logits.argmax(2), logits.log_softmax(2)

    def example(self, rows: int, steps: int) -> tuple[Tensor, ...]:
        """Random inputs: texts of up to `steps` tokens, or one step of a stream."""
        count = len(self.model.vocabulary)
        tokens = torch.randint(min(END + 1, count - 1), count, (rows, steps))
        pauses = torch.rand(rows, steps).masked_fill(torch.rand(rows, steps) < 0.3, torch.nan)
        if not self.whole:
            return tokens[:, 0], pauses[:, 0], *self.model.traceable_state(rows)
        for row in range(1, rows):
            tokens[row, max(1, steps - row):] = END
        return tokens, pauses

    def names(self, inputs: int) -> tuple[list[str], list[str]]:
        """The names of so many inputs, and of the outputs."""
        states = range(inputs - 2)
        outputs = ["labels", "log_probs"][:1 if self.model.sequential else 2]
        return (["tokens", "pauses", *(f"state_{i}" for i in states)], [*outputs, *(f"next_{i}" for i in states)])

    def axes(self, inputs: tuple[Tensor, ...], *names: list[str]) -> dict[str, dict[int, str]]:
        """The dimensions of inputs and outputs that have no fixed size."""
        sizes = {0: "batch", 1: "steps"} if self.whole else {0: "batch"}
        found = {name: sizes for group in names for name in group}
        for number, state in enumerate(inputs[2:]):  # tokens (B, …), LSTMs of the papers (B, H), others (layers, B, H)
            batch = {state.dim() - 2: "batch"}
            found |= {f"state_{number}": batch, f"next_{number}": batch}
        return found


def _check(graph: Graph, file: Path) -> None:
    """Raise InputError if ONNX Runtime gives other labels than PyTorch, for random tokens and pauses."""
    session = _packages()[1].InferenceSession(str(file), providers=["CPUExecutionProvider"])
    known = [value.name for value in session.get_inputs()]
    inputs = graph.example(ROWS, STEPS)
    names = graph.names(len(inputs))[0]
    for _ in range(1 if graph.whole else STEPS):
        with torch.no_grad():
            expected = graph(*inputs)
        feed = {name: value.numpy() for name, value in zip(names, inputs) if name in known}
        found = session.run(None, feed)[0]
        counts = inputs[0].numpy() != END
        if not graph.model.sequential:
            best = expected[1].topk(2).values.numpy()
            counts &= best[..., 0] - best[..., 1] > TIE
        if not np.array_equal(found[counts], expected[0].numpy()[counts]):
            raise InputError("ONNX Runtime gives other labels than PyTorch", "install another version of onnxruntime")
        if not graph.whole:
            inputs = (*graph.example(ROWS, STEPS)[:2], *expected[2:])
