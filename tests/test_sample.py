"""What the error browser shows, and how it is written."""

from itertools import pairwise

import numpy as np

from punc.data.labels import Label, LabelSet
from punc.results.recognition import recognise
from punc.results.sample import PASSAGE, choose, encode
from punc.results.slot_table import Hypothesis, SlotTable


def test_choose_small_set_is_whole():
    assert choose(np.array([0, 3, 3, 7]), 7) == [(0, 3), (3, 7)]


def test_choose_large_set_stays_in_streams_and_under_the_limit():
    rng = np.random.default_rng(1)
    for sizes in ([100_000, 5, 70_000], [4] * 30_000, [2_000] * 130, [1_000_000], rng.integers(0, 900, 400).tolist()):
        begins = np.cumsum([0, *sizes])
        ranges = choose(begins, 10_000)
        slots = sum(end - begin for begin, end in ranges)
        assert 9_000 < slots <= 10_050  # a slot of each stream at least
        for begin, end in ranges:
            stream = np.searchsorted(begins, begin, side="right") - 1
            assert begin < end <= begins[stream + 1]
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
        assert ranges == choose(begins, 10_000)


def test_choose_wanted_stream_is_whole():
    begins = np.cumsum([0, 5_000, 5_000, 5_000])
    assert (5_000, 10_000) in choose(begins, 100, [1])


def table(slots):
    number = np.arange(slots)
    words = [f"w{i}" for i in number]
    return SlotTable(LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",)))), words, ["s"], np.array([0, slots]),
                     (number % 2).astype(np.int8), np.where(number == 1, np.nan, number / 10).astype(np.float32),
                     np.ones(slots, bool), {
                         "A": Hypothesis(np.zeros(slots, np.int8), np.full((slots, 2), 0.5, np.float32)),
                         "B": Hypothesis(np.ones(slots, np.int8))})


def test_encode_strings_have_the_slots():
    found = table(4)
    found.recognition = recognise([["w0", "x", "w2", "gone", "w3"]], found.words, found.begins)
    assert encode(found, [(1, 4)]) == [{
        "stream": "s", "at": 2, "words": "w1 w2 w3", "ref": "101", "pause": "--0k0u", "hyp": ["000", "111"],
        "post": ["505050", ""], "wrong": {0: "x"}, "missing": {1: "gone"}}]


def test_encode_cuts_passages_and_clips():
    found = table(PASSAGE + 1)
    found.pauses[:2] = 99, 0
    found.hypotheses["A"].posteriors[0] = 1
    first, second = encode(found, [(0, PASSAGE + 1)])
    assert (len(first["ref"]), second["words"]) == (PASSAGE, f"w{PASSAGE}")
    assert (first["pause"][:4], first["post"][0][:2]) == ("zz00", "99")
