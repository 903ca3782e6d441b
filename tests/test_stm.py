"""STM: NIST's form, round trips, every kind of mistake, and how sclite reads what we write."""

import os
import random
import re
import shutil
import subprocess
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.project import project
from punc.timing.align import align_words
from punc.timing.ctm import TimedWord, write_ctm
from punc.timing.stm import LABEL, StmSegment, read_stm, write_stm


@pytest.fixture
def stm(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "stm"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
    return write


STM = """\
;; CATEGORY "0" "" ""
talk 1 Jane 0.00 3.50 <o,f0,female> thank you <unk>
talk 1 inter_segment_gap 3.50 5.00 <> ignore_time_segment_in_scoring
talk 1 Jane 5.0 6 <unk> yes
"""


def test_read_stm_nist(stm):
    repairs = Counter()
    assert list(read_stm(stm(STM), repairs)) == [
        StmSegment("talk", "1", "Jane", 0.0, 3.5, "o,f0,female", ["thank", "you", "<unk>"]),
        StmSegment("talk", "1", "Jane", 5.0, 6.0, None, ["<unk>", "yes"])]
    assert repairs == {"segments not to be scored": 1}


@pytest.mark.parametrize(("content", "message"), [
    ("talk 1 Jane 0\n", ":1: 4 columns; write: id channel speaker begin end words"),
    ("talk 1 Jane 0 one\n", ":1: the end 'one' is not a number"),
    ("talk 1 Jane -1 1 a\n", ":1: the begin -1 is negative"),
    ("talk 1 Jane 2 1 a\n", ":1: a segment from 2 to 1 s; fix its times"),
    ("", ": the file is empty; make it again"),
    (b"talk 1 Jane 0 1 \xff\n", ":1: byte 17 is not UTF-8"),
])
def test_read_stm_bad_line(stm, content, message):
    path = stm(content)
    with pytest.raises(InputError) as error:
        list(read_stm(path))
    assert str(error.value).startswith(f"{path}{message}")


names = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), min_size=1).filter(
    lambda name: not name.startswith(";;") and name.lower() != "ignore_time_segment_in_scoring")
micro = st.integers(0, 10**8).map(lambda n: n / 1_000_000)
labels = st.none() | st.sampled_from(["", "o", "o,f0,male", "O,unk,"])


@given(st.lists(st.builds(lambda id, channel, speaker, times, label, words: StmSegment(
    id, channel, speaker, min(times), max(times), label, words), names, names, names, st.tuples(micro, micro), labels,
    st.lists(names)), min_size=1))
def test_write_stm_round_trip(tmp_path_factory, segments):
    path = tmp_path_factory.mktemp("stm") / "stm"
    if any(s.label is None and s.words and LABEL.fullmatch(s.words[0]) for s in segments):
        with pytest.raises(ValueError, match="would be a label"):
            write_stm(path, segments)
        assert not path.exists()
    else:
        write_stm(path, segments)
        assert list(read_stm(path)) == segments


def test_write_stm_form(tmp_path):
    write_stm(tmp_path / "stm", [StmSegment("r", "1", "s", 0, 1.25, "o,f0,male", ["a", "b"]),
                                 StmSegment("r", "1", "s", 2, 3.123456, None, [])])
    assert (tmp_path / "stm").read_text() == "r 1 s 0.00 1.25 <o,f0,male> a b\nr 1 s 2.00 3.123456\n"


# sclite

SCLITE = shutil.which("sclite", path=os.environ["PATH"] + ":/usr/lib/sctk/bin")  # the latter is Debian's place


def sclite(place, pairs):
    """sclite's counts (words, correct, substitutions, deletions, insertions) of (reference, hypothesis) pairs.

    Each pair is a segment of 100 s, ten segments a recording; its hypothesis' words are spread over the segment.
    """
    segments, timed = [], []
    for i, (ref, hyp) in enumerate(pairs):
        id, start, step = f"r{i // 10:03}", 100 * (i % 10), 100 / (len(hyp) + 1)
        segments.append(StmSegment(id, "1", f"{id}-s", start, start + 100, "o", list(ref)))
        timed += [TimedWord(id, "1", start + k * step, step * 0.9, word, 0.5) for k, word in enumerate(hyp)]
    write_stm(place / "ref.stm", segments)
    write_ctm(place / "hyp.ctm", timed)
    files = ["-r", place / "ref.stm", "stm", "-h", place / "hyp.ctm", "ctm"]
    result = subprocess.run([SCLITE, "-s", "-e", "utf-8", *files, "-o", "rsum", "stdout"], text=True,
                            capture_output=True, timeout=60)
    total = re.search(r"\| Sum +\| +(\d+) +(\d+) +\| +(\d+) +(\d+) +(\d+) +(\d+) ", result.stdout)
    assert total, result.stdout + result.stderr
    assert int(total[1]) == len(pairs)
    return tuple(map(int, total.groups()[1:]))


