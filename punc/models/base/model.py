"""The interface of every model.

A neural model reads tokens step by step. At step t it gets the token `lookahead` positions past slot t, and the pause
in slot t, and returns the logits of slot t. A stream of n slots takes n + lookahead steps: the first `lookahead` steps
have no slot, and past the stream's end the tokens are `</s>` (`END`). The state holds what came before.

A model with `lookahead = None` reads whole texts at once: step t reads token t, and the state is empty. A text ends
with one `END`, and the rest of a padded row is END too. In a character stream that END is the text's last token. In a
word stream it follows the last token, and the model supplies it where the text fills its row.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from punc.base.products import fast_products
from punc.data.labels import LabelSet
from punc.data.transitions import Transitions
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.vocabulary import Vocabulary

State = tuple[Tensor, ...]
STEPS = 32  # steps with a carried state that are computed together: their values fit the cache


class Model(nn.Module):
    """Maps the tokens of a stream and the pause in each slot to a distribution over labels in each slot."""

    trained_by_gradient: bool  # it has the first group of methods (the defaults are for a softmax), or the second
    token_type: str = "word"  # what a token is; the store that the model is trained on decides
    token_types: tuple[str, ...] | None = None  # those that the model can read; None: any
    lookahead: int | None = None  # how many tokens past a slot the model reads; None: the whole stream
    reads_pauses: bool = False  # whether a model that reads left to right reads pauses
    reads_turns: bool = False  # whether it reads changes of speaker, which `forward` gets with the pauses
    longest: int | None = None  # the most tokens that `traceable` reads at once; None: any number
    sequential: bool = False  # whether it scores sequences of labels, so that `best_sequence` finds the best one
    vocabulary: Vocabulary  # set by `create` and `load`, as are the next three
    tokenizer: Tokenizer
    labels: LabelSet
    spec: dict[str, Any]  # what `build` rebuilds the model from
    transitions: Transitions | None = None  # what decoding adds to log-posteriors of neighbouring slots

    def __init__(self) -> None:
        super().__init__()
        self.submodels: dict[str, Model] = {}  # trained models, a fixed part of this one, by the option that names each
        self.kept_options: dict[str, Any] = {}  # what is saved for options that name something outside of the model
        self.conf: dict[str, Any] = {}  # what it was trained with; empty for a new model

    @property
    def device(self) -> torch.device:
        """The device of the weights and of the inputs of `forward`; the CPU for a model without weights."""
        return next((weight.device for weight in self.parameters()), torch.device("cpu"))

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Set what a new model takes from its vocabulary, such as word vectors, which a loaded model already has."""

    # Models that are trained by gradient.

    def rate_of(self, name: str) -> float:
        """The learning rate of the weight with this name, as a factor of `--learning-rate`."""
        return 1.0

    def initial_state(self, batch: int) -> State:
        """The state before a stream, for `batch` streams; empty in models that read whole streams."""
        return ()

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """tokens (B, T) int64, pauses (B, T) seconds (NaN unknown) or None, state → logits (B, T, L), state. If the
        model `reads_turns`, pauses may be (B, T, 2), with 1 in the second column where another speaker follows."""
        raise NotImplementedError

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """The log-posterior of each label, (B, T, L): logits (B, T, L) of `forward`, tokens (B, T)."""
        return logits.log_softmax(2)

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """The most probable sequence of labels (B, T) by a `sequential` model; arguments as in `log_posteriors`."""
        raise NotImplementedError

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean loss of the slots, here cross-entropy: logits (B, T, L), labels (B, T), −1 without a slot."""
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """The mean cross-entropy of the slots, where labels are not −1, with distributions `targets` (B, T, L)."""
        return -(targets * logits.log_softmax(2)).sum() / (labels >= 0).sum()

    @torch.inference_mode()
    def decode_batch(self, tokens: np.ndarray, pauses: np.ndarray | None, scale: np.ndarray | None = None,
                     sequences: bool = False, posteriors: bool = True) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The labels (B, T) and log-posteriors (B, T, L) of tokens and pauses as in a `Batch`, from a fresh state.

        scale           (L,) factors of the posteriors before labels are chosen; None: all 1
        sequences       return labels, the most probable sequences of a `sequential` model; else None
        posteriors      return log-posteriors, before any scale; else None
        """
        read = torch.from_numpy(tokens).to(self.device)
        silences = None if pauses is None else torch.from_numpy(pauses).to(self.device)
        steps = len(tokens[0]) if self.lookahead is None else STEPS  # with a carried state, few at a time
        state, parts = self.initial_state(len(tokens)), []
        with fast_products(self.device):
            for begin in range(0, len(tokens[0]), steps):
                part = slice(begin, begin + steps)
                logits, state = self(read[:, part], None if silences is None else silences[:, part], state)
                parts.append(logits)
        logits = torch.cat(parts, dim=1)
        labels = log_probs = None
        if sequences:
            scaled = logits if scale is None else logits + torch.from_numpy(np.log(scale)).to(self.device)
            labels = self.best_sequence(scaled, read).cpu().numpy()
        if posteriors:
            log_probs = self.log_posteriors(logits, read).cpu().numpy()
        return labels, log_probs

    @torch.inference_mode()
    def step(self, tokens: np.ndarray, pauses: np.ndarray, state: State) -> tuple[np.ndarray, State]:
        """The next tokens (B,), and the pauses (B,) of the slots that they decide → logits (B, L), and a new state. A
        packed model takes a tenth of the time."""
        logits, state = self(torch.from_numpy(tokens)[:, None], torch.from_numpy(pauses)[:, None], state)
        return logits[:, 0].numpy(), state

    # Other models.

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        """Train on sets of a store, all of which have labels."""
        raise NotImplementedError

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        """The log-posterior of each label in each slot of whole streams, float32 (N, L)."""
        raise NotImplementedError


