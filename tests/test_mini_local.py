"""The synthetic speech of egs/mini: the functions and the script that make it, and the corpus itself.

One test of the script needs flite, sox and pocketsphinx.
"""

import gzip
import os
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import pytest

from punc.timing.align import align_words
from punc.transcripts.ctm import CtmIndex, write_ctm

sys.path.insert(0, str(Path(__file__).parents[1] / "utils"))

from speech import Heard, timed

MINI = Path(__file__).parents[1] / "egs" / "mini"
LOCAL, CORPUS = MINI / "local", MINI / "corpus"
MISSING = [tool for tool in ("flite", "sox") if not shutil.which(tool)]
MISSING += [] if find_spec("pocketsphinx") else ["pocketsphinx"]
TEXT = "We saw it, in time, when he came. Was it late? Not so; it was well after nine in the morning: done!"


@pytest.fixture(scope="module")
def local():
    sys.path.insert(0, str(LOCAL))
    import hesitate
    import make_speech
    import recognise
    import synthesise
    yield {module.__name__: module for module in (hesitate, make_speech, recognise, synthesise)}
    sys.path.remove(str(LOCAL))


@pytest.fixture(scope="module")
def long(local):
    tokens = [local["hesitate"].read_token(token) for _ in range(600) for token in TEXT.split()]
    return tokens, local["hesitate"].say([TEXT] * 600, Random("a"))


def test_say_keeps_all_words(local, long):
    tokens, said = long
    assert [item.word for line in said for item in line if item.word] == [word.lower() for word, _ in tokens]
    assert {item.spoken for line in said for item in line if not item.word} == {"um", "uh"}
    assert local["hesitate"].say([TEXT] * 600, Random("a")) == said
    assert local["hesitate"].say([TEXT] * 600, Random("b")) != said


def test_say_fractions_of_silent_marks_and_hesitations(long):
    tokens, said = long
    spoken = [item for line in said for item in line]
    heard = Counter(item.mark for item in spoken)
    marks = Counter(mark for _, mark in tokens)
    fillers = sum(item.word is None for item in spoken)
    silent = sum(item.mark == "," and not mark for item, mark in
                 zip([item for line in said for item in line if item.word], [mark for _, mark in tokens]))
    assert (heard[","] - fillers - silent) / marks[","] == pytest.approx(3 / 4, abs=0.04)
    assert heard["."] / marks["."] == pytest.approx(19 / 20, abs=0.03)
    assert [heard[mark] for mark in "?!;:"] == [marks[mark] for mark in "?!;:"]
    assert (silent + fillers) / marks[""] == pytest.approx(1 / 40, abs=0.005)
    assert fillers / (silent + fillers) == pytest.approx(1 / 3, abs=0.1)


def test_say_pauses_overlap(long):
    spoken = [item for line in long[1] for item in line]
    assert all((item.pause > 0) == bool(item.mark) for item in spoken)
    comma, period = ([item.pause for item in spoken if item.mark == mark] for mark in ",.")
    assert statistics.median(comma) < statistics.median(period) / 2
    assert statistics.quantiles(comma, n=20)[-1] > statistics.quantiles(period, n=20)[0]


def test_timed_words_as_ctm(local, tmp_path):
    assert local["recognise"].starts([16000, 8000, 160], 16000) == [0.0, 1.0, 1.5, 1.51]
    heard = [Heard("it", 3, 13, 0.98765), Heard("was", 20, 21, 1.0)]
    words = [*timed("a", 0.0, heard, True), *timed("a", 12.34, heard, False)]
    write_ctm(tmp_path / "ctm", words)
    assert (tmp_path / "ctm").read_text() == ("a 1 0.03 0.10 it 0.988\na 1 0.20 0.01 was 1.00\n"
                                              "a 1 12.37 0.10 it\na 1 12.54 0.01 was\n")


def run(*arguments, **environment):
    path = os.pathsep.join([str(Path(sys.executable).parent), str(MINI.parents[1] / "utils"), os.environ["PATH"]])
    return subprocess.run(["bash", LOCAL / "make_speech.sh", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "PATH": path, **environment})


