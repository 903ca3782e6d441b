"""Sentences in two sets: what a sentence is, counts by brute force, and texts without those sentences."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.text.repeated import SHOWN, digests, overlap, remove_sentences, sentences

PIECES = st.lists(st.sampled_from(["Yes.", "No, no!", "We go on", "and on?", "Mr. Smith.", "\n", "\n\n", "#speaker A\n",
                                   "今日は。行く。", "(laughs)", "it's 3.30", "…"]), max_size=25)


@pytest.mark.parametrize(("text", "expected"), [
    ("Hello there. Yes! “No.” he said\nand went.", ["hello there", "yes", "no", "he said and went"]),
    ("no mark\n\nnew paragraph\n \nthird", ["no mark", "new paragraph", "third"]),
    ("#speaker A. B.\nHi\n#speaker C\nthere.", ["hi", "there"]),
    ("今日は。行く。", ["今日は", "行く"]),
    ("It costs 3.30, or so… He's in.", ["it costs 3 30 or so", "he's in"]),
    ("...\n!", []), ("", [])])
def test_sentences(text, expected):
    found = list(sentences(text))
    assert [" ".join(one.words) for one in found] == expected
    for one in found:
        assert re.sub(r"\W", "", text[one.begin:one.end].casefold()) == re.sub(r"\W", "", "".join(one.words))


def write(folder, texts):
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text + "\n")
    return sorted(folder.iterdir())


@given(st.lists(PIECES, min_size=1, max_size=3), st.lists(PIECES, min_size=1, max_size=3), st.integers(1, 4))
def test_overlap_brute_force(tmp_path_factory, held_out, training, least):
    folder = tmp_path_factory.mktemp("texts")
    held_out, training = ([" ".join(pieces) for pieces in texts] for texts in (held_out, training))
    ours, theirs = ([one.words for text in texts for one in sentences(text + "\n")] for texts in (held_out, training))
    found = overlap(write(folder / "test", held_out), write(folder / "train", training), least, 1)
    both = [words for words in ours if words in theirs]
    assert (found.sentences, found.words) == (len(ours), sum(map(len, ours)))
    assert found.repeated == (len(both), sum(map(len, both)))
    assert found.long == (sum(len(words) >= least for words in both),
                          sum(len(words) for words in both if len(words) >= least))
    counts = {" ".join(words): theirs.count(words) for words in both}
    assert found.frequent == [(words, counts[words]) for words, _ in found.frequent]
    assert [number for _, number in found.frequent] == sorted(counts.values(), reverse=True)[:SHOWN]


def test_overlap_shows_the_most_frequent(tmp_path):
    texts = [f"Sentence {i}. " * (i + 1) for i in range(20)]
    found = overlap(write(tmp_path / "a", texts), write(tmp_path / "b", texts), 5, 1)
    assert found.frequent == [(f"sentence {i}", i + 1) for i in range(19, 19 - SHOWN, -1)]
    assert found.repeated[0] == found.sentences == 210


@given(PIECES, PIECES)
def test_remove_sentences_keeps_the_others(tmp_path_factory, held_out, training):
    folder = tmp_path_factory.mktemp("texts")
    test, train = write(folder / "test", [" ".join(held_out)]), write(folder / "train", [" ".join(training)])
    before = [one.words for one in sentences(train[0].read_text())]
    other = [one.words for one in sentences(test[0].read_text())]
    removed = remove_sentences(train[0], folder / "out", digests(test, 1), 2)
    after = [one.words for one in sentences((folder / "out").read_text())]
    kept = [words for words in before if len(words) < 2 or words not in other]
    assert after == kept
    assert removed["sentences"] == len(before) - len(kept)
    assert removed["words"] == sum(map(len, before)) - sum(map(len, kept))
    # Lines stay lines, so a line that names a speaker does.
    assert (folder / "out").read_text().count("\n#speaker") == train[0].read_text().count("\n#speaker")


def test_remove_sentences_next_one_stays_apart(tmp_path):
    """A full stop ends a sentence only before a blank, which the removed sentence has in front."""
    train, = write(tmp_path / "train", ["Yes. We go on 今日は。行く。"])
    known = digests(write(tmp_path / "test", ["We go on 今日は。"]), 1)
    remove_sentences(train, tmp_path / "out", known, 2)
    assert [one.words for one in sentences((tmp_path / "out").read_text())] == [["yes"], ["行く"]]


def test_overlap_in_processes(tmp_path):
    ours, theirs = write(tmp_path / "a", ["So it is. No."] * 3), write(tmp_path / "b", ["No. Yes. So it is not."] * 4)
    assert overlap(ours, theirs, 2, 2) == overlap(ours, theirs, 2, 1)
    assert np.all(np.diff(digests(theirs, 2).astype(object)) > 0)