class NeuralModel(Model):
    """A model that is trained by gradient. A subclass defines `forward`."""

    trained_by_gradient = True

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """The same as `forward`, in operations that an exporter can trace: none depends on values or on the numbers B
        and T. A model with a look-ahead gets one step, T = 1, and a state as from `traceable_state`."""
        return self.forward(tokens, pauses, state)

    def traceable_state(self, batch: int) -> State:
        """The state before a stream for `traceable`: zeros, each tensor its own, with the batch as dimension 0 or 1."""
        return tuple(torch.zeros_like(tensor) for tensor in self.initial_state(batch))

    def traceable_best(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """As `best_sequence`, for exporters; any labels past the end of a text."""
        raise NotImplementedError


def initialize(model: nn.Module, scale: float) -> None:
    """Draw every trainable weight from the uniform distribution over ±scale (Tilk & Alumäe 2015, section 3)."""
    for weight in model.parameters():
        if weight.requires_grad:
            nn.init.uniform_(weight, -scale, scale)


class NonGradientModel(Model):
    """A model that is not trained by gradient. `arrays` is everything it learns, and is saved.

    A subclass defines `fit` and `log_posteriors_of`. The arrays of a submodel are saved too, as `<option>.<name>`.
    """

    trained_by_gradient = False
    token_types = ("word", "form")

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, np.ndarray] = {}

    def prepare(self) -> None:
        """Compute from new arrays what decoding needs. Raises KeyError or ValueError if they do not fit together."""

    def state_dict(self) -> dict[str, Tensor]:  # type: ignore[override]
        own = {name: torch.from_numpy(array) for name, array in self.arrays.items()}
        return own | {f"{option}.{name}": array for option, model in self.submodels.items()
                      for name, array in model.state_dict().items()}

    def load_state_dict(self, arrays: Mapping[str, Tensor]) -> None:  # type: ignore[override]
        for option, model in self.submodels.items():
            model.load_state_dict({name.removeprefix(f"{option}."): array for name, array in arrays.items()
                                   if name.startswith(f"{option}.")})
        prefixes = tuple(f"{option}." for option in self.submodels)
        self.arrays = {name: array.numpy() for name, array in arrays.items() if not name.startswith(prefixes)}
        self.prepare()
