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
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from punc.models.base.model import Model, State


class NeuralModel(Model):
    """A model that is trained by gradient. A subclass has `forward`; the other methods are those of a softmax."""

    trained_by_gradient = True

    def initial_state(self, batch: int) -> State:
        return ()

    def log_posteriors(self, logits: Tensor, tokens: Tensor) -> Tensor:
        return logits.log_softmax(2)

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """Mean cross-entropy of the slots."""
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), weights, ignore_index=-1)

    def soft_loss(self, logits: Tensor, targets: Tensor, labels: Tensor, temperature: float = 1.0) -> Tensor:
        return -(targets * (logits / temperature).log_softmax(2)).sum() / (labels >= 0).sum()

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """As `forward`, in operations that an exporter can follow: none depends on values or on the numbers B and T.

        A model with a look-ahead gets one step, T = 1, and a state as that of `traceable_state`.
        """
        return self.forward(tokens, pauses, state)

    def traceable_state(self, batch: int) -> State:
        """The state before a stream for `traceable`: zeros, each tensor its own, with the batch as dimension 0 or 1."""
        return tuple(torch.zeros_like(tensor) for tensor in self.initial_state(batch))

    def stepper(self) -> "Stepper | LinearStepper":
        """The model one token at a time. This one calls `forward`; a model may have a faster one."""
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


class LinearStepper:
    """One stream, one token at a time, in NumPy; the logits are a linear layer on top of `hidden`.

    parts   the names of the attributes that have a state, and a method `copy`
    """

    parts: ClassVar[tuple[str, ...]]

    def __init__(self, output: nn.Linear):
        self.weight = output.weight.detach().numpy()
        self.bias = None if output.bias is None else output.bias.detach().numpy()

    def copy(self) -> "LinearStepper":
        """Another stream in the same state; a step of one does not change the other."""
        other = copy(self)
        for name in self.parts:
            setattr(other, name, getattr(self, name).copy())
        return other

    def hidden(self, token: int, pause: float) -> np.ndarray:
        """The next token, and the pause of the slot that is decided now → the input (H,) of the linear layer."""
        raise NotImplementedError

    def step(self, token: int, pause: float) -> np.ndarray:
        """The next token, and the pause of the slot that is decided now → the logits (L,) of that slot."""
        logits = self.weight @ self.hidden(token, pause)
        return logits if self.bias is None else logits + self.bias


def initialize(model: nn.Module, scale: float) -> None:
    """Draw every trainable weight from the uniform distribution over ±scale (Tilk & Alumäe 2015, section 3)."""
    for weight in model.parameters():
        if weight.requires_grad:
            nn.init.uniform_(weight, -scale, scale)
