"""What a word of a recogniser is: core, marks, number, abbreviation, tag."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punc.asr.tokens import (
    MARK,
    NUMBER,
    SILENCE,
    SYMBOL,
    TAG,
    URL,
    WORD,
    Token,
    TokenReader,
    is_hidden,
    is_plain,
    tagged,
)

READER = TokenReader()


@pytest.mark.parametrize(("text", "kind", "parts", "read"), [
    ("hello", WORD, ("", "hello", "", "", ""), "hello"),
    ("Hello,", WORD, ("", "Hello", "", ",", ""), "hello"),
    ('"Hello,"', WORD, ('"', "Hello", "", ",", '"'), "hello"),
    ("world).", WORD, ("", "world", ")", ".", ""), "world"),
    ("what?!", WORD, ("", "what", "", "?!", ""), "what"),
    ('end?".', WORD, ("", "end", "", "?", '"'), "end"),
    ("wh-", WORD, ("", "wh-", "", "", ""), "wh"),
    ("don’t", WORD, ("", "don’t", "", "", ""), "don't"),
    ("word—word", WORD, ("", "word—word", "", "", ""), "word word"),
    ("state-of-the-art.", WORD, ("", "state-of-the-art", "", ".", ""), "state-of-the-art"),
    ("...and", WORD, ("...", "and", "", "", ""), "and"),
    ("42.", NUMBER, ("", "42.", "", "", ""), "42"),
    ("42,", NUMBER, ("", "42", "", ",", ""), "42"),
    ("3,5", NUMBER, ("", "3,5", "", "", ""), "3,5"),
    ("$5", NUMBER, ("", "$5", "", "", ""), "$5"),
    ("10:30?", NUMBER, ("", "10:30", "", "?", ""), "10:30"),
    ("U.S.", WORD, ("", "U.S.", "", "", ""), "u.s"),
    ("Ph.D.,", WORD, ("", "Ph.D.", "", ",", ""), "ph.d"),
    ("E.", WORD, ("", "E.", "", "", ""), "e"),
    ("I.", WORD, ("", "I", "", ".", ""), "i"),
    ("Mr.", WORD, ("", "Mr.", "", "", ""), "mr"),
    ("etc...", WORD, ("", "etc", "", "...", ""), "etc"),
    ("https://a.b/c?d=e,", URL, ("", "https://a.b/c?d=e", "", ",", ""), "https://a.b/c?d=e"),
    ("Me@Mail.org.", URL, ("", "Me@Mail.org", "", ".", ""), "me@mail.org"),
    ("www.example.com", URL, ("", "www.example.com", "", "", ""), "www.example.com"),
    ("[Music]", TAG, ("", "[Music]", "", "", ""), ""),
    ("(laughs).", TAG, ("", "(laughs)", "", ".", ""), ""),
    ("<unk>", TAG, ("", "<unk>", "", "", ""), "<unk>"),
    ("[UNK]", TAG, ("", "[UNK]", "", "", ""), "<unk>"),
    ("<noise>", TAG, ("", "<noise>", "", "", ""), ""),
    ("<eps>", SILENCE, ("", "<eps>", "", "", ""), ""),
    (",", MARK, ("", ",", "", "", ""), ""),
    ("...", MARK, ("", "...", "", "", ""), ""),
    ("♪", SYMBOL, ("", "♪", "", "", ""), ""),
    ("-", SYMBOL, ("", "-", "", "", ""), ""),
])
def test_token(text, kind, parts, read):
    token = READER.token(text)
    assert (token.kind, token[1:6], " ".join(token.words)) == (kind, parts, read)


@given(st.text(min_size=1).filter(lambda text: text.split() == [text]))
@example("\xad")
def test_token_parts_are_the_text(text):
    token = READER.token(text)
    # Marks that stand apart from others, as in `end?".`, are dropped.
    assert text.startswith("".join(token[1:5])) or token.after
    assert all(word and word.split() == [word] for word in token.words)
    assert token.kind in (WORD, NUMBER, URL, TAG) or not token.words


def test_token_keeps_case_for_models_that_read_it():
    assert TokenReader(lowercase=False).token("Hello,").words == ("Hello",)
    reader = TokenReader(capitals=True)
    assert [reader.token(word).words[0] for word in ("Hello,", "NATO.", "I", "I'm")] == ["hello", "NATO", "i", "i'm"]


def test_tagged_words_in_square_brackets_of_one_segment():
    words = ["a", "[soft", "music]", "b", "[no", "end", "[c", "d]."]
    assert tagged(words, np.array([0, 0, 0, 0, 0, 0, 0, 0])).tolist() == [False, True, True, False, False, False, True,
                                                                        True]
    assert not tagged(words, np.arange(8)).any()


@pytest.mark.parametrize(("text", "hidden"), [
    ("<unk>", True), ("[unk]", True), ("<noise>", True), ("{breath}", True), ("!SIL", True), ("<eps>", True),
    ("[Music]", False), ("(laughs)", False), ("word", False)])
def test_is_hidden(text, hidden):
    assert is_hidden(READER.token(text)) == hidden


def test_plain_words_are_what_the_rules_make_of_them(monkeypatch):
    letters = [chr(code) for code in range(0x30000) if chr(code).isalpha() and chr(code).islower()]
    words = [text for one in letters for text in (one, f"ab{one}", one + "ab")] + ["doʼt", "sil", "hello"]
    plain = [word for word in words if is_plain(word)]
    assert len(plain) > 0.9 * len(words)
    assert not {"doʼt", "sil"} & set(plain)
    monkeypatch.setattr("punc.asr.tokens.is_plain", lambda word: False)
    for word in plain:
        assert READER.token(word) == Token(WORD, "", word, "", "", "", (word,), False)
