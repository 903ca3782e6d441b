"""The words of ASR output are split into plain words and marks, and plain words are written with their labels."""

import time
from itertools import product
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punc.data.labels import Label, LabelSet
from punc.text.casing import Casing
from punc.text.marked_words import MarkedWords
from punc.text.split_words import AUTO, take_apart, with_abbreviations
from punc.text.word_parts import MARK, NUMBER, SILENCE, SYMBOL, TAG, URL, WORD, TokenReader, is_hidden, tagged

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
    ("don`t", WORD, ("", "don`t", "", "", ""), "don't"),
    ("end.¹", WORD, ("", "end", "", ".", "¹"), "end"),
    ("¹", SYMBOL, ("", "¹", "", "", ""), ""),
    ("<i>Hello", WORD, ("<i>", "Hello", "", "", ""), "hello"),
    ("hello</i>,", WORD, ("", "hello", "</i>", ",", ""), "hello"),
    ("a<br/>b", WORD, ("", "a<br/>b", "", "", ""), "a b"),
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
    ("EE.UU.,", WORD, ("", "EE.UU.", "", ",", ""), "ee.uu"),
    ("Mrd.", WORD, ("", "Mrd.", "", "", ""), "mrd"),
    ("Dra.", WORD, ("", "Dra.", "", "", ""), "dra"),
    ("etc...", WORD, ("", "etc", "", "...", ""), "etc"),
    ("https://a.b/c?d=e,", URL, ("", "https://a.b/c?d=e", "", ",", ""), "https://a.b/c?d=e"),
    ("Me@Mail.org.", URL, ("", "Me@Mail.org", "", ".", ""), "me@mail.org"),
    ("www.example.com", URL, ("", "www.example.com", "", "", ""), "www.example.com"),
    ("[Music]", TAG, ("", "[Music]", "", "", ""), ""),
    ("(laughs).", TAG, ("", "(laughs)", "", ".", ""), ""),
    ("<unk>", TAG, ("", "<unk>", "", "", ""), "<unk>"),
    ("[UNK]", TAG, ("", "[UNK]", "", "", ""), "<unk>"),
    ("<noise>", TAG, ("", "<noise>", "", "", ""), ""),
    ("%HESITATION.", TAG, ("", "%HESITATION", "", ".", ""), ""),
    ("++noise++", TAG, ("", "++noise++", "", "", ""), ""),
    ("#00:00:05-2#", TAG, ("", "#00:00:05-2#", "", "", ""), ""),
    ("（笑）。", TAG, ("", "（笑）", "", "。", ""), ""),
    ("<eps>", SILENCE, ("", "<eps>", "", "", ""), ""),
    (",", MARK, ("", ",", "", "", ""), ""),
    ("...", MARK, ("", "...", "", "", ""), ""),
    ("%", WORD, ("", "%", "", "", ""), "%"),
    ("€.", WORD, ("", "€", "", ".", ""), "€"),
    ("℃", WORD, ("", "℃", "", "", ""), "℃"),
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
    # Marks that a quote separates from earlier marks, such as the `.` of `end?".`, are dropped.
    assert text.startswith("".join(token[1:5])) or token.after
    assert all(word and word.split() == [word] for word in token.words)
    assert token.kind in (WORD, NUMBER, URL, TAG) or not token.words


def test_token_keeps_case_for_models_that_read_it():
    assert TokenReader(lowercase=False).token("Hello,").words == ("Hello",)


@pytest.mark.parametrize(("text", "inside"), [
    ("a (DOOR SLAMS) b", "0110"), ("( clock ticking ) b", "11110"), ("a (I think so) b", "00000"),
    ("*door slams* a", "110"),
    ("♪ la la ♪ a", "11110"), ("# la la # 1", "11110"), ("♪la la♪", "11"), ("# a b", "000"), ("[a [b c] d", "0110"),
    ("(A (B C) d", "0110"), ("#00:05-2# a b #00:09-1#", "0000"), ("♪♪ a b ♪♪ c", "11110"),
    ("は （拍 手） 【音 楽】 (音 楽)", "0111111")])
def test_tagged_words_that_are_not_speech(text, inside):
    words = text.split()
    assert "".join(map(str, tagged(words, np.zeros(len(words))).astype(int))) == inside


def test_tagged_words_in_square_brackets_of_one_segment():
    words = ["a", "[soft", "music]", "b", "[no", "end", "[c", "d]."]
    assert tagged(words, np.array([0, 0, 0, 0, 0, 0, 0, 0])).tolist() == [False, True, True, False, False, False, True,
                                                                        True]
    assert not tagged(words, np.arange(8)).any()


