"""Alignments have as many errors as those of sclite, NIST's scorer, so WERs are equal."""

import os
import random
import re
import shutil
import subprocess

import pytest

from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.project import project
from punc.timing.align import align_words
from punc.timing.pauses import TimedWord
from punc.transcripts.ctm import write_ctm

SCLITE = shutil.which("sclite", path=os.environ["PATH"] + ":/usr/lib/sctk/bin")  # Debian installs it in sctk/bin


def sclite(place, pairs):
    """Return sclite's counts (words, correct, substitutions, deletions, insertions) for (reference, hypothesis) pairs.

    Each pair is a segment of 100 s; a recording has ten segments. The words of the hypothesis are evenly spaced.
    """
    segments, timed = [], []
    for i, (ref, hyp) in enumerate(pairs):
        id, start, step = f"r{i // 10:03}", 100 * (i % 10), 100 / (len(hyp) + 1)
        segments.append(" ".join((id, "1", f"{id}-s", f"{start}.00", f"{start + 100}.00", "<o>", *ref)) + "\n")
        timed += [TimedWord(id, "1", start + k * step, step * 0.9, word, 0.5) for k, word in enumerate(hyp)]
    (place / "ref.stm").write_text("".join(segments))
    write_ctm(place / "hyp.ctm", timed)
    files = ["-r", place / "ref.stm", "stm", "-h", place / "hyp.ctm", "ctm"]
    result = subprocess.run([SCLITE, "-s", "-e", "utf-8", *files, "-o", "rsum", "stdout"], text=True,
                            capture_output=True, timeout=60)
    total = re.search(r"\| Sum +\| +(\d+) +(\d+) +\| +(\d+) +(\d+) +(\d+) +(\d+) ", result.stdout)
    assert total, result.stdout + result.stderr
    assert int(total[1]) == len(pairs)
    return tuple(map(int, total.groups()[1:]))


def ours(pairs):
    counts = []
    for ref, hyp in pairs:
        found = align_words(ref, hyp)
        paired = [(i, j) for i, j in enumerate(found.ref_to_hyp.tolist()) if j >= 0]
        correct = sum(ref[i] == hyp[j] for i, j in paired)
        counts.append((len(ref), correct, len(paired) - correct, len(ref) - len(paired), len(hyp) - len(paired)))
    return tuple(map(sum, zip(*counts)))


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
    """Return the words with random errors; `rate` is approximately the word error rate."""
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
    # Of alignments with equally many errors, sclite prefers those with fewer substitutions, so only sums are compared.
    (words, _, *errors), (sclite_words, _, *sclite_errors) = ours(pairs), sclite(tmp_path, pairs)
    assert (words, sum(errors)) == (sclite_words, sum(sclite_errors))
    for name, side in (("ref", 0), ("hyp", 1)):
        write_data_dir(tmp_path / name, (Utterance(f"s{i:03}-1", f"s{i:03}", pair[side], ["O"] * len(pair[side]))
                                         for i, pair in enumerate(pairs)))
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w.\n")
    done = project(tmp_path / "ref", tmp_path / "hyp", tmp_path / "out", LabelSet.read(tmp_path / "labels.txt"))
    assert done.wer == pytest.approx(sum(sclite_errors) / words)


