"""Parts of streams: every slot once and in order, with whole pieces of the stream around it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punc import parts
from punc.datadir import DataDir, Utterance, write_data_dir
from punc.units import Words
from punc.vocabulary import Coding, Vocabulary


class Numbers:
    """Words that are the numbers of their tokens."""

    ends_with_end = False

    def encode(self, words):
        return Coding(np.array(words, np.int32), np.arange(len(words)), 0)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 20))
def test_parts_have_what_their_slots_need(lengths, piece, context):
    total, places = sum(lengths), np.cumsum([0, *lengths])
    slots = np.split(np.arange(total), places[1:-1])
    utterances = [Utterance(str(i), "s", list(map(str, of_this)), None, of_this.astype(np.float32))
                  for i, of_this in enumerate(slots)]
    before, parts.GROUP = parts.GROUP, 100
    try:
        found = list(parts.parts(utterances, Numbers(), piece, context))
    finally:
        parts.GROUP = before
    assert [u.id for part in found for u in part.utterances] == [u.id for u in utterances]
    given_out = [part.ids[part.slots] for part in found]
    np.testing.assert_array_equal(np.concatenate(given_out), np.arange(total))
    for part in filter(lambda part: len(part.slots), found):
        np.testing.assert_array_equal(part.pauses, part.ids)
        np.testing.assert_array_equal(part.ids, np.arange(part.ids[0], part.ids[0] + len(part.ids)))
        first, last = part.ids[part.slots[0]] // piece * piece, -(-(part.ids[part.slots[-1]] + 1) // piece) * piece
        assert part.ids[0] % piece == 0, "the pieces are those of the stream"
        assert part.ids[0] <= max(0, first - context)
        assert part.ids[-1] + 1 >= min(total, last + max(piece, context))


def test_groups_are_filled_and_keep_the_order(tmp_path, monkeypatch):
    write_data_dir(tmp_path, (Utterance(f"{i:03}-1", f"{i:03}", ["w"] * 7) for i in range(100)))
    monkeypatch.setattr(parts, "GROUP", 70)
    found = list(parts.groups(DataDir(tmp_path), Words(Vocabulary(["<unk>", "</s>"])), 0, 0))
    assert [len(group) for group in found] == [10] * 10
    assert [part.utterances[0].stream for group in found for part in group] == [f"{i:03}" for i in range(100)]
    # Of streams that are little more than a piece, two pieces each, those that fill the batches are taken.
    found = list(parts.groups(DataDir(tmp_path), Words(Vocabulary(["<unk>", "</s>"])), 5, 2))
    assert {len(group) for group in found} == {7, 100 % 7}