def ours(pairs):
    alignments = [align_words(ref, hyp) for ref, hyp in pairs]
    return tuple(sum(column) for column in zip(*(
        (len(a.ref_to_hyp), a.correct, a.substitutions, a.deletions, a.insertions) for a in alignments)))


needs_sclite = pytest.mark.skipif(not SCLITE, reason="no sclite here (on Debian: apt-get install sctk)")


@needs_sclite
@pytest.mark.parametrize(("ref", "hyp", "counts"), [
    ("a b c", "a b c", (3, 3, 0, 0, 0)),
    ("a b c", "a x c", (3, 2, 1, 0, 0)),
    ("a b c", "a c", (3, 2, 0, 1, 0)),
    ("a c", "a b c", (2, 2, 0, 0, 1)),
    ("a b c d", "b c d e", (4, 3, 0, 1, 1)),
    ("a b c", "x", (3, 0, 1, 2, 0)),
    ("a", "x y z", (1, 0, 1, 0, 2)),
    ("the the the", "the the", (3, 2, 0, 1, 0)),
    ("Ja ja", "ja ja", (2, 1, 1, 0, 0)),
    ("så är été 今日は", "så ar été 今日は", (4, 3, 1, 0, 0)),
])
def test_sclite_counts_as_we_do(tmp_path, ref, hyp, counts):
    pairs = [(ref.split(), hyp.split())]
    assert sclite(tmp_path, pairs) == ours(pairs) == counts


def recognised(words, vocabulary, rate, rng):
    """Words as ASR with about this error rate writes them."""
    hyp = []
    for word in words:
        kind = rng.random() / rate
        hyp += [] if kind < 0.3 else [rng.choice(vocabulary)] if kind < 0.8 else [word]
        hyp += [rng.choice(vocabulary)] if rng.random() < 0.2 * rate else []
    return hyp or [words[0]]


@needs_sclite
@pytest.mark.parametrize("rate", [0.05, 0.15, 0.3])
def test_sclite_agrees_on_text_with_errors(tmp_path, rate):
    rng = random.Random(7)
    vocabulary = [f"w{n}" for n in range(500)]
    refs = [rng.choices(vocabulary, k=rng.randint(1, 60)) for _ in range(100)]
    pairs = [(ref, recognised(ref, vocabulary, rate, rng)) for ref in refs]
    # Of alignments with equally many errors, sclite takes the one with fewer substitutions; the sum is the same.
    (words, _, *errors), (sclite_words, _, *sclite_errors) = ours(pairs), sclite(tmp_path, pairs)
    assert (words, sum(errors)) == (sclite_words, sum(sclite_errors))
    # The same words as data directories, each pair a stream; punc project gives the same WER.
    for name, side in (("ref", 0), ("hyp", 1)):
        write_data_dir(tmp_path / name, (Utterance(f"s{i:03}-1", f"s{i:03}", pair[side], ["O"] * len(pair[side]))
                                         for i, pair in enumerate(pairs)))
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w.\n")
    done = project(tmp_path / "ref", tmp_path / "hyp", tmp_path / "out", LabelSet.read(tmp_path / "labels.txt"))
    assert done.wer == pytest.approx(sum(sclite_errors) / words)


def test_write_stm_first_word_that_looks_like_a_label(tmp_path):
    segment = StmSegment("a", "1", "spk", 0, 1, None, ["<o>", "b"])
    with pytest.raises(ValueError, match="'a': the first word, <o>, would be a label"):
        write_stm(tmp_path / "stm", [segment])
    write_stm(tmp_path / "stm", [segment._replace(label="x"), segment._replace(words=["b", "<o>"])])
    assert (tmp_path / "stm").read_text() == "a 1 spk 0.00 1.00 <x> <o> b\na 1 spk 0.00 1.00 b <o>\n"
