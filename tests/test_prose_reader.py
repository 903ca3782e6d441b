"""Reading prose: a table of tokens and what they say; clitics; capitals; writing back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.text.prose_reader import Clitics, TextReader, legal, write_text, written

CHE = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", ":", "-", "–")), Label("PERIOD", "w.", (".", ";", "!")),
                Label("QUESTION", "w?", ("?",))))
CASED = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("COMMA", "w,", (",",)), Label("CAP_COMMA", "W,", (",",)),
                  Label("PERIOD", "w.", (".",)), Label("CAP_PERIOD", "W.", (".",))))


@pytest.fixture
def clitics(tmp_path):
    (tmp_path / "clitics").write_text("# rules\ncan't cannot\ngonna gon na\nn't\n's\n'm\nl'\n")
    return Clitics(tmp_path / "clitics")


@pytest.mark.parametrize(("token", "lead", "words", "labels"), [
    # token, label for the word before, words, their labels
    ("word", "", "word", "O"),
    ("Word,", "", "word", "COMMA"),
    ("end.", "", "end", "PERIOD"),
    ("really?!", "", "really", "QUESTION"),
    ("(Hello!)", "", "hello", "PERIOD"),
    ("“Don’t,”", "", "don't", "COMMA"),
    ("¿Qué?", "", "qué", "QUESTION"),
    ("it's", "", "it's", "O"),
    ("'tis", "", "tis", "O"),
    ("students'", "", "students", "O"),
    ("mid-'90s", "", "mid-'90s", "O"),
    ("well-known", "", "well-known", "O"),
    ("well‑known", "", "well-known", "O"),
    ("and/or", "", "and/or", "O"),
    ("3.5%", "", "3.5%", "O"),
    (".5", "", ".5", "O"),
    ("10,000.", "", "10,000", "PERIOD"),
    ("7:30:", "", "7:30", "COMMA"),
    ("1990–2000", "", "1990–2000", "O"),
    ("$5", "", "$5", "O"),
    ("AT&T", "", "at&t", "O"),
    ("U.S.", "", "u.s", "PERIOD"),
    ("pre-", "", "pre", "O"),
    ("-ing", "", "ing", "O"),
    ("-5", "", "5", "O"),
    ("word--word...", "", "word word", "COMMA PERIOD"),
    ("one,two", "", "one two", "COMMA O"),
    ("well…so", "", "well so", "O O"),
    ("soft\u00adhyphen\u200b", "", "softhyphen", "O"),
    ("-", "COMMA", "", ""),
    ("--", "COMMA", "", ""),
    ("...", "PERIOD", "", ""),
    (".,?", "QUESTION", "", ""),
    (",and", "COMMA", "and", "O"),
    ("--that", "COMMA", "that", "O"),
    ("\"", "", "", ""),
    ("♪", "", "", ""),
    ("_x_", "", "x", "O"),
    ("हिन्दी।", "", "हिन्दी", "O"),
    ("日本、", "", "日本", "O"),
    ("#0", "", "0", "O"),
    ("<s>", "", "s", "O"),
    ("maX", "", "max", "O"),
    ("X-ray", "", "x-ray", "O"),
    ("a\u200db", "", "a\u200db", "O"),  # a joiner, a private character, and one that is not assigned
    ("a\ue000b", "", "a\ue000b", "O"),
    ("a\u0378b", "", "a\u0378b", "O"),
])
def test_token_parts(token, lead, words, labels):
    assert TextReader(CHE).token(token) == (lead, words, labels)


@pytest.mark.parametrize(("token", "words", "labels"), [
    ("it's", "it 's", "O O"),
    ("Don’t,", "do n't", "O COMMA"),
    ("can't.", "cannot", "PERIOD"),
    ("gonna,", "gon na", "O COMMA"),
    ("l'eau", "l' eau", "O O"),
    ("shouldn't's", "should n't 's", "O O O"),
    ("'s", "'s", "O"),
    ("n't", "n't", "O"),
    ("n't,", "n't", "COMMA"),
    ("its", "its", "O"),
    ("l'", "l'", "O"),
    ("“'m,", "'m", "COMMA"),
])
def test_token_with_clitics(clitics, token, words, labels):
    assert TextReader(CHE, clitics=clitics).token(token) == ("", words, labels)


def test_token_tokenised_clitic_keeps_apostrophe(clitics):
    assert TextReader(CHE, clitics=clitics).token("'m,") == ("", "'m", "COMMA")


def test_clitics_file_without_a_rule(tmp_path):
    (tmp_path / "clitics").write_text("# none\n")
    with pytest.raises(InputError, match="no rule"):
        Clitics(tmp_path / "clitics")


def rules(tmp_path, text):
    (tmp_path / "rules").write_text(text, encoding="utf-8")
    return Clitics(tmp_path / "rules")


def test_clitics_of_one_letter_keep_the_word(tmp_path):
    reader = TextReader(CHE, clitics=rules(tmp_path, "s\n"))
    assert reader.token("it’s") == ("", "it' s", "O O")
    assert reader.token("s") == ("", "s", "O")


@pytest.mark.parametrize(("word", "parts"), [
    ("gonna", ["gon", "na"]), ("Gonna", ["Gon", "na"]), ("GONNA", ["Gon", "na"]), ("gOnna", ["gon", "na"]),
    ("Don't", ["Do", "n't"]), ("l'eau's", ["l'", "eau", "'s"]), ("l'", ["l'"]), ("İ's", ["İ's"])])
def test_clitics_split(clitics, word, parts):
    assert clitics.split(word) == parts


@pytest.mark.parametrize("text", ["can't cannot\n", "n't\n", "l'\n", "gonna gon na\nl'\nd'\nn't\n's\n"])
def test_clitics_write_round_trip(tmp_path, text):
    clitics = rules(tmp_path, text)
    clitics.write(tmp_path / "written")
    assert (tmp_path / "written").read_text(encoding="utf-8") == text
    assert vars(Clitics(tmp_path / "written")) == vars(clitics)


def test_clitics_line_that_is_not_seen(tmp_path):
    with pytest.raises(InputError, match=r"rules:2: a line of characters that are not seen; remove it"):
        rules(tmp_path, "n't\n\u200b\n")


@pytest.mark.parametrize(("token", "lowercase", "words", "labels"), [
    ("Chris.", True, "chris", "CAP_PERIOD"),
    ("Chris", True, "chris", "CAP"),
    ("chris,", True, "chris", "COMMA"),
    ("McDonald,", False, "mcDonald", "CAP_COMMA"),
    ("It's,", True, "it 's", "CAP COMMA"),
    ("Can't", False, "cannot", "CAP"),
    ("It's,", False, "it 's", "CAP COMMA"),
])
def test_token_capitals(clitics, token, lowercase, words, labels):
    assert TextReader(CASED, lowercase, clitics).token(token) == ("", words, labels)


def test_token_keeps_case_without_lowercase():
    assert TextReader(CHE, lowercase=False).token("McDonald,") == ("", "McDonald", "COMMA")


@pytest.mark.parametrize(("label", "lead", "expected"), [
    ("O", "COMMA", "COMMA"), ("QUESTION", "COMMA", "QUESTION"), ("COMMA", "QUESTION", "QUESTION"),
    ("COMMA", "O", "COMMA")])
def test_attach_strongest_mark_wins(label, lead, expected):
    assert TextReader(CHE).attach(label, lead) == expected


def test_attach_keeps_capital():
    assert TextReader(CASED).attach("CAP", "PERIOD") == "CAP_PERIOD"
    assert TextReader(CASED).attach("CAP_PERIOD", "COMMA") == "CAP_PERIOD"
    assert TextReader(CASED).attach("O", "PERIOD") == "PERIOD"


def test_longest_mark_is_read():
    labels = LabelSet((Label("O", "w"), Label("DOT", "w.", (".",)), Label("DOTS", "w…", ("...",)),
                       Label("Q", "w?.", ("?.",))))
    reader = TextReader(labels)
    assert [reader.token(f"so{marks}").labels for marks in (".", "..", "...", "....", "?.")] == \
        ["DOT", "DOT", "DOTS", "DOTS", "Q"]


def test_mark_that_is_a_letter_is_not_read_in_words(clitics):
    """Nor where a hyphen was, nor between the parts of a word."""
    labels = LabelSet((Label("O", "w"), Label("EX", "wX", ("X",))))
    for reader in (TextReader(labels), TextReader(labels, lowercase=False), TextReader(labels, clitics=clitics)):
        for token in ("MaX", "MaX-", "-MaX", "DOXn't", "n't"):
            lead, words, marks = reader.token(token)
            assert (lead, set(marks.split())) == ("", {"O"})
            assert words.replace(" ", "").lower() == token.strip("-").lower()


def test_label_set_without_marks():
    assert TextReader(LabelSet((Label("O", "w"), Label("CAP", "W")))).token("“So”, (") == ("", "so", "CAP")
    assert TextReader(LabelSet((Label("O", "w"), Label("CAP", "W")))).token("...") == ("", "", "")


def test_labels_of_gaps_are_forgotten(monkeypatch):
    monkeypatch.setattr("punc.text.prose_reader.MOST_GAPS", 3)
    reader = TextReader(CHE)
    for count in range(1, 20):
        assert reader.token("so" + "," * count).labels == "COMMA"
        assert len(reader._gap_labels) <= 4


@given(st.text(min_size=1))
def test_token_any_text_gives_words_and_a_label_each(text):
    for token in text.split():
        parts = TextReader(CHE).token(token)
        words, labels = parts.words.split(" "), parts.labels.split(" ")
        assert len(words) == len(labels)
        assert parts.words.split() == list(filter(None, words))
        assert set(labels) <= {*CHE.names, ""}
        assert (parts.words == "") == (parts.labels == "")


@given(st.text(st.sampled_from("abÉßǅİʼ’́ 日.,:;?!-…0"), min_size=1, max_size=4).filter(lambda text: " " not in text),
       st.sampled_from([CHE, CASED]), st.booleans())
def test_token_of_letters_and_a_mark_is_read_as_any_other(token, labels, lowercase):
    """With a quote before it, which is dropped, no token is one of letters and a mark."""
    reader = TextReader(labels, lowercase)
    assert reader.token(token)[1:] == reader.token("“" + token)[1:]


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}('[a-z]|-[a-z]{2})?", fullmatch=True), min_size=1, max_size=8)


@given(st.data(), WORDS)
def test_write_text_round_trip(data, words):
    for labels in (CHE, CASED):
        names = data.draw(st.lists(st.sampled_from(labels.names), min_size=len(words), max_size=len(words)))
        reader = TextReader(labels)
        parts = [reader.token(token) for token in write_text(words, names, labels).split(" ")]
        assert [part.words for part in parts] == words
        assert [part.labels for part in parts] == names


@pytest.mark.parametrize(("word", "expected"), [
    ("<s>", "s"), ("</s>", "s"), ("x</s>", "x</s>"), ("-<s>", "-s"), ("#0", "0"), ("#01", "#01"), ("#1", "#1")])
def test_legal_words(word, expected):
    assert legal(word) == expected


def test_written_words_of_each_label():
    labels = LabelSet(tuple(Label(*pair) for pair in (("O", "w"), ("CAP", "W"), ("COMMA", "w,"), ("ASK", "¿w?"),
                                                      ("END", "W."))))
    words, names = ["a", "ßa", "b", "c", "d"], ["COMMA", "CAP", "O", "ASK", "END"]
    assert written(words, names, labels) == ["a,", "Ssa", "b", "¿c?", "D."]
    assert written(words[:1], names[:1], labels) == ["a,"]
    assert write_text(words, iter(names), labels) == "a, Ssa b ¿c? D."
