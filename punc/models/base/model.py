"""The interface of every model.

A neural model reads tokens step by step. At step t it gets the token `lookahead` positions past slot t, and the pause
in slot t, and returns the logits of slot t. A stream of n slots takes n + lookahead steps: the first `lookahead` steps
have no slot, and the tokens past the stream's end are `</s>` (`END`). The state carries what the model needs from
earlier steps.

A model with `lookahead = None` reads whole texts at once: step t reads token t, and the state is empty. A text ends
with one `END`, and the padding of its row is END too. In a character stream, this END is the text's last token. In a
word stream, it follows the last token; if the text fills its row, the model appends it.
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
STEPS = 32  # steps that a model with a state computes together, so that their values fit in the cache


class Model(nn.Module):
    """Maps the tokens of a stream and the pause in each slot to a distribution over labels in each slot."""

    trained_by_gradient: bool  # true: the model has the first group of methods below; false: the second group
    token_type: str = "word"  # the type of the tokens in the store that the model is trained on
    token_types: tuple[str, ...] | None = None  # the token types that the model can read; None: any
    lookahead: int | None = None  # how many tokens past a slot the model reads; None: the whole stream
    reads_pauses: bool = False  # whether the model reads pauses
    reads_turns: bool = False  # whether it reads changes of speaker, which `forward` gets with the pauses
    longest: int | None = None  # the maximum number of tokens that `traceable` reads at once; None: any number
    sequential: bool = False  # whether it scores label sequences; if so, `best_sequence` returns the best one
    vocabulary: Vocabulary  # `create` and `load` set this attribute and the next two
    tokenizer: Tokenizer
    labels: LabelSet
    spec: dict[str, Any]  # the argument with which `build` can make this model again
    transitions: Transitions | None = None  # scores for labels of neighbouring slots, which decoding adds

    def __init__(self) -> None:
        super().__init__()
        self.submodels: dict[str, Model] = {}  # trained models that are frozen parts of this one, by option
        self.kept_options: dict[str, Any] = {}  # values to save for options that name something outside the model
        self.conf: dict[str, Any] = {}  # the training options; empty for a new model

    @property
    def device(self) -> torch.device:
        """The device of the weights and of the inputs of `forward`; the CPU for a model without weights."""
        return next((weight.device for weight in self.parameters()), torch.device("cpu"))

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Initialize a new model's weights that depend on the vocabulary, such as word vectors read from a file."""

    # Models that are trained by gradient.

    def rate_of(self, name: str) -> float:
        """Returns the factor by which `--learning-rate` is multiplied for the weight with this name."""
        return 1.0

    def initial_state(self, batch: int) -> State:
        """Returns the state at the start of `batch` streams. It is empty if the model reads whole streams."""
        return ()

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Returns logits (B, T, L) and the new state, given tokens (B, T) int64, and pauses (B, T) in seconds or None.
        NaN is an unknown pause. If the model `reads_turns`, pauses may be (B, T, 2). Then the second column is 1 if the
        next word has another speaker."""
        raise NotImplementedError

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """Returns the log-posterior of each label, (B, T, L), given the tokens and logits (B, T, L) of `forward`."""
        return logits.log_softmax(2)

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """Returns the most probable label sequences (B, T). Only `sequential` models have this method."""
        raise NotImplementedError

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Returns the mean loss of the slots, here cross-entropy. Labels (B, T) are −1 where there is no slot."""
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """Returns the mean cross-entropy between the model and the distributions `targets` (B, T, L) over the slots."""
        return -(targets * logits.log_softmax(2)).sum() / (labels >= 0).sum()

    @torch.inference_mode()
    def decode_batch(self, tokens: np.ndarray, pauses: np.ndarray | None, scale: np.ndarray | None = None,
                     sequences: bool = False, posteriors: bool = True) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Returns labels (B, T) and log-posteriors (B, T, L) of the tokens and pauses of a `Batch`, from a fresh state.

        scale           (L,) factors that multiply the posteriors before labels are chosen; None: all 1
        sequences       true: labels are the most probable sequences of a `sequential` model; false: labels are None
        posteriors      true: return log-posteriors, before any scaling; false: return None instead
        """
        read = torch.from_numpy(tokens).to(self.device)
        silences = None if pauses is None else torch.from_numpy(pauses).to(self.device)
        steps = len(tokens[0]) if self.lookahead is None else STEPS
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
        """Reads the next tokens (B,) and the pauses (B,) in the slots that this step labels. Returns logits (B, L) and
        the new state. A packed model takes a tenth of the time."""
        logits, state = self(torch.from_numpy(tokens)[:, None], torch.from_numpy(pauses)[:, None], state)
        return logits[:, 0].numpy(), state

    # Other models.

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        """Train on sets of a store, all of which have labels."""
        raise NotImplementedError

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        """Returns the log-posterior of each label in each slot of whole streams, float32 (N, L)."""
        raise NotImplementedError


class NeuralModel(Model):
    """A model that is trained by gradient. A subclass defines `forward`."""

    trained_by_gradient = True

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Like `forward`, but uses only operations that can be traced: they must not depend on values, B or T. A model
        with a look-ahead gets one step, T = 1, and a state like that of `traceable_state`."""
        return self.forward(tokens, pauses, state)

    def traceable_state(self, batch: int) -> State:
        """Returns the initial state for `traceable`: separate tensors of zeros, with the batch as dimension 0 or 1."""
        return tuple(torch.zeros_like(tensor) for tensor in self.initial_state(batch))

    def traceable_best(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """Like `best_sequence`, but traceable. Labels past the end of a text are arbitrary."""
        raise NotImplementedError


def initialize(model: nn.Module, scale: float) -> None:
    """Draw every trainable weight from the uniform distribution over ±scale (Tilk & Alumäe 2015, section 3)."""
    for weight in model.parameters():
        if weight.requires_grad:
            nn.init.uniform_(weight, -scale, scale)


class NonGradientModel(Model):
    """A model that is not trained by gradient. Everything it learns is in `arrays`, which are saved. A subclass defines
    `fit` and `log_posteriors_of`. The arrays of a submodel are saved too, as `<option>.<name>`."""

    trained_by_gradient = False
    token_types = ("word", "form")

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, np.ndarray] = {}

    def prepare(self) -> None:
        """Prepare decoding with new `arrays`. Raises KeyError or ValueError if they do not fit together."""

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
