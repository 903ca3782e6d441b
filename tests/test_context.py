"""A model that sees the tokens around each step gives the same result streamed and on the whole text."""

import pytest
import torch

from punc.layers.lstm_stack import LSTMStack
from punc.models.base import ContextModel
from punc.tokens.vocabulary import END

torch.set_num_threads(1)


class Around(ContextModel):
    """The concatenated vectors of the tokens around each step."""

    def __init__(self, before, ahead):
        super().__init__()
        self.set_context(before, ahead)
        self.embedding = torch.nn.Embedding(9, 3)
        self.lstms = LSTMStack(3 * (before + 1 + ahead), 4, 2, 0.0)
        self.output = torch.nn.Linear(4, 2)

    def features(self, line):
        return self.embedding(line).unfold(1, self.before + 1 + self.lookahead, 1).flatten(2)


CONTEXTS = [(0, 0), (0, 3), (3, 0), (2, 3)]


def whole(model, text):
    """Logits (T, 2) of a text: END around it, then the LSTMs from its first token to its last."""
    line = torch.tensor([[END] * model.before + text + [END] * model.lookahead])
    with torch.no_grad():
        features = torch.cat([model.features(line[:, t:t + model.before + 1 + model.lookahead])
                              for t in range(len(text))], dim=1)
        return model.output(model.lstms.lstm(features)[0])[0]


@pytest.mark.parametrize(("before", "ahead"), CONTEXTS)
@pytest.mark.parametrize("steps", [1, 2, 5, 100])
def test_context_model_same_in_parts_and_whole(before, ahead, steps):
    torch.manual_seed(1)
    model, text = Around(before, ahead).eval(), [2, 5, 3, 8, 2, 2, 4, 6, 7, 5, 3, END]
    state, parts = model.initial_state(2), []
    with torch.no_grad():
        for tokens in torch.tensor([text + [END] * ahead] * 2).split(steps, dim=1):
            logits, state = model(tokens, None, state)
            assert logits.shape == (2, tokens.shape[1], 2)
            parts.append(logits)
    found = torch.cat(parts, dim=1)
    torch.testing.assert_close(found[0, ahead:], whole(model, text))
    assert torch.equal(found[:, :ahead], model.output.bias.expand(2, ahead, 2))  # no slot: the LSTMs have read nothing
    assert state[0].shape == (2, before + ahead)


def test_context_model_trains_on_batches_shorter_than_lookahead():
    model = Around(0, 3).train()
    logits, _ = model(torch.tensor([[2, 3]]), None, model.initial_state(1))
    model.loss(logits, torch.tensor([[0, 1]])).backward()  # a row that starts inside a stream has slots there
    assert model.output.bias.grad.any()
