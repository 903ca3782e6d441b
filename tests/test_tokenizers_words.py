"""Words as tokens, and what stands for a new word: its longest known form, or its characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.tokens.tokenizers.form import FormTokenizer, forms, parse_form, word_shape
from punc.tokens.tokenizers.spelled import MAX_LENGTH, SpelledTokenizer
from punc.tokens.vocabulary import Vocabulary

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
    """Three of the four words are in the vocabulary; the forms are those of all four."""
    assert TOKENIZER.vocabulary.tokens[-3:] == ["it", "running", "10:30"]
    assert tokens("McDonald") == ["<form:3:AaAa:ald>"]
    assert len(TOKENIZER.vocabulary) == 2 + 13 + 3


def test_vocabulary_without_forms_is_an_error():
    with pytest.raises(InputError, match="no <form:"):
        FormTokenizer(Vocabulary(["<unk>", "</s>", "it"]))


VOCABULARY = ["<unk>", "</s>", "so", "it", "<char>", "<char>b", "<char>é", "<char>g"]


def shown(tokenizer, encoding):
    """The tokens of each word."""
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
