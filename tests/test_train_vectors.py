"""utils/train_vectors.py: word vectors by gensim that the models' reader reads."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.tokens.word_vectors import read_word_vectors

SCRIPT = Path(__file__).parents[1] / "utils/train_vectors.py"
needs_gensim = pytest.mark.skipif(not find_spec("gensim"), reason="gensim is not installed (the extra `vectors`)")


def write_words(path, words, labels=None):
    """A data directory with streams of 50 words, without marks if there are no labels."""
    labels = labels or ["O"] * len(words)
    write_data_dir(path, (Utterance(f"s{i:05d}-1", f"s{i:05d}", words[i:i + 50], labels[i:i + 50])
                          for i in range(0, len(words), 50)))
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Two data directories in which x and y have the same contexts and z others."""
    place, rng = tmp_path_factory.mktemp("texts"), np.random.default_rng(1)
    phrases = [["a", "x", "b"], ["a", "y", "b"], ["c", "z", "d"], ["c", "do", "n't", "d"]]
    return [write_words(place / name, [word for _ in range(3000) for word in phrases[rng.integers(4)]])
            for name in ("one", "two")]


def train(*arguments, hash_seed="0"):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], text=True,
                          env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, check=False)


@needs_gensim
def test_train_vectors_same_contexts_similar_vectors(texts, tmp_path):
    done = train("--dimensions", 8, "--window", 1, "--epochs", 20, *texts, tmp_path / "v.txt")
    assert done.returncode == 0, done.stderr
    table = read_word_vectors(tmp_path / "v.txt", ["x", "y", "z", "n't"], 8)
    x, y, z, _ = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert x @ y > x @ z + 0.1


@needs_gensim
def test_train_vectors_repeatable(texts, tmp_path):
    for name, seed in (("a", "1"), ("b", "2")):
        assert train("--dimensions", 8, "--words", 2345, *texts, tmp_path / name, hash_seed=seed).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    done = train("--dimensions", 8, "--words", 2345, "--seed", 2, *texts, tmp_path / "c")
    assert "trained on 2345 words and marks" in done.stderr
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


@needs_gensim
def test_train_vectors_marks_not_written(tmp_path):
    """x and y have only the mark after them in common; z has none."""
    rng, words, labels = np.random.default_rng(1), [], []
    for _ in range(4000):
        word = "xyz"[rng.integers(3)]
        words += [f"{word}{rng.integers(9)}", word, f"{word}{rng.integers(9)}"]
        labels += ["O", "O" if word == "z" else "COMMA", "O"]
    data = write_words(tmp_path / "data", words, labels)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    assert train("--labels", tmp_path / "labels.txt", "--dimensions", 8, "--window", 1, data,
                 tmp_path / "v.txt").returncode == 0
    assert "COMMA" not in (tmp_path / "v.txt").read_text()
    table = read_word_vectors(tmp_path / "v.txt", ["x", "y", "z"], 8)
    x, y, z = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert x @ y > x @ z + 0.1


@needs_gensim
def test_train_vectors_no_frequent_word(texts, tmp_path):
    done = train("--min-count", 100000, *texts, tmp_path / "v.txt")
    assert done.returncode == 1
    assert "no word occurs 100000 times; give more text, or lower --min-count" in done.stderr
    assert not (tmp_path / "v.txt").exists()


def test_train_vectors_without_gensim(texts, tmp_path):
    (tmp_path / "gensim.py").write_text("raise ImportError\n")
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, texts), str(tmp_path / "v.txt")],
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}, text=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("gensim is not installed; pip install -c constraints.txt -e '.[vectors]' "
                                "in the repository\n")
