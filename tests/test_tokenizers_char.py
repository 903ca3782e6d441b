"""Characters: compared with a plain loop; the rules that normalise a character; counting."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punc.tokens.tokenizers.char
from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.tokens.tokenizers.char import SPACE, CharTokenizer, count_characters, equivalent, normalised
from punc.tokens.vocabulary import Vocabulary

SPECIALS = ["<unk>", "</s>", "<space>"]
KNOWN = "abcdeéßiolst0'-.カ日👍\u0307א"
CHARACTERS = CharTokenizer(Vocabulary([*SPECIALS, *KNOWN]))
# Emoji, control characters, right-to-left marks, combining accents, half-width kana, and any other.
character = st.sampled_from("aBéÉe\u0301ßẞİıſ🙂👍🏽\u200d\ufe0f\x01\x1c\x7f\u200f\u202e\u0300ｶﾞ日٣½…“—ﬁ\u00a0\u3000א"
                            ) | st.characters(exclude_characters=" \t\n\r\0", exclude_categories=("Cs",))
words = st.lists(st.text(character, min_size=1, max_size=6), max_size=8)


def by_hand(words):
    """Tokens, slots, and how many characters are left out, one character at a time."""
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


@given(words, words)
def test_encode_words_are_independent(one, other):
    (a, slots_a, lost_a), (b, slots_b, lost_b) = CHARACTERS.encode(one), CHARACTERS.encode(other)
    ids, slots, lost = CHARACTERS.encode(one + other)
    assert (ids.tolist(), lost) == ([*a, *b], lost_a + lost_b)
    assert slots.tolist() == [*slots_a, *(slots_b + len(a))]


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


@given(st.characters(exclude_characters=" "))
def test_equivalent_is_normalised_and_has_no_blank(character):
    for found in normalised(character), equivalent(character):
        assert not set(found) & set(" \t\n\r\0")
        assert "".join(map(normalised, found)) == found


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
    assert count_characters([data]) == {c.encode(): n for c, n in expected.items()}
    made = CharTokenizer.make([data], 3)
    assert made.vocabulary.tokens == [*SPECIALS, "b", "0", "a"]
    assert CharTokenizer.make([data], 9, min_count=3).vocabulary.tokens == [*SPECIALS, "b"]
    monkeypatch.setattr(punc.tokens.tokenizers.char, "COUNT_BYTES", 8)
    assert count_characters([data, data], nj=2) == {c: 2 * n for c, n in count_characters([data]).items()}


def test_read_vocabulary_without_space_is_an_error(tmp_path):
    Vocabulary(["<unk>", "</s>", "a"]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab:3: no '<space>' here; "):
        CharTokenizer.read(tmp_path / "vocab")
