"""Pictures of pauses: what is drawn; a picture is written whole, or one line says why there is none."""

import sys

import kaldiio
import numpy as np
import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.results.plots import EDGES, available, axis_positions, binned_mean, describe, shares, slots

needs_matplotlib = pytest.mark.skipif(not available(), reason="matplotlib is an extra")
LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"


@pytest.fixture
def data(tmp_path):
    """A data directory of two utterances, and the output of a system for it: exp/decode."""
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


def test_slots_by_label(data):
    found = slots(DataDir(data))
    assert list(found) == ["O", "COMMA", "PERIOD"]
    np.testing.assert_array_equal(found["PERIOD"], np.array([np.nan, 2.5], "f"))


def test_shares_each_known_pause_in_one_bin():
    pauses = np.array([0, 0.009, 0.01, 0.3, 99, 100, 3000, np.nan], np.float32)
    assert shares(pauses).sum() == pytest.approx(100)
    assert shares(pauses)[0] == pytest.approx(200 / 7)  # "0": under 10 ms
    assert not shares(pauses)[1]  # the gap next to it
    assert shares(pauses)[-1] == pytest.approx(300 / 7)  # longer than the axis
    assert not shares(np.array([np.nan], np.float32)).any()


def test_describe_label():
    pauses = np.array([0, 0, 0, 0.5, 1, np.nan, np.nan, np.nan], np.float32)
    assert describe("X", pauses) == "X: 8 slots, median 0.00 s, 60% without a pause, 38% unknown"
    assert describe("X", np.array([np.nan], np.float32)) == "X: 1 slots, no pause known"


def test_binned_mean_of_slots():
    pauses = np.array([0, 0, 1, 1.01, 50])
    middles, means = binned_mean(axis_positions(pauses), np.array([0, 0.5, 0.2, 0.4, 1]))
    np.testing.assert_allclose(means, [0.25, 0.3, 1])
    assert EDGES[0] < middles[0] < EDGES[1]
    assert 0.9 < middles[1] < 1.2


@needs_matplotlib
@pytest.mark.parametrize("options", [[], ["--decode=exp/decode", "--thresholds=0.1 0.5"]])
def test_plot_pauses_writes_picture(data, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    assert main(["plot-pauses", "--title=Both", *options, "data", "out.png"]) == 0
    picture = (tmp_path / "out.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 10_000


def test_plot_pauses_without_matplotlib_says_so(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("punc.bin.plot_pauses.available", lambda: False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["plot-pauses", str(data), str(tmp_path / "out.png")]) == 0
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "matplotlib is not installed" in err
    assert not (tmp_path / "out.png").exists()


@needs_matplotlib
@pytest.mark.parametrize(("options", "message"), [
    (["--thresholds=soon", "data", "o.png"], "are not numbers; write seconds"),
    (["--decode=nowhere", "data", "o.png"], "nowhere/post.ark: no such file; punctuate with --posteriors"),
    (["--decode=exp/decode", "--label=COLON", "data", "o.png"], "no label 'COLON'; there are O COMMA PERIOD"),
    (["--decode=exp/decode", "other", "o.png"], "not the slots of 'a-1' in other; punctuate that directory"),
    (["bare", "o.png"], "bare/pauses.scp: no such file; a plot needs labels and pauses"),
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
