"""What callers can ask of every model.

A model maps the tokens of a stream, and the pause in each slot, to a distribution over labels in each slot. There are
two kinds: `NeuralModel` is trained by gradient, batch by batch; `NonGradientModel`, such as a hidden-event language
model or a decision tree, finds its arrays itself and decodes whole streams.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from punc.data.labels import LabelSet
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.vocabulary import Vocabulary

State = tuple[Tensor, ...]


class Model(nn.Module):
    """Attributes of every model, and the methods that callers use. A kind of model has one group of the methods.

    trained_by_gradient  True: methods of the first group (`NeuralModel`); False: of the second (`NonGradientModel`)
    token_type           what a token is; the store that the model is trained on decides
    token_types          the token types that the model can read; None: any
    lookahead            how many tokens past a slot the model reads; None: the whole stream
    reads_pauses         whether a model that reads left to right reads pauses
    reads_turns          whether the model reads changes of the speaker, so that `forward` gets them with the pauses
    longest              how many tokens `traceable` reads at once at most; None: any number
    sequential           whether the model scores sequences of labels, so that `best_sequence` finds the best one
    submodels            the trained models that are a fixed part of this one, by the option that names each
    kept_options         the values that the saved model has for options which name something outside of it

    `create` and `load` set

    vocabulary           the tokens that the model knows
    tokenizer            makes tokens of words
    labels               the label set
    spec                 what `build` rebuilds the model from
    """

    trained_by_gradient: bool
    token_type: str = "word"
    token_types: tuple[str, ...] | None = None
    lookahead: int | None = None
    reads_pauses: bool = False
    reads_turns: bool = False
    longest: int | None = None
    sequential: bool = False
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    labels: LabelSet
    spec: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self.submodels: dict[str, Model] = {}
        self.kept_options: dict[str, Any] = {}

    @property
    def device(self) -> torch.device:
        """Where the weights are, and where `forward` wants its inputs; the CPU for a model without weights."""
        return next((weight.device for weight in self.parameters()), torch.device("cpu"))

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Set what a new model takes from its vocabulary, such as word vectors. A loaded model has that already."""

    # Models that are trained by gradient.

    def rate_of(self, name: str) -> float:
        """The learning rate of the weight of a name, as a factor of `--learning-rate`."""
        return 1.0

    def initial_state(self, batch: int) -> State:
        """The state before a stream, for `batch` streams; empty in models that read whole streams."""
        raise NotImplementedError

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """tokens (B, T) int64, pauses (B, T) seconds (NaN unknown) or None, state → logits (B, T, L), state.

        If the model `reads_turns`, pauses may be (B, T, 2), with 1 in the second column where another speaker follows.
        """
        raise NotImplementedError

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """The log-posterior of each label, (B, T, L): logits (B, T, L) of `forward`, tokens (B, T)."""
        raise NotImplementedError

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """The most probable sequence of labels (B, T) by a `sequential` model; arguments as of `log_posteriors`."""
        raise NotImplementedError

    def traceable_best(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """As `best_sequence`, for exporters (see `NeuralModel.traceable`); any labels past the end of a text."""
        raise NotImplementedError

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean loss of the slots: logits (B, T, L), labels (B, T) with −1 where there is no slot."""
        raise NotImplementedError

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """The mean cross-entropy of the slots with distributions over labels, `targets` (B, T, L); zeros elsewhere.

        Other arguments as of `loss`; the labels only say where the slots are.
        """
        raise NotImplementedError

    def decode_batch(self, tokens: np.ndarray, pauses: np.ndarray | None, scale: np.ndarray | None = None,
                     sequences: bool = False, posteriors: bool = True) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The labels (B, T) and log-posteriors (B, T, L) of a batch, from a fresh state.

        tokens, pauses  as in a `tokens.batches.Batch`
        scale           (L,) factors of the posteriors before labels are chosen; None: all 1
        sequences       return labels, the most probable sequences of a `sequential` model; else None
        posteriors      return log-posteriors, before any scale; else None
        """
        raise NotImplementedError

    def stepper(self) -> Any:
        """The model for one stream, one token at a time: an object with `step` and `copy` as those of `Stepper`."""
        raise NotImplementedError

    # Other models.

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        """Train on sets of a store, all of which have labels."""
        raise NotImplementedError

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        """The log-posterior of each label in each slot of whole streams, float32 (N, L)."""
        raise NotImplementedError
