"""Soft targets: each slot of a set has the posteriors of its word, whatever tokens it has; other words are refused."""

import os
import subprocess
import sys

import kaldiio
import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin import soft_targets as command
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.kaldi_io import read_archive
from punc.data.labels import LabelSet
from punc.decoding.options import DecodingOptions, OutputOptions
from punc.decoding.punctuate import punctuate
from punc.tokens.soft_targets import make_targets, read_targets
from punc.tokens.store import Store, make_store
from punc.training.options import TrainingOptions
from punc.training.train import train

LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ? !\n"
WORDS = ["one", "two", "three", "four-five", "six", "zwölf"]
MARKS = {"two": "COMMA", "three": "PERIOD"}


def utterances(streams, rng):
    """Streams of three utterances; the teacher does not know all words, and some utterances are empty."""
    for stream in range(streams):
        for number in range(3):
            words = rng.choice(WORDS, rng.integers(0 if number else 1, 9)).tolist()
            yield Utterance(f"s{stream:02d}-{number}", f"s{stream:02d}", words,
                            [MARKS.get(word, "O") for word in words])


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A folder with the data directories a and b, a teacher that reads words, and what it makes of both."""
    place, rng = tmp_path_factory.mktemp("taught"), np.random.default_rng(3)
    (place / "labels.txt").write_text(LABELS)
    for name in "ab":
        write_data_dir(place / name, utterances(6, rng))
    make_store(place / "store_teacher", [place / "a"], place / "labels.txt", vocab_size=3, nj=1)
    train(place / "store_teacher", place / "teacher", "t_lstm", {"embedding_dim": 4, "hidden_dim": 4},
          TrainingOptions(train_set="a", dev_set="a", batch_size=4, epochs=4, learning_rate=0.3))
    for name in "ab":
        punctuate(place / "teacher", DataDir(place / name), place / f"decode_{name}", DecodingOptions(),
                  OutputOptions(), nj=1)
    return place


def student_store(place, token_type, **options):
    store = place / f"store_{token_type}"
    make_store(store, [place / "a", place / "b"], place / "labels.txt", token_type=token_type, nj=1,
               joins=["train=b,a,a"], **options)
    return Store(store)


def labels_of(place):
    return LabelSet.read(place / "labels.txt")


def posteriors(place, name):
    """The posteriors of all words of what the teacher made of a data directory, (words, 3)."""
    return np.concatenate([matrix.reshape(-1, 3) for _, matrix in read_archive(place / f"decode_{name}" / "post.ark")])


@pytest.mark.parametrize("token_type", ["word", "char", "spelled", "form"])
def test_targets_are_aligned_by_slots(taught, tmp_path, token_type):
    """Of every token type, and of a joined set, the slots in their order have the posteriors of the words."""
    store = student_store(taught, token_type)
    make_targets(tmp_path / "out", store, "train", labels_of(taught), [taught / f"decode_{name}" for name in "baa"])
    targets, data = read_targets(tmp_path / "out", store, "train"), store.set("train")
    assert targets.dtype == np.float16
    assert targets.shape == (len(data.ids), 3)
    assert isinstance(targets, np.memmap)
    slots = data.labels >= 0
    expected = np.concatenate([posteriors(taught, name) for name in "baa"])
    np.testing.assert_allclose(targets[slots], expected, atol=5e-4)
    assert np.ptp(expected, axis=0).min() > 0.01  # the teacher does not say the same of all slots
    assert not targets[~slots].any()


def test_targets_finished_are_not_made_again(taught, tmp_path, capsys):
    store, decoded = student_store(taught, "word"), [taught / "decode_a"]
    arguments = [str(taught / "teacher"), str(store.path), "a", str(tmp_path / "out"), str(decoded[0])]
    command.main(arguments)
    assert "words of 'a', 0.0 MB" in capsys.readouterr().err
    before = {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in (tmp_path / "out").iterdir()}
    command.main(arguments)
    assert "finished" in capsys.readouterr().err
    assert before == {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in (tmp_path / "out").iterdir()}
    os.utime(decoded[0] / "post.ark")
    command.main(arguments)
    assert "words of 'a'" in capsys.readouterr().err
    assert (tmp_path / "out" / "targets.npy").read_bytes() == before["targets.npy"][1]


@pytest.mark.parametrize(("decoded", "message"), [
    (["a", "b"], "stream 's00'"),  # one member too many
    (["b"], "the words of 's00-0'"),
    (["missing"], "no such file; punctuate the data directory with the teacher"),
])
def test_targets_of_other_words_are_an_error(taught, tmp_path, decoded, message):
    with pytest.raises(InputError, match=message):
        make_targets(tmp_path / "out", student_store(taught, "word"), "a", labels_of(taught),
                     [taught / f"decode_{name}" for name in decoded])
    assert not (tmp_path / "out" / "conf").exists()


def test_targets_of_too_few_members_are_an_error(taught, tmp_path):
    with pytest.raises(InputError, match="no stream 's00'"):
        make_targets(tmp_path / "out", student_store(taught, "word"), "train", labels_of(taught), [taught / "decode_b"])


def test_targets_of_a_changed_word_are_an_error(taught, tmp_path):
    changed = [u._replace(words=["two" if word == "one" else word for word in u.words])
               for u in DataDir(taught / "a").utterances()]
    write_data_dir(tmp_path / "decode", changed)
    os.link(taught / "decode_a" / "post.ark", tmp_path / "decode" / "post.ark")
    with pytest.raises(InputError, match=r"the words of 's\d\d-\d': not as in the set 'a'"):
        make_targets(tmp_path / "out", student_store(taught, "word"), "a", labels_of(taught), [tmp_path / "decode"])


def test_targets_of_other_posteriors_are_an_error(taught, tmp_path):
    write_data_dir(tmp_path / "decode", DataDir(taught / "a").utterances())
    os.link(taught / "decode_b" / "post.ark", tmp_path / "decode" / "post.ark")
    with pytest.raises(InputError, match="no posteriors of 3 labels for the"):
        make_targets(tmp_path / "out", student_store(taught, "word"), "a", labels_of(taught), [tmp_path / "decode"])


def test_targets_of_other_labels_are_an_error(taught, tmp_path):
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. . ? !\nCOMMA w, ,\n")
    with pytest.raises(InputError, match=r"the teacher's labels\.txt is not that of the store"):
        make_targets(tmp_path / "out", student_store(taught, "word"), "a", LabelSet.read(tmp_path / "labels.txt"),
                     [taught / "decode_a"])


def test_targets_do_not_replace_something_else(taught, tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(InputError, match="this exists and has no soft targets"):
        make_targets(tmp_path, student_store(taught, "word"), "a", labels_of(taught), [taught / "decode_a"])


def test_read_targets_refuses_what_does_not_fit(taught, tmp_path):
    store = student_store(taught, "word")
    make_targets(tmp_path / "out", store, "a", labels_of(taught), [taught / "decode_a"])
    with pytest.raises(InputError, match=r"conf: not the soft targets of 'b'"):
        read_targets(tmp_path / "out", store, "b")
    with pytest.raises(InputError, match=r"conf: not the soft targets of 'a'"):  # other tokens
        read_targets(tmp_path / "out", student_store(taught, "char"), "a")
    with pytest.raises(InputError, match="no soft targets; make them: punc soft-targets"):
        read_targets(tmp_path / "nowhere", store, "a")
    content = (tmp_path / "out" / "targets.npy").read_bytes()
    (tmp_path / "out" / "targets.npy").write_bytes(content[:-2])
    with pytest.raises(InputError, match="or truncated"):
        read_targets(tmp_path / "out", store, "a")
    (tmp_path / "out" / "targets.npy").write_bytes(b"\x93NUMPY\x01\0v\0" + b"{'descr': '<f2', (".ljust(118))
    with pytest.raises(InputError, match="or truncated"):  # a header that NumPy's tokenizer cannot take
        read_targets(tmp_path / "out", store, "a")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, -0.5])
def test_read_targets_of_no_probabilities_are_an_error(taught, tmp_path, number):
    store = student_store(taught, "word")
    make_targets(tmp_path / "out", store, "a", labels_of(taught), [taught / "decode_a"])
    targets = np.load(tmp_path / "out/targets.npy")
    targets[3, 1] = number
    np.save(tmp_path / "out/targets.npy", targets)
    with pytest.raises(InputError, match=r"targets.npy: the targets of token 3 are no probabilities; make the soft"):
        read_targets(tmp_path / "out", store, "a")


PEAK = r"""
import re, sys
from pathlib import Path
from punc.data.labels import LabelSet
from punc.tokens.soft_targets import make_targets
from punc.tokens.store import Store
store, name, decoded = sys.argv[1:]
make_targets(Path(store) / "targets", Store(store), name, Store(store).labels, [Path(decoded)])
print(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def test_targets_take_no_memory_that_grows(taught, tmp_path):
    """Two million words take no more memory than 270,000, but for less than a quarter of what their targets take."""
    rng, peaks = np.random.default_rng(1), []
    words = rng.choice(WORDS, 1000).tolist()
    matrix = rng.dirichlet(np.ones(3), 1000).astype(np.float32)
    for size in (270, 2000):
        data, store = tmp_path / f"d{size}", tmp_path / f"store{size}"
        write_data_dir(data, (Utterance(f"s{n:05d}-0", f"s{n:05d}", words, ["O"] * 1000) for n in range(size)))
        make_store(store, [data], taught / "labels.txt", nj=1)
        kaldiio.save_ark(str(data / "post.ark"), {f"s{n:05d}-0": matrix for n in range(size)})
        peaks.append(int(subprocess.run([sys.executable, "-c", PEAK, store, data.name, data], check=True, text=True,
                                        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                                        stdout=subprocess.PIPE).stdout))
        targets = read_targets(store / "targets", Store(store), data.name)
    np.testing.assert_allclose(targets[-1000:], matrix, atol=5e-4)
    assert targets.nbytes == 12e6
    assert peaks[1] - peaks[0] < 2500  # KiB
