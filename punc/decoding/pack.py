"""Packs and unpacks trained models. A packed model's network is an ONNX file, which needs neither Python nor PyTorch.

If the model reads whole texts, the inputs are `tokens`, int64 (B, T), and `pauses`, float32 (B, T), in seconds (NaN:
unknown). A model that does not use pauses takes only `tokens`. Texts shorter than T are padded with `</s>`. The outputs
are `labels`, int64 (B, T), and `log_probs`, float32 (B, T, L). A model that scores label sequences gives only `labels`.

If the model reads left to right, the ONNX graph computes one step. For each of B streams, the step reads a token and
labels the slot `lookahead` tokens back. The inputs are `tokens` (B,), the `pauses` (B,) in the labelled slots, and the
states `state_0`, `state_1`, …, which are zeros at the start of a stream. The outputs are the `labels` (B,) and
`log_probs` (B, L) of these slots, and the states `next_0`, `next_1`, … for the next step.

The ONNX file's metadata has the keys punc (the version), model, token_type, lookahead (empty for whole texts), words
(how many tokens the model knows), and labels (names separated by spaces). Weights have their PyTorch names with the
prefix `model.`. Large matrices are stored in eight bits (see the module `int8`).

Packing uses the older of PyTorch's two exporters. It takes a second; the newer one takes half a minute.
"""

import json
import logging
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import punc
from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_dir, is_unfinished, read_blocks
from punc.data.transitions import TRANSITIONS, read_transitions
from punc.decoding.int8 import dequantized, to_int8
from punc.decoding.packed import FORMAT, WEIGHTS, checksum, load_packed, new_session
from punc.decoding.shipped import CASING, SPEC, is_packed
from punc.models.base import Model, NeuralModel, load, rebuild
from punc.text.casing import read_casing
from punc.tokens.tokenizer import TOKENIZER_FILES
from punc.tokens.vocabulary import END

logger = logging.getLogger(__name__)

OPSET = 17  # the ONNX operator set, which ONNX Runtime supports from version 1.13 (2022) on
ROWS, STEPS = 5, 40  # rows and steps of the random inputs on which PyTorch and ONNX Runtime are compared
TIE = 1e-4  # nats; if the two best log-posteriors differ by less, rounding decides between their labels
PREFIX = "model."  # a weight's name in the graph is this prefix followed by its PyTorch name


def pack(directory: Path, out: Path, *, factors: np.ndarray | None = None, casing: str = "", card: str = "",
         int8: bool = False) -> None:
    """Pack the model in a directory. The model may already be packed. After an error, `out` is unchanged.

    factors  (L,) factors that multiply the packed model's posteriors; None: all 1
    casing   a file of words with capitals after the first letter (NATO); the output spells these words as in the file
    card     the model card, a Markdown file about the training data, the licence and the accuracy
    int8     multiply in 8 bits in LSTM layers and most of an encoder, which is faster but changes some labels

    Raises InputError if there is no model or it cannot be packed, and ModuleNotFoundError if onnx is not installed.
    """
    import onnx
    model = unpack(directory) if is_packed(directory) else load(directory)
    if not isinstance(model, NeuralModel):
        raise InputError(f"a {model.spec['model']} cannot be packed", "pack a neural model", directory)
    if model.reads_turns:
        raise InputError("a model with --speaker-changes true cannot be packed", "train it without", directory)
    if factors is not None:
        _multiply(model, factors, directory)
    if (out / "final.pt").is_file():
        raise InputError("OUT-DIR has a trained model", "give another OUT-DIR, because that model would be lost", out)
    if not (is_packed(out) or is_unfinished(out)):
        raise InputError("OUT-DIR exists and has no packed model", "give another OUT-DIR", out)
    with atomic_dir(out, SPEC, [CASING, TRANSITIONS, "conf", "README.md", *TOKENIZER_FILES[1:]]) as tmp:
        graph = Graph(model).eval()
        _export(graph, tmp / WEIGHTS)
        _check(graph, tmp / WEIGHTS)
        file = onnx.load(str(tmp / WEIGHTS))
        to_int8(file, multiply=int8)
        onnx.helper.set_model_props(file, {
            "punc": punc.__version__, "model": model.spec["model"], "token_type": model.token_type,
            "lookahead": "" if model.lookahead is None else str(model.lookahead),
            "words": str(len(model.vocabulary)), "labels": " ".join(model.labels.names)})
        onnx.save(file, str(tmp / WEIGHTS))
        copied: dict[str, StrPath] = {name: directory / name for name in (CASING, "conf", TRANSITIONS)
                                      if (directory / name).is_file()}
        copied |= {name: path for name, path in ((CASING, casing), ("README.md", card)) if path}
        _write_around(tmp, model, copied)
        size = sum(path.stat().st_size for path in tmp.iterdir())
    logger.info("%s: %s, %d weights, %d words, %.2f MB; ONNX Runtime gives the same labels%s", out, model.spec["model"],
                sum(weight.numel() for weight in model.parameters()), len(model.vocabulary), size / 1e6,
                " before products are computed in int8" if int8 else "")