def test_make_speech_missing_tools(tmp_path):
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "grep", "dirname"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    for name in ("quote.sh", "parse_options.sh"):
        (tmp_path / "bin" / name).symlink_to(MINI.parents[1] / "utils" / name)
    done = run(tmp_path, tmp_path / "work", tmp_path / "out", PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert done.stderr.endswith("no flite sox; on Debian and Ubuntu: apt-get install flite sox\n")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' '.join(MISSING)}")
def test_make_speech_repeatable(tmp_path):
    texts, work = tmp_path / "text", tmp_path / "work"
    texts.mkdir()
    (texts / "call-01.txt").write_text("Is Anna Fitzwarrenby there?\nNo, she left an hour ago.\n")
    done = run(texts, work, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    first = {name: (tmp_path / "out" / name).read_bytes() for name in ("ref.ctm.gz", "asr.ctm.gz")}
    rows = [line.split() for line in gzip.decompress(first["ref.ctm.gz"]).decode().splitlines()]
    assert [row[4] for row in rows] == ["is", "anna", "fitzwarrenby", "there", "no", "she", "left", "an", "hour", "ago"]
    begins, durations = ([float(row[column]) for row in rows] for column in (2, 3))
    assert all(begin + duration <= following + 1e-6
               for begin, duration, following in zip(begins, durations, begins[1:]))
    recognised = [line.split() for line in gzip.decompress(first["asr.ctm.gz"]).decode().splitlines()]
    assert all(len(row) == 6 and 0 <= float(row[5]) <= 1 for row in recognised)
    assert {"there", "hour", "ago"} & {row[4] for row in recognised}
    made = (work / "info" / "call-01").stat().st_mtime_ns
    assert run(texts, work, tmp_path / "out").returncode == 0
    assert (work / "info" / "call-01").stat().st_mtime_ns == made
    shutil.rmtree(work)
    assert run(texts, work, tmp_path / "again").returncode == 0
    assert {name: (tmp_path / "again" / name).read_bytes() for name in first} == first


@pytest.fixture(scope="module")
def corpus(local, tmp_path_factory):
    """Return the words and marks of each text of the corpus, and the text's timed words in both CTMs, ref and asr."""
    place, times = tmp_path_factory.mktemp("ctm"), {}
    for kind in ("ref", "asr"):
        (place / kind).write_bytes(gzip.decompress((CORPUS / f"{kind}.ctm.gz").read_bytes()))
        times[kind] = {id: timing().words for id, timing in CtmIndex(place / kind).items()}
    texts = {path.stem: [local["hesitate"].read_token(token) for token in path.read_text().split()]
             for path in (CORPUS / "text").glob("*.txt")}
    return texts, times


def test_corpus_alignment_has_words_of_texts(corpus):
    texts, times = corpus
    assert times["ref"].keys() == times["asr"].keys() == texts.keys()
    for name, tokens in texts.items():
        assert [word.word for word in times["ref"][name]] == [word.lower() for word, _ in tokens], name


def test_corpus_word_error_rate(corpus):
    texts, times = corpus
    alignments = [align_words([word.lower() for word, _ in tokens], [word.word for word in times["asr"][name]])
                  for name, tokens in texts.items()]
    assert 0.08 <= sum(a.distance for a in alignments) / sum(len(a.ref_to_hyp) for a in alignments) <= 0.20


def test_corpus_pauses_overlap(corpus):
    texts, times = corpus
    pauses = {",": [], ".": [], "": []}
    for name, tokens in texts.items():
        words = times["ref"][name]
        for (_, mark), word, following in zip(tokens, words, words[1:]):
            pauses.setdefault(mark, []).append(following.begin - word.begin - word.duration)
    none, comma, period = (np.array(pauses[mark]) for mark in ("", ",", "."))
    assert np.median(none) == pytest.approx(0, abs=1e-6)
    assert 0.1 < np.median(comma) < np.median(period) / 1.5
    # Pauses are ambiguous: some commas and full stops have none, some words without a mark have one, and some commas
    # have longer pauses than some full stops.
    assert (comma < 0.1).mean() > 0.2
    assert (period < 0.1).mean() > 0.02
    assert (none > 0.1).mean() > 0.01
    assert np.quantile(comma, 0.75) > np.quantile(period, 0.15)
