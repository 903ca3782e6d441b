"""Kaldi's text tables, and the validation of data directories, whose errors name the file and the line."""

import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.data.tables import Row, fields, read_table, sort_table
from punc.data.validate import validate


@pytest.fixture
def table(tmp_path):
    def make(content):
        (tmp_path / "text").write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / "text"
    return make


def test_fields():
    assert fields("a b") == ["a", "b"]
    assert fields(" a \t b  ") == ["a", "b"]
    assert fields("") == []
    assert fields(" ") == []
    # Like Kaldi, `fields` does not split at no-break spaces, ideographic spaces and line separators.
    assert fields("a\u00a0b\u3000c d\u2028e") == ["a\u00a0b\u3000c", "d\u2028e"]


def test_read_table(table):
    path = table("a x y\nb\t1\t2\nc\nd ä\u3000ö  \nd\u00e4 last")
    assert list(read_table(path)) == [Row(1, "a", "x y"), Row(2, "b", "1\t2"), Row(3, "c", ""),
                                      Row(4, "d", "ä\u3000ö  "), Row(5, "dä", "last")]


@pytest.mark.parametrize(("content", "message"), [
    ("", "text: the file is empty; "),
    ("\n", "text:1: a line without a key; "),
    ("a x\n x\n", "text:2: a line without a key; "),
    ("a x\n\nb\n", "text:2: a line without a key; "),
    ("b x\na x\n", "text:2: 'a' is out of order; sort it: LC_ALL=C sort"),
    ("a x\na y\n", "text:2: 'a' occurs twice; "),
    ("ä x\nz x\n", "text:2: 'z' is out of order"),
    ("a x\r\n", "text:1: the line has a carriage return; "),
    ("a x\nb \0\n", "text:2: a NUL byte; "),
    (b"a x\nb \xe4\n", "text:2: byte 3 is not UTF-8; "),
])
def test_read_table_wrong_content(table, content, message):
    with pytest.raises(InputError) as error:
        list(read_table(table(content)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_read_table_unsorted(table):
    assert [row.key for row in read_table(table("b x\na x\nb y\n"), sort=False)] == ["b", "a", "b"]


# Keys and values contain no control characters, such as line ends; keys contain no spaces either.
KEYS = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=" "), min_size=1, max_size=5)
VALUES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8)


