"""Runs packed models with ONNX Runtime. This module does not import torch.

A packed model is a directory with

    model.onnx    the model (`pack` describes its inputs and outputs); large matrices are int8 with a scale for each row
    model.json    the format's version, a description of the model, and the checksums of all files but the model card
    labels.txt, the tokenizer's files, and optionally conf, transitions.txt, casing.txt and README.md (the model card)

A packed model that does not multiply in int8 chooses the same labels as a PyTorch model with the same weights. The
posteriors of the two models differ only by rounding.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input, read_blocks
from punc.data.labels import LabelSet
from punc.data.transitions import TRANSITIONS, Transitions, read_transitions
from punc.decoding.shipped import SPEC
from punc.tokens.tokenizer import Tokenizer, read_tokenizer

FORMAT = "punc packed model 2"
WEIGHTS = "model.onnx"
AGAIN = "pack the model again: punc pack"
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
MOST_AHEAD = 1 << 16


class PackedModel:
    """A packed model. `spec` is the content of model.json; `session` runs model.onnx.

    lookahead   how many tokens past a slot the model reads; None: the whole stream
    sequential  the model chooses whole label sequences and has no posteriors
    transitions weights for pairs of neighbouring labels, which decoding adds to the log-posteriors; None: no weights

    Raises ValueError if the files do not fit together.
    """

    reads_turns = False
    transitions: Transitions | None = None
    path: Path | None = None  # the file of the weights, for error messages

    def __init__(self, spec: dict[str, Any], session: Any, labels: LabelSet, tokenizer: Tokenizer):
        self.spec, self.labels, self.tokenizer = spec, labels, tokenizer
        self.token_type, self.lookahead = tokenizer.token_type, spec["lookahead"]
        self.session = session
        inputs = {value.name: value for value in session.get_inputs()}
        outputs = [value.name for value in session.get_outputs()]
        self._step_outputs = outputs[1:]  # without the labels
        self.reads_pauses = "pauses" in inputs
        self.sequential = "log_probs" not in outputs
        self._states = {name: value for name, value in inputs.items() if name.startswith("state_")}
        self._check(len(inputs["tokens"].shape))

    def _check(self, dimensions: int) -> None:
        facts = self.session.get_modelmeta().custom_metadata_map
        words = str(len(self.tokenizer.vocabulary))
        known = facts["labels"].split(" ") == list(self.labels.names) and facts["words"] == words
        ahead = self.lookahead
        if ahead is None:
            fits = dimensions == 2 and not self._states
        else:
            fits = type(ahead) is int and 0 <= ahead <= MOST_AHEAD and dimensions == 1
        if not (known and fits and facts["lookahead"] == ("" if ahead is None else str(ahead))):
            raise ValueError("not the labels, the words or the look-ahead of this model")

    def decode_batch(self, tokens: np.ndarray, pauses: np.ndarray | None, scale: np.ndarray | None = None,
                     sequences: bool = False, posteriors: bool = True) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Decode a batch, as `NeuralModel.decode_batch` does. Raises InputError if posteriors or scaling are requested
        from a `sequential` model."""
        if self.sequential and (posteriors or scale is not None):
            raise InputError("this packed model chooses whole label sequences, so it has no posteriors",
                             "give --posteriors false and no --scale, or use the unpacked model")
        if pauses is None:
            pauses = np.full(tokens.shape, np.nan, np.float32)
        output = "labels" if self.sequential else "log_probs"
        if self.lookahead is None:
            found, = self._run([output], self._feed(tokens, pauses))
            return (found, None) if self.sequential else (None, found)
        state, steps = self.initial_state(len(tokens)), []
        for step in range(tokens.shape[1]):
            log_probs, state = self.step(tokens[:, step], pauses[:, step], state)
            steps.append(log_probs)
        return None, np.stack(steps, axis=1)

    def initial_state(self, batch: int) -> dict[str, np.ndarray]:
        """Return the initial states of `batch` streams, as a dict from input name to array."""
        return {name: np.zeros([size if isinstance(size, int) else batch for size in value.shape], TYPES[value.type])
                for name, value in self._states.items()}

    def step(self, tokens: np.ndarray, pauses: np.ndarray,
             state: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Compute a step, as `Model.step` does, but return log-posteriors instead of logits."""
        log_probs, *after = self._run(self._step_outputs, {**self._feed(tokens, pauses), **state})
        return log_probs, dict(zip(state, after))

    def _run(self, outputs: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        try:
            return self.session.run(outputs, inputs)
        except Exception as error:  # ONNX Runtime raises exceptions of its own types
            raise as_error(error, "its network cannot be computed", self.path) from None

    def _feed(self, tokens: np.ndarray, pauses: np.ndarray) -> dict[str, np.ndarray]:
        return {"tokens": tokens, "pauses": pauses} if self.reads_pauses else {"tokens": tokens}


def read_spec(directory: Path) -> dict[str, Any]:
    """Read a packed model's model.json. Raises InputError if the file is missing, invalid, or of another version."""
    path = directory / SPEC
    with open_input(path) as file:
        try:
            spec = json.loads(file.read())
            found, _ = spec["format"], spec["sha256"].items()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError("the file does not describe a packed model", AGAIN, path) from None
    if found != FORMAT:
        raise InputError(f"the format is '{found}', but this version of punc reads '{FORMAT}'", AGAIN, path)
    return spec


def load_packed(directory: Path) -> PackedModel:
    """Load a packed model. Raises InputError if its files are missing, were changed, or do not fit together."""
    spec = read_spec(directory)
    for name, expected in spec["sha256"].items():
        if os.path.basename(name) != name or not (directory / name).is_file():
            raise InputError(f"'{name[:60]}' is not a file of this directory", AGAIN, directory / SPEC)
        if checksum(directory / name) != expected:
            raise InputError("the file was changed after the model was packed", AGAIN, directory / name)
    labels = LabelSet.read(directory / "labels.txt")
    tokenizer = read_tokenizer(directory)
    with open_input(directory / WEIGHTS, AGAIN):  # raises InputError if the file cannot be read
        pass
    transitions = read_transitions(directory / TRANSITIONS, labels)
    try:
        model = PackedModel(spec, new_session(directory / WEIGHTS), labels, tokenizer)
    except Exception as error:  # ONNX Runtime raises exceptions of its own types
        raise as_error(error, "its weights do not match its spec", directory / WEIGHTS) from None
    model.transitions, model.path = transitions, directory / WEIGHTS
    return model


def as_error(error: Exception, what: str, path: Path | None) -> Exception:
    """Convert an exception of ONNX Runtime to MemoryError if memory ran out, otherwise to InputError."""
    if "alloc" in str(error) or "failed to map" in str(error):  # no memory for the weights, or for ONNX Runtime itself
        return MemoryError()
    return InputError(what, AGAIN, path)


def new_session(path: Path) -> Any:
    """Open a file in ONNX Runtime without telemetry. Use one thread, because worker processes share the cores."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only; the warnings are about details of the graph
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def checksum(path: StrPath) -> str:
    """Return the SHA-256 of a file. Raises InputError if the file is missing."""
    digest = hashlib.sha256()
    for block in read_blocks(path):
        digest.update(block)
    return digest.hexdigest()
