"""Pictures of labels: counts of known labels; a picture is written whole, or one line says why there is none."""

import numpy as np
import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.results.label_plots import LONGEST, count_labels, describe
from punc.results.plots import available

needs_matplotlib = pytest.mark.skipif(not available(), reason="matplotlib is an extra")
ROWS = [Utterance("a-1", "a", [*"wxyz"], ["O", "COMMA", "O", "O"]), Utterance("a-2", "a", ["w"], ["PERIOD"]),
        Utterance("b-1", "b", ["w"] * 101, ["O"] * 99 + ["PERIOD", "O"])]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """`data`, a directory without pauses, and labels.txt."""
    monkeypatch.chdir(tmp_path)
    write_data_dir(tmp_path / "data", ROWS)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n")
    return tmp_path / "data"


def test_count_labels_and_lengths(data):
    counts = count_labels(DataDir(data), LabelSet.read("labels.txt"))
    assert counts.slots == {"O": 103, "COMMA": 1, "PERIOD": 2, "QUESTION": 0}
    lengths = {length: number for length, number in enumerate(counts.lengths.tolist()) if number}
    assert lengths == {2: 1, 3: 1, LONGEST: 1}
    assert describe("data", counts) == (
        "data: 106 slots, COMMA 0.9 %, PERIOD 1.9 %, QUESTION 0.0 %, a mark after 3 words (median)")


def test_describe_without_marks(data):
    write_data_dir("none", [Utterance("a-1", "a", ["w"], ["O"])])
    counts = count_labels(DataDir("none"), LabelSet.read("labels.txt"))
    assert describe("none", counts) == "none: 1 slots, COMMA 0.0 %, PERIOD 0.0 %, QUESTION 0.0 %"
    assert not np.any(counts.lengths)


@needs_matplotlib
def test_plot_labels_writes_picture(data, tmp_path):
    assert main(["plot-labels", "--labels", "labels.txt", "--title", "Both", "data", "data", "out.png"]) == 0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_plot_labels_without_matplotlib_prints_the_lines(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("punc.bin.plot_labels.available", lambda: False)
    assert main(["plot-labels", "--labels", "labels.txt", "data", "out.png"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("punc plot-labels: data: 106 slots, COMMA 0.9 %")
    assert lines[1:] == ["punc plot-labels: no out.png: matplotlib is not installed; pip install 'punc-toolkit[plot]'"]


@pytest.mark.parametrize(("labels", "message"), [
    ("O w\nCOMMA w, ,\n", "data/punct: label 'PERIOD', which is not in the label set; "),
    (None, "none/punct: no such file; ")])
def test_plot_labels_wrong_input_is_one_line(data, tmp_path, capsys, labels, message):
    write_data_dir("none", [Utterance("a-1", "a", ["w"])])
    if labels:
        (tmp_path / "labels.txt").write_text(labels)
    assert main(["plot-labels", "--labels", "labels.txt", "data" if labels else "none", "out.png"]) == 1
    assert capsys.readouterr().err.startswith(f"punc plot-labels: {message}")