def _write_around(tmp: Path, model: NeuralModel, copied: dict[str, StrPath]) -> None:
    model.tokenizer.write(tmp)
    model.labels.write(tmp / "labels.txt")
    if CASING in copied:
        read_casing(copied[CASING])  # raises InputError for an invalid file
    if TRANSITIONS in copied:
        read_transitions(copied[TRANSITIONS], model.labels)
    for name, source in copied.items():
        (tmp / name).write_bytes(b"".join(read_blocks(source)))
    sums = {path.name: checksum(path) for path in sorted(tmp.iterdir()) if path.name != "README.md"}
    spec = {"format": FORMAT, "punc": punc.__version__, "model": model.spec["model"], "lookahead": model.lookahead,
            "longest": model.longest, "options": model.spec["options"], "sha256": sums}
    (tmp / SPEC).write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


def unpack(directory: Path) -> Model:
    """Return a packed model as a PyTorch model with float weights, for further training.

    A packed model lacks weights that decoding does not need, such as the output layer of the T-LSTM in a TA-LSTM.
    Raises InputError as `load_packed` does, and if the PyTorch model needs a weight that the packed model lacks.
    """
    import onnx
    packed = load_packed(directory)
    tokenizer, words = packed.tokenizer, len(packed.tokenizer.vocabulary)
    spec = {"model": packed.spec["model"], "options": packed.spec.get("options"), "vocabulary": words,
            "labels": len(packed.labels), "token_type": tokenizer.token_type}
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor)
              for tensor in onnx.load(str(directory / WEIGHTS)).graph.initializer}
    weights = {name.removeprefix(PREFIX): torch.tensor(array) for name, array in dequantized(arrays)
               if name.startswith(PREFIX)}
    model = rebuild({"spec": spec, "weights": weights}, words, directory / SPEC,
                    "use the model from before it was packed")
    model.vocabulary, model.tokenizer, model.labels = tokenizer.vocabulary, tokenizer, packed.labels
    return model.eval()


def _multiply(model: NeuralModel, factors: np.ndarray, directory: Path) -> None:
    bias = getattr(getattr(model, "output", None), "bias", None)
    if bias is None or model.sequential:
        raise InputError(f"--scale does not apply to a {model.spec['model']}",
                         "give --scale to punc punctuate", directory)
    with torch.no_grad():
        bias += torch.from_numpy(np.log(factors))


class Graph(nn.Module):
    """The part of a model that is exported, with the inputs and outputs that the module docstring describes."""

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
        """Return random inputs: `rows` texts of up to `steps` tokens, or one step if the model reads left to right."""
        count = len(self.model.vocabulary)
        tokens = torch.randint(min(END + 1, count - 1), count, (rows, steps))
        pauses = torch.rand(rows, steps).masked_fill(torch.rand(rows, steps) < 0.3, torch.nan)
        if not self.whole:
            return tokens[:, 0], pauses[:, 0], *self.model.traceable_state(rows)
        for row in range(1, rows):
            tokens[row, max(1, steps - row):] = END
        return tokens, pauses

    def names(self, inputs: int) -> tuple[list[str], list[str]]:
        states = range(inputs - 2)
        outputs = ["labels", "log_probs"][:1 if self.model.sequential else 2]
        return (["tokens", "pauses", *(f"state_{i}" for i in states)], [*outputs, *(f"next_{i}" for i in states)])

    def axes(self, inputs: tuple[Tensor, ...], *names: list[str]) -> dict[str, dict[int, str]]:
        """Return, for each input and output, the names of its dimensions that have no fixed size."""
        sizes = {0: "batch", 1: "steps"} if self.whole else {0: "batch"}
        found = {name: sizes for group in names for name in group}
        # The batch is the last dimension but one: a state is (B, tokens), (B, H), or (layers, B, H) in an nn.LSTM.
        for number, state in enumerate(inputs[2:]):
            batch = {state.dim() - 2: "batch"}
            found |= {f"state_{number}": batch, f"next_{number}": batch}
        return found


def _export(graph: Graph, path: Path) -> None:
    """Write a graph to a file. Constant folding, which would rename weights, is left to ONNX Runtime."""
    inputs = graph.example(2, 3)
    graph(*inputs)  # fills the model's caches, which are exported as constants
    names = graph.names(len(inputs))
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # PyTorch warns about the older exporter and about constant shapes
        torch.onnx.export(graph, inputs, str(path), dynamo=False, opset_version=OPSET, input_names=names[0],
                          output_names=names[1], dynamic_axes=graph.axes(inputs, *names), do_constant_folding=False)


def _check(graph: Graph, path: Path) -> None:
    session = new_session(path)
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
