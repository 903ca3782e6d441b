"""Histograms of posteriors, from post.ark to LABEL.AUPRC of a score."""

import kaldiio
import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.posteriors import BINS, Posteriors, bins_of


@pytest.fixture
def work(tmp_path, monkeypatch):
    """ref; exp/S/decode: 12 streams of 4 words with posteriors; labels.txt."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    rng, matrices = np.random.default_rng(1), {}
    sides = {"ref": [], "exp/S/decode": []}
    for i in range(12):
        id = f"u{i:02}"
        matrices[id] = rng.dirichlet([1, 1, 1], 4).astype(np.float32)
        for name, labels in (("ref", rng.integers(0, 3, 4)), ("exp/S/decode", matrices[id].argmax(1))):
            sides[name].append(Utterance(id, id, list("abcd"), [("O", "COMMA", "PERIOD")[j] for j in labels]))
    for name, utterances in sides.items():
        write_data_dir(name, utterances)
    kaldiio.save_ark("exp/S/decode/post.ark", matrices)
    return tmp_path


def score(*options, out="score"):
    return main(["score", "--labels", "labels.txt", "--replicates", "20", *options, "ref", "exp/S/decode", out])


def area(path="score"):
    return next(line.split("\t")[1:] for line in open(f"{path}/metrics.tsv") if line.startswith("COMMA.AUPRC"))


def test_score_has_the_area_under_the_curve(work):
    assert score() == 0
    value, *bounds = area()
    assert 0 < float(value) < 100
    assert [bound.strip() for bound in bounds] == ["nan", "nan"]
    (work / "exp/S/decode/post.ark").unlink()
    assert score() == 0
    assert "AUPRC" not in (work / "score/metrics.tsv").read_text()


def test_posteriors_of_other_labels_are_left_out(work):
    LabelSet.read("labels.txt")
    (work / "exp/S/labels.txt").write_text("O w\nPERIOD w. .\nCOMMA w, ,\n")
    assert Posteriors.of("exp/S/decode", LabelSet.read("labels.txt")) is None
    assert Posteriors.of("ref", LabelSet.read("labels.txt")) is None


def test_posteriors_of_other_slots_raise(work):
    found = Posteriors.of("exp/S/decode", LabelSet.read("labels.txt"))
    with pytest.raises(InputError, match=r"post\.ark: no posteriors of the 3 slots of 'u00'"):
        found.add([Utterance("u00", "u00", list("abc"), ["O"] * 3)], np.zeros(3, int), np.ones(3, bool))


def test_bins_are_in_the_order_of_probabilities():
    values = np.array([0, 1e-30, 1e-6, 0.3, 0.5, 0.999, 1 - 1e-7, 1], np.float32)
    bins = bins_of(values)
    assert (np.diff(bins) >= 0).all()
    assert (bins[0], bins[4], bins[-1]) == (0, BINS // 2, BINS - 1)
    assert len(set(bins.tolist())) == 7  # only the first two are one
