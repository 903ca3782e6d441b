"""Vocabularies: read and written, and made from counts of words that need not fit into memory."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punc.tokens.vocabulary
from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import SpilledCounts, Vocabulary


def count_vocabulary(sets, size, min_count=1):
    return WordTokenizer.make(sets, size, min_count).vocabulary


def data_dir(path, texts):
    write_data_dir(path, [Utterance(f"s-{i:05d}", "s", text.split()) for i, text in enumerate(texts)])
    return DataDir(path)


def test_count_most_frequent_first_and_ties_in_c_order(tmp_path):
    data = data_dir(tmp_path / "d", ["b a ä Z b", "", "b a ä Z z"])
    assert count_vocabulary([data], 4).tokens == ["<unk>", "</s>", "b", "Z", "a", "ä"]
    assert count_vocabulary([data], 100).tokens == ["<unk>", "</s>", "b", "Z", "a", "ä", "z"]
    assert count_vocabulary([data], 100, min_count=2).tokens == ["<unk>", "</s>", "b", "Z", "a", "ä"]


def test_count_leaves_out_special_tokens_of_the_text(tmp_path):
    data = data_dir(tmp_path / "d", ["<unk> <unk> a </s> <unk> b a"])
    assert count_vocabulary([data], 1).tokens == ["<unk>", "</s>", "a"]


def test_count_several_sets_together(tmp_path):
    parts = [data_dir(tmp_path / name, texts) for name, texts in (("d", ["b b a", "c"]), ("e", ["a c d a a"]))]
    whole = data_dir(tmp_path / "whole", ["b b a", "c", "a c d a a"])
    assert count_vocabulary(parts, 10).tokens == count_vocabulary([whole], 10).tokens == [
        "<unk>", "</s>", "a", "b", "c", "d"]
    empty = data_dir(tmp_path / "empty", [""])
    assert count_vocabulary([empty, *parts], 2).tokens == ["<unk>", "</s>", "a", "b"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\0"), min_size=1),
                unique=True))
def test_write_is_read_back(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("v") / "vocab"
    tokens = ["<unk>", "</s>", *(word for word in words if word not in ("<unk>", "</s>"))]
    Vocabulary(tokens).write(path)
    assert Vocabulary.read(path).tokens == tokens


@pytest.mark.parametrize(("text", "line", "what"), [
    ("", 1, "<unk>"), ("<unk>\n", 2, "</s>"), ("</s>\n<unk>\n", 1, "<unk>"), ("a\nb\n", 1, "<unk>"),
    ("<unk>\n</s>\na\nb\na\n", 5, "'a' occurs twice"), ("<unk>\n</s>\n<unk>\n", 3, "'<unk>' occurs twice"),
    ("<unk>\n</s>\na 3\n", 3, "not one token"), ("<unk>\n</s>\n\n", 3, "not one token"),
    ("<unk>\n</s>\na\r\n", 3, "carriage return")])
def test_read_bad_file_is_one_line(tmp_path, text, line, what):
    path = tmp_path / "vocab"
    path.write_bytes(text.encode())
    with pytest.raises(InputError) as caught:
        Vocabulary.read(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_count_bad_text_is_an_error(tmp_path):
    data = data_dir(tmp_path / "d", ["a b", "c"])
    (tmp_path / "d/text").write_bytes(b"s-00000 a b\ns-00001 c\xff\n")
    with pytest.raises(InputError, match=r"text:2: byte 10 is not UTF-8"):
        count_vocabulary([data], 5)


def test_count_in_bounded_memory_is_exact(tmp_path, monkeypatch):
    """Compared with a count of all words in memory, where most different words occur once."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in np.minimum(rng.zipf(1.5, 6000), 40)]
    for i in range(2000):
        words.insert(int(rng.integers(len(words))), f"noise{i}")
    data = data_dir(tmp_path / "d", [" ".join(words[i:i + 20]) for i in range(0, len(words), 20)])
    exact = sorted(Counter(words), key=lambda word: (-words.count(word), word))
    monkeypatch.setattr(punc.tokens.vocabulary, "MOST_TYPES", 200)
    monkeypatch.setattr(punc.tokens.vocabulary, "COUNT_BYTES", 1000)
    for size in 10, 700:
        assert count_vocabulary([data], size).tokens[2:] == exact[:size]


def test_spilled_counts_keep_few_words_in_memory(monkeypatch):
    monkeypatch.setattr("punc.tokens.vocabulary.READ", 50)  # lines are cut anywhere
    spilled = SpilledCounts(100)
    for i in range(0, 3000, 30):
        spilled.add({b"word%d" % (j % 1000): 1 + (j == 5) for j in range(i, i + 30)})
        assert len(spilled._counts) <= 130
    assert dict(spilled.items()) == {b"word%d" % j: 3 + (j == 5) for j in range(1000)}
    assert spilled.most_frequent(2, bool) == {b"word5": 4, b"word0": 3}
