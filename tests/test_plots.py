"""Figures: what is drawn, complete image files, an error of one line if nothing can be drawn, and SVG inside a page."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import kaldiio
import numpy as np
import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.results.figures import MOST_WORDS, TEXT, count_labels, describe_labels, draw, styles

pytest.importorskip("matplotlib")
LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"


@pytest.fixture
def data(tmp_path):
    utterances = [Utterance("a-1", "a", ["so", "it", "is"], ["O", "COMMA", "PERIOD"], np.array([0, 0.2, np.nan], "f")),
                  Utterance("a-2", "a", ["no"], ["PERIOD"], np.array([2.5], "f"))]
    write_data_dir(tmp_path / "data", utterances)
    decode = tmp_path / "exp" / "decode"
    decode.mkdir(parents=True)
    (tmp_path / "exp" / "labels.txt").write_text(LABELS)
    matrices = {u.id: np.eye(3, dtype="f")[:len(u.words)] for u in utterances}
    with open(decode / "post.ark", "wb") as file:
        kaldiio.save_ark(file, matrices)
    return tmp_path / "data"


@pytest.mark.parametrize("options", [[], ["--decode=exp/decode", "--thresholds=0.1 0.5"]])
def test_plot_pauses_writes_picture(data, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    assert main(["plot-pauses", "--title=Both", *options, "data", "out.png"]) == 0
    picture = (tmp_path / "out.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 10_000


def test_plots_without_matplotlib_say_so(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    out = str(tmp_path / "out.png")
    assert main(["plot-pauses", str(data), out]) == 0
    assert main(["plot-labels", "--labels", str(tmp_path / "exp/labels.txt"), str(data), out]) == 0
    missing = f"no {out}: matplotlib is not installed; pip install 'punc-toolkit[plot]'"
    assert capsys.readouterr().err.splitlines() == [
        f"punc plot-pauses: {missing}",
        "punc plot-labels: data: 4 slots, COMMA 25.0 %, PERIOD 50.0 %, a mark after 1 words (median)",
        f"punc plot-labels: {missing}"]
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize(("options", "message"), [
    (["--thresholds=soon", "data", "o.png"], "are not numbers; write seconds"),
    (["--decode=nowhere", "data", "o.png"], "nowhere/post.ark: no such file; punctuate with --posteriors"),
    (["--decode=exp/decode", "other", "o.png"], "the slots differ from those of 'a-1' in other; punctuate "
     "that directory"),
    (["bare", "o.png"], "bare/pauses.scp: no such file; pauses are needed"),
])
def test_plot_pauses_wrong_input_is_one_line(data, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    write_data_dir("other", [Utterance("a-1", "a", ["so"], ["O"], np.array([0], "f"))])
    write_data_dir("bare", [Utterance("a-1", "a", ["so"], ["O"])])
    assert main(["plot-pauses", *options]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "o.png").exists()


ROWS = [Utterance("a-1", "a", [*"wxyz"], ["O", "COMMA", "O", "O"]), Utterance("a-2", "a", ["w"], ["PERIOD"]),
        Utterance("b-1", "b", ["w"] * 101, ["O"] * 99 + ["PERIOD", "O"])]


@pytest.fixture
def labelled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_data_dir(tmp_path / "data", ROWS)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n")
    return tmp_path / "data"


def test_count_labels_and_lengths(labelled):
    counts = count_labels(DataDir(labelled), LabelSet.read("labels.txt"))
    assert counts.slots == {"O": 103, "COMMA": 1, "PERIOD": 2, "QUESTION": 0}
    lengths = {length: number for length, number in enumerate(counts.lengths.tolist()) if number}
    assert lengths == {2: 1, 3: 1, MOST_WORDS: 1}
    assert describe_labels("data", counts) == (
        "data: 106 slots, COMMA 0.9 %, PERIOD 1.9 %, QUESTION 0.0 %, a mark after 3 words (median)")


def test_plot_labels_writes_picture(labelled, tmp_path):
    assert main(["plot-labels", "--labels", "labels.txt", "data", "data", "out.png"]) == 0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [r"$\\frac$", "$x", "a$b$c"])
def test_dollars_in_names_are_not_mathematics(labelled, tmp_path, name):
    (tmp_path / "data").rename(tmp_path / name)
    assert main(["plot-labels", "--labels", "labels.txt", name, "out.png"]) == 0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("labels", "message"), [
    ("O w\nCOMMA w, ,\n", "data/punct: utterance 'a-2' has label 'PERIOD', which is not in the label set; "),
    (None, "none/punct: no such file; ")])
def test_plot_labels_wrong_input_is_one_line(labelled, tmp_path, capsys, labels, message):
    write_data_dir("none", [Utterance("a-1", "a", ["w"])])
    if labels:
        (tmp_path / "labels.txt").write_text(labels)
    assert main(["plot-labels", "--labels", "labels.txt", "data" if labels else "none", "out.png"]) == 1
    assert capsys.readouterr().err.startswith(f"punc plot-labels: {message}")


@pytest.mark.parametrize(("titles", "settings"), [
    (["loss", "rate"], {"logarithmic": ["rate"], "xlabel": "epoch"}), (["COMMA"], {"markers": False}),
    ([""], {"diagonal": True}), ([""], {"ticks": ["none", "from 1"], "ylabel": "F1 [%]"})])
def test_draw_is_svg_with_its_texts(titles, settings):
    curves = {title: {"<A>": ([0, 1], [50.0, np.nan]), "not drawn": ([0], [1])} for title in titles}
    svg = draw(curves, styles(["<A>"]), "name", **settings)
    found = {element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")}
    texts = [settings[name] for name in ("xlabel", "ylabel") if name in settings]
    assert {"<A>", *texts, *settings.get("ticks", ()), *filter(None, titles)} <= found
    assert "not drawn" not in found
    assert TEXT not in svg
    assert draw(curves, styles(["<A>"]), "name", **settings) == svg


def test_figure_of_the_table_in_readme(tmp_path):
    """The figure shows each row of README's table in both themes. utils/plot_readme.py finds each system, metric and
    set of the table, or else it fails."""
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, root / "utils/plot_readme.py", root / "README.md", tmp_path],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    light, dark = (tmp_path.joinpath(f"results_{theme}.svg").read_text() for theme in ("light", "dark"))
    rows = re.findall(r"^\| \[(.*?)\]", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) >= 9
    for row in rows:
        assert f">{row}" in light
        assert f">{row}" in dark
    assert light != dark
