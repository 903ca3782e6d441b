"""A packed model in NumPy: what the models `bi_lstm`, `delay`, `pause_bi_lstm` and `pause_delay` compute.

Much text goes through ONNX Runtime if it is installed (`onnx_layers`), which takes two thirds of the time.

A packed model is a directory with

    model.json    the format, what the model is, and the checksum of every other file
    weights.npz   the weights by their names in PyTorch, matrices as int8 with a scale for each row
    labels.txt, vocab, conf, and perhaps casing.txt and README.md (the model card)

Labels are those of the PyTorch model with the same weights; posteriors differ by rounding.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.data.labels import LabelSet
from punc.decoding.archive import checksum, read_arrays
from punc.decoding.lstm import Gathered, Multiplied, Stepper, Weights, run_layer
from punc.decoding.shipped import SPEC
from punc.tokens.tokenizer import Tokenizer, read_tokenizer
from punc.tokens.vocabulary import END

if TYPE_CHECKING:
    from punc.decoding.onnx_layers import OnnxLayers

FORMAT = "punc packed model 1"
WEIGHTS = "weights.npz"
TWO_WAYS = ("bi_lstm", "pause_bi_lstm")  # models that read whole texts
MODELS = (*TWO_WAYS, "delay", "pause_delay")
# Words whose part of the gates is kept for streams: the most frequent ones, and others that there were. Each thousand
# takes 3 MB and 2 ms with 192 units.
FREQUENT, CACHED = 1 << 12, 1 << 12
MOST_AHEAD = 1 << 16
LARGE = 1 << 14  # tokens for which ONNX Runtime saves more time than it takes to import
GATES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class PackedModel:
    """A packed model, ready to punctuate.

    spec        the content of model.json
    arrays      float32 arrays by their names in PyTorch; with pauses also `pause_bounds`, the bounds of their classes
    labels      the label set
    tokenizer   makes tokens of words
    lookahead   how many tokens past a slot the model reads; None: the whole stream

    Raises KeyError if an array is missing, and ValueError if the arrays do not fit.
    """

    def __init__(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], labels: LabelSet, tokenizer: Tokenizer):
        self.spec, self.labels, self.tokenizer, self.lookahead = spec, labels, tokenizer, spec["lookahead"]
        self.arrays = arrays
        self.embedding = arrays["embedding.weight"]
        self.output = arrays["output.weight"], arrays["output.bias"]
        self.pause_bounds = arrays.get("pause_bounds")
        self.reads_pauses = self.pause_bounds is not None
        if self.pause_bounds is not None:
            self.pause_input, self.pause_output = arrays["pause_input.weight"], arrays["pause_output.weight"]
        names = ("lstms.forwards.{}.{}_l0", "lstms.backwards.{}.{}_l0") if spec["model"] in TWO_WAYS \
            else ("lstms.lstm.{1}_l{0}",)
        if int(spec["layers"]) > len(arrays):
            raise KeyError("layers")
        self._arrays = [[[arrays[name.format(number, gate)] for gate in GATES] for name in names]
                        for number in range(int(spec["layers"]))]
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Raise ValueError if the arrays do not fit together, or are of another vocabulary or label set."""
        size, labels = self.embedding.shape[1], len(self.labels)
        pairs: list[tuple[np.ndarray, tuple[int, ...]]] = [(self.embedding, (len(self.tokenizer.vocabulary), size))]
        if self.pause_bounds is not None:
            classes = len(self.pause_bounds) + 2  # one of unknown pauses, and those below, between and above the bounds
            pairs += [(self.pause_bounds, (classes - 2,)), (self.pause_input, (classes, size)),
                      (self.pause_output, (classes, labels))]
        for layer in self._arrays:
            hidden = layer[0][1].shape[-1]
            shapes = (4 * hidden, size), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,)
            pairs += [pair for arrays in layer for pair in zip(arrays, shapes)]
            size = hidden * len(layer)
        pairs += [(self.output[0], (labels, size)), (self.output[1], (labels,))]
        if not self._arrays or any(array.shape != shape for array, shape in pairs):
            raise ValueError("arrays of other sizes")
        ahead = self.lookahead
        fine = ahead is None if self.spec["model"] in TWO_WAYS else isinstance(ahead, int) and 0 <= ahead <= MOST_AHEAD
        if not fine:
            raise ValueError("not the look-ahead of this model")

    @cached_property
    def _layers(self) -> list[list[Weights]]:
        """The weights of each layer in each direction, for many texts."""
        return [[Weights(arrays, -2.0) for arrays in layer] for layer in self._arrays]

    def logits(self, tokens: np.ndarray, pauses: np.ndarray | None, total: int = 0) -> np.ndarray:
        """tokens (B, T), pauses (B, T) seconds (NaN unknown) or None → logits (B, T, L), from a fresh state.

        total   how many tokens there are together with those of other batches

        Rows are as `tokens.chunks.gather_arrays` makes them: at step t a model that reads left to right gets the token
        `lookahead` positions past slot t; texts that are read both ways end with END, which may be missing in a row
        without padding.
        """
        line, classes = tokens.T, self._classes(pauses)  # (T, B)
        lengths = np.full(line.shape[1], len(line))
        if self.lookahead is None:
            line = np.vstack([line, np.full((1, line.shape[1]), END)])
            lengths = ((line != END) * np.arange(1, len(line) + 1)[:, None]).max(axis=0) + 1  # with each text's END
        vectors, words = self._different(line, classes)
        weight, bias = self.output
        if max(line.size, total) >= LARGE and self._onnx_layers:
            logits = self._onnx_layers.run(vectors[words], lengths)[:tokens.shape[1]] @ weight.T
            logits = logits.transpose(1, 0, 2) + bias
        else:
            states = self._states(vectors, words, lengths)[:tokens.shape[1]]
            logits = np.matmul(weight, states).transpose(2, 0, 1) + bias  # (B, T, L)
        if self.pause_bounds is not None:
            logits += self.pause_output[0] if classes is None else self.pause_output[classes.T]
        return logits

    @cached_property
    def _onnx_layers(self) -> "OnnxLayers | None":
        """The layers in ONNX Runtime; None if it is not installed."""
        from punc.decoding.onnx_layers import OnnxLayers
        try:
            return OnnxLayers(self._arrays)
        except ImportError:
            return None

    def _states(self, vectors: np.ndarray, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The top layer's states (T, H or 2H, B) in NumPy, for the inputs vectors[words], of these numbers of steps."""
        begins = len(words) - lengths  # the steps at which the backward direction meets each text's END
        starts = {int(step): np.flatnonzero(begins == step) for step in np.unique(begins) if step}
        first, *above = self._layers
        products: Iterable[Gathered | Multiplied] = (
            Gathered(weights, vectors, side) for weights, side in zip(first, (words, words[::-1])))
        values = _run(products, first, words.shape, starts)
        for layer in above:
            products = (Multiplied(weights, side) for weights, side in zip(layer, (values, values[::-1])))
            values = _run(products, layer, words.shape, starts)
        return values

    def _classes(self, pauses: np.ndarray | None) -> np.ndarray | None:
        """The class of each pause, (T, B); 0 unknown; None if all are, or the model reads none."""
        if self.pause_bounds is None or pauses is None:
            return None
        found = np.searchsorted(self.pause_bounds, pauses.T, "right") + 1
        found[np.isnan(pauses.T)] = 0
        return found

    def _different(self, line: np.ndarray, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The different inputs of the first layer, (U, E), and which of them each step has, (T, B); tokens (T, B)."""
        if self.pause_bounds is None:
            tokens, indices = np.unique(line, return_inverse=True)
            return self.embedding[tokens], indices.reshape(line.shape)
        pairs = line * len(self.pause_input)
        if classes is not None:  # END after a text has the class of an unknown pause
            pairs[:len(classes)] += classes
        pairs, indices = np.unique(pairs, return_inverse=True)
        tokens, classes = np.divmod(pairs, len(self.pause_input))
        return self.embedding[tokens] + self.pause_input[classes], indices.reshape(line.shape)

    @cached_property
    def _stream_layers(self) -> list[Weights]:
        """The weights of each layer, for one stream."""
        return [Weights(arrays, 1.0) for arrays, in self._arrays]

    @cached_property
    def _word_gates(self) -> Callable[[int], np.ndarray]:
        """Maps a token, whose slot has an unknown pause, to its part of the first layer's gates (4H,)."""
        first = self._stream_layers[0]
        inputs = np.ascontiguousarray(first.inputs.T)
        shift = first.bias[:, 0] if self.pause_bounds is None else first.bias[:, 0] + self.pause_input[0] @ inputs
        frequent = list(self.embedding[:FREQUENT] @ inputs + shift)  # vocabularies begin with the most frequent words
        other = lru_cache(CACHED)(lambda token: self.embedding[token] @ inputs + shift)
        return lambda token: frequent[token] if token < FREQUENT else other(token)

    @cached_property
    def _stepper(self) -> "PausedStepper":
        """At the start of a stream."""
        return PausedStepper(self, self._stream_layers, self._word_gates)

    def stepper(self) -> "PausedStepper":
        """The model for one stream, one token at a time. Streams share its weights."""
        return self._stepper.copy()


def _run(products: Iterable[Gathered | Multiplied], layer: Sequence[Weights], shape: tuple[int, ...],
         starts: Mapping[int, np.ndarray]) -> np.ndarray:
    """One layer over texts of the shape (T, B), in one direction or in both: the states (T, H or 2H, B)."""
    size, (steps, batch) = layer[0].size, shape
    outputs = np.empty((steps, len(layer) * size, batch), np.float32)
    for product, side, begins in zip(products, (outputs[:, :size], outputs[::-1, size:]), ({}, starts)):
        run_layer(product, side, begins)
    return outputs


class PausedStepper:
    """A model that reads left to right, one token at a time, with the pause of each slot."""

    def __init__(self, model: PackedModel, layers: Sequence[Weights], word_gates: Callable[[int], np.ndarray]):
        weight, bias = model.output
        self.bounds, self.word_gates = model.pause_bounds, word_gates
        if self.bounds is not None:
            # A pause that is not known, the most frequent one, is part of what is kept for a word, and of the bias.
            bias = bias + model.pause_output[0]
            self.inputs = (model.pause_input - model.pause_input[0]) @ layers[0].inputs.T
            self.outputs = model.pause_output - model.pause_output[0]
        self.stepper = Stepper(layers, (weight, bias))

    def copy(self) -> "PausedStepper":
        """Another stream in the same state; a step of one does not change the other."""
        other = copy(self)
        other.stepper = self.stepper.copy()
        return other

    def step(self, token: int, pause: float) -> np.ndarray:
        """The next token, and the pause of the slot that is decided now → the logits (L,) of that slot."""
        inputs = self.word_gates(token)
        if self.bounds is None or pause != pause:
            return self.stepper.step(inputs)
        number = int(np.searchsorted(self.bounds, np.float32(pause), "right")) + 1
        return self.stepper.step(inputs + self.inputs[number]) + self.outputs[number]


def load_packed(directory: Path) -> PackedModel:
    """The packed model of a directory. Raises InputError if a file is missing, was changed, or does not fit."""
    path, again = directory / SPEC, "pack the model again: punc pack"
    with open_input(path) as file:
        try:
            spec = json.loads(file.read())
            found, sums = spec["format"], {str(name): expected for name, expected in spec["sha256"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError("not the description of a packed model", again, path) from None
    if found != FORMAT:
        raise InputError(f"'{found}', but this version reads '{FORMAT}'", again, path)
    for name, expected in sums.items():
        if checksum(directory / name) != expected:
            raise InputError("the file was changed after the model was packed", again, directory / name)
    arrays = read_arrays(directory / WEIGHTS)
    labels, tokenizer = LabelSet.read(directory / "labels.txt"), read_tokenizer(directory)
    try:
        return PackedModel(spec, arrays, labels, tokenizer)
    except Exception:  # a wrong array, number or type anywhere; each fails in its own way
        raise InputError("its weights are not those of its model", again, directory / WEIGHTS) from None
