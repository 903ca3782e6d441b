"""Word vectors: the files that can be read, and utils/train_vectors.py, which trains vectors with gensim."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import Utterance, write_data_dir
from punc.tokens.word_vectors import read_word_vectors

GLOVE = "the 1 2 3\n, 0.5 -1e-3 2.25\ndo 4 0 0\nn't 0 4 0\n'lo 1 1 1\ndon 9 9 9\n't 8 8 8\n"


def read(tmp_path, text, words, dimensions=3):
    path = tmp_path / "vectors.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_word_vectors(path, words, dimensions)


def error_of(tmp_path, text, words=("the",), dimensions=3):
    with pytest.raises(InputError) as error:
        read(tmp_path, text, words, dimensions)
    assert "\n" not in str(error.value)
    return str(error.value).replace(f"{tmp_path}/vectors.txt", "FILE")


@pytest.mark.parametrize("text", [GLOVE, "7 3\n" + GLOVE, "7 3\n" + GLOVE.replace("\n", " \n"),
                                  GLOVE.replace("\n", "\r\n")])
def test_read_glove_and_word2vec_formats(tmp_path, text):
    """word2vec writes a header, and a space at the end of each line; gensim writes only the header."""
    found = read(tmp_path, text, ["do", "the", ","])
    np.testing.assert_array_equal(found, np.array([[4, 0, 0], [1, 2, 3], [.5, -1e-3, 2.25]], np.float32))
    assert found.dtype == np.float32


WORD = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters=" \n\r\0"), min_size=1)


@given(st.dictionaries(WORD, st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=4,
                                      max_size=4), min_size=1), st.booleans())
def test_read_what_was_written(tmp_path_factory, vectors, header):
    text = "".join(f"{word} {' '.join(map(repr, vector))}\n" for word, vector in vectors.items())
    text = f"{len(vectors)} 4\n" * header + text
    found = read(tmp_path_factory.mktemp("v"), text, [*vectors], 4)
    np.testing.assert_array_equal(found, np.array([*vectors.values()], np.float32))


def test_read_missing_words_share_a_vector(tmp_path):
    """Words that are not in the file get the file's vector of `<unk>`. If `<unk>` is not in the file either, they get
    the mean of the vectors found."""
    found = read(tmp_path, GLOVE, ["<unk>", "</s>", "the", "do", "nowhere"])
    for row in (0, 1, 4):
        np.testing.assert_array_equal(found[row], [2.5, 1, 1.5])
    found = read(tmp_path, GLOVE + "<unk> 7 7 7\n</s> 6 6 6\n", ["<unk>", "</s>", "the", "nowhere"])
    np.testing.assert_array_equal(found, [[7, 7, 7], [6, 6, 6], [1, 2, 3], [7, 7, 7]])
    found = read(tmp_path, GLOVE + "<unk> 7 7 7\n", ["the", "nowhere"])  # the vocabulary may lack `<unk>`
    np.testing.assert_array_equal(found[1], [7, 7, 7])


def test_read_clitics_joined_and_split(tmp_path):
    """The vector of don't is the mean of those of do and n't, because don and 't come later in the file."""
    found = read(tmp_path, GLOVE, ["do", "n't", "don't", "the'lo", "'", "won't", "the"])
    np.testing.assert_array_equal(found[:4], [[4, 0, 0], [0, 4, 0], [2, 2, 0], [1, 1.5, 2]])
    np.testing.assert_array_equal(found[4], found[5])  # the file has neither word, nor both parts of any split
    own = read(tmp_path, GLOVE + "don't 5 6 7\n", ["don't"])
    np.testing.assert_array_equal(own, [[5, 6, 7]])


def test_read_parts_are_words_of_the_file(tmp_path):
    """don't is not in the file, so don't've is not split into don't and 've, whatever the order of the words."""
    for words in (["don't", "don't've"], ["don't've", "don't"]):
        found = read(tmp_path, GLOVE + "'ve 3 3 3\n", [*words, "the", "<unk>"])
        np.testing.assert_array_equal(found[words.index("don't")], [2, 2, 0])
        np.testing.assert_array_equal(found[words.index("don't've")], found[3])


MISFIT = ("the line is not a word and 3 finite numbers, separated by single spaces; "
          "fix or remove the line; in a word, write _ for a space")


