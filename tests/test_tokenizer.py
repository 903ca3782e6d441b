"""Tokenizers: each one is found by its file's name, writes what is read back, and gives every word its slot."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoder import write_tokenizer

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.text.characters import CLASSES
from punc.tokens import tokenizers
from punc.tokens.store import Store
from punc.tokens.tokenizer import Tokenizer, encode_streams, read_tokenizer, token_types, tokenizer_class
from punc.tokens.tokenizers.char import CharTokenizer
from punc.tokens.tokenizers.class_ import ClassTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, UNK, Vocabulary

TEXT = ["so", "it", "begins", "as", "it", "must", "does", "it", "end", "another", "talk", "another", "day", "it", "is"]
VOCABULARIES = {"word": Vocabulary(["<unk>", "</s>", "so", "it"]),
                "char": Vocabulary(["<unk>", "</s>", "<space>", *"soite"])}


TYPES = [name for name in token_types() if name != "encoder" or find_spec("tokenizers")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A tokenizer of each token type for TEXT; that of an encoder is read, not made."""
    path = tmp_path_factory.mktemp("tokenizers") / "d"
    write_data_dir(path, [Utterance("a", "a", TEXT)])
    found = {name: tokenizer_class(name).make([DataDir(path)], 40) for name in TYPES if name != "encoder"}
    if "encoder" in TYPES:
        write_tokenizer("bert", path.parent / "bert")
        found["encoder"] = tokenizer_class("encoder").read(path.parent / "bert")
    return found


def same(one, other):
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)


def test_token_types_are_the_files():
    assert token_types() == ["char", "class", "encoder", "form", "spelled", "subword", "word"]


@pytest.mark.parametrize("token_type", token_types())
def test_tokenizer_class_has_what_all_have(token_type):
    kind = tokenizer_class(token_type)
    assert issubclass(kind, Tokenizer)
    assert kind.token_type == token_type
    assert kind.meaning
    assert kind.summary.format(words=1, tokens=1, streams=1, lost=0, percent=0)


def test_tokenizer_class_unknown_name_is_an_error():
    message = "no token type 'syllable'; choose from char, class, encoder, form, spelled, subword, word"
    with pytest.raises(InputError, match=f"^{message}$"):
        tokenizer_class("syllable")


NEW = '''
"""The last letter of each word as its token."""

from punc.tokens.tokenizer import Encoding
from punc.tokens.tokenizers.word import WordTokenizer


class EndingTokenizer(WordTokenizer):
    token_type = "ending"
    meaning = "a last letter"

    @classmethod
    def make(cls, sets, size, min_count=1, nj=1):
        tokenizer = super().make(sets, size, min_count, nj)
        letters = {word[-1]: None for word in tokenizer.vocabulary.tokens[2:]}
        return cls(type(tokenizer.vocabulary)(["<unk>", "</s>", *letters]))

    def encode(self, words):
        return super().encode([word[-1] for word in words])
'''


def test_new_file_in_the_folder_is_a_tokenizer(tmp_path, monkeypatch, capsys):
    (tmp_path / "more").mkdir()
    (tmp_path / "more/ending.py").write_text(NEW)
    monkeypatch.setattr(tokenizers, "__path__", [*tokenizers.__path__, str(tmp_path / "more")])
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w.\n")
    write_data_dir(tmp_path / "train", [Utterance("a", "a", TEXT)])
    assert "ending" in token_types()
    assert main(["make-store", "--labels", str(tmp_path / "labels.txt"), "--token-type", "ending", "--nj=1",
                 str(tmp_path / "store"), str(tmp_path / "train")]) == 0
    store = Store(tmp_path / "store")
    assert (store.token_type, store.tokenizer.token_type) == ("ending", "ending")
    assert "".join(store.vocabulary.tokens[i] for i in store.set("train").ids) == "otssttstdrkryts"
    with pytest.raises(SystemExit):
        main(["make-store", "--help"])
    assert "ending: a last letter" in capsys.readouterr().out


@pytest.mark.parametrize("token_type", TYPES)
def test_write_is_read_back(token_type, made, tmp_path):
    tokenizer = made[token_type]
    tokenizer.write(tmp_path)
    found = read_tokenizer(tmp_path)
    assert (found.token_type, type(found), found.vocabulary.tokens) == (
        token_type, tokenizer_class(token_type), tokenizer.vocabulary.tokens)
    words = [*TEXT, "nothing", "日本", "So"]
    same(found.encode(words), tokenizer.encode(words))
    assert (tmp_path / "token_type").is_file() == (token_type != "word")  # a vocabulary alone is one of words


