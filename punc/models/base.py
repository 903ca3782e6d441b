"""The contract of a model, and how models are made, saved and loaded.

A model reads tokens step by step. At step t it gets the token `lookahead` places past slot t, and the
pause in slot t, and returns the logits of slot t: with a look-ahead of 1, step t reads the word after the
slot. A stream of n slots therefore takes n + lookahead steps: the first `lookahead` steps only read the
first tokens and belong to no slot, and past the stream's end the tokens are `</s>` (`END`). What came
before is in the state. A model with `lookahead = None` reads whole texts in one go: step t reads token t,
the logits are those of slot t, and the state is empty. A text ends with one `END`: what follows the first of
the `END`s that a row ends with is padding. That one is a text's last token itself (characters), or follows
it (words) and is missing where a row is full: there a model reads on as if it stood there.

A model that is not trained by gradient, as a hidden-event language model or a decision tree, is `Fitted`: it
finds its arrays by itself, and gives the posteriors of whole streams. All else is the same for both kinds.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import kebab, nearest
from punc.data.labels import LabelSet
from punc.tokens.store import Store, StoreSet
from punc.tokens.tokenizer import Tokenizer, read_tokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import Vocabulary

FORMAT = "punc model 1"
State = tuple[Tensor, ...]


class NeuralModel(nn.Module):
    """What every neural model is: see the module for `forward`.

    unit        what a token is, which the store says that it is trained on
    units       what a token can be; None: anything
    lookahead   how many tokens past a slot the model reads; None: the whole stream
    sequential  whether it knows which labels follow each other, and so has a best sequence of them
    vocabulary  the tokens it knows; tokenizer: what makes them of words; labels: the label set
                (all set by `create` and `load`)
    """

    token_type = "word"
    token_types: tuple[str, ...] | None = None
    lookahead: int | None = None
    sequential = False
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    labels: LabelSet

    def take_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Take from the vocabulary what a new model begins with, as word vectors; a loaded one has that already."""

    def initial_state(self, batch: int) -> State:
        """The state before a stream, for `batch` streams. Of models that read whole texts it is empty."""
        return ()

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """tokens (B, T) int64, pauses (B, T) seconds (NaN unknown) or None, state → logits (B, T, L), state."""
        raise NotImplementedError

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """The logarithm of each label's posterior (B, T, L): logits (B, T, L) of `forward`, tokens (B, T)."""
        return logits.log_softmax(2)

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """The labels (B, T) of the most probable sequence, of a `sequential` model; arguments as `log_posteriors`."""
        raise NotImplementedError

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """Mean cross-entropy over slots: logits (B, T, L), labels (B, T) with -1 where there is no slot.

        weights   (L,), the weight of each label; None: all 1
        """
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), weights, ignore_index=-1)

    def stepper(self) -> "Stepper":
        """The model one token at a time for one stream; a model may have a quicker one."""
        return Stepper(self)


class Stepper:
    """One stream, one step after the other, through the model's own `forward`."""

    def __init__(self, model: NeuralModel):
        self.model, self.state = model, model.initial_state(1)

    def step(self, token: int, pause: float) -> np.ndarray:
        """The token that comes next and the pause of the slot decided now → that slot's logits (L,)."""
        with torch.inference_mode():
            logits, self.state = self.model(torch.tensor([[token]]), torch.tensor([[pause]]), self.state)
            return logits[0, 0].numpy()


