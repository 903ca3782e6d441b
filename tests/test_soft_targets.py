"""Soft targets give each slot the teacher's posteriors, for every token type of the student. Bad files are refused."""

import os
import subprocess
import sys

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin import soft_targets as command
from punc.bin.main import main as program
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.decoding.decode import load_model, log_posteriors
from punc.decoding.soft_targets import make_targets
from punc.tokens.soft_targets import read_targets
from punc.tokens.store import Store, make_store
from punc.training.options import TrainingOptions
from punc.training.train import train

LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ? !\n"
WORDS = ["one", "two", "three", "four-five", "six", "zwölf"]
MARKS = {"two": "COMMA", "three": "PERIOD"}


def utterances(streams, rng):
    """Yield the utterances of `streams` streams, three for each. The teacher does not know all words, and some
    utterances are empty."""
    for stream in range(streams):
        for number in range(3):
            words = rng.choice(WORDS, rng.integers(0 if number else 1, 9)).tolist()
            yield Utterance(f"s{stream:02d}-{number}", f"s{stream:02d}", words,
                            [MARKS.get(word, "O") for word in words])


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("taught"), np.random.default_rng(3)
    (place / "labels.txt").write_text(LABELS)
    for name in "ab":
        write_data_dir(place / name, utterances(6, rng))
    make_store(place / "store_teacher", [place / "a", place / "b"], place / "labels.txt", vocab_size=3, nj=1,
               joins=["both=a,b"])
    train(place / "store_teacher", place / "teacher", "t_lstm", {"embedding_dim": 4, "hidden_dim": 4},
          TrainingOptions(train_set="a", dev_set="a", batch_size=4, epochs=4, learning_rate=0.3))
    make_targets(place / "teacher", Store(place / "store_teacher"), place / "targets", ["a", "b"])
    return place


def student_store(place, token_type):
    store = place / f"store_{token_type}"
    make_store(store, [place / "a", place / "b"], place / "labels.txt", token_type=token_type, nj=1,
               joins=["train=b,a,a", "other=b"])
    return Store(store)


def posteriors(place, name):
    return np.exp(log_posteriors(load_model(place / "teacher"), Store(place / "store_teacher").set(name)))


def changed(path, place):
    for name in "ab":
        (path / name).mkdir(parents=True)
        for file in (place / "targets" / name).iterdir():
            (path / name / file.name).write_bytes(file.read_bytes())
    return path


@pytest.mark.parametrize("token_type", ["word", "char", "spelled"])
@pytest.mark.parametrize(("name", "members"), [("train", "baa"), ("a", "a")])
def test_targets_are_aligned_by_slots(taught, token_type, name, members):
    store = student_store(taught, token_type)
    data, targets = store.set(name), read_targets(taught / "targets", store, name)
    found, slots = targets[np.arange(len(data.ids))], data.labels >= 0
    expected = np.concatenate([posteriors(taught, member) for member in members])
    np.testing.assert_allclose(found[slots], expected, atol=0.008)  # targets are multiples of 1/255
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-6)
    assert np.ptp(expected, axis=0).min() > 0.05  # the teacher's posteriors differ between slots
    assert (found[~slots] == [1, 0, 0]).all()
    some = np.random.default_rng(1).integers(0, len(data.ids), 50)
    np.testing.assert_array_equal(targets[some], found[some])


def test_targets_finished_are_not_made_again(taught, tmp_path, capsys):
    arguments = [str(taught / "teacher"), str(taught / "store_teacher"), str(tmp_path / "out"), "a", "b"]

    def files():
        return {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in (tmp_path / "out/a").iterdir()}

    command.main(arguments[:-1])
    assert "out/a: 67 slots" in capsys.readouterr().err
    before = files()
    command.main(arguments)
    said = capsys.readouterr().err
    assert "out/a: finished, and its inputs have not changed" in said
    assert "out/b: " in said
    assert files() == before
    command.main(["--context=8", *arguments])
    assert "inputs have not changed" not in capsys.readouterr().err


