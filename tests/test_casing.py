"""The table of words with capitals after the first letter: learning it, and its file."""

import pytest

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import Label, LabelSet
from punc.text.casing import Casing, learn, read_casing, write_casing
from punc.text.prose import TextReader

LABELS = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", (".",)),
                   Label("CAP_PERIOD", "W.", (".",))))


def data(path, *texts):
    """A data directory of texts, as `punc prepare --lowercase false` makes it."""
    reader = TextReader(LABELS, lowercase=False)
    parts = [[reader.token(token) for token in text.split()] for text in texts]
    write_data_dir(path, (Utterance(f"{i:02}", f"{i:02}", [p.words for p in line], [p.labels for p in line])
                          for i, line in enumerate(parts)))
    return DataDir(path)


@pytest.mark.parametrize(("texts", "table"), [
    (["NATO and NATO met McDonald. McDonald left."], {"Mcdonald": "McDonald", "Nato": "NATO"}),
    (["The US let us go. Us US, US", "us us us us"], {"Us": "US"}),
    (["my iPhone, an iPhone an iphone"], {"iphone": "iPhone"}),
    (["a McX here"], {}),  # once
    (["THE the The THE The x"], {}),  # as often as the plain form
    (["I see a B here. A b I"], {}),  # words of one letter
    (["no capital in this text", "none in this one"], {}),
    (["ALL ARE CAPITALS HERE", "ALL ARE CAPITALS HERE", "1996 2.5 ALL ALL"], {}),
    (["don't Don't DON'T DON'T DON'T O'Neill O'Neill"], {"Don't": "DON'T", "O'neill": "O'Neill"}),
    (["x" + "A" * 500 + " and x" + "A" * 500], {"x" + "a" * 500: "x" + "A" * 500}),
])
def test_learn_table(texts, table, tmp_path):
    assert learn([data(tmp_path / "data", *texts)], LABELS) == table


def test_casing_file_round_trip(tmp_path):
    table = {"Nato": "NATO", "iphone": "iPhone", "Ça": "ÇA"}
    write_casing(tmp_path / "casing", table)
    assert read_casing(tmp_path / "casing") == table
    for line in ("Nato", "Nato NATO x", "Nato OTAN"):
        (tmp_path / "bad").write_text(f"a A\n{line}\n")
        with pytest.raises(InputError) as error:
            read_casing(tmp_path / "bad")
        assert "bad:2: " in str(error.value)


def test_learn_needs_labels_of_the_set(tmp_path):
    write_data_dir(tmp_path / "none", [Utterance("a", "a", ["x"])])
    write_data_dir(tmp_path / "other", [Utterance("a", "a", ["x"], ["NO"])])
    for name, what in (("none", "no labels"), ("other", "'NO'")):
        with pytest.raises(InputError, match=what):
            learn([DataDir(tmp_path / name)], LABELS)


@pytest.mark.parametrize(("word", "name", "text"), [
    ("nato", "CAP", "NATO"), ("nato", "CAP_PERIOD", "NATO."), ("nato", "O", "nato"),
    ("us", "O", "us"), ("us", "CAP", "US"),
    ("iphone", "O", "iPhone"), ("iphone", "PERIOD", "iPhone."), ("iphone", "CAP_PERIOD", "iPhone."),  # of no label
    ("other", "CAP", "Other"), ("IPHONE", "O", "IPHONE")])
def test_casing_writes_words_with_the_capitals_of_the_table(word, name, text):
    casing = Casing(LABELS, {"Nato": "NATO", "Us": "US", "iphone": "iPhone"})
    assert casing.write_word(word, LABELS[LABELS.index(name)]) == text
    assert casing.write(["a", word, "b"], ["CAP", name, "PERIOD"]) == ["A", text, "b."]


def test_casing_sentences_begin_with_a_capital():
    words = ["so", "it", "ends", "iphone", "users", "the", "end"]
    names = ["O", "O", "PERIOD", "O", "PERIOD", "CAP", "O"]
    expected = ["So", "it", "ends.", "iPhone", "users.", "The", "end"]
    casing = Casing(LABELS, {"iphone": "iPhone"}, sentences=True)
    assert casing.write(words[:3], names[:3]) + casing.write(words[3:], names[3:]) == expected
    assert casing.write(["a", "b"], ["O", "PERIOD"]) == ["a", "b."], "the stream goes on"
    assert casing.write(["a", "b", "c"], ["O", "O", "PERIOD"], [0, 2]) == ["A", "b", "C."]
    assert Casing(LABELS, {}).write(["a", "b"], ["PERIOD", "O"]) == ["a.", "b"], "without sentences, as the labels say"


def test_casing_without_a_table_writes_the_labels(tmp_path):
    casing = Casing.read(LABELS, tmp_path / "none")
    assert casing.write(["nato", "met"], ["CAP", "PERIOD"]) == ["Nato", "met."]
    (tmp_path / "casing").write_text("Nato NATO\n")
    assert Casing.read(LABELS, tmp_path / "casing").write(["nato"], ["CAP"]) == ["NATO"]
