"""Sets of a store that are several sets, end to end."""

import numpy as np
import pytest

from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.tokens.store import Store


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The data directories `timed`, with pauses, `text` and `bare`, without labels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\n", encoding="utf-8")
    write_data_dir("timed", [Utterance("a", "a", ["x", "y"], ["O", "PERIOD"], np.array([0.5, np.nan], np.float32))])
    write_data_dir("text", [Utterance(f"b{i}", f"b{i}", ["y"], ["PERIOD"], None) for i in range(2)])
    write_data_dir("bare", [Utterance("c", "c", ["x"], None, None)])


def make(*options):
    return main(["make-store", "--labels", "labels.txt", "--nj", "1", *options, "store", "timed", "text"])


def test_join_sets_end_to_end(data):
    assert make("--join", "train=text,timed,text") == 0
    joined, text, timed = map(Store("store").set, ("train", "text", "timed"))
    assert joined.ids.tolist() == [*text.ids, *timed.ids, *text.ids]
    assert joined.labels.tolist() == [1, 1, 0, 1, 1, 1]
    np.testing.assert_array_equal(joined.pauses, np.float32([np.nan, np.nan, 0.5, np.nan, np.nan, np.nan]))
    assert (list(joined.streams), joined.offsets.tolist()) == (["b0", "b1", "a", "b0", "b1"], [0, 1, 2, 4, 5, 6])


def test_join_sets_without_pauses_has_none(data):
    assert make("--join", "train=text,text") == 0
    assert Store("store").set("train").pauses is None


def test_join_sets_of_which_one_has_turns(data):
    write_data_dir("talk", [Utterance("t", "t", ["x", "y"], ["O", "PERIOD"], None, np.array([True, False]))])
    args = ["make-store", "--labels", "labels.txt", "--nj", "1", "--join", "train=text,talk", "store", "text", "talk"]
    assert main(args) == 0
    assert Store("store").set("train").turns.tolist() == [False, False, True, False]


def test_join_changed_makes_store_again(data):
    assert make("--join", "train=text") == 0
    assert make("--join", "train=text,timed") == 0
    assert len(Store("store").set("train").ids) == 4


@pytest.mark.parametrize(("join", "message"), [
    ("train=none", "no set 'none'"), ("text=timed", "'text' cannot name"), ("=text", "'' cannot name"),
    ("a/b=text", "'a/b' cannot name")])
def test_join_wrong_raises(data, capsys, join, message):
    assert make("--join", join) == 1
    assert message in capsys.readouterr().err


def test_join_labels_of_some_sets_only_raises(data, capsys):
    args = ["make-store", "--labels", "labels.txt", "--nj", "1", "--join", "train=text,bare", "store", "text", "bare"]
    assert main(args) == 1
    assert "'bare' has no labels" in capsys.readouterr().err