def test_targets_of_a_joined_set_are_those_of_its_members(taught, tmp_path):
    with pytest.raises(InputError, match="'both' is a joined set; name its members: a b"):
        make_targets(taught / "teacher", Store(taught / "store_teacher"), tmp_path, ["both"])


def test_a_store_of_other_tokens_or_labels_is_an_error(taught, tmp_path):
    with pytest.raises(InputError, match=r"the tokens or labels of .*teacher differ from those of this store"):
        make_targets(taught / "teacher", student_store(taught, "word"), tmp_path, ["a"])
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. . ? !\nCOMMA w, ,\n")
    make_store(tmp_path / "store", [taught / "a"], tmp_path / "labels.txt", vocab=taught / "teacher/vocab", nj=1)
    with pytest.raises(InputError, match=r"the tokens or labels of .*teacher differ from those of this store"):
        make_targets(taught / "teacher", Store(tmp_path / "store"), tmp_path, ["a"])


def test_a_store_of_another_token_type_is_an_error(taught, tmp_path):
    train(student_store(taught, "char").path, tmp_path / "teacher", "t_lstm", {"embedding_dim": 4, "hidden_dim": 4},
          TrainingOptions(train_set="a", dev_set="a", batch_size=4, epochs=1))
    make_store(tmp_path / "store", [taught / "a"], taught / "labels.txt", vocab=tmp_path / "teacher/vocab", nj=1)
    with pytest.raises(InputError, match=r"make a store for it: .* --labels .*/labels.txt --token-type char --vocab "):
        make_targets(tmp_path / "teacher", Store(tmp_path / "store"), tmp_path, ["a"])


def test_a_set_without_labels_is_an_error(taught, tmp_path):
    write_data_dir(tmp_path / "plain", (u._replace(labels=None) for u in DataDir(taught / "a").utterances()))
    make_store(tmp_path / "store", [tmp_path / "plain"], taught / "labels.txt", vocab=taught / "teacher/vocab", nj=1)
    with pytest.raises(InputError, match="the set has no labels; make the store of a data directory with punct"):
        make_targets(taught / "teacher", Store(tmp_path / "store"), tmp_path / "out", ["plain"])
    assert not (tmp_path / "out/plain/conf").exists()


def test_targets_of_other_words_with_the_same_labels_are_made_again(taught, tmp_path, capsys):
    found = list(DataDir(taught / "a").utterances())
    for name, words in (("first", {}), ("second", {"one": "six"})):
        write_data_dir(tmp_path / name / "a", (u._replace(words=[words.get(word, word) for word in u.words])
                                               for u in found))
        make_store(tmp_path / "store", [tmp_path / name / "a"], taught / "labels.txt", vocab=taught / "teacher/vocab",
                   nj=1)
        make_targets(taught / "teacher", Store(tmp_path / "store"), tmp_path / "out", ["a"])
    assert "inputs have not changed" not in capsys.readouterr().err
    make_targets(taught / "teacher", Store(tmp_path / "store"), tmp_path / "out", ["a"])
    assert "inputs have not changed" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [os.remove, lambda path: os.truncate(path, 100)])
def test_damaged_targets_are_made_again(taught, tmp_path, damage):
    damage(changed(tmp_path / "copy", taught) / "a/targets.npy")
    make_targets(taught / "teacher", Store(taught / "store_teacher"), tmp_path / "copy", ["a"])
    assert (tmp_path / "copy/a/targets.npy").read_bytes() == (taught / "targets/a/targets.npy").read_bytes()


@pytest.mark.parametrize(("option", "said"), [("--context=-1", "--context=-1 is out of range; give 0 or more"),
                                              ("--threads=0", "--threads=0 is out of range; give 1 or more")])
