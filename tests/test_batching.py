"""Streams are cut into chunks, chunks are grouped into batches, and batches form epochs."""

import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import punc.training.batching
from punc.base.runs import bounds_of
from punc.tokens.chunks import by_length, cut, padding
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END
from punc.training import batching as batching_module
from punc.training.batching import Batch, at_rates, count_slots, cut_streams, gather, stateful, training_set
from punc.training.options import TrainingOptions


@pytest.mark.parametrize("lookahead", [None, 1])
def test_cut_depends_only_on_the_length_of_a_stream(lookahead):
    """A recording must get the same labels, whether it is decoded alone or with others."""
    alone = [a.tolist() for a in cut(bounds_of([23]), lookahead, 5, 2)][1:]
    among = cut(bounds_of([9, 23, 1]), lookahead, 5, 2)
    assert [a[among.stream == 1].tolist() for a in among][1:] == alone


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=40), st.integers(1, 9), st.none() | st.integers(0, 99))
def test_by_length_groups_have_similar_lengths(lengths, batch_size, seed):
    """Each chunk occurs once. Chunks are sorted by length, so that batches need little padding."""
    chunks = cut(bounds_of(lengths), 0, 1000, 0)
    groups = by_length(chunks, batch_size, None if seed is None else np.random.default_rng(seed))
    assert sorted(k for group in groups for k in group.tolist()) == list(range(len(lengths)))
    assert all(1 <= len(group) <= batch_size for group in groups)
    read = chunks.last - chunks.first
    padded = sum(int((read[group].max() - read[group]).sum()) for group in groups)
    assert padded <= (batch_size - 1) * (max(lengths) - min(lengths))
    assert padding(chunks, batch_size) == pytest.approx(padded / (padded + int(read.sum())))