@given(st.dictionaries(KEYS, VALUES, min_size=1))
def test_sort_table_has_the_order_of_sort(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("tables") / "table"
    path.write_text("".join(f"{key} {value}\n" for key, value in rows.items()), encoding="utf-8")
    sort_table(path)
    assert {key: value for _, key, value in read_table(path)} == rows
    keys = "".join(f"{key}\n" for key in rows)
    result = subprocess.run(["sort"], input=keys, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, text=True,
                            encoding="utf-8", capture_output=True, check=True)
    assert [row.key for row in read_table(path)] == result.stdout.split("\n")[:-1]


def test_sort_table_keeps_lines_of_a_key_in_their_order(table):
    path = table("bX\nb y\nb x\na\n")
    sort_table(path)
    assert path.read_text() == "a\nb y\nb x\nbX\n"


LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",))))
UTTERANCES = [
    Utterance("a-1", "a", ["x", "y"], ["O", "COMMA"], np.array([0.25, np.nan], np.float32)),
    Utterance("a-2", "a", [], [], np.zeros(0, np.float32)),
    Utterance("b-1", "b", ["é"], ["O"], np.zeros(1, np.float32)),
]
SEGMENTS = "a-1 r2 5 6\na-2 r2 1 2\nb-1 r1 0 1\n"


@pytest.fixture
def data(tmp_path):
    write_data_dir(tmp_path / "data", UTTERANCES)
    return tmp_path / "data"


def test_validate_counts(data):
    assert validate(data, LABELS) == {"streams": 2, "utterances": 3, "words": 3, "empty utterances": 1}
    (data / "segments").write_text(SEGMENTS)
    (data / "wav.scp").write_text("r1 x.wav\nr2 y.wav\n")
    (data / "reco2file_and_channel").write_text("r1 x A\nr2 y B\n")
    assert validate(data) == {"streams": 2, "utterances": 3, "words": 3, "empty utterances": 1}


def test_validate_command(data, capsys):
    (data / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    assert main(["validate", f"--labels={data / 'labels.txt'}", str(data)]) == 0
    valid, empty = capsys.readouterr().err.splitlines()
    assert valid.endswith("2 streams, 3 utterances, 3 words: valid")
    assert empty.endswith("1 utterances have no words")
    (data / "punct").write_text("a-1 O DASH\na-2\nb-1 O\n")
    assert main(["validate", f"--labels={data / 'labels.txt'}", str(data)]) == 1
    error = capsys.readouterr().err
    assert error == (f"punc validate: {data}/punct:1: label 'DASH' of 'a-1' is not in the label set; "
                     "use one of O COMMA, or add it to the set\n")


@pytest.mark.parametrize(("name", "content", "line", "what"), [
    ("text", None, None, "no such file"),
    ("utt2spk", None, None, "no such file"),
    ("spk2utt", None, None, "no such file"),
    ("punct", None, None, "no such file"),
    ("text", "a-1 x y\na-2\nb-1 é", 3, "no end"),
    ("text", "a-1 x y\nb-1 é\n", 2, "no line for 'a-2'"),
    ("text", "a-2\na-1 x y\nb-1 é\n", 2, "'a-1' is out of order"),
    ("text", "a-1 x y z\na-2\nb-1 é\n", 1, "3 words in text but 2 labels"),
    ("text", "a-1 x y\na-2\nb-1 a\u00a0b\n", 3, "whitespace U+00A0"),
    ("text", "a-1 x <s>\na-2\nb-1 é\n", 1, "'<s>' in 'a-1'"),
    ("text", "a-1 x #0\na-2\nb-1 é\n", 1, "'#0' in 'a-1'"),
    ("punct", "a-1 O DASH\na-2\nb-1 O\n", 1, "label 'DASH' of 'a-1'"),
    ("utt2spk", "a-1 a\na-2 x\nb-1 b\n", 2, "speaker 'x' is not a prefix of utterance 'a-2'"),
    ("spk2utt", "a a-1\nb b-1\n", 2, "differs from the inverse of utt2spk at 'a-2', line 2"),
    ("spk2utt", "a a-1 a-2\n", None, "differs from the inverse of utt2spk at 'b-1', line 3"),
    ("spk2utt", "a a-1 a-2\nb b-1 b-2\n", 2, "differs from the inverse of utt2spk at its end"),
    ("spk2utt", "b b-1\na a-1 a-2\n", None, "differs from the inverse"),
    ("segments", SEGMENTS.replace("b-1", "b-2"), 3, "no line for 'b-1'"),
    ("segments", SEGMENTS.replace("r1", "r3"), 1, "'r1' is missing either here or in segments"),
    ("wav.scp", "r1 x\nr2 y\nr3 z\n", 3, "'r3' is missing either here or in segments"),
    ("wav.scp", None, None, "no such file"),
    ("reco2file_and_channel", "r1 x C\nr2 y B\n", 1, "not a channel"),
])
def test_validate_mistake_names_file_and_line(data, name, content, line, what):
    if name in ("segments", "wav.scp", "reco2file_and_channel"):
        (data / "segments").write_text(SEGMENTS)
        (data / "wav.scp").write_text("r1 x\nr2 y\n")
    if content is None:
        (data / name).unlink()
    else:
        (data / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as error:
        validate(data, LABELS)
    assert what in error.value.what
    if line:
        assert error.value.line == line
    assert error.value.remedy
    assert "\n" not in str(error.value)
    # In the three cases below, two tables contradict each other, and the error may name either of them.
    if what not in ("'r1' is missing either here or in segments", "no line for 'a-2'", "no line for 'b-1'"):
        assert (error.value.file.name) == ("punct" if "labels" in what else name)


@pytest.mark.parametrize("value", [-0.5, np.inf, -np.inf])
def test_validate_wrong_pause(data, value):
    write_data_dir(data, [UTTERANCES[0], UTTERANCES[1], UTTERANCES[2]._replace(pauses=np.array([value]))])
    with pytest.raises(InputError) as error:
        validate(data)
    assert (error.value.file.name, error.value.line) == ("pauses.scp", 3)
    assert "after word 1 of 'b-1'" in error.value.what


@pytest.mark.parametrize(("utterances", "valid"), [
    ([("a-1", "a"), ("a1-1", "a1")], True),
    ([("a", "a"), ("b", "b")], True),
    ([("a-b-1", "a-b"), ("a-c", "a")], False),  # sorted by utterance, but not by speaker
    ([("ab", "a")], False),
])
def test_validate_speakers(tmp_path, utterances, valid):
    (tmp_path / "text").write_text("".join(f"{utt} x\n" for utt, _ in utterances))
    (tmp_path / "utt2spk").write_text("".join(f"{utt} {spk}\n" for utt, spk in utterances))
    (tmp_path / "spk2utt").write_text("".join(f"{spk} {utt}\n" for utt, spk in utterances))
    if valid:
        assert validate(tmp_path)["streams"] == 2
    else:
        with pytest.raises(InputError, match=r"utt2spk:\d: speaker 'a'"):
            validate(tmp_path)
