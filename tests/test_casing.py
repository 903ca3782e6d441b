"""The table of words with capitals after the first letter: learning it, and its file."""

import pytest

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.text.casing import learn, read_casing, write_casing
from punc.text.prose_reader import TextReader

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
