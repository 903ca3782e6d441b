"""The interface of every model.

A neural model reads tokens step by step. At each step, it reads a token and the pause of the slot `lookahead` tokens
earlier, and returns the logits of this slot. A stream of n slots takes n + lookahead steps: the first `lookahead` steps
have no slot, and the last `lookahead` steps read `</s>` (`END`). The state carries information from step to step.

A model with `lookahead = None` reads complete texts at once: step t reads token t, and the state is empty. In a batch,
END fills the rest of each text's row. A character text also contains END as its last token, and this END has a slot. No
other END has a slot. A text that fills its row is not followed by END; models that need an END there append it.
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
STEPS = 32  # the number of steps that `decode_batch` computes at once, so that their values fit in the cache


class Model(nn.Module):
    """Maps the tokens of a stream and the pause in each slot to a distribution over labels in each slot."""

    # true: the methods under "Models that are trained by gradient descent" apply; false: those under "Other models"
    trained_by_gradient: bool
    token_type: str = "word"  # the token type of the store that the model is trained on
    token_types: tuple[str, ...] | None = None  # the token types that the model can read; None: any
    lookahead: int | None = None  # the number of tokens past a slot that the model reads; None: all
    reads_pauses: bool = False
    reads_turns: bool = False  # whether the model reads changes of speaker, which `forward` gets with the pauses
    longest: int | None = None  # the maximum number of tokens that `traceable` reads at once; None: any number
    sequential: bool = False  # whether the model scores label sequences and has the method `best_sequence`
    vocabulary: Vocabulary  # `create` and `load` set vocabulary, tokenizer and labels
    tokenizer: Tokenizer
    labels: LabelSet
    spec: dict[str, Any]  # the argument of `build` that makes this model
    transitions: Transitions | None = None  # scores for pairs of neighbouring labels, added in decoding

    def __init__(self) -> None:
        super().__init__()
        self.submodels: dict[str, Model] = {}  # option → a trained model that is a frozen part of this model
        self.kept_options: dict[str, Any] = {}  # option → the value that is saved instead of a path
        self.conf: dict[str, Any] = {}  # the training options; empty in a new model

    @property
    def device(self) -> torch.device:
        """The device of the weights and of the inputs of `forward`; the CPU for a model without weights."""
        return next((weight.device for weight in self.parameters()), torch.device("cpu"))

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Initialize a new model's weights that depend on the vocabulary, such as word vectors from a file."""

    # Models that are trained by gradient descent.

    def rate_of(self, name: str) -> float:
        """Return the factor that multiplies `--learning-rate` for the weight with this name."""
        return 1.0

    def initial_state(self, batch: int) -> State:
        """Return the state at the start of `batch` streams. It is empty if the model reads complete streams."""
        return ()

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Return logits (B, T, L) and the new state, given tokens, int64 (B, T).

        pauses   (B, T) in seconds; NaN: unknown; None: all are unknown. If the model `reads_turns`, pauses may also be
                 (B, T, 2), whose second column is 1 in slots where the next word has a different speaker
        """
        raise NotImplementedError

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """Return the log-posterior of each label, (B, T, L), given the tokens and the logits of `forward`."""
        return logits.log_softmax(2)

    def best_sequence(self, logits: Tensor, tokens: Tensor) -> Tensor:
        """Return the most probable label sequences (B, T). Only `sequential` models implement this method."""
        raise NotImplementedError

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the mean loss over slots, by default cross-entropy. Labels (B, T) are −1 where there is no slot."""
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """Return the mean over slots of the cross-entropy between `targets` (B, T, L) and the model's posteriors. The
        targets are 0 where there is no slot."""
        return -(targets * logits.log_softmax(2)).sum() / (labels >= 0).sum()

    @torch.inference_mode()
    def decode_batch(self, tokens: np.ndarray, pauses: np.ndarray | None, scale: np.ndarray | None = None,
                     sequences: bool = False, posteriors: bool = True) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return labels (B, T) and log-posteriors (B, T, L) for the tokens and pauses of a `Batch`. Starts from the
        initial state.

        scale        (L,) factors that multiply the posteriors when label sequences are chosen; None: all 1
        sequences    whether to find the most probable label sequences, if the model is `sequential`; false: returns
                     None for the labels
        posteriors   whether to compute log-posteriors, which are not scaled; false: returns None for them
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
        """Read the next tokens (B,), and the pauses (B,) in the slots of this step. Returns logits (B, L) and the new
        state. Packed models do this ten times as fast."""
        logits, state = self(torch.from_numpy(tokens)[:, None], torch.from_numpy(pauses)[:, None], state)
        return logits[:, 0].numpy(), state

    # Other models.

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        """Train on sets of a store. All sets must have labels."""
        raise NotImplementedError

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        """Return the log-posteriors of all slots in complete streams, float32 (N, L)."""
        raise NotImplementedError


class NeuralModel(Model):
    """A model that is trained by gradient descent. A subclass defines `forward`."""

    trained_by_gradient = True

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Like `forward`, but uses only operations that can be traced. These must not depend on B, T or values in
        tensors. If `lookahead` is a number, `tokens` contains one step (T = 1), and `state` has the form of
        `traceable_state`."""
        return self.forward(tokens, pauses, state)

    def traceable_state(self, batch: int) -> State:
        """Return the initial state for `traceable`: separate tensors of zeros, whose dimension 0 or 1 is the batch."""
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
    """A model that is not trained by gradient descent. A subclass defines `fit` and `log_posteriors_of`, and keeps
    everything that it learns in `arrays`, which are saved. The arrays of the submodel in an option are saved under the
    names `<option>.<name>`."""

    trained_by_gradient = False
    token_types = ("word", "form")

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, np.ndarray] = {}

    def prepare(self) -> None:
        """Prepare decoding after `arrays` have changed. Raises KeyError or ValueError if arrays are missing or
        do not fit together."""

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
