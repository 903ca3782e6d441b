"""Data directories: round trips, the order of streams, and tables that do not fit together."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, checksum, write_data_dir
from punc.data.kaldi_io import VectorReader
from punc.data.labels import Label, LabelSet
from punc.data.tables import Row

UTTERANCES = [
    Utterance("a-1", "a", ["x", "y"], ["O", "COMMA"], np.array([0.25, np.nan], np.float32)),
    Utterance("a-2", "a", [], [], np.zeros(0, np.float32)),
    Utterance("b-1", "b", ["é"], ["PERIOD"], np.zeros(1, np.float32)),
]


def same(ones, others):
    ones, others = list(ones), list(others)
    assert [u[:4] for u in ones] == [u[:4] for u in others]
    for one, other in zip(ones, others):
        np.testing.assert_array_equal(one.pauses, other.pauses)
    return True


@pytest.fixture
def data(tmp_path):
    write_data_dir(tmp_path / "data", UTTERANCES)
    return tmp_path / "data"


def error_of(data):
    with pytest.raises(InputError) as error:
        list(DataDir(data).utterances())
    assert "\n" not in str(error.value)
    assert error.value.remedy
    return error.value


def test_round_trip(data):
    assert same(DataDir(data).utterances(), UTTERANCES)
    assert (data / "text").read_text(encoding="utf-8") == "a-1 x y\na-2\nb-1 é\n"
    assert (data / "punct").read_text() == "a-1 O COMMA\na-2\nb-1 PERIOD\n"
    assert (data / "utt2spk").read_text() == "a-1 a\na-2 a\nb-1 b\n"
    assert (data / "spk2utt").read_text() == "a a-1 a-2\nb b-1\n"


WORDS = st.lists(st.text(st.characters(blacklist_categories=("Z", "C")), min_size=1), max_size=4)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), WORDS), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_round_trip_of_any_words(tmp_path_factory, streams, labels, pauses):
    number, utterances = 0, []
    for i, (new, words) in enumerate(streams):
        number += new
        utterances.append(Utterance(f"s{number}-{i}", f"s{number}", words, ["O"] * len(words) if labels else None,
                                    np.arange(len(words), dtype=np.float32) if pauses else None))
    path = tmp_path_factory.mktemp("data") / "set"
    write_data_dir(path, utterances)
    assert same(DataDir(path).utterances(), utterances)


def test_data_dir_ignores_files_on_request(data):
    (data / "punct").write_text("not read")
    found = DataDir(data, ignore=["punct", "pauses.scp"])
    assert (found.has_labels, found.has_pauses, found.tables) == (False, False, ["text", "utt2spk"])
    assert [(u.words, u.labels, u.pauses) for u in found.utterances()] == [(u.words, None, None) for u in UTTERANCES]


def test_utterances_with_segments_in_time_order(data, tmp_path):
    (data / "segments").write_text("a-1 r2 5 6.5\na-2 r2 1 2\nb-1 r1 100 101\n")
    found = list(DataDir(data).utterances())
    assert [(u.id, u.stream) for u in found] == [("b-1", "r1"), ("a-2", "r2"), ("a-1", "r2")]
    assert same(sorted(found), [u._replace(stream="r1" if u.id == "b-1" else "r2") for u in UTTERANCES])
    write_data_dir(tmp_path / "copy", found, like=DataDir(data))
    assert same(DataDir(tmp_path / "copy").utterances(), found)
    for name in ("text", "punct", "utt2spk", "spk2utt", "segments"):
        assert (tmp_path / "copy" / name).read_bytes() == (data / name).read_bytes()


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5), WORDS, st.sampled_from([" ", "\t", "  ", " \t"])),
                min_size=1, max_size=8))
def test_utterances_with_segments_of_any_order(tmp_path_factory, rows):
    """Utterances are sorted by recording, then by begin time, then by line number. Fields may be separated by any
    spaces and tabs."""
    data = tmp_path_factory.mktemp("data")
    tables = {"text": [], "punct": [], "utt2spk": [], "segments": [], "turns": []}
    for i, (recording, begin, words, blank) in enumerate(rows):
        for name, values in (("text", words), ("punct", ["O"] * len(words)), ("turns", "1" * len(words)),
                             ("utt2spk", ["X"]), ("segments", [recording, str(begin), "9.5"])):
            tables[name].append(blank.join([f"u{i}", *values]) + "\n")
    for name, lines in tables.items():
        (data / name).write_text("".join(lines), encoding="utf-8", newline="\n")
    order = sorted(range(len(rows)), key=lambda i: (rows[i][0], rows[i][1], i))
    found = list(DataDir(data).utterances())
    assert [(u.id, u.stream, u.words, u.labels) for u in found] == [
        (f"u{i}", rows[i][0], rows[i][2], ["O"] * len(rows[i][2])) for i in order]
    assert all(u.turns.tolist() == [True] * len(u.words) for u in found)
    assert [u.stream for u in DataDir(data, ignore=["segments"]).utterances()] == ["X"] * len(rows)


def test_utterances_speakers_in_the_order_of_bytes(tmp_path):
    utterances = [Utterance(f"{name}-1", name, ["x"], ["O"], np.zeros(1, np.float32)) for name in "!A~éあ"]
    write_data_dir(tmp_path / "data", utterances)
    assert same(DataDir(tmp_path / "data").utterances(), utterances)


def test_utterances_with_segments_names_the_line(data):
    (data / "segments").write_text("a-1 r 5 6.5\na-2 r 8 9\nb-1 r 1 2\n")
    (data / "punct").write_text("a-1 O O\na-2\nb-1\n")
    error = error_of(data)
    assert (error.file.name, error.line) == ("punct", 3)
    rows = {name: Row(7, "a-1", "x") for name in ("text", "punct", "utt2spk", "segments")}
    with pytest.raises(InputError, match="data/segments:7: the line is not a segment"):
        DataDir(data, ignore=["pauses.scp"]).utterance(rows, VectorReader(data / "pauses.scp"))


def test_utterances_archive_with_a_tab_in_its_name(data):
    (data / "segments").write_text("a-1 r 0 0.01\na-2 r 0.01 999999999\nb-1 r 1 2\n")  # the largest times
    index = (data / "pauses.scp").read_text().replace(" ", "\t").replace("pauses.ark", "p\tq.ark")
    (data / "pauses.scp").write_text(index)
    (data / "pauses.ark").rename(data / "p\tq.ark")
    assert [u.pauses.tolist()[:1] for u in DataDir(data).utterances()] == [[0.25], [], [0]]


def test_utterances_of_a_directory_that_is_replaced_meanwhile(data):
    found = DataDir(data).utterances()
    next(found)
    write_data_dir(data, UTTERANCES)
    with pytest.raises(InputError, match="another process has replaced it"):
        list(found)


@pytest.mark.parametrize("line", ["a-1 r 2 1", "a-1 r 1", "a-1 r x y", "a-1 r -1 2", "a-1 r nan 2", "a-1 r 1 1",
                                  "a-1 r 0 1000000000", "a-1 r 0 inf", "a-1 r 0 1 2", "a-1"])
def test_utterances_wrong_segments(data, line):
    (data / "segments").write_text(f"{line}\na-2 r 1 2\nb-1 r 3 4\n")
    assert (error_of(data).file.name, error_of(data).line) == ("segments", 1)


@pytest.mark.parametrize(("name", "content", "line", "what"), [
    ("text", "a-1 x y\nb-1 é\n", 2, "no line for 'a-2'"),
    ("punct", "a-1 O O\na-2\n", None, "no line for 'b-1'"),
    ("utt2spk", "a-1 a\na-2 a\nb-1 b\nb-2 b\n", None, "no line for 'b-2'"),
    ("punct", "a-1 O\na-2\nb-1 O\n", 1, "2 words in text but 1 labels"),
    ("text", "a-2\na-1 x y\nb-1 é\n", 2, "out of order"),
    ("text", "a-1 x y\na-1 x y\nb-1 é\n", 2, "twice"),
    ("text", "a-1 x y\r\na-2\r\nb-1 é\r\n", 1, "carriage return"),
    ("text", "a-1 x\0 y\na-2\nb-1 é\n", 1, "NUL"),
    ("text", b"a-1 x y\na-2\nb-1 \xe9\n", 3, "not UTF-8"),
    ("text", "", None, "empty"),
    ("utt2spk", "a-1 a\na-2 a b\nb-1 b\n", 2, "one speaker"),
    ("utt2spk", "a-1 b\na-2 b\nb-1 a\n", 3, "comes after"),
    ("pauses.scp", "a-1 x\na-2 x\nb-1 x\n", 1, "ARCHIVE"),
    ("turns", "a-1 0 1\na-2\nb-1 1 1\n", 3, "1 words in text but 2 flags"),
    ("turns", "a-1 0 2\na-2\nb-1 1\n", 1, "'2' is not 0 or 1"),
    ("turns", "a-1 0 1\nb-1 1\n", 2, "no line for 'a-2', which text has"),
    ("utt2spk", "a-1 a\na-2\nb-1 b\n", 2, "one speaker"),
    ("utt2spk", "a-1 a\na-2\ta\tb\nb-1 b\n", 2, "one speaker"),
    ("utt2spk", "a-1 a\nb-1 b\na-2 a\n", 3, "out of order"),  # the message must not claim that a-2 is missing
    ("text", "a-1 x y\na-2\nb-1 é\nc-1 x\n", None, "no line for 'c-1', which text has"),
    ("text", "a-1 x y\na-2\nÿ é\n", 3, "no line for 'b-1', which utt2spk has"),
])
def test_utterances_tables_that_do_not_fit(data, name, content, line, what):
    (data / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    error = error_of(data)
    assert what in error.what
    assert error.line == line
    assert error.remedy
    # If an id has no line in one table, the error may name this table or another one.
    assert error.file.parent == data
    assert error.file.name == name or "no line" in error.what


def test_utterances_pauses_that_do_not_fit(data):
    rows = (data / "pauses.scp").read_text().splitlines()
    (data / "pauses.scp").write_text("\n".join([rows[0], rows[1], "b-1 " + rows[0].split()[1]]) + "\n")
    error = error_of(data)
    assert (error.file.name, error.line) == ("pauses.scp", 3)
    assert "1 words in text but 2 pauses" in error.what
    (data / "pauses.scp").write_text("a-1 x\n")
    with pytest.raises(InputError, match=r"data/pauses\.scp:1: 'x' is not ARCHIVE"):
        checksum(data)
    (data / "pauses.scp").write_text(f"{rows[0]}\n{rows[1]}\n{rows[2]}\n")
    (data / "pauses.ark").unlink()
    assert "cannot read" in error_of(data).what
    assert error_of(data).line == 1


@pytest.mark.parametrize("name", ["text", "utt2spk"])
def test_data_dir_missing_file(data, name):
    (data / name).unlink()
    with pytest.raises(InputError, match="no such file"):
        DataDir(data)
    with pytest.raises(InputError, match="this is a file, not a data directory; punc transcript punctuates files"):
        DataDir(next(data.glob("*")))
    with pytest.raises(InputError, match="no such data directory"):
        DataDir(data / "gone")


@pytest.mark.parametrize("wrong", [
    [UTTERANCES[2], UTTERANCES[0]],
    [UTTERANCES[0], UTTERANCES[0]],
    [UTTERANCES[0]._replace(stream="b"), UTTERANCES[1]],
    [UTTERANCES[0], UTTERANCES[1]._replace(labels=None)],
    [UTTERANCES[0]._replace(labels=["O"])],
    [UTTERANCES[0]._replace(pauses=np.zeros(1))],
])
def test_write_data_dir_refuses_and_leaves_the_output(data, wrong):
    before = {file.name: file.read_bytes() for file in data.iterdir()}
    with pytest.raises(ValueError):  # noqa: PT011 (the messages name ids)
        write_data_dir(data, wrong)
    assert {file.name: file.read_bytes() for file in data.iterdir()} == before
    assert [file.name for file in data.parent.iterdir()] == ["data"]


def test_write_data_dir_no_utterance(data):
    with pytest.raises(InputError, match="no utterance"):
        write_data_dir(data, [])
    assert same(DataDir(data).utterances(), UTTERANCES)


def test_write_data_dir_removes_stale_tables_only(data):
    (data / "notes").write_text("mine")
    write_data_dir(data, [u._replace(labels=None, pauses=None) for u in UTTERANCES])
    assert sorted(file.name for file in data.iterdir()) == ["notes", "spk2utt", "text", "utt2spk"]
    assert next(DataDir(data).utterances()).labels is None


def test_write_data_dir_like_another_in_the_order_of_time(data, tmp_path):
    labels = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
    (data / "segments").write_text("a-1 r2 5 6.5\na-2 r2 1 2\nb-1 r1 100 101\n")
    (data / "turns").write_text("a-1 0 1\na-2\nb-1 0\n")
    (data / "utt2spk").write_text("a-1 z\na-2 a\nb-1 a\n")
    (data / "spk2utt").write_text("a a-2 b-1\nz a-1\n")
    (data / "wav.scp").write_text("r1 r1.wav\nr2 r2.wav\n")
    (data / "reco2file_and_channel").write_text("r1 r1 A\nr2 r2 A\n")
    (data / "glm").write_text("another\n")
    copy, like = tmp_path / "copy", DataDir(data)
    write_data_dir(copy, like.utterances(), like, labels)
    for name in ("text", "punct", "turns", "utt2spk", "spk2utt", "segments", "wav.scp", "reco2file_and_channel"):
        assert (copy / name).read_bytes() == (data / name).read_bytes(), name
    assert same(DataDir(copy).utterances(), like.utterances())
    assert [u.turns.tolist() for u in DataDir(copy).utterances()] == [[False], [], [False, True]]
    assert LabelSet.read(copy / "punct.labels") == labels
    assert (copy / "pauses.scp").read_text().split()[1].startswith(f"{copy / 'pauses.ark'}:")
    write_data_dir(copy, [u._replace(labels=None, pauses=None, turns=None) for u in like.utterances()], like)
    assert {file.name for file in copy.iterdir()} == {
        "text", "utt2spk", "spk2utt", "segments", "wav.scp", "reco2file_and_channel"}


def test_write_data_dir_like_another_without_segments(data, tmp_path):
    (data / "utt2spk").write_text("a-1 a\na-2 a\nb-1 c\n")
    (data / "spk2utt").write_text("a a-1 a-2\nc b-1\n")
    write_data_dir(tmp_path / "copy", UTTERANCES, DataDir(data))
    assert (tmp_path / "copy/utt2spk").read_bytes() == (data / "utt2spk").read_bytes()
    assert (tmp_path / "copy/spk2utt").read_bytes() == (data / "spk2utt").read_bytes()
    with pytest.raises(ValueError, match="not sorted and unique"):
        write_data_dir(tmp_path / "copy", UTTERANCES[::-1], DataDir(data))


def test_write_data_dir_turns(tmp_path):
    turns = [np.array([False, True]), np.zeros(0, bool), np.array([True])]
    utterances = [u._replace(turns=flags) for u, flags in zip(UTTERANCES, turns)]
    write_data_dir(tmp_path / "data", utterances)
    assert (tmp_path / "data/turns").read_text() == "a-1 0 1\na-2\nb-1 1\n"
    assert DataDir(tmp_path / "data").tables == ["text", "utt2spk", "punct", "pauses.scp", "turns"]
    with pytest.raises(ValueError, match="for all utterances or none"):
        write_data_dir(tmp_path / "data", [*utterances[:2], utterances[2]._replace(turns=None)])
    with pytest.raises(ValueError, match="per word"):
        write_data_dir(tmp_path / "data", [*utterances[:2], utterances[2]._replace(turns=turns[0])])
    write_data_dir(tmp_path / "data", UTTERANCES)
    assert not (tmp_path / "data/turns").exists()


def test_checksum_is_of_the_files_and_the_pauses(data):
    digest = hashlib.sha256((data / "text").read_bytes() + (data / "punct").read_bytes())
    for utterance in UTTERANCES:
        digest.update(utterance.id.encode() + utterance.pauses.tobytes())
    assert checksum(data) == digest.hexdigest()[:12]
    for name in ("punct", "pauses.scp"):
        (data / name).unlink()
    assert checksum(data) == hashlib.sha256((data / "text").read_bytes()).hexdigest()[:12]