def test_by_length_order_is_random_and_depends_on_the_seed():
    chunks = cut(bounds_of([5] * 40), 0, 1000, 0)
    orders = [np.concatenate(by_length(chunks, 4, np.random.default_rng(seed))).tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert np.concatenate(by_length(chunks, 4)).tolist() == list(range(40))


def test_chunks_do_not_import_torch():
    code = "import sys, punc.tokens.chunks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=8)
CONTEXTS = st.integers(0, 9)
AHEADS = st.sampled_from([0, 1, 2, 3, 7])


def make(lengths, labels=True, pauses=True):
    """Return a set in which each token, label and pause identifies its slot."""
    n = sum(lengths)
    numbers = np.arange(n)
    return StoreSet((numbers + 2).astype(np.int32), (numbers % 127).astype(np.int8) if labels else None,
                    (numbers / 8).astype(np.float32) if pauses else None, [f"s{i}" for i in range(len(lengths))],
                    np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def steps_of(data, stream, lookahead):
    """Return (token, pause, label) of the steps −lookahead … n − 1 of a stream of n tokens (see `models.base`)."""
    begin, end = int(data.offsets[stream]), int(data.offsets[stream + 1])
    return [(int(data.ids[begin + t + lookahead]) if begin + t + lookahead < end else END,
             float(data.pauses[begin + t]) if t >= 0 and data.pauses is not None else np.nan,
             int(data.labels[begin + t]) if t >= 0 and data.labels is not None else -1)
            for t in range(-lookahead, end - begin)]


def test_batch_to_moves_all_tensors():
    for pauses in (True, False):
        batch = next(stateful(make([5, 3], pauses=pauses), 1, 2, 9))
        moved = batch.to(torch.device("meta"))
        assert {tensor.device.type for tensor in moved[:3] if tensor is not None} == {"meta"}
        assert [tensor is None for tensor in moved[:3]] == [tensor is None for tensor in batch[:3]]
        assert (moved.tokens.shape, moved.labels.dtype, moved.fresh) == (batch.tokens.shape, torch.int64, batch.fresh)
        same_device = batch.to(torch.device("cpu"))
        assert all(a is b for a, b in zip(same_device, batch)), "on the CPU nothing is copied"


def same(batch, expected):
    """Assert that a batch equals `expected`, which contains (token, pause, label) for each step of each row."""
    for found, kind, column in ((batch.tokens, torch.int64, 0), (batch.pauses, torch.float32, 1),
                                (batch.labels, torch.int64, 2)):
        if found is not None:
            assert found.dtype == kind
            np.testing.assert_array_equal(found.numpy(), [[step[column] for step in row] for row in expected])


@settings(max_examples=100, deadline=None)
@given(LENGTHS, AHEADS, st.integers(1, 12), st.integers(1, 7), st.sampled_from([1, 2, 64]), st.booleans(),
       st.integers(0, 3))
def test_stateful_step_by_step(lengths, lookahead, batch_size, bptt, block, pauses, skipped):
    data = make([skipped, *lengths], pauses=pauses)
    data = data._replace(offsets=data.offsets[1:])
    line = [step for stream in range(len(lengths)) for step in steps_of(data, stream, lookahead)]
    with mock.patch.object(punc.training.batching, "GATHERED", block):
        batches = list(stateful(data, lookahead, batch_size, bptt))
    real = max(1, min(batch_size, len(line) // bptt))
    width = -(-len(line) // real)
    line += [(END, np.nan, -1)] * (real * width - len(line))
    rows = [line[i * width:(i + 1) * width] for i in range(real)]
    for number, batch in enumerate(batches):
        same(batch, [row[number * bptt:(number + 1) * bptt] for row in rows])
        assert (batch.pauses is None) == (not pauses)
        assert batch.fresh == (number == 0)
    assert len(batches) == -(-width // bptt)


@settings(max_examples=100, deadline=None)
@given(LENGTHS, AHEADS, st.integers(1, 12), st.integers(1, 7), st.integers(1, 5), st.sampled_from([1, 2, 64]))
def test_stateful_parts_are_the_whole(lengths, lookahead, batch_size, bptt, parts, block):
    data = make(lengths)
    with mock.patch.object(punc.training.batching, "GATHERED", block):
        whole = list(stateful(data, lookahead, batch_size, bptt))
        cut = [list(stateful(data, lookahead, batch_size, bptt, part, parts)) for part in range(parts)]
    _, width = batching_module.stateful_shape(data.offsets, lookahead, batch_size, bptt)
    assert width == sum(b.tokens.shape[1] for b in whole)
    joined = [batch for part in cut for batch in part]
    assert len(joined) == len(whole)
    for found, expected in zip(joined, whole):
        for one, other in zip(found[:3], expected[:3]):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert {len(part) for part in cut} <= {len(whole) // parts, -(-len(whole) // parts)}
    for part in cut:
        assert [batch.fresh for batch in part] == [number == 0 for number in range(len(part))]


@pytest.mark.parametrize("pauses", [True, False])
def test_share_has_its_rows_and_counts_the_slots_of_all(pauses):
    batch = next(stateful(make([7, 4, 9], pauses=pauses), 1, 3, 9))
    for number in (0, 1):
        share = batch.share(number, 2)
        for part, whole in zip(share[:3], batch[:3]):
            assert (part is None) == (whole is None)
            assert part is None or (part.is_contiguous() and np.array_equal(part, whole[number::2], equal_nan=True))
        assert share.fresh == batch.fresh
        assert share.whole == share.slots == int((batch.labels >= 0).sum())


def brute_chunks(lengths, lookahead, size, context):
    """Yield chunks as (stream, first, last, begin, end), with a loop over each stream."""
    for stream, length in enumerate(lengths):
        for begin in range(0, length, size):
            end = min(begin + size, length)
            if lookahead is None:
                yield stream, max(0, begin - context), min(length, end + context), begin, end
            else:
                yield stream, max(0, begin - context) - lookahead, end, begin, end


@settings(max_examples=100, deadline=None)
@given(LENGTHS, st.none() | AHEADS, st.integers(1, 12), CONTEXTS)
def test_cut_and_gather_step_by_step(lengths, lookahead, size, context):
    data = make(lengths)
    chunks = cut(data.offsets, lookahead, size, context)
    found = [tuple(map(int, chunk)) for chunk in zip(*chunks)]
    assert found == list(brute_chunks(lengths, lookahead, size, context))
    ahead = lookahead or 0
    for group in by_length(chunks, 3):
        batch, expected = gather(data, chunks, group, lookahead), []
        for k in group:
            stream, first, last, begin, end = (int(a[k]) for a in chunks)
            row = steps_of(data, stream, ahead)[first + ahead:last + ahead]
            expected.append([(token, pause, label if begin <= first + i < end else -1)
                             for i, (token, pause, label) in enumerate(row)])
        longest = max(map(len, expected))
        same(batch, [row + [(END, np.nan, -1)] * (longest - len(row)) for row in expected])
        assert batch.fresh


@pytest.mark.parametrize("lookahead", [None, 1])
def test_batches_without_labels_and_pauses(lookahead):
    data = make([3, 2], labels=False, pauses=False)
    chunks = cut(data.offsets, lookahead, 8, 0)
    batches = [gather(data, chunks, group, lookahead) for group in by_length(chunks, 2)]
    batches += stateful(data, lookahead or 0, 2, 2)
    assert all(b.pauses is None and bool((b.labels == -1).all()) for b in batches)


# Characters of the streams "ab c" and "abcde", with a slot after each word.
DATA = StoreSet(np.arange(2, 11, dtype=np.int32), np.array([-1, 1, -1, 2, -1, -1, -1, -1, 0], np.int8), None,
                ["a", "b"], np.array([0, 4, 9]))


@pytest.mark.parametrize(("batching", "lookahead"), [("chunks", 2), ("chunks", None), ("stateful", 2)])
def test_loss_on_tokens_gives_each_token_a_label(batching, lookahead):
    labels = {}
    for loss_on in ("slots", "tokens"):
        options = TrainingOptions(batching=batching, batch_size=2, bptt=3, chunk_size=3, context=1, loss_on=loss_on)
        model = SimpleNamespace(lookahead=lookahead, reads_turns=False, labels=["O", "COMMA", "PERIOD"])
        data = training_set(model, DATA, options)
        batches = [*batching_module.epoch_batches(model, data, cut_streams(model, data, options), options, 0)]
        labels[loss_on] = np.concatenate([batch.labels.flatten().numpy() for batch in batches])
        assert count_slots(data) == (labels[loss_on] >= 0).sum() == (3 if loss_on == "slots" else 9)
    slots, tokens = labels["slots"], labels["tokens"]
    assert (tokens[slots >= 0] == slots[slots >= 0]).all()
    assert sorted(tokens[(slots < 0) & (tokens >= 0)]) == [0] * 6


def test_loss_on_slots_is_the_set_itself():
    assert training_set(SimpleNamespace(reads_turns=False), DATA, TrainingOptions()) is DATA


@pytest.mark.parametrize(("fall", "warmup"), [(0.0, 0.5), (0.04, 0.5), (0.04, 1.5), (0.04, 0.0)])
def test_at_rates_rise_in_the_warmup_and_fall(fall, warmup):
    """The expected rates are computed by hand for batches of 4, 0 and 6 slots, in epochs of 10 slots."""
    seen, rate = [], 0.1
    updates = SimpleNamespace(set_learning_rate=seen.append)
    for epoch in range(2):
        batches = (Batch(torch.zeros(1, 8), None, torch.arange(8).unsqueeze(0) - 8 + size) for size in (4, 0, 6))
        assert len([*at_rates(batches, updates, rate, fall, 10, epoch, warmup)]) == 3
        rate -= fall
    done = np.array([[0, 4, 4], [0, 4, 4]]) / 10
    after = np.array([[4, 4, 10], [14, 14, 20]]) / 10
    warm = np.minimum(after / warmup, 1) if warmup else np.ones((2, 3))
    np.testing.assert_allclose(np.reshape(seen, (2, 3)), warm * (np.array([[0.1], [0.1 - fall]]) - fall * done))