@pytest.mark.parametrize(("text", "hidden"), [
    ("<unk>", True), ("[unk]", True), ("<noise>", True), ("%HESITATION", True), ("{breath}", True), ("!SIL", True),
    ("<eps>", True), ("[Music]", False), ("(laughs)", False), ("word", False)])
def test_is_hidden(text, hidden):
    assert is_hidden(READER.token(text)) == hidden


CASED = LabelSet(tuple(Label(name, written, marks) for name, written, marks in [
    ("O", "w", ()), ("CAP", "W", ()), ("COMMA", "w,", (",", ":")), ("CAP_COMMA", "W,", (",", ":")),
    ("PERIOD", "w.", (".", "!")), ("CAP_PERIOD", "W.", (".", "!")), ("QUESTION", "w?", ("?",)),
    ("CAP_QUESTION", "W?", ("?",))]))


def write(text, labels="", label_set=CASED, casing=None, streams=None, lowercase=True, **options):
    texts = text.split()
    streams = np.zeros(len(texts), np.int64) if streams is None else np.array(streams)
    words = take_apart(texts, TokenReader(lowercase), streams, np.zeros(len(texts), bool), streams)
    words = with_abbreviations(words) if options.get("marks") == AUTO else words
    numbers = np.zeros(len(texts), np.int64)
    read = np.flatnonzero(words.counts)
    if labels:
        numbers[read] = [label_set.index(name) for name in labels.split()]
    marked = MarkedWords(label_set, Casing(label_set, casing or {}), **options)
    return " ".join(marked.write(words, numbers)[0])


@pytest.mark.parametrize(("text", "labels", "expected"), [
    ("und d. h. wir", "CAP COMMA CAP_PERIOD O", "Und d. h. wir"),
    ("z. B. i. d. R. so", "COMMA COMMA CAP PERIOD CAP O", "z. B. i. d. R. so"),
    ("und u. a. morgen", "O COMMA CAP_COMMA O", "und u. a., morgen"),
    ("the u. s. house", "O CAP CAP O", "the U. S. house")])
def test_abbreviations_with_spaces_have_no_marks_inside(text, labels, expected):
    assert write(text, labels) == expected


SPANISH = LabelSet((*CASED, Label("OPEN", "¿w"), Label("CAP_OPEN", "¿W"), Label("CAP_OPEN_QUESTION", "¿W?", ("?",))))


@pytest.mark.parametrize(("text", "labels", "expected"), [
    ("hola cómo estás", "CAP_COMMA OPEN QUESTION", "Hola, ¿cómo estás?"),
    ('"qué" y el iphone', "CAP_OPEN_QUESTION CAP O CAP_OPEN_QUESTION", '"¿Qué"? Y el ¿iPhone?'),
    ("¿cómo ¡y", "CAP_OPEN OPEN", "¿Cómo ¿y"),
    ("¿vienes? ¡no!", "CAP_PERIOD CAP_PERIOD", "Vienes. No.")])
def test_marks_before_a_word_are_written_once(text, labels, expected):
    assert write(text, labels, SPANISH, {"iphone": "iPhone", "Iphone": "iPhone"}) == expected


def test_marks_before_a_word_are_not_added_to_a_text_that_has_marks():
    text = "Hola. ¿Cómo estás? Bien, y tú? Yo sé."
    assert write(text, "CAP_PERIOD OPEN QUESTION OPEN OPEN O CAP_OPEN O", SPANISH, marks="auto") == text