def test_options_out_of_range_are_errors(taught, tmp_path, capsys, option, said):
    arguments = ["soft-targets", option, taught / "teacher", taught / "store_teacher", tmp_path / "out", "a"]
    assert program([*map(str, arguments)]) == 1
    assert capsys.readouterr().err == f"punc soft-targets: {said}\n"


def test_targets_do_not_replace_something_else(taught, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/notes").write_text("mine")
    with pytest.raises(InputError, match="this directory exists and contains something other than soft targets"):
        make_targets(taught / "teacher", Store(taught / "store_teacher"), tmp_path, ["a"])


def test_read_targets_refuses_what_does_not_fit(taught, tmp_path):
    store, copy = student_store(taught, "word"), changed(tmp_path / "copy", taught)
    for file in copy.glob("b/*"):
        (copy / "a" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError, match=r"a/conf: not the soft targets of 'a'"):
        read_targets(copy, store, "train")
    with pytest.raises(InputError, match="the directory has no soft targets for this set; "
                                         "make them: punc soft-targets"):
        read_targets(tmp_path / "nowhere", store, "a")


@pytest.mark.parametrize("content", [
    lambda whole: whole[:-2], lambda whole: b"",
    lambda whole: b"\x93NUMPY\x01\0v\0" + b"{'descr': '|u1', (".ljust(118)])  # NumPy's tokenizer fails
def test_read_targets_refuses_a_broken_file(taught, tmp_path, content):
    copy = changed(tmp_path / "copy", taught)
    path = copy / "a/targets.npy"
    path.write_bytes(content(path.read_bytes()))
    with pytest.raises(InputError, match="not the soft targets of this set, or truncated"):
        read_targets(copy, student_store(taught, "word"), "a")


@pytest.mark.parametrize("change", ["a label", "a stream", "a word less"])
def test_targets_of_changed_text_are_refused(taught, tmp_path, change):
    found = list(DataDir(taught / "a").utterances())
    long = max(range(len(found)), key=lambda number: len(found[number].words))
    if change == "a label":
        found[long].labels[0] = "PERIOD" if found[long].labels[0] == "O" else "O"
    elif change == "a stream":
        found[-3:] = [u._replace(stream="s99", id=u.id.replace(u.stream, "s99")) for u in found[-3:]]
    else:
        found[long] = found[long]._replace(words=found[long].words[1:], labels=found[long].labels[1:])
    write_data_dir(tmp_path / "a", found)
    make_store(tmp_path / "store", [tmp_path / "a"], taught / "labels.txt", nj=1)
    with pytest.raises(InputError, match=r"not the soft targets of 'a' in .*store, or its slots have changed"):
        read_targets(taught / "targets", Store(tmp_path / "store"), "a")


PEAK = r"""
import re, sys
from pathlib import Path
import punc.decoding.soft_targets as soft_targets
from punc.tokens.store import Store
soft_targets.AT_ONCE = 1 << 14
teacher, store, name = sys.argv[1:]
soft_targets.make_targets(Path(teacher), Store(store), Path(store) / "targets", [name])
print(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def test_targets_take_no_memory_that_grows(taught, tmp_path):
    """240,000 words need little more memory than 60,000. If all posteriors were kept in memory, they would need 2 MB
    more."""
    words, peaks = np.random.default_rng(1).choice(WORDS, 1000).tolist(), []
    for size in (60, 240):
        data, store = tmp_path / f"d{size}", tmp_path / f"store{size}"
        write_data_dir(data, (Utterance(f"s{n:05d}-0", f"s{n:05d}", words, ["O"] * 1000) for n in range(size)))
        make_store(store, [data], taught / "labels.txt", vocab=taught / "teacher/vocab", nj=1)
        peaks.append(int(subprocess.run([sys.executable, "-c", PEAK, taught / "teacher", store, data.name], check=True,
                                        text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                                        stdout=subprocess.PIPE).stdout))
    assert peaks[1] - peaks[0] < 1500  # KiB