class NonGradientModel(nn.Module):
    """What every model is that is not trained by gradient; `arrays` is all that it knows, and what is saved.

    A model that is made of another one (`parts`) saves that one's arrays too, as `<option>.<name>`.
    """

    token_type = "word"
    token_types: tuple[str, ...] | None = ("word",)
    lookahead = None  # it reads whole streams
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    labels: LabelSet

    def __init__(self):
        super().__init__()
        self.arrays: dict[str, np.ndarray] = {}
        self.parts: dict[str, NonGradientModel] = {}

    def take_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Take from the vocabulary what a new model begins with."""

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        """Find the arrays on sets of a store, all of which have labels."""
        raise NotImplementedError

    def log_posteriors(self, data: StoreSet) -> np.ndarray:
        """The logarithm of the posterior of each label in each slot, float32 (N, L)."""
        raise NotImplementedError

    def adopt(self) -> None:
        """Make of the arrays what decoding needs. Raises KeyError or ValueError for arrays that do not fit."""

    def state_dict(self) -> dict[str, Tensor]:
        own = {name: torch.from_numpy(array) for name, array in self.arrays.items()}
        return own | {f"{option}.{name}": array for option, inner in self.parts.items()
                      for name, array in inner.state_dict().items()}

    def load_state_dict(self, arrays: dict[str, Tensor]) -> None:
        for option, inner in self.parts.items():
            inner.load_state_dict({name.removeprefix(f"{option}."): array for name, array in arrays.items()
                                   if name.startswith(f"{option}.")})
        inside = tuple(f"{option}." for option in self.parts)
        self.arrays = {name: array.numpy() for name, array in arrays.items() if not name.startswith(inside)}
        self.adopt()


def initialize(model: nn.Module, scale: float) -> None:
    """Draw every trainable weight from the uniform distribution over ±scale (Tilk & Alumäe 2015, section 3)."""
    for weight in model.parameters():
        if weight.requires_grad:
            nn.init.uniform_(weight, -scale, scale)


def model_class(name: str) -> type[NeuralModel | NonGradientModel]:
    """The class of an architecture: `Model` of the file punc/models/<name>.py. Raises InputError for no such file."""
    known = names()
    if name not in known:
        raise InputError(f"no model '{name}'", nearest(name, known))
    return importlib.import_module(f"punc.models.{name}").Model


def names() -> list[str]:
    """The names of all models."""
    return sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name != "base")


def option_names(name: str) -> list[str]:
    """The options of a model: the keyword arguments of its constructor."""
    return list(option_defaults(name))


def option_defaults(name: str) -> dict[str, Any]:
    """The options of a model with their default values."""
    parameters = inspect.signature(model_class(name).__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def build(spec: dict[str, Any]) -> NeuralModel | NonGradientModel:
    """A model without its weights of {model, options, vocabulary, labels, unit}: name, options, two sizes, and what
    a token is (not there in older files).

    An option that is itself a spec is another model that is part of this one.
    """
    model = model_class(spec["model"])(spec["vocabulary"], spec["labels"], **spec["options"])
    model.token_type = spec.get("token_type", model.token_type)
    model.spec = {**spec, "options": {name: getattr(value, "spec", value) for name, value in
                                      {**spec["options"], **getattr(model, "parts", {})}.items()}}
    return model


def create(name: str, vocabulary: Vocabulary, labels: LabelSet, options: dict[str, Any],
           tokenizer: Tokenizer | None = None) -> NeuralModel | NonGradientModel:
    """A new model with fresh weights, drawn from PyTorch's random numbers, and word vectors of their file.

    tokenizer   what makes the vocabulary's tokens of words; None: they are words

    Raises InputError where the model cannot read such tokens, a model that is part of it has another vocabulary, or
    the file does not fit.
    """
    token_type = {"token_type": tokenizer.token_type} if tokenizer else {}
    token_types = model_class(name).token_types
    if tokenizer and token_types and tokenizer.token_type not in token_types:
        raise InputError(f"{name} reads {' or '.join(token_types)} tokens, the store has {tokenizer.token_type} tokens",
                         f"make a store with --token-type={token_types[0]}")
    model = build({"model": name, "options": options, "vocabulary": len(vocabulary), "labels": len(labels),
                   **token_type})
    model.vocabulary, model.labels, model.tokenizer = vocabulary, labels, tokenizer or WordTokenizer(vocabulary)
    model.take_vocabulary(vocabulary)
    for option, inner in getattr(model, "parts", {}).items():
        if (inner.vocabulary.tokens, inner.token_type) != (vocabulary.tokens, model.token_type):
            command = f"punc make-store --vocab={options[option]}/vocab"
            raise InputError(f"the store has another vocabulary than the model of {kebab(option)}",
                             f"make the store with its vocabulary: {command}"
                             + f" --token-type={inner.token_type}" * (inner.token_type != "word"),
                             options[option])
    return model


def part(spec: str | dict[str, Any]) -> NeuralModel | NonGradientModel:
    """A model that is a fixed part of another one: of its directory, or rebuilt of its spec when loading."""
    if not spec:
        raise InputError("no first-stage model is named", "name its directory: --text-model exp/…")
    model = load(spec) if isinstance(spec, str) else build(spec)
    return model.requires_grad_(False)


def save(model: NeuralModel | NonGradientModel, path: Path, **facts: Any) -> None:
    """Write weights, spec and facts (seed, …) to one file. Loading it runs no code."""
    with atomic_file(path, "wb") as file:
        torch.save({"format": FORMAT, "punc": punc.__version__, "torch": str(torch.__version__), **facts,
                    "spec": model.spec, "weights": model.state_dict()}, file)


def read_checkpoint(path: Path, form: str = FORMAT) -> dict[str, Any]:
    """The content of a file of ours. Raises InputError for one that is missing, truncated, or something else."""
    try:
        content = torch.load(path, weights_only=True, mmap=True, map_location="cpu")
    except FileNotFoundError:
        raise InputError("no such file", "train the model, or name another directory", path) from None
    except Exception:  # torch.load raises half a dozen kinds, by where the file is broken
        raise InputError("not a model file, or a truncated one", "train the model again", path) from None
    if not isinstance(content, dict) or not str(content.get("format")).startswith(form.rpartition(" ")[0]):
        raise InputError("not a model file of punc", "name a directory that punc train wrote", path)
    if content["format"] != form:
        raise InputError(f"'{content['format']}', but this version reads '{form}'", "train the model again", path)
    return content


def load(directory: str | Path) -> NeuralModel | NonGradientModel:
    """The trained model of a directory, ready to punctuate. Raises InputError where it is not whole."""
    directory = Path(directory)
    content = read_checkpoint(directory / "final.pt")
    tokenizer, labels = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    try:
        model = build(content["spec"])
        model.load_state_dict(content["weights"])
    except (KeyError, TypeError, RuntimeError, ValueError):  # no such content or option, sizes
        raise InputError("its weights are not those of its model", "train it again", directory / "final.pt") from None
    for file, found, size in (("vocab", len(tokenizer.vocabulary), content["spec"]["vocabulary"]),
                              ("labels.txt", len(labels), content["spec"]["labels"])):
        if found != size:
            raise InputError(f"{found} lines, but the model has {size}", "copy the one it was trained with",
                             directory / file)
    if content["spec"].get("token_type", tokenizer.token_type) != tokenizer.token_type:
        raise InputError(f"its tokens are {tokenizer.token_type}, the model's are {model.token_type}",
                         "copy vocab, unit and pieces.model that it was trained with", directory)
    model.vocabulary, model.tokenizer, model.labels = tokenizer.vocabulary, tokenizer, labels
    return model.eval()
