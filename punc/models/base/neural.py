"""Models that are trained by gradient.

A neural model reads tokens step by step. At step t it gets the token `lookahead` positions past slot t, and the pause
in slot t, and returns the logits of slot t. With a look-ahead of 1, step t reads the word after the slot. A stream of n
slots takes n + lookahead steps: the first `lookahead` steps only read the first tokens and have no slot, and past the
stream's end the tokens are `</s>` (`END`). The state holds what came before.

A model with `lookahead = None` reads whole texts at once: step t reads token t, the logits are those of slot t, and the
state is empty. A text ends with one `END`; in a padded row, every END after the first one of the END run is padding. In
a character stream that END is the text's last token. In a word stream it follows the last token, and it is missing
where the text fills its row: the model then reads as if it were there.
"""

from copy import copy

import numpy as np
import torch
from torch import Tensor, nn

from punc.base.products import fast_products
from punc.models.base.model import Model, State

STEPS = 32  # steps with a carried state that are computed together: what they hold fits the cache


class NeuralModel(Model):
    """A model that is trained by gradient. A subclass has `forward`; the other methods are those of a softmax."""

    trained_by_gradient = True

    def initial_state(self, batch: int) -> State:
        return ()

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        return logits.log_softmax(2)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean cross-entropy of the slots."""
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        return -(targets * logits.log_softmax(2)).sum() / (labels >= 0).sum()

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """As `forward`, in operations that an exporter can follow: none depends on values or on the numbers B and T.

        A model with a look-ahead gets one step, T = 1, and a state as that of `traceable_state`.
        """
        return self.forward(tokens, pauses, state)

    def traceable_state(self, batch: int) -> State:
        """The state before a stream for `traceable`: zeros, each tensor its own, with the batch as dimension 0 or 1."""
        return tuple(torch.zeros_like(tensor) for tensor in self.initial_state(batch))

    @torch.inference_mode()
    def decode_batch(self, tokens: np.ndarray, pauses: np.ndarray | None, scale: np.ndarray | None = None,
                     sequences: bool = False, posteriors: bool = True) -> tuple[np.ndarray | None, np.ndarray | None]:
        read = torch.from_numpy(tokens).to(self.device)
        silences = None if pauses is None else torch.from_numpy(pauses).to(self.device)
        with fast_products(self.device):
            logits = self._logits(read, silences)
        labels = log_probs = None
        if sequences:
            scaled = logits if scale is None else logits + torch.from_numpy(np.log(scale)).to(self.device)
            labels = self.best_sequence(scaled, read).cpu().numpy()
        if posteriors:
            log_probs = self.log_posteriors(logits, read).cpu().numpy()
        return labels, log_probs

    def _logits(self, tokens: Tensor, pauses: Tensor | None) -> Tensor:
        """Logits (B, T, L) from a fresh state; a carried state advances STEPS steps at a time."""
        state = self.initial_state(len(tokens))
        if self.lookahead is None:
            return self(tokens, pauses, state)[0]
        logits = []
        for begin in range(0, tokens.shape[1], STEPS):
            steps = slice(begin, begin + STEPS)
            out, state = self(tokens[:, steps], None if pauses is None else pauses[:, steps], state)
            logits.append(out)
        return torch.cat(logits, dim=1)

    def stepper(self) -> "Stepper":
        """The model for one stream, one token at a time. A packed model takes a tenth of the time."""
        return Stepper(self)


class Stepper:
    """One stream, one token at a time, by the model's `forward`."""

    def __init__(self, model: NeuralModel):
        self.model, self.state = model, model.initial_state(1)

    def copy(self) -> "Stepper":
        """Another stream in the same state; `forward` makes new states and changes none."""
        return copy(self)

    def step(self, token: int, pause: float) -> np.ndarray:
        """The next token, and the pause of the slot that is decided now → the logits (L,) of that slot."""
        with torch.inference_mode():
            logits, self.state = self.model(torch.tensor([[token]]), torch.tensor([[pause]]), self.state)
            return logits[0, 0].numpy()


def initialize(model: nn.Module, scale: float) -> None:
    """Draw every trainable weight from the uniform distribution over ±scale (Tilk & Alumäe 2015, section 3)."""
    for weight in model.parameters():
        if weight.requires_grad:
            nn.init.uniform_(weight, -scale, scale)
