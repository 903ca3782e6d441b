"""Posteriors of streams against models whose logits are known: in any batch, cut or not, whole or streaming."""


import numpy as np
import pytest
import torch
from conftest import streaming_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models.base import NeuralModel
from punc.models.base.neural import STEPS
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END

torch.set_num_threads(1)
LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))


class Window(NeuralModel):
    """The logits of a slot are a known function of the pause and the last `memory` tokens read, newest first."""

    labels = LABELS

    def __init__(self, lookahead, memory=3):
        super().__init__()
        self.lookahead, self.memory = lookahead, memory

    def initial_state(self, batch):
        return (torch.zeros(batch, self.memory, dtype=torch.int64),)

    def forward(self, tokens, pauses, state):
        read = torch.cat([state[0], tokens], dim=1)
        windows = read.unfold(1, self.memory, 1)[:, 1:].flip(2)  # (B, T, memory)
        return logits_of(windows, pauses), (read[:, -self.memory:],)


class Whole(NeuralModel):
    """Reads whole texts: the logits of a slot depend on its token and those on both sides; END is not read."""

    lookahead = None
    labels = LABELS

    def forward(self, tokens, pauses, state):
        assert state == ()
        tokens = tokens * (tokens != END)
        windows = torch.nn.functional.pad(tokens, (1, 1)).unfold(1, 3, 1).flip(2)
        return logits_of(windows, pauses), ()


def logits_of(windows, pauses):
    """windows (B, T, 3), newest first → (B, T, 3): elementwise, so the same to the last bit in any batch."""
    newest, middle, oldest = windows.unbind(2)
    pause = torch.full(newest.shape, -1.0) if pauses is None else pauses.nan_to_num(nan=-1.0)
    values = newest * 1.0 + middle * 10.0 + oldest * 100.0 + pause * 7.0
    return torch.stack([values.sin(), (values * 2).sin(), (values * 3).cos()], dim=2)


def make(lengths, pauses, seed=0):
    rng = np.random.default_rng(seed)
    n, offsets = sum(lengths), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    lasting = rng.choice(np.array([0, 0.25, np.nan], np.float32), n)
    lasting[offsets[1:] - 1] = np.nan  # the silence after the end is unknown
    return StoreSet(rng.integers(2, 9, n).astype(np.int32), None, lasting if pauses else None,
                    [str(i) for i in range(len(lengths))], offsets)


def by_hand(model, data):
    """The logits of every slot (N, L), one at a time, from the tokens that the model should read."""
    result = []
    for begin, end in zip(data.offsets, data.offsets[1:]):
        tokens = data.ids[begin:end].tolist()
        for slot in range(len(tokens)):
            newest = slot + (1 if model.lookahead is None else model.lookahead)
            past = 0 if model.lookahead is None else END
            window = [0 if k < 0 else past if k >= len(tokens) else tokens[k] for k in (newest, newest - 1, newest - 2)]
            pause = None if data.pauses is None else torch.tensor([[data.pauses[begin + slot]]])
            result.append(logits_of(torch.tensor([[window]]), pause)[0, 0].numpy())
    return np.array(result)


def log_softmax(logits):
    return torch.tensor(logits).log_softmax(1).numpy()


AHEADS = [0, 1, 3, None]


def model_of(lookahead):
    return Whole() if lookahead is None else Window(lookahead)


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("lookahead", AHEADS)
def test_log_posteriors_uncut_streams_by_hand(lookahead, pauses):
    model, data = model_of(lookahead), make([1, 2, 5, 3 * STEPS + 1, 4], pauses)
    found = log_posteriors(model, data, chunk_size=0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, log_softmax(by_hand(model, data)), rtol=0, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.sampled_from(AHEADS), st.integers(1, 20),
       st.integers(1, 5), st.booleans())
def test_log_posteriors_any_batch_size_gives_the_same(lengths, lookahead, chunk_size, batch_size, pauses):
    model, data = model_of(lookahead), make(lengths, pauses)
    for context in (0, 2):
        one, some = (log_posteriors(model, data, chunk_size, context, batch_size=r) for r in (1, batch_size))
        np.testing.assert_array_equal(one, some)


@pytest.mark.parametrize("lookahead", AHEADS)
@pytest.mark.parametrize("chunk_size", [1, 7, 64])
def test_log_posteriors_chunks_with_enough_context_equal_whole_streams(lookahead, chunk_size):
    model, data = model_of(lookahead), make([1, 30, 101], True)
    whole = log_posteriors(model, data, chunk_size=0)
    np.testing.assert_array_equal(log_posteriors(model, data, chunk_size, context=2), whole)
    if chunk_size == 1 and lookahead in (0, None):  # with less context they differ, so the context is really read
        assert not np.array_equal(log_posteriors(model, data, chunk_size, 0), whole)


@pytest.mark.parametrize(("lookahead", "pauses"), [(0, False), (1, False), (1, True), (3, True)])
def test_streaming_logits_equal_whole_streams(lookahead, pauses):
    model, data = Window(lookahead), make([1, 2, 50], pauses)
    found = []
    for begin, end in zip(data.offsets, data.offsets[1:]):
        before = np.full(end - begin, np.nan) if not pauses else np.append(np.nan, data.pauses[begin:end - 1])
        found += list(streaming_logits(model, zip(data.ids[begin:end].tolist(), before.tolist())))
    np.testing.assert_allclose(log_softmax(np.array(found)), log_posteriors(model, data), rtol=0, atol=1e-6)


@pytest.mark.parametrize("lookahead", [0, 1, 3])
def test_streaming_logits_come_as_soon_as_the_look_ahead_allows(lookahead):
    taken = []

    def tokens():
        for k in range(6):
            taken.append(k)
            yield 2 + k, np.nan

    slots = streaming_logits(Window(lookahead), tokens())
    for slot in range(6):
        next(slots)
        assert len(taken) == min(slot + lookahead + 1, 6)
    assert list(slots) == []


def test_streaming_logits_empty_stream():
    assert list(streaming_logits(Window(2), [])) == []


@pytest.mark.parametrize("lookahead", [1, None])
def test_log_posteriors_batches_are_on_the_device_of_the_model(lookahead):
    class OnMeta(type(model_of(lookahead))):
        device = torch.device("meta")

        def forward(self, tokens, pauses, state):
            raise LookupError(tokens.device.type, pauses.device.type)

    model = OnMeta(lookahead) if lookahead else OnMeta()
    with pytest.raises(LookupError) as found:
        log_posteriors(model, make([3, 4], True))
    assert found.value.args == ("meta", "meta")
