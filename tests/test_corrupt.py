"""`punc corrupt`: words counted, labels as `punc project` puts them, pauses, segments, the seed and errors."""

from collections import Counter

import numpy as np
import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.data.validate import validate
from punc.noise.confusions import Confusions
from punc.scoring.project import project
from punc.timing.align import align_words

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"
CONFUSIONS = Confusions(
    runs=90, slots=Counter(none=800, mark=100), seen=Counter(one=500, two=500), heard=Counter(one=500, won=50, two=450),
    replaced=Counter({("one", ("won",)): 50, ("two", ()): 30, ("two", ("to", "two")): 20}),
    inserted=Counter({("none", ("um",)): 8, ("mark", ("and", "so")): 10}))


@pytest.fixture
def place(tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    CONFUSIONS.write(tmp_path / "confusions.txt")
    rng = np.random.default_rng(1)
    names = ("O", "COMMA", "PERIOD")
    write_data_dir(tmp_path / "in", [
        Utterance(f"{stream}-{i:03}", stream, list(rng.choice(["one", "two", "three"], 30)),
                  [names[k] for k in rng.choice(3, 30, p=(0.8, 0.1, 0.1))], rng.random(30).astype(np.float32))
        for stream in "ab" for i in range(50)])
    return tmp_path


def run(place, *options, out="out"):
    return main(["corrupt", f"--labels={place / 'labels.txt'}", f"--confusions={place / 'confusions.txt'}", *options,
                 f"{place / 'in'}", f"{place / out}"])


def words(path):
    return [word for utterance in DataDir(path).utterances() for word in utterance.words]


def test_corrupt_labels_are_those_of_project(place, capsys):
    assert run(place, "--wer=0.2") == 0
    labels = LabelSet.read(place / "labels.txt")
    done = project(place / "in", place / "out", place / "projected", labels)
    assert (place / "projected" / "punct").read_bytes() == (place / "out" / "punct").read_bytes()
    said = capsys.readouterr().err
    assert f"WER {100 * done.wer:.2f} %" in said
    assert f"{done.moved} moved, {done.merged} merged, {done.lost} lost" in said
    assert done.wer == pytest.approx(0.2, abs=0.04)
    assert done.moved > 5
    assert f": {len(words(place / 'out'))} words, WER" in said
    validate(place / "out", labels)


def test_corrupt_pauses_stay_with_their_words(place):
    assert run(place, "--wer=0.1") == 0
    for (_, before), (_, after) in zip(DataDir(place / "in").streams(), DataDir(place / "out").streams()):
        (old_pauses, old_words), (new_pauses, new_words) = (
            (np.concatenate([u.pauses for u in stream]), [w for u in stream for w in u.words])
            for stream in (before, after))
        assert len(new_pauses) == len(new_words)
        pairs = align_words(old_words, new_words).ref_to_hyp
        paired = pairs >= 0
        same = old_pauses[paired] == new_pauses[pairs[paired]]
        assert same.mean() > 0.85
        # A pause is that of a word, of several that are one now, or it is not known.
        assert np.isnan(new_pauses).any()
        assert np.nansum(new_pauses) <= old_pauses.sum() + 1e-3


def test_corrupt_same_seed_same_directory(place):
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        assert run(place, f"--seed={seed}", out=name) == 0
    texts = [(place / name / "text").read_bytes() for name in ("one", "two", "three")]
    assert texts[0] == texts[1] != texts[2]


def test_corrupt_without_errors_changes_nothing(place):
    assert run(place, "--wer=0") == 0
    for name in ("text", "punct", "utt2spk", "spk2utt"):
        assert (place / "in" / name).read_bytes() == (place / "out" / name).read_bytes()


def test_corrupt_keeps_segments(place):
    utterances = [line.split()[0] for line in (place / "in" / "text").read_text().splitlines()]
    (place / "in" / "segments").write_text("".join(
        f"{name} call {1000 - i}.0 {1000 - i}.9\n" for i, name in enumerate(utterances)))
    (place / "in" / "wav.scp").write_text("call call.wav\n")
    assert run(place) == 0
    assert (place / "out" / "segments").read_bytes() == (place / "in" / "segments").read_bytes()
    validate(place / "out", LabelSet.read(place / "labels.txt"))


@pytest.mark.parametrize(("options", "message"), [
    (["--wer=1"], "it is at least 0 and less than 1"), (["--wer=0.99"], "give no word error rate of 0.99")])
def test_corrupt_impossible_rate_is_an_error(place, capsys, options, message):
    assert run(place, *options) == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1
    assert not (place / "out").exists()


def test_corrupt_needs_labels(place, capsys):
    (place / "in" / "punct").unlink()
    assert run(place) == 1
    assert "in/punct: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(("draws", "share"), [(1, 0.5), (8, 1)])
def test_corrupt_draws_wrong_words_that_fit(tmp_path, draws, share):
    """`red` is heard as `read` or `rat`; only `the read book` is in the text; `rat` is a stream by itself."""
    (tmp_path / "labels.txt").write_text(LABELS)
    confusions = Confusions(runs=100, seen=Counter(red=1000, the=100000, book=100000), heard=Counter(read=1, rat=1),
                            replaced=Counter({("red", ("read",)): 200, ("red", ("rat",)): 200}))
    confusions.write(tmp_path / "confusions.txt")
    text = ["the red book"] * 2000 + ["rat", "the read book"]
    write_data_dir(tmp_path / "in", [Utterance(f"u{i:04}", f"s{i:04}", line.split(), ["O"] * len(line.split()), None)
                                     for i, line in enumerate(text)])
    assert run(tmp_path, "--wer=0.1", f"--draws={draws}") == 0
    heard = Counter(words(tmp_path / "out"))
    assert heard["read"] + heard["rat"] > 100
    assert heard["read"] / (heard["read"] + heard["rat"]) == pytest.approx(share, abs=0.07)


def test_corrupt_draws_below_one_says_so(place, capsys):
    assert run(place, "--draws=0") == 1
    assert "--draws=0" in capsys.readouterr().err
