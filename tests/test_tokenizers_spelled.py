"""Words, and the characters of words that are not in the vocabulary."""

import pytest

from punc.base.errors import InputError
from punc.tokens.tokenizers.spelled import MAX_LENGTH, SpelledTokenizer
from punc.tokens.vocabulary import Vocabulary

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


def test_encode_no_words():
    assert SpelledTokenizer(Vocabulary(VOCABULARY)).encode([]).ids.tolist() == []


def test_learn_takes_words_by_count_and_their_characters():
    assert SpelledTokenizer.learn({b"aba": 3, b"c": 7}, 10, 4).vocabulary.tokens == [
        "<unk>", "</s>", "c", "<char>", "<char>c", "<char>a", "<char>b"]
    assert not SpelledTokenizer.is_token(b"<char>x")


@pytest.mark.parametrize("tokens", [["a"], ["<char>", "<char>b", "a"], ["<char>", "<char>bb"]])
def test_read_vocabulary_without_characters(tokens, tmp_path):
    Vocabulary(["<unk>", "</s>", *tokens]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab: it does not end with '<char>' and characters; make the store again"):
        SpelledTokenizer.read(tmp_path / "vocab")