@pytest.mark.parametrize(("text", "message"), [
    ("", "FILE: the file is empty; get it again"),
    ("the 1 2\n", "FILE:1: vectors of 2 dimensions, but the model's have 3; "
                  "set --embedding-dim=2, or give another file"),
    ("1 4\nthe 1 2 3 4\n", "FILE:1: vectors of 4 dimensions, but the model's have 3; "
                           "set --embedding-dim=4, or give another file"),
    ("1 3\nthe 1 2 3 4\n", "FILE:2: vectors of 4 dimensions, but the model's have 3; "
                           "set --embedding-dim=4, or give another file"),
    ("the 1 2 3\nof 1 2\n", f"FILE:2: {MISFIT}"),
    ("of 1 2 3\nthe 1  3\n", f"FILE:2: {MISFIT}"),
    ("the 1 2 3\nof 1 2 x\n", f"FILE:2: {MISFIT}"),
    ("of 1 2 3\nthe 1 2 --3\n", f"FILE:2: {MISFIT}"),
    ("the\t1\t2\t3\n", f"FILE:1: {MISFIT}"),
    (". . . 1 2 3\nthe 1 2 3\n", f"FILE:1: {MISFIT}"),
    ("the 1 2 3\n 1 2 3\n", f"FILE:2: {MISFIT}"),
    ("the 1 2 3\n\n", f"FILE:2: {MISFIT}"),
    ("the 1 2 3\nof 1 2 3\nthe 1 2 3\n", "FILE:3: 'the' occurs twice; remove one of its lines"),
    ("the 1 2 3\nof 1 2 3\nof 1 2 3\n", "FILE:3: 'of' occurs twice; remove one of its lines"),
    ("of 1 nan 3\nthe 1 2 3\n", f"FILE:1: {MISFIT}"),
    ("the 1 2 -inf\n", f"FILE:1: {MISFIT}"),
    ("the 1 2 1e39\n", f"FILE:1: {MISFIT}"),
    ("the 1 2 3\nof 1 2",
     "FILE:2: the last line has no line end: the file is truncated; get it again, or remove the line"),
    ("the 1 2 3\nof 1 2 3",
     "FILE:2: the last line has no line end: the file is truncated; get it again, or remove the line"),
    ("3 3\nthe 1 2 3\nof 1 2 3\n",
     "FILE:1: the header says 3 words, but there are 2; get the file again, or fix the header"),
    ("1 3\nthe 1 2 3\nof 1 2 3\n",
     "FILE:1: the header says 1 words, but there are 2; get the file again, or fix the header"),
    ("the 1 2 3\n2 3\nof 1 2 3\n", f"FILE:2: {MISFIT}"),
    ("of 1 2 3\n", "FILE: the file has no vector for any of the 1 words; give vectors of this language"),
    ("of 1 2 3\nt\xffhe 1 2 x\n".encode("latin-1"), f"FILE:2: {MISFIT}"),
])
def test_read_bad_file_is_an_error(tmp_path, text, message):
    assert error_of(tmp_path, text) == message


def test_read_truncated_file_is_an_error(tmp_path):
    for header in ("", "7 3\n"):
        text = header + GLOVE
        for end in range(len(header) + 1, len(text)):
            if header or text[end - 1] != "\n":
                assert error_of(tmp_path, text[:end])


def test_read_memory_does_not_grow_with_the_file(tmp_path):
    import tracemalloc
    (tmp_path / "vectors.txt").write_text("".join(f"w{i} " + " ".join(["0.123456789"] * 50) + "\n"
                                                  for i in range(10000)))
    tracemalloc.start()
    try:
        read_word_vectors(tmp_path / "vectors.txt", ["w7"], 50)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e6 < (tmp_path / "vectors.txt").stat().st_size


@pytest.mark.parametrize("header", ["9" * 5000 + " 2", "3 " + "9" * 5000])
def test_read_header_of_very_many_digits(tmp_path, header):
    (tmp_path / "vectors").write_text(f"{header}\na 1 2\n")
    with pytest.raises(InputError, match=r"vectors:1: "):
        read_word_vectors(tmp_path / "vectors", ["a"], 2)


SCRIPT = Path(__file__).parents[1] / "utils/train_vectors.py"
needs_gensim = pytest.mark.skipif(not find_spec("gensim"), reason="gensim is not installed (the extra `vectors`)")


def write_words(path, words, labels=None):
    labels = labels or ["O"] * len(words)
    write_data_dir(path, (Utterance(f"s{i:05d}-1", f"s{i:05d}", words[i:i + 50], labels[i:i + 50])
                          for i in range(0, len(words), 50)))
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Make two data directories in which x and y have the same contexts, and z has other contexts."""
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
    """x and y are similar only because of the mark after them; z has no mark."""
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
    assert "no word occurs at least 100000 times; give more text, or lower --min-count" in done.stderr
    assert not (tmp_path / "v.txt").exists()


def test_train_vectors_without_gensim(texts, tmp_path):
    (tmp_path / "gensim.py").write_text("raise ImportError\n")
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, texts), str(tmp_path / "v.txt")],
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}, text=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("gensim is not installed; pip install -c constraints.txt -e '.[vectors]' "
                                "in the repository\n")
