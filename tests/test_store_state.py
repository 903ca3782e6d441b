"""The store of a finished model, and the store as it is now."""

import shutil

import pytest
import torch

from punc.bin import main as command
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.models.base import read_checkpoint
from punc.training.store_state import changed

LABELS = "O w\nPERIOD w. .\n"


def make_store(place, last="b"):
    (place / "labels.txt").write_text(LABELS)
    for name in ("train", "dev", "other"):
        words = ["a", "b", "a", last if name != "dev" else "a"]
        write_data_dir(place / name, [Utterance("s-1", "s", words, ["O", "PERIOD", "O", "O"])])
    assert command.main(["make-store", "--labels", str(place / "labels.txt"), "--vocab", str(vocabulary(place)),
                         str(place / "store"), *(str(place / name) for name in ("train", "dev", "other"))]) == 0


def vocabulary(place):
    (place / "vocab").write_text("<unk>\n</s>\na\nb\n")
    return place / "vocab"


TRAIN = {"t_lstm": ["--embedding-dim", "2", "--hidden-dim", "2", "--epochs", "1"], "word_crf": []}


def train(place, model="t_lstm"):
    return command.main(["train", "--model", model, *TRAIN[model], str(place / "store"), str(place / "model")])


@pytest.mark.parametrize("model", ["t_lstm", "word_crf"])
def test_finished_model_of_a_store_that_changed_is_refused(tmp_path, capsys, model):
    if model == "word_crf":
        pytest.importorskip("pycrfsuite")
    make_store(tmp_path)
    assert train(tmp_path, model) == 0
    make_store(tmp_path, "a")
    capsys.readouterr()
    assert train(tmp_path, model) == 1
    assert capsys.readouterr().err == (
        f"punc train: {tmp_path}/model: here is a model of another {tmp_path}/store/train/ids.npy: it has changed "
        "since; remove the directory to train anew, name another one, or make the store as it was\n")


def test_finished_model_of_a_store_made_again_or_gone_is_finished(tmp_path, capsys):
    make_store(tmp_path)
    assert train(tmp_path) == 0
    shutil.rmtree(tmp_path / "store")
    assert train(tmp_path) == 0
    make_store(tmp_path)
    assert train(tmp_path) == 0
    assert capsys.readouterr().err.count("model/final.pt is finished\n") == 2


def test_finished_model_of_an_older_version_has_no_checksums(tmp_path, capsys):
    make_store(tmp_path)
    assert train(tmp_path) == 0
    content = read_checkpoint(tmp_path / "model" / "final.pt")
    (tmp_path / "model" / "final.pt").unlink()  # its weights are mapped to memory
    torch.save({name: value for name, value in content.items() if name != "store"}, tmp_path / "model" / "final.pt")
    make_store(tmp_path, "a")
    assert train(tmp_path) == 0


@pytest.mark.parametrize(("saved", "now", "name"), [
    ({"a": 1}, {"a": 1}, None), ({"a": 1}, {"a": 2}, "a"), ({"a": 1}, {"a": 1, "b": 2}, "b"),
    ({"a": 1, "b": 1}, {"a": 1}, "b")])
def test_changed(saved, now, name):
    assert changed(saved, now) == name
