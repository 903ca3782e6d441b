"""Confusions: regions counted by hand, burst in closed form, the file read back, and broken files."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.noise.confusions import HEADER, LONGEST, Confusions, add_stream, read_confusions, replacements

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"


def counted(spoken, heard):
    """The confusions of a text in which `.` after a word is a mark, and how many words were left out."""
    found = Confusions()
    words = spoken.split()
    left_out = add_stream(found, [word.rstrip(".") for word in words], heard.split(),
                          np.array([word.endswith(".") for word in words]))
    return found, left_out


def test_add_stream_counts_each_kind():
    found, left_out = counted("we saw it. then he left early with 100,000 people. yes",
                              "we so it and then he early with hundred thousand people yes")
    assert left_out == 0
    assert found.replaced == {("saw", ("so",)): 1, ("left", ()): 1, ("100,000", ("hundred", "thousand")): 1}
    assert found.inserted == {("mark", ("and",)): 1}
    assert found.runs == 3
    assert found.slots == {"mark": 2, "none": 2}  # it-then and people-yes; then-he and early-with
    assert found.seen.total() == 11
    assert found.heard.total() == 12
    assert found.wer == (1 + 1 + 2 + 1) / 11


def test_add_stream_leaves_long_regions_out():
    other = " ".join(f"x{i}" for i in range(LONGEST + 1))
    found, left_out = counted(f"a b {other} c d", "a b c d")
    assert (left_out, found.seen, found.runs) == (LONGEST + 1, Counter("abcd"), 0)
    found, left_out = counted("a b c d", f"a b {other} c d")
    assert (left_out, found.heard, found.inserted) == (0, Counter("abcd"), {})


@pytest.mark.parametrize(("words", "output", "expected"), [
    (1, "x", [("x",)]), (2, "x y", [("x",), ("y",)]), (2, "x", [("x",), ()]), (3, "", [(), (), ()]),
    (1, "x y z", [("x", "y", "z")]), (2, "x y z", [("x", "y"), ("z",)])])
def test_replacements_follow_the_pairing_rule(words, output, expected):
    assert replacements(words, output.split()) == expected


def test_burst_is_that_of_a_chain():
    """Of a chain that copies with probability b, and is wrong with probability m else."""
    rng, n, b, m = np.random.default_rng(1), 200_000, 0.3, 0.1
    wrong = rng.random(n) < m
    copied = rng.random(n) < b
    copied[0] = False
    wrong = wrong[np.maximum.accumulate(np.where(copied, 0, np.arange(n)))]
    runs = int((wrong & ~np.append(False, wrong[:-1])).sum())
    found = Confusions(runs, seen=Counter(a=n), replaced=Counter({("a", ()): int(wrong.sum())}))
    assert found.burst == pytest.approx(b, abs=0.01)
    assert Confusions().burst == 0


WORD = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=4)
COUNTS = st.integers(1, 10**9)
SOME = st.lists(WORD, max_size=3).map(tuple)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 9), st.dictionaries(WORD, COUNTS), st.dictionaries(st.tuples(WORD, SOME), COUNTS, max_size=5),
       st.dictionaries(st.tuples(st.sampled_from(["none", "mark"]), SOME.filter(len)), COUNTS, max_size=5))
def test_read_confusions_reads_what_was_written(tmp_path_factory, runs, heard, replaced, inserted):
    path = tmp_path_factory.mktemp("confusions") / "confusions.txt"
    seen = Counter({"a": 1})
    for (word, _), count in replaced.items():
        seen[word] += count
    found = Confusions(runs, Counter(mark=3), seen, Counter(heard), Counter(replaced), Counter(inserted))
    found.write(path)
    assert read_confusions(path) == found


@pytest.mark.parametrize(("text", "message"), [
    ("", "no word was seen"), ("other\n", ":1: the first line"), (f"{HEADER}\nseen\t1\n", ":2: not a count"),
    (f"{HEADER}\nseen\tx\ta\n", ":2: not a count"), (f"{HEADER}\nseen\t-1\ta\n", ":2: not a count"),
    (f"{HEADER}\nseen\t{10**400}\ta\n", ":2: not a count"),
    (f"{HEADER}\nother\t1\ta\n", ":2: not a count"), (f"{HEADER}\nslots\t1\tcomma\n", ":2: not a count"),
    (f"{HEADER}\ninserted\t1\tmark\t\n", ":2: not a count"), (f"{HEADER}\nruns\t1\tx\n", ":2: not a count"),
    (f"{HEADER}\nseen\t1\ta\nreplaced\t2\ta\tb\n", "'a' was wrong more often"),
])
def test_read_confusions_broken_file_raises(tmp_path, text, message):
    (tmp_path / "c").write_text(text)
    with pytest.raises(InputError) as error:
        read_confusions(tmp_path / "c")
    assert message in str(error.value)


def test_read_confusions_counts_of_nothing_are_left_out(tmp_path):
    """A file that was edited; a row whose weights add up to 0 would have no probabilities."""
    (tmp_path / "c").write_text(f"{HEADER}\nslots\t9\tmark\nseen\t9\ta\nseen\t0\tb\n"
                                "replaced\t0\ta\tb\ninserted\t0\tmark\tand\n")
    found = read_confusions(tmp_path / "c")
    assert (dict(found.seen), dict(found.replaced), dict(found.inserted)) == ({"a": 9}, {}, {})


def test_confusions_command(tmp_path, capsys):
    (tmp_path / "labels.txt").write_text(LABELS)
    write_data_dir(tmp_path / "ref", [Utterance("a-1", "a", ["so", "we", "saw", "it"], ["O", "O", "O", "PERIOD"]),
                                      Utterance("a-2", "a", ["yes", "please"], ["COMMA", "PERIOD"])])
    write_data_dir(tmp_path / "asr", [Utterance("a-1", "a", ["so", "we", "so", "it", "and", "yes", "please"])])

    def learn(*paths):
        return main(["confusions", f"--labels={tmp_path / 'labels.txt'}", *(f"{tmp_path / p}" for p in paths)])

    assert learn("ref", "asr", "c.txt") == 0
    assert "6 reference words, WER 33.33 %: 1 substituted, 0 deleted, 1 insertions" in capsys.readouterr().err
    assert read_confusions(tmp_path / "c.txt").inserted == {("mark", ("and",)): 1}
    assert learn("ref", "c.txt") == 1
    assert "give pairs" in capsys.readouterr().err
    assert learn("asr", "asr", "d.txt") == 1
    assert "the reference needs labels" in capsys.readouterr().err
    assert not (tmp_path / "d.txt").exists()
