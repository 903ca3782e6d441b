"""Parts of streams: every slot once and in order, with whole pieces of the stream around it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.decoding import segments
from punc.tokens.tokenizer import Encoding
from punc.tokens.tokenizers.char import SPACE, CharTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, Vocabulary


class Numbers:
    """Words that are the numbers of their tokens."""

    ends_with_end = False

    def encode(self, words):
        return Encoding(np.array(words, np.int32), np.arange(len(words)), 0)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 20))
def test_parts_have_what_their_slots_need(lengths, chunk_size, context):
    total, places = sum(lengths), np.cumsum([0, *lengths])
    slots = np.split(np.arange(total), places[1:-1])
    utterances = [Utterance(str(i), "s", list(map(str, of_this)), None, of_this.astype(np.float32))
                  for i, of_this in enumerate(slots)]
    before, segments.GROUP = segments.GROUP, 100
    try:
        found = list(segments.parts(utterances, Numbers(), chunk_size, context))
    finally:
        segments.GROUP = before
    assert [u.id for part in found for u in part.utterances] == [u.id for u in utterances]
    given_out = [part.ids[part.slots] for part in found]
    np.testing.assert_array_equal(np.concatenate(given_out), np.arange(total))
    for part in filter(lambda part: len(part.slots), found):
        np.testing.assert_array_equal(part.pauses, part.ids)
        np.testing.assert_array_equal(part.ids, np.arange(part.ids[0], part.ids[0] + len(part.ids)))
        first, last = part.ids[part.slots[0]] // chunk_size * chunk_size, -(-(part.ids[part.slots[-1]] + 1) // chunk_size) * chunk_size
        assert part.ids[0] % chunk_size == 0, "the pieces are those of the stream"
        assert part.ids[0] <= max(0, first - context)
        assert part.ids[-1] + 1 >= min(total, last + max(chunk_size, context))


@given(st.lists(st.lists(st.sampled_from(["a", "bc", "日", "ddddddddd"]), max_size=9), min_size=1, max_size=30),
       st.integers(1, 9), st.integers(0, 20))
def test_parts_of_characters_are_those_of_the_stream(texts, chunk_size, context):
    """The stream in tokens is the same wherever it is cut, and END is at its end only."""
    tokenizer = CharTokenizer(Vocabulary(["<unk>", "</s>", "<space>", *"abcd"]))
    utterances = [Utterance(str(i), "s", words, None, np.arange(len(words), dtype=np.float32))
                  for i, words in enumerate(texts)]
    stream, _, _ = tokenizer.encode([word for words in texts for word in words])
    stream[-1:] = END
    before, segments.GROUP = segments.GROUP, 30
    try:
        found = list(segments.parts(utterances, tokenizer, chunk_size, context))
    finally:
        segments.GROUP = before
    assert [u.id for part in found for u in part.utterances] == [u.id for u in utterances]
    words = done = 0
    for part in found:
        slots = part.slots
        assert len(slots) == sum(len(u.words) for u in part.utterances)
        if not len(slots):
            continue
        words += len(slots)
        at_slots = np.flatnonzero((stream == SPACE) | (stream == END))[words - len(slots):words]
        start = at_slots[0] - slots[0]  # where the part begins in the stream
        assert (slots + start).tolist() == at_slots.tolist()
        assert start % chunk_size == 0
        assert start <= max(0, done // chunk_size * chunk_size - context)
        np.testing.assert_array_equal(part.ids, stream[start:start + len(part.ids)])
        assert np.flatnonzero(~np.isnan(part.pauses)).tolist() == np.flatnonzero(
            (part.ids == SPACE) | (part.ids == END)).tolist()
        np.testing.assert_array_equal(part.pauses[slots], [p for u in part.utterances for p in u.pauses])
        done = at_slots[-1] + 1
        assert start + len(part.ids) >= min(len(stream), -(-done // chunk_size) * chunk_size + max(chunk_size, context))
    assert words == sum(map(len, texts))


def test_groups_are_filled_and_keep_the_order(tmp_path, monkeypatch):
    write_data_dir(tmp_path, (Utterance(f"{i:03}-1", f"{i:03}", ["w"] * 7) for i in range(100)))
    monkeypatch.setattr(segments, "GROUP", 70)
    found = list(segments.groups(DataDir(tmp_path), WordTokenizer(Vocabulary(["<unk>", "</s>"])), 0, 0))
    assert [len(group) for group in found] == [10] * 10
    assert [part.utterances[0].stream for group in found for part in group] == [f"{i:03}" for i in range(100)]
    # Of streams that are little more than a piece, two pieces each, those that fill the batches are taken.
    found = list(segments.groups(DataDir(tmp_path), WordTokenizer(Vocabulary(["<unk>", "</s>"])), 5, 2))
    assert {len(group) for group in found} == {7, 100 % 7}
