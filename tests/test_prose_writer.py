"""Prose from words and labels: quotes in pairs, clitics joined, words in the forms of a table."""

import io

import pytest

from punc.data.labels import Label, LabelSet
from punc.text.prose_reader import TextReader, written
from punc.text.prose_writer import ProseWriter

MARKS = (("QUOTATION", '"', ('"',)), ("COMMA", ",", (",",)), ("PERIOD", ".", (".",)), ("QUESTIONMARK", "?", ("?",)))
LABELS = LabelSet((Label("O", "w"), Label("CAP", "W"), *(
    Label(prefix + name, letter + mark, marks) for name, mark, marks in MARKS
    for prefix, letter in (("", "w"), ("CAP_", "W")))))
NAMES = {"": "O", '"': "QUOTATION", ",": "COMMA", ".": "PERIOD", "?": "QUESTIONMARK"}


def labelled(text):
    """Words and names of labels of a text in which marks only follow words."""
    words, names = [], []
    for token in text.split():
        word = token.rstrip('",.?')
        name = NAMES[token[len(word):]]
        words.append(word.lower())
        names.append({"O": "CAP"}.get(name, f"CAP_{name}") if word[0].isupper() else name)
    return words, names


def prose(*utterances, **options):
    """The lines written for utterances, (stream, text) each."""
    file = io.BytesIO()
    writer = ProseWriter(file, LABELS, **options)
    for number, (stream, text) in enumerate(utterances):
        writer.write(f"{stream}{number}", stream, *labelled(text))
    writer.close()
    return [line.partition(" ")[2] for line in file.getvalue().decode().split("\n")[:-1]]


@pytest.mark.parametrize(("text", "expected"), [
    ('The" why" guy.', 'The "why" guy.'),
    ('He whispered" come here. She came.', 'He whispered "come here." She came.'),
    ('Is it" so? Yes" no" yes.', 'Is it "so?" Yes "no" yes.'),
    ('One" two" three" four" five.', 'One "two" three "four" five.'),
    ('A Mr" Bean, said.', 'A Mr "Bean, said."'),
    ('It ends" here', 'It ends "here"'),
    ('Nothing follows"', "Nothing follows"),
    ('So" He" said.', 'So "He" said.'),
    ("Plain, text. Is it?", "Plain, text. Is it?"),
])
def test_prose_writer_pairs_quotes(text, expected):
    assert prose(("a", text)) == [expected]
    assert expected.count('"') % 2 == 0


def test_prose_writer_quotes_cross_utterances_not_streams():
    assert prose(("a", 'He said"'), ("a", 'yes, and" went. Said"'), ("b", 'no" yes'), ("b", "end"), ("c", 'x" y')) == [
        "He said", '"yes, and" went. Said', 'no "yes', 'end"', 'x "y"']


def test_prose_writer_without_quotes_is_written():
    text = "I saw Japan, and NATO. Who did? 1996 x"
    words, names = labelled(text)
    assert prose(("a", text)) == [" ".join(written(words, names, LABELS))]


@pytest.mark.parametrize(("text", "expected"), [
    ("Nato met Mcdonald. Mcdonald, nato", "NATO met McDonald. McDonald, nato"),
    ("do n't, it 's. L' eau", "don't, it's. L'eau"),
    ("n't begins", "n't begins"),
    ('say" n\'t" x', "say \"n't\" x"),
])
def test_prose_writer_casing_and_clitics(text, expected):
    options = {"casing": {"Nato": "NATO", "Mcdonald": "McDonald"}, "clitics": frozenset(("n't", "'s", "l'"))}
    assert prose(("a", text), **options) == [expected]


@pytest.mark.parametrize("text", ["I", "USA", "1996 3.5", "x" * 500, "don't don’t donʼt don＇t",
                                  "no capital, here. none", "ÇA Ça ß"])
def test_prose_writer_odd_words_round_trip(text):
    """Prose that is read and written again changes only in capitals inside words, and in typographic apostrophes."""
    parts = [TextReader(LABELS).token(token) for token in text.split()]
    file = io.BytesIO()
    writer = ProseWriter(file, LABELS)
    writer.write("a", "a", [p.words for p in parts], [p.labels for p in parts])
    writer.close()
    expected = " ".join(token[:1] + token[1:].lower() for token in text.split())
    for apostrophe in "’ʼ＇":
        expected = expected.replace(apostrophe, "'")
    assert file.getvalue().decode() == f"a {expected}\n"
    assert len({p.words for p in parts}) == 1 or "don't" not in text


def test_prose_writer_no_words():
    assert prose(("a", ""), ("a", "x")) == ["", "x"]