@pytest.mark.parametrize("token_type", TYPES)
def test_encode_gives_every_word_a_slot_in_any_process(token_type, made):
    words = [*TEXT, "日本", "\u200b"]
    encoding = made[token_type].encode(words)
    assert len(encoding.slots) == len(words)
    assert (np.diff(encoding.slots) > 0).all()
    assert encoding.slots[-1] == len(encoding.ids) - 1
    encode = made[token_type].word_encoder()
    assert [id for word in words for id in encode(word)] == encoding.ids.tolist()
    same(encoding, pickle.loads(pickle.dumps(made[token_type].encode))(words))  # as another process does


def test_word_tokenizer_counts_unknown_words():
    ids, slots, lost = WordTokenizer(VOCABULARIES["word"]).encode(["it", "is", "so", "no"])
    assert (ids.tolist(), slots.tolist(), lost) == ([3, UNK, 2, UNK], [0, 1, 2, 3], 2)


def test_class_tokenizer_latin_words_and_numbers_are_a_token_each(tmp_path):
    write_data_dir(tmp_path / "d", [Utterance("a", "a", ["日", "Tokyo", "本", "3.5", "日", "ＪＲ", "Tokyo", "Tokyo"])])
    made = ClassTokenizer.make([DataDir(tmp_path / "d")], 2)
    assert made.vocabulary.tokens == ["<unk>", "</s>", "<alpha>", "<num>", "日", "本"]
    assert made.encode(["日", "x", "７", "Tokyo", "語", "<num>", "本"]).ids.tolist() == [4, 2, 3, 2, UNK, 3, 5]
    with pytest.raises(InputError, match="<alpha> and <num>"):
        ClassTokenizer(VOCABULARIES["word"])


@given(st.lists(st.lists(st.sampled_from(["so", "it", "İ", "日", "ties"]), min_size=1, max_size=5), min_size=1))
def test_encode_streams_of_characters_end_with_end(streams):
    tokenizer = CharTokenizer(VOCABULARIES["char"])
    bounds = np.cumsum([0, *map(len, streams)])
    encoding, offsets = encode_streams(tokenizer, [word for stream in streams for word in stream], bounds)
    for stream, begin, end in zip(streams, offsets, offsets[1:]):
        expected = tokenizer.encode(stream).ids
        expected[-1] = END
        assert encoding.ids[begin:end].tolist() == expected.tolist()
    assert (len(offsets), offsets[-1]) == (len(streams) + 1, len(encoding.ids))
    assert encoding.ids.tolist().count(END) == len(streams)


def test_encode_streams_of_words_have_no_end():
    encoding, offsets = encode_streams(WordTokenizer(VOCABULARIES["word"]), ["it", "so", "it"], [0, 1, 3])
    assert (encoding.ids.tolist(), offsets.tolist()) == ([3, 2, 3], [0, 1, 3])


@pytest.mark.parametrize("content", ["syllable\n", ""])
def test_read_tokenizer_unknown_token_type_is_one_line(tmp_path, content):
    VOCABULARIES["word"].write(tmp_path / "vocab")
    (tmp_path / "token_type").write_text(content)
    with pytest.raises(InputError) as caught:
        read_tokenizer(tmp_path)
    assert str(caught.value) == (f"{tmp_path}/token_type: no token type '{content.strip()}'; "
                                 "choose from char, class, encoder, form, spelled, subword, word")


def test_unknown_words_by_token_type():
    counts = {b"so": 5, b"it": 4, b"flogging": 1}
    learned = {name: tokenizer_class(name).learn(counts, 2) for name in ("word", "class", "form", "spelled")}
    tokens = {name: [t.vocabulary.tokens[i] for i in t.encode(["blogging", "2011"]).ids] for name, t in learned.items()}
    assert tokens["word"] == ["<unk>", "<unk>"]
    assert tokens["class"] == list(CLASSES[:2])
    assert tokens["form"] == ["<form:3:a:ing>", "<unk>"]
    assert tokens["spelled"][-5:] == ["<char>"] * 4 + ["<unk>"]
