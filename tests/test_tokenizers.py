"""Tokenizers are found by file name, give every word a slot, and are read back as written, with their vocabularies."""

import pickle
import string
import unicodedata
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoder import write_tokenizer

import punc.tokens.vocabulary
from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.text.characters import CLASSES
from punc.tokens import tokenizers
from punc.tokens.store import Store
from punc.tokens.tokenizer import Tokenizer, encode_streams, read_tokenizer, token_types, tokenizer_class
from punc.tokens.tokenizers.char import SPACE, CharTokenizer, equivalent
from punc.tokens.tokenizers.class_ import ClassTokenizer
from punc.tokens.tokenizers.form import FormTokenizer, forms, parse_form, word_shape
from punc.tokens.tokenizers.spelled import MAX_LENGTH, SpelledTokenizer
from punc.tokens.tokenizers.subword import SubwordTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, UNK, SpilledCounts, Vocabulary

TEXT = ["so", "it", "begins", "as", "it", "must", "does", "it", "end", "another", "talk", "another", "day", "it", "is"]
VOCABULARIES = {"word": Vocabulary(["<unk>", "</s>", "so", "it"]),
                "char": Vocabulary(["<unk>", "</s>", "<space>", *"soite"])}


TYPES = [name for name in token_types() if name != "encoder" or find_spec("tokenizers")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a tokenizer of each token type, made from TEXT. Only the encoder's tokenizer is read from a file."""
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
    assert (tmp_path / "token_type").is_file() == (token_type != "word")  # without this file, the type is `word`


@pytest.mark.parametrize("token_type", TYPES)
def test_encode_gives_every_word_a_slot_in_any_process(token_type, made):
    words = [*TEXT, "日", "\u200b"]
    encoding = made[token_type].encode(words)
    assert len(encoding.slots) == len(words)
    assert (np.diff(encoding.slots) > 0).all()
    assert encoding.slots[-1] == len(encoding.ids) - 1
    encode = made[token_type].word_encoder()
    assert [id for word in words for id in encode(word)] == encoding.ids.tolist()
    same(encoding, pickle.loads(pickle.dumps(made[token_type].encode))(words))  # pickled, as for a worker process


def test_class_tokenizer_latin_words_and_numbers_are_a_token_each(tmp_path):
    write_data_dir(tmp_path / "d", [Utterance("a", "a", ["日", "Tokyo", "本", "3.5", "日", "ＪＲ", "Tokyo", "Tokyo"])])
    made = ClassTokenizer.make([DataDir(tmp_path / "d")], 2)
    assert made.vocabulary.tokens == ["<unk>", "</s>", "<alpha>", "<num>", "日", "本"]
    assert made.encode(["日", "x", "７", "Tokyo", "語", "<num>", "本"]).ids.tolist() == [4, 2, 3, 2, UNK, 3, 5]
    found = made.encode_input(["日本", "\u200b", "3.5本", "日"])  # a word's slot is at its last character
    assert (found.ids.tolist(), found.slots.tolist()) == ([4, 5, UNK, 3, 5, 4], [1, 2, 4, 5])
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


SPECIALS = ["<unk>", "</s>", "<space>"]
KNOWN = "abcdeéßiolst0'-.カ日👍\u0307א"
CHARACTERS = CharTokenizer(Vocabulary([*SPECIALS, *KNOWN]))
# Emoji, control characters, right-to-left marks, combining accents, half-width kana, and any other character.
character = st.sampled_from("aBéÉe\u0301ßẞİıſ🙂👍🏽\u200d\ufe0f\x01\x1c\x7f\u200f\u202e\u0300ｶﾞ日٣½…“—ﬁ\u00a0\u3000א"
                            ) | st.characters(exclude_characters=" \t\n\r\0", exclude_categories=("Cs",))
words = st.lists(st.text(character, min_size=1, max_size=6), max_size=8)


def by_hand(words):
    ids, slots, lost = [], [], 0
    for word in words:
        for c in word:
            found = []
            for lower in c.lower():
                if unicodedata.category(lower) in ("Cc", "Cf", "Cs"):
                    continue
                lower = "0" if unicodedata.category(lower) == "Nd" else lower
                found += [e for e in ([lower] if lower in KNOWN else equivalent(lower)) if e in KNOWN]
            ids += [3 + KNOWN.index(e) for e in found]
            lost += not found
        slots.append(len(ids))
        ids.append(SPACE)
    return ids, slots, lost


@given(words)
def test_encode_by_hand(words):
    ids, slots, lost = CHARACTERS.encode(words)
    assert (ids.tolist(), slots.tolist(), lost) == by_hand(words)
    assert (ids.dtype, slots.dtype) == (np.int32, np.int64)


def spelling(word):
    ids = CHARACTERS.encode([word]).ids
    return "".join(CHARACTERS.vocabulary.tokens[i] for i in ids[:-1])


@pytest.mark.parametrize(("word", "read"), [
    ("Abc", "abc"), ("É", "é"), ("È", "e"), ("e\u0301", "e"), ("2024", "0000"), ("٣", "0"), ("x²", "0"),
    ("İ", "i\u0307"), ("ı", "i"), ("ß", "ß"), ("ẞ", "ß"), ("œ", "oe"), ("ﬁ", "i"), ("ﬆ", "st"), ("½", "00"),
    ("it’s", "it's"), ("a—b", "a-b"), ("…", "..."), ("ｶﾞ", "カ"), ("日", "日"), ("本", ""), ("👍🏽", "👍"),
    ("\u200fא\u202e", "א"), ("a\u00a0b", "ab"), ("a\x01b", "ab"), ("a\ud800b", "ab"), ("<unk>", ""), ("字", "")])
def test_encode_normalises_characters(word, read):
    assert spelling(word) == read


def test_encode_long_word_and_no_word():
    ids, slots, lost = CHARACTERS.encode(["a" * 25000 + "字" + "ﬆ" * 12500, "b"])
    assert (len(ids), slots.tolist(), lost) == (50003, [50000, 50002], 1)
    empty = CHARACTERS.encode([])
    assert (len(empty.ids), len(empty.slots), empty.lost) == (0, 0, 0)


def data_dir(path, texts):
    write_data_dir(path, [Utterance(f"bé-{i:04d}", "bé", text.split(" ")) for i, text in enumerate(texts)])
    return DataDir(path)


def test_make_vocabulary_is_the_characters(tmp_path, monkeypatch):
    data = data_dir(tmp_path / "d", ["Ab b\x01a 17", "É b\u00a0İ"])
    expected = {"a": 2, "b": 3, "0": 2, "é": 1, "\u00a0": 1, "i": 1, "\u0307": 1}
    assert CharTokenizer.count([data], 0) == {c.encode(): n for c, n in expected.items()}
    made = CharTokenizer.make([data], 3)
    assert made.vocabulary.tokens == [*SPECIALS, "b", "0", "a"]
    assert CharTokenizer.make([data], 9, min_count=3).vocabulary.tokens == [*SPECIALS, "b"]
    monkeypatch.setattr(punc.tokens.vocabulary, "COUNT_BYTES", 8)
    assert CharTokenizer.count([data, data], 0, nj=2) == {c: 2 * n for c, n in CharTokenizer.count([data], 0).items()}


def test_read_vocabulary_without_space_is_an_error(tmp_path):
    Vocabulary(["<unk>", "</s>", "a"]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab:3: '<space>' is missing; "):
        CharTokenizer.read(tmp_path / "vocab")


def subword_data(path, seed=0):
    """Write a data directory of two-syllable words. The first items of `syllables` are the most frequent ones."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in string.ascii_lowercase[:8] for b in "aeiou"]
    texts = (["".join(syllables[min(i, 39)] for i in rng.zipf(1.3, 2) - 1) for _ in range(40)] for _ in range(40))
    write_data_dir(path, [Utterance(f"s-{i:04d}", "s", text) for i, text in enumerate(texts)])
    return DataDir(path)


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    return SubwordTokenizer.make([subword_data(tmp_path_factory.mktemp("d") / "d")], 60)


ODD_WORDS = st.lists(st.sampled_from(["baba", "bade", "Kaba", "b" * 300, "日本", "\u200f", "\x01", "a\u00a0b", "▁",
                                      "<unk>", "</s>", "e\u0301", "👍🏽", "ﬁ", "a\ud800"])
                     | st.text(st.characters(exclude_characters=" \t\n\r\0"), min_size=1, max_size=6), max_size=8)


def pieces_by_hand(model, words):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids, slots = [], []
    for word in words:
        ids += processor.encode(word.encode(errors="replace")) or [UNK]
        slots.append(len(ids) - 1)
    return ids, slots


@settings(deadline=None)
@given(words=ODD_WORDS, cache=st.sampled_from([0, 3, 1 << 18]))
def test_encode_word_is_its_pieces(subwords, words, cache):
    subwords.cache = cache
    ids, slots, lost = subwords.encode(words)
    assert (ids.tolist(), slots.tolist()) == pieces_by_hand(subwords.__getstate__(), words)
    assert (ids.dtype, slots.dtype, lost) == (np.int32, np.int64, ids.tolist().count(UNK))


def test_make_again_is_the_same_and_is_read_back(subwords, tmp_path):
    again = SubwordTokenizer.make([subword_data(tmp_path / "d")], 60, nj=2)
    assert again.__getstate__() == subwords.__getstate__()
    again.write(tmp_path)
    assert SubwordTokenizer.read(tmp_path / "vocab").__getstate__() == again.__getstate__()
    assert again.vocabulary.tokens[:2] == ["<unk>", "</s>"]
    assert 40 < len(again.vocabulary) <= 62
    rare = SubwordTokenizer.make([DataDir(tmp_path / "d")], 60, min_count=50)
    assert rare.vocabulary.tokens != again.vocabulary.tokens


def test_read_files_that_do_not_fit_is_one_line(subwords, tmp_path):
    subwords.write(tmp_path)
    Vocabulary([*subwords.vocabulary.tokens, "more"]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab: the pieces differ from those in pieces.model"):
        SubwordTokenizer.read(tmp_path / "vocab")
    content = (tmp_path / SubwordTokenizer.file).read_bytes()
    piece = subwords.vocabulary.tokens[-1].encode()
    for broken in (b"no model", content.replace(piece, b"\xab" * len(piece))):
        (tmp_path / SubwordTokenizer.file).write_bytes(broken)
        with pytest.raises(InputError, match=r"pieces.model: not a subword model"):
            SubwordTokenizer.read(tmp_path / "vocab")
    (tmp_path / SubwordTokenizer.file).unlink()
    with pytest.raises(InputError, match=r"pieces.model: no such file"):
        SubwordTokenizer.read(tmp_path / "vocab")


def test_make_fewer_pieces_than_characters_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"cannot learn --vocab-size=3 subwords: .*; give a larger") as caught:
        SubwordTokenizer.make([subword_data(tmp_path / "d")], 3)
    assert "\n" not in str(caught.value)


COUNTS = {b"running": 3, b"10:30": 2, b"McDonald": 1, b"it": 9, b"<form:x": 1}
TOKENIZER = FormTokenizer.learn({word: n for word, n in COUNTS.items() if FormTokenizer.is_token(word)}, 3)


def tokens(*words):
    return [TOKENIZER.vocabulary.tokens[i] for i in TOKENIZER.encode(words).ids]


def test_forms_by_hand():
    assert list(forms("blogging")) == ["<form:3:a:ing>", "<form:2:a:ng>", "<form:1:a:g>", "<form:0:a:>"]
    assert list(forms("7:30")) == ["<form:3:0:0::30>", "<form:2:0:0:30>", "<form:1:0:0:0>", "<form:0:0:0:>"]
    assert list(forms("I")) == ["<form:0:A:>"]


@given(st.text(st.characters(exclude_characters=" \n"), min_size=1, max_size=6))
def test_parse_form_gives_shape_and_letters(word):
    for length, form in zip(range(min(3, len(word) - 1), -1, -1), forms(word), strict=True):
        assert parse_form(form) == (word_shape(word), word[len(word) - length:])
    assert parse_form("x" + word) is None


def test_known_words_are_words_and_new_ones_their_longest_form():
    assert tokens("running", "it", "blogging", "ending", "strong", "bag", "ox") == [
        "running", "it", "<form:3:a:ing>", "<form:3:a:ing>", "<form:2:a:ng>", "<form:1:a:g>", "<form:0:a:>"]
    assert tokens("9:30", "McRonald", "'") == ["<form:3:0:0::30>", "<form:3:AaAa:ald>", "<unk>"]


def test_rare_words_leave_their_forms():
    assert TOKENIZER.vocabulary.tokens[-3:] == ["it", "running", "10:30"]
    assert tokens("McDonald") == ["<form:3:AaAa:ald>"]
    assert len(TOKENIZER.vocabulary) == 2 + 13 + 3


def test_vocabulary_without_forms_is_an_error():
    with pytest.raises(InputError, match="no token <form:"):
        FormTokenizer(Vocabulary(["<unk>", "</s>", "it"]))


VOCABULARY = ["<unk>", "</s>", "so", "it", "<char>", "<char>b", "<char>é", "<char>g"]


def shown(tokenizer, encoding):
    tokens = [tokenizer.vocabulary.tokens[i] for i in encoding.ids]
    return [" ".join(tokens[begin:end]) for begin, end in zip([0, *encoding.slots + 1], encoding.slots + 1)]


@pytest.mark.parametrize(("word", "tokens"), [
    ("so", "so"), ("big", "<char>b <char> <char>g <unk>"), ("e\u0301b", "<char>é <char>b <unk>"),
    ("日", "<char> <unk>"),
    ("<char>b", "<char> " * 6 + "<char>b <unk>"), ("<unk>", "<char> " * 5 + "<unk>"),
    ("b" * 40 + "g" * 40, "<char>b " * 16 + "<char>g " * 16 + "<unk>"),
])
def test_encode_spells_unknown_words(word, tokens):
    tokenizer = SpelledTokenizer(Vocabulary(VOCABULARY))
    encoding = tokenizer.encode(["it", word, "so"])
    assert shown(tokenizer, encoding) == ["it", tokens, "so"]
    assert encoding.lost == (tokens != word)
    assert len(encoding.ids) <= MAX_LENGTH + 3


def test_learn_takes_words_by_count_and_their_characters():
    assert SpelledTokenizer.learn({b"aba": 3, b"c": 7}, 10, 4).vocabulary.tokens == [
        "<unk>", "</s>", "c", "<char>", "<char>c", "<char>a", "<char>b"]
    assert not SpelledTokenizer.is_token(b"<char>x")


@pytest.mark.parametrize("tokens", [["a"], ["<char>", "<char>b", "a"], ["<char>", "<char>bb"]])
def test_read_vocabulary_without_characters(tokens, tmp_path):
    Vocabulary(["<unk>", "</s>", *tokens]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab: it does not end with '<char>' and characters; make the store again"):
        SpelledTokenizer.read(tmp_path / "vocab")


def count_vocabulary(sets, size, min_count=1):
    return WordTokenizer.make(sets, size, min_count).vocabulary


def texts_dir(path, texts):
    write_data_dir(path, [Utterance(f"s-{i:05d}", "s", text.split()) for i, text in enumerate(texts)])
    return DataDir(path)


def test_count_most_frequent_first_and_ties_in_c_order(tmp_path):
    data = texts_dir(tmp_path / "d", ["b a ä Z b", "", "b a ä Z z"])
    assert count_vocabulary([data], 4).tokens == ["<unk>", "</s>", "b", "Z", "a", "ä"]
    assert count_vocabulary([data], 100).tokens == ["<unk>", "</s>", "b", "Z", "a", "ä", "z"]
    assert count_vocabulary([data], 100, min_count=2).tokens == ["<unk>", "</s>", "b", "Z", "a", "ä"]


def test_count_leaves_out_special_tokens_of_the_text(tmp_path):
    data = texts_dir(tmp_path / "d", ["<unk> <unk> a </s> <unk> b a"])
    assert count_vocabulary([data], 1).tokens == ["<unk>", "</s>", "a"]


def test_count_several_sets_together(tmp_path):
    parts = [texts_dir(tmp_path / name, texts) for name, texts in (("d", ["b b a", "c"]), ("e", ["a c d a a"]))]
    whole = texts_dir(tmp_path / "whole", ["b b a", "c", "a c d a a"])
    assert count_vocabulary(parts, 10).tokens == count_vocabulary([whole], 10).tokens == [
        "<unk>", "</s>", "a", "b", "c", "d"]
    empty = texts_dir(tmp_path / "empty", [""])
    assert count_vocabulary([empty, *parts], 2).tokens == ["<unk>", "</s>", "a", "b"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\0"), min_size=1),
                unique=True))
def test_vocabulary_is_read_back(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("v") / "vocab"
    tokens = ["<unk>", "</s>", *(word for word in words if word not in ("<unk>", "</s>"))]
    Vocabulary(tokens).write(path)
    assert Vocabulary.read(path).tokens == tokens


@pytest.mark.parametrize(("text", "line", "what"), [
    ("", 1, "<unk>"), ("<unk>\n", 2, "</s>"), ("</s>\n<unk>\n", 1, "<unk>"), ("a\nb\n", 1, "<unk>"),
    ("<unk>\n</s>\na\nb\na\n", 5, "'a' occurs twice"), ("<unk>\n</s>\n<unk>\n", 3, "'<unk>' occurs twice"),
    ("<unk>\n</s>\na 3\n", 3, "the line is not one token"), ("<unk>\n</s>\n\n", 3, "the line is not one token"),
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
    data = texts_dir(tmp_path / "d", ["a b", "c"])
    (tmp_path / "d/text").write_bytes(b"s-00000 a b\ns-00001 c\xff\n")
    with pytest.raises(InputError, match=r"text:2: byte 10 is not UTF-8"):
        count_vocabulary([data], 5)


def test_count_in_bounded_memory_is_exact(tmp_path, monkeypatch):
    """The result equals a count of all words in memory, although most different words occur only once."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in np.minimum(rng.zipf(1.5, 6000), 40)]
    for i in range(2000):
        words.insert(int(rng.integers(len(words))), f"noise{i}")
    data = texts_dir(tmp_path / "d", [" ".join(words[i:i + 20]) for i in range(0, len(words), 20)])
    exact = sorted(Counter(words), key=lambda word: (-words.count(word), word))
    monkeypatch.setattr(punc.tokens.vocabulary, "MOST_TYPES", 200)
    monkeypatch.setattr(punc.tokens.vocabulary, "COUNT_BYTES", 1000)
    for size in 10, 700:
        assert count_vocabulary([data], size).tokens[2:] == exact[:size]


def test_spilled_counts_keep_few_words_in_memory():
    spilled = SpilledCounts(100)
    for i in range(0, 3000, 30):
        spilled.add({b"word%d" % (j % 1000): 1 + (j == 5) for j in range(i, i + 30)})
        assert len(spilled._counts) <= 130
    assert dict(spilled.items()) == {b"word%d" % j: 3 + (j == 5) for j in range(1000)}
    assert spilled.most_frequent(2, bool) == {b"word5": 4, b"word0": 3}