@pytest.mark.parametrize(("text", "labels", "expected"), [
    ("hello how are you", "CAP_COMMA O O QUESTION", "Hello, how are you?"),
    ("Hello, how are you?", "CAP_COMMA O O QUESTION", "Hello, how are you?"),
    ("Hello. How are you!", "CAP_COMMA O O QUESTION", "Hello, how are you?"),
    ('he said "hello."', "CAP COMMA O", 'He said, "hello"'),
    ('he said "hello."', "CAP COMMA QUESTION", 'He said, "hello?"'),
    ("it is 42. in the U.S. of $5", "CAP O PERIOD O O PERIOD O PERIOD", "It is 42. in the U.S. of $5."),
    ("in the U.S. we", "CAP O COMMA O", "In the U.S., we"),
    ("a c.e.o. of a.i. e.g. at 5 p.m.", "CAP CAP O CAP CAP O O PERIOD", "A C.E.O. of A.I. E.g. at 5 p.m."),
    ("am 3. Mai", "CAP COMMA O", "Am 3. mai"),
    ("see www.A.com and a@b.de", "CAP CAP_COMMA O CAP_PERIOD", "See www.A.com, and a@b.de."),
    ("[Music] so [soft music] yes", "COMMA PERIOD", "[Music] so, [soft music] yes."),
    ("so , yes .", "COMMA PERIOD", "so , yes ."),
    ("we met <unk> there", "O COMMA PERIOD O", "we met. <unk> there"),
    ("<unk> there", "PERIOD O", "<unk> there"),
    ("um well-known uh", "O COMMA PERIOD", "um well-known, uh."),
])
def test_write_has_no_doubled_marks(text, labels, expected):
    assert write(text, labels) == expected


def test_write_keeps_capitals_that_no_label_explains():
    text = "Then Ada met IBM. Then she left."
    assert write(text, "O O O COMMA O O PERIOD") == "then Ada met IBM, then she left."
    assert write(text, "O O O PERIOD O O PERIOD", sentences=True) == "Then Ada met IBM. Then she left."
    assert write("THEN ADA LEFT", "CAP CAP PERIOD") == "Then Ada left.", "all in capitals is no case"
    assert write("then nato left", "O CAP PERIOD", casing={"Nato": "NATO"}) == "then NATO left."


def test_write_sentences_begin_with_capitals():
    assert write("yes so no <unk> iPhone it 5 is a", "PERIOD O O PERIOD O PERIOD PERIOD O O", sentences=True) == \
        "Yes. So no. <unk> iPhone it. 5. Is a"
    assert write("a b c", "O O O", sentences=True, streams=[0, 0, 1]) == "A b C"


def test_write_keep_marks():
    labels = "COMMA COMMA CAP_PERIOD O QUESTION"
    assert write("Yes! so 42. Now go", labels, marks="keep") == "Yes! so, 42. Now go?"
    assert write("Yes! so it. now go", labels, marks="keep", sentences=True) == "Yes! so, it. now go?"
    assert write("yes! so it. now go", labels, marks="keep", sentences=True) == "Yes! So, It. Now go?", "no capitals"


@pytest.mark.parametrize("text", [
    "Hello, how are you?", 'He said: "Go on," and left. The U.S. Senate voted 12 to 3.', "hello, i am here. are you?",
    "Yes! So it is... Well, no; see www.a.com.", "Il a menti. Pourtant, cet homme était là !"])
@given(data=st.data())
def test_write_auto_changes_nothing_in_a_text_with_marks(text, data):
    words = text.split()
    labels = data.draw(st.lists(st.sampled_from(["O", "COMMA", "CAP_PERIOD", "CAP"]), min_size=30, max_size=30))
    read = [word for word in words if TokenReader().token(word).words]
    parts = " ".join(labels[:len(read)])
    assert write(text, parts, marks="auto", sentences=True).lower() == text.lower()
    if text != text.lower():
        assert write(text, parts, marks="auto", sentences=True) == text


def test_write_curly_apostrophes_stay():
    casing = {"Mcdonald": "McDonald", "i'm": "I'm"}
    assert write("i’m at mcdonald’s o’clock", "O O CAP O", casing=casing) == "I’m at McDonald’s o’clock"


def test_write_auto_adds_what_is_missing():
    turn = "Hello, you. Fine, yes. No. a b"
    assert write(turn, "O O O O CAP CAP PERIOD", marks="auto", sentences=True) == "Hello, you. Fine, yes. No. a b."
    texts = f"{turn} so do".split()
    turns = np.array([word == "so" for word in texts])
    words = take_apart(texts, TokenReader(), np.zeros(len(texts), np.int64), turns, np.zeros(len(texts), np.int64))
    labels = np.array([0, 0, 0, 0, 0, 0, 4, 3, 4])
    marked = MarkedWords(CASED, Casing(CASED, {}), "auto", sentences=True).write(words, labels)[0]
    assert " ".join(marked) == "Hello, you. Fine, yes. No. a b. So, do."
    assert write("so we go on", "CAP_COMMA O O PERIOD", marks="auto") == "So, we go on."


