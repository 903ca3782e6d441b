"""Spans of streams: every slot once and in order, with whole chunks of the stream around it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.decoding import spans
from punc.tokens.tokenizers.char import SPACE, CharTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, Vocabulary


@given(st.lists(st.lists(st.sampled_from(["a", "bc", "日", "ddddddddd"]), max_size=9), min_size=1, max_size=30),
       st.integers(1, 9), st.integers(0, 20))
def test_spans_of_characters_are_cut_from_the_stream(texts, chunk_size, context):
    """The tokens of the stream are the same wherever it is cut, and only the last one is END."""
    tokenizer = CharTokenizer(Vocabulary(["<unk>", "</s>", "<space>", *"abcd"]))
    utterances = [Utterance(str(i), "s", words, None, np.arange(len(words), dtype=np.float32))
                  for i, words in enumerate(texts)]
    stream, _, _ = tokenizer.encode([word for words in texts for word in words])
    stream[-1:] = END
    before, spans.GROUP = spans.GROUP, 30
    try:
        found = list(spans.spans(utterances, tokenizer, chunk_size, context))
    finally:
        spans.GROUP = before
    assert [u.id for span in found for u in span.utterances] == [u.id for u in utterances]
    words = done = 0
    for span in found:
        slots = span.slots
        assert len(slots) == sum(len(u.words) for u in span.utterances)
        if not len(slots):
            continue
        words += len(slots)
        at_slots = np.flatnonzero((stream == SPACE) | (stream == END))[words - len(slots):words]
        start = at_slots[0] - slots[0]  # where the span begins in the stream
        assert (slots + start).tolist() == at_slots.tolist()
        assert start % chunk_size == 0
        assert start <= max(0, done // chunk_size * chunk_size - context)
        np.testing.assert_array_equal(span.ids, stream[start:start + len(span.ids)])
        assert np.flatnonzero(~np.isnan(span.pauses)).tolist() == np.flatnonzero(
            (span.ids == SPACE) | (span.ids == END)).tolist()
        np.testing.assert_array_equal(span.pauses[slots], [p for u in span.utterances for p in u.pauses])
        done = at_slots[-1] + 1
        assert start + len(span.ids) >= min(len(stream), -(-done // chunk_size) * chunk_size + max(chunk_size, context))
    assert words == sum(map(len, texts))


def test_span_groups_are_filled_and_keep_the_order(tmp_path, monkeypatch):
    write_data_dir(tmp_path, (Utterance(f"{i:03}-1", f"{i:03}", ["w"] * 7) for i in range(100)))
    monkeypatch.setattr(spans, "GROUP", 70)
    found = list(spans.span_groups(DataDir(tmp_path), WordTokenizer(Vocabulary(["<unk>", "</s>"])), 0, 0))
    assert [len(group) for group in found] == [10] * 10
    assert [span.utterances[0].stream for group in found for span in group] == [f"{i:03}" for i in range(100)]
    # Each stream is a little longer than a chunk, so it has two; a group has the streams that fill the batches.
    found = list(spans.span_groups(DataDir(tmp_path), WordTokenizer(Vocabulary(["<unk>", "</s>"])), 5, 2))
    assert {len(group) for group in found} == {7, 100 % 7}