def test_write_auto_does_not_count_the_points_of_abbreviations_and_numbers():
    labels = "CAP CAP_PERIOD CAP O QUESTION CAP O O PERIOD"
    assert write("dr. smith how are you on may 3. then", labels, marks="auto") == (
        "Dr. Smith. How are you? On may 3. then.")
    assert write("dr. smith, how are you on may 3. then", labels, marks="auto") == (
        "Dr. Smith, how are you on may 3. then.")


def test_write_auto_restores_the_capitals_of_a_text_with_marks_that_has_none():
    for text in "hello, i am ann. are you?", "HELLO, I AM ANN. ARE YOU?":
        assert write(text, "CAP CAP O CAP_PERIOD CAP O", marks="auto", sentences=True) == "Hello, I am Ann. Are you?"
    assert write("well, so we go. yes.", "CAP_PERIOD CAP CAP O O", marks="auto", sentences=True) == (
        "Well, so We go. Yes."), "so is not the beginning of a sentence"


@pytest.mark.parametrize(("text", "labels", "expected"), [
    ("see art. 5 of it", "O COMMA PERIOD CAP PERIOD", "See art. 5. Of it."),
    ("in hauptstr. 7 at 5 p.m. 3 came", "O CAP_COMMA O O O COMMA O PERIOD", "In Hauptstr. 7 at 5 p.m., 3 came."),
    ("max. 2 lbs. and lic. so he", "O O PERIOD CAP CAP O O", "Max. 2 lbs. And Lic. so he"),
    # Here the points are the ends of sentences, so they stay.
    ("we left yesterday. nobody noticed", "O O O CAP O", "We left yesterday. Nobody noticed"),
    ("he is there, but we are not. so he went", "O O O O O O O CAP O O", "He is there, but we are not. So he went")])
def test_write_auto_point_before_a_small_letter_or_number_belongs_to_an_abbreviation(text, labels, expected):
    assert write(text, labels, casing={"lic": "LIC"}, marks="auto", sentences=True) == expected


def test_abbreviations_are_found_in_linear_time():
    texts = [text for letters in product(ascii_lowercase, repeat=3) for text in ("".join(letters) + ".", "a")]
    zeros = np.zeros(len(texts), np.int64)
    words = take_apart(texts, TokenReader(), zeros, zeros > 0, zeros)
    begin = time.process_time()
    assert with_abbreviations(words).pointed.sum() == 26 ** 3
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(("text", "labels", "expected"), [
    ("the b b c's and", "CAP O COMMA PERIOD O", "The B B C's. and"), ("a u s man", "O COMMA O O", "a U S man"),
    ("no u k", "O CAP_COMMA O", "no U K"), ("c i a", "O COMMA O", "c i, a"),
    ("at ten a m i i", "O O O PERIOD CAP_COMMA CAP", "at ten a m. I, I"),
    ("at ten p m i", "O O CAP CAP_PERIOD CAP", "at ten P M. I"),
    ("the u s so u", "O O O O O", "the U S so u")])
def test_write_spelled_letters(text, labels, expected):
    assert write(text, labels) == expected


WORDS = ["Hello,", "you", "42.", "3,5", "$5", "U.S.", "Mr.", "a.b.com", "<unk>", "[Music]", "um", '"so,"', "(yes).",
         "I", "wh-", "don't", ".", "end..."]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.data(), st.booleans())
def test_write_words_out_are_words_in(texts, data, keep):
    words = take_apart(texts, TokenReader(), np.zeros(len(texts), np.int64), np.zeros(len(texts), bool),
                     np.zeros(len(texts), np.int64))
    labels = np.array(data.draw(st.lists(st.integers(0, 7), min_size=len(texts), max_size=len(texts))))
    labels[words.counts == 0] = 0
    found, _ = MarkedWords(CASED, Casing(CASED, {}), "keep" if keep else "replace").write(words, labels)
    for old, new in zip(texts, found):
        token, other = TokenReader().token(old), TokenReader().token(new)
        assert (other.lead, other.core.rstrip(".").lower(), other.before + other.after) == (
            token.lead, token.core.rstrip(".").lower(), token.before + token.after)
        assert ".." not in other.core or other.core == token.core
        assert len(other.marks) <= 1 or other.marks == token.marks
        if keep and token.marks:
            assert new.lower() == old.lower()
    again, _ = MarkedWords(CASED, Casing(CASED, {}), "keep" if keep else "replace").write(
        take_apart(found, TokenReader(), *(np.zeros(len(texts), kind) for kind in (np.int64, bool, np.int64))), labels)
    assert [text.lower() for text in again] == [text.lower() for text in found], "a second time changes no mark"
