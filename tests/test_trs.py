"""Transcriber's files: turns, times, overlapping speech, notes, and files that cannot be read."""

import os
import time
from collections import Counter

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.labels import RECORD, Label, LabelSet
from punc.data.validate import validate
from punc.text.format import PrepareOptions, load_format
from punc.text.formats.trs import read_turns

LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ; ? !\n"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE Trans SYSTEM "trans-14.dtd">\n<Trans audio_filename="x">\n' \
       '<Speakers><Speaker id="spk1" name="A"/><Speaker id="spk2" name="B"/></Speakers>\n<Episode><Section>\n'
TAIL = "\n</Section></Episode>\n</Trans>\n"
TURN = '<Turn speaker="spk1" startTime="0" endTime="4">\n<Sync time="0"/>\nSo it\n<Sync time="1.5"/>\nbegins.\n</Turn>'


def trs(*turns):
    return HEAD + "\n".join(turns) + TAIL


def run(tmp_path, *contents, options=()):
    (tmp_path / "labels.txt").write_text(LABELS)
    files = [tmp_path / f"rec{i}.trs" for i in range(len(contents))]
    for file, content in zip(files, contents):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    status = main(["prepare", "--format=trs", f"--labels={tmp_path / 'labels.txt'}", *options, *map(str, files),
                   str(tmp_path / "out")])
    return status, tmp_path / "out"


def content(directory):
    return [(u.stream, u.id, " ".join(u.words), " ".join(u.labels)) for u in DataDir(directory).utterances()]


def test_trs_turns_and_times(tmp_path, capsys):
    other = '<Turn speaker="spk2" startTime="4" endTime="6"><Sync time="4"/>As, <Event desc="b" type="noise" ' \
            'extent="instantaneous"/> it <Comment desc="?"/>must?</Turn>'
    status, out = run(tmp_path, trs(TURN, other), trs(TURN))
    assert status == 0
    assert content(out) == [("rec0", "rec0_spk1-00000000_00001500", "so it", "O O"),
                            ("rec0", "rec0_spk1-00001500_00004000", "begins", "PERIOD"),
                            ("rec0", "rec0_spk2-00004000_00006000", "as it must", "COMMA O PERIOD"),
                            ("rec1", "rec1_spk1-00000000_00001500", "so it", "O O"),
                            ("rec1", "rec1_spk1-00001500_00004000", "begins", "PERIOD")]
    assert (out / "segments").read_text().splitlines()[1] == "rec0_spk1-00001500_00004000 rec0 1.500 4.000"
    assert (out / "wav.scp").read_text() == f"rec0 {tmp_path}/rec0.wav\nrec1 {tmp_path}/rec1.wav\n"
    assert capsys.readouterr().err.splitlines() == [
        f"punc prepare: {out}: 2 streams, 5 utterances, 9 words", "punc prepare: repaired: 1 comments, left out",
        "punc prepare: repaired: 1 non-speech events and other notes, left out"]
    validate(out, LabelSet.read(tmp_path / "labels.txt"))


def test_trs_two_speakers_in_time_order_with_pauses(tmp_path):
    turns = ['<Turn speaker="spk2" startTime="0" endTime="2"><Sync time="0"/>b.</Turn>',
             '<Turn speaker="spk1" startTime="2" endTime="4"><Sync time="2"/>a c</Turn>']
    _, out = run(tmp_path, trs(*turns))
    assert [words for _, _, words, _ in content(out)] == ["b", "a c"]
    (tmp_path / "ctm").write_text("rec0 1 0.5 0.5 b\nrec0 1 2.25 0.25 a\nrec0 1 3.0 0.5 c\n")
    assert main(["pauses", str(out), str(tmp_path / "ctm")]) == 0
    pauses = np.concatenate([utterance.pauses for utterance in DataDir(out).utterances()])
    np.testing.assert_allclose(pauses, [1.25, 0.5, np.nan])


@pytest.mark.parametrize(("turn", "parts", "repair"), [
    ('<Turn speaker="spk1" startTime="1" endTime="4">so it</Turn>', [("spk1", 1, 4, "so it")],
     "texts before a first sync, which begin with their turn"),
    ('<Turn speaker="spk1" startTime="1" endTime="4">so<Sync time="2"/>it</Turn>',
     [("spk1", 1, 2, "so"), ("spk1", 2, 4, "it")], "texts before a first sync, which begin with their turn"),
    ('<Turn speaker="spk1" startTime="0" endTime="4"><Sync time="2"/>so<Sync time="1"/>it<Sync time="3"/>is</Turn>',
     [("spk1", 2, 3, "so it"), ("spk1", 3, 4, "is")],
     "syncs that jump back or past their turn's end, ignored"),
    ('<Turn speaker="spk1" startTime="0" endTime="4"><Sync time="0"/>so<Sync time="4"/>it</Turn>',
     [("spk1", 0, 4, "so it")], "syncs that jump back or past their turn's end, ignored"),
    ('<Turn speaker="spk2 spk1" startTime="0" endTime="4"><Sync time="0"/><Who nb="1"/>so<Who nb="2"/>no'
     '<Sync time="2"/><Who nb="1"/>it is</Turn>', [("spk2", 0, 2, "so"), ("spk2", 2, 4, "it is")],
     "words of overlapping speech, left out"),
    ('<Turn startTime="0" endTime="4"><Sync time="0"/>so</Turn>', [("unknown", 0, 4, "so")],
     "turns with words and no speaker"),
    ('<Turn startTime="0" endTime="4"><Sync time="0"/>so<Background time="1" type="music" level="high"/></Turn>',
     [("unknown", 0, 4, "so")], "changes of background, left out"),
    ('<Turn startTime="0" endTime="4"><Sync time="0"/><Sync time="2"/>so</Turn>', [("unknown", 2, 4, "so")],
     "turns with words and no speaker"),
    ('<Turn speaker="spk1" startTime="0" endTime="4"><Sync time="1"/>so<Sync time="2.0001"/>it<Sync time="2.0004"/>is'
     '</Turn>', [("spk1", 1, 2, "so"), ("spk1", 2, 4, "it is")],
     "syncs that jump back or past their turn's end, ignored"),
    ('<Turn speaker="spk1" startTime="0" endTime="8"><Sync time="1"/>a<Sync time="2"/>b<Sync time="5"/>c'
     '<Sync time="4"/>d</Turn>', [("spk1", 1, 2, "a"), ("spk1", 2, 5, "b"), ("spk1", 5, 8, "c d")],
     "syncs that jump back or past their turn's end, ignored"),
])
def test_read_turns_repairs(tmp_path, turn, parts, repair):
    (tmp_path / "x.trs").write_text(trs(turn))
    repairs = Counter()
    found = [(s.speaker, s.begin, s.end, " ".join(s.text.split()))
             for turn in read_turns(tmp_path / "x.trs", repairs) for s in turn]
    assert found == parts
    assert repairs[repair] == 1


def test_trs_words_and_times_of_many_syncs(tmp_path):
    """If the text after a Sync begins with a mark, this mark belongs to the last word before the Sync."""
    texts = ["a b", ", c d e", "f", ". g h", "i ."]
    syncs = "".join(f'<Sync time="{10 + i / 8}"/>{text}' for i, text in enumerate(texts))
    _, out = run(tmp_path, trs(f'<Turn speaker="spk 2" startTime="10" endTime="12.5">{syncs}</Turn>'))
    assert [row[2:] for row in content(out)] == [
        ("a b", "O COMMA"), ("c d e", "O O O"), ("f", "PERIOD"), ("g h", "O O"), ("i", "PERIOD")]
    lines = [line.split() for line in (out / "segments").read_text().splitlines()]
    assert [line[1:] for line in lines] == [
        ["rec0", f"{10 + i / 8:.3f}", f"{10 + (i + 1) / 8 if i < 4 else 12.5:.3f}"] for i in range(5)]
    assert lines[0][0] == "rec0_spk-00010000_00010125"


def test_trs_directory_of_another_text_keeps_nothing_of_it(tmp_path):
    (tmp_path / "out").mkdir()
    stale = ["pauses.scp", "pauses.ark", "turns", "reco2file_and_channel"]
    for name in [*stale, "text"]:
        (tmp_path / "out" / name).write_text("")
    status, out = run(tmp_path, trs(TURN))
    assert status == 0
    assert not [name for name in stale if (out / name).exists()]
    assert LabelSet.read(out / RECORD) == LabelSet.read(tmp_path / "labels.txt")


def test_trs_mark_goes_to_word_before_in_its_turn(tmp_path, capsys):
    turns = ['<Turn speaker="spk1" startTime="0" endTime="4"><Sync time="0"/>so<Sync time="1"/>, it .</Turn>',
             '<Turn speaker="spk2" startTime="4" endTime="5"><Sync time="4"/>. no</Turn>']
    _, out = run(tmp_path, trs(*turns))
    assert [labels for *_, labels in content(out)] == ["COMMA", "PERIOD", "O"]
    assert "1 marks before a first word, dropped" in capsys.readouterr().err


def test_trs_old_encodings_and_remove(tmp_path):
    text = trs('<Turn speaker="spk1" startTime="0" endTime="4"><Sync time="0"/>Õhtust [naer] tere</Turn>')
    for encoding in ("ISO-8859-1", "ISO-8859-15", "windows-1257"):
        _, out = run(tmp_path, text.replace("UTF-8", encoding).encode(encoding), options=[r"--remove=\[[^]]*\]"])
        assert content(out)[0][2] == "õhtust tere"


@pytest.mark.parametrize(("text", "line", "message"), [
    (trs(TURN).replace("</Turn>", ""), 12, "not XML"),
    (trs(TURN)[:-10], 12, "not XML"),
    ("", 1, "not XML"),
    (trs(TURN).replace("UTF-8", "klingon"), 1, "not XML"),
    ("<TextGrid></TextGrid>", 1, "<TextGrid>, but Transcriber's files have <Trans>"),
    (trs(TURN).replace('time="1.5"', 'time="soon"'), 9, "time 'soon' is not a time"),
    (trs(TURN).replace('<Sync time="1.5"/>', "<Sync/>"), 9, "<Sync> without time"),
    (trs(TURN).replace('endTime="4"', ""), 6, "<Turn> without endTime"),
    (trs(TURN).replace('endTime="4"', 'endTime="0"'), 6, "a turn from 0 to 0 s"),
    (trs(TURN).replace('startTime="0"', 'startTime="-1"'), 6, "startTime '-1' is not a time"),
])
def test_trs_error_is_one_line_and_leaves_output(tmp_path, capsys, text, line, message):
    run(tmp_path, trs(TURN))
    before = (tmp_path / "out" / "text").read_text()
    capsys.readouterr()
    status, out = run(tmp_path, text)
    error = capsys.readouterr().err
    assert status == 1
    assert error.count("\n") == 1
    assert f"rec0.trs:{line}: {message}" in error
    assert (out / "text").read_text() == before


def test_trs_two_files_of_one_name_and_two_turns_at_one_time(tmp_path, capsys):
    status, _ = run(tmp_path, trs(TURN, TURN))
    assert status == 1
    assert "two turns of 'spk1' begin at 0 s" in capsys.readouterr().err
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "rec0.trs").write_text(trs(TURN))
    (tmp_path / "rec0.trs").write_text(trs(TURN))
    status = main(["prepare", "--format=trs", f"--labels={tmp_path / 'labels.txt'}", str(tmp_path / "rec0.trs"),
                   str(tmp_path / "b" / "rec0.trs"), str(tmp_path / "out")])
    assert status == 1
    assert "a second file is called 'rec0'" in capsys.readouterr().err


def test_trs_options_of_other_formats_and_no_words(tmp_path, capsys):
    assert run(tmp_path, trs(TURN), options=["--document-prefix=#doc"])[0] == 1
    assert "--document-prefix does not apply to --format trs; leave it out" in capsys.readouterr().err
    assert run(tmp_path, trs('<Turn startTime="0" endTime="4"><Sync time="0"/></Turn>'))[0] == 1
    assert "there are no utterances to write" in capsys.readouterr().err


def test_trs_text_outside_of_turns_is_counted(tmp_path, capsys):
    run(tmp_path, trs("two words", TURN, "one"))
    assert "3 words outside a turn, left out" in capsys.readouterr().err


def test_trs_turn_inside_another_one(tmp_path, capsys):
    assert run(tmp_path, trs(TURN.replace("begins.", TURN)))[0] == 1
    assert "rec0.trs:10: a turn inside another one; end the first with </Turn>" in capsys.readouterr().err


def test_trs_long_text_and_names_of_characters(tmp_path):
    """expat delivers a long text in pieces, and skips entities that an external DTD may declare."""
    words = ["caf\xe9", "x"] + ["word"] * 5000
    text = " ".join(words).replace("\xe9", "&eacute;")
    _, out = run(tmp_path, trs(f'<Turn startTime="0" endTime="4"><Sync time="0"/>{text}</Turn>'))
    assert " ".join(found for *_, found, _ in content(out)) == " ".join(words)


@pytest.mark.parametrize("value", ["1e9", "1000000000", "1e308", "1e999", "nan", "9" * 5000])
def test_trs_invalid_time(tmp_path, capsys, value):
    assert run(tmp_path, trs(TURN.replace('endTime="4"', f'endTime="{value}"')))[0] == 1
    assert "is not a time; write <Turn endTime=" in capsys.readouterr().err


def test_trs_many_syncs_take_linear_time(tmp_path):
    syncs = "".join(f'<Sync time="{i / 100}"/>a' for i in range(20_000))
    (tmp_path / "x.trs").write_text(trs(f'<Turn startTime="0" endTime="900">{syncs}</Turn>'))
    start = time.process_time()
    [turn] = read_turns(tmp_path / "x.trs", Counter())
    assert len(turn) == 20_000
    assert time.process_time() - start < 5  # takes 0.1 s; a quadratic reader would take a minute


@pytest.mark.parametrize("name", [b"a\xff.trs", b"a\nb.trs"])
def test_trs_name_that_wav_scp_cannot_have(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    path.write_text(trs(TURN))
    reader = load_format("trs")(PrepareOptions(LabelSet((Label("O", "w"), Label("COMMA", "w,")))))
    with pytest.raises(InputError, match=r"no line of wav\.scp can have this name; rename the file"):
        reader.prepare([path], tmp_path / "out")


def test_trs_abbreviations_and_what_is_not_said(tmp_path, capsys):
    (tmp_path / "abbreviations.txt").write_text("never mr.\nbegins he\n")
    turn = '<Turn speaker="spk1" startTime="0" endTime="4"><Sync time="0"/>Mr. X [noise] of the U.S.<Sync time="2"/>' \
           "Army left the U.S. He came.</Turn>"
    _, out = run(tmp_path, trs(turn), options=[f"--abbreviations={tmp_path / 'abbreviations.txt'}",
                                               "--clean=square-brackets"])
    assert [row[2:] for row in content(out)] == [("mr x of the u.s", "O O O O PERIOD"),
                                                 ("army left the u.s he came", "O O O PERIOD O PERIOD")]
    assert [line.removeprefix("punc prepare: ") for line in capsys.readouterr().err.splitlines()[1:]] == [
        "2 dots of abbreviations, numbers and ellipses that are marks: u.s. 2", "1 dots that are not marks: mr. 1",
        "left out: 1 square-brackets, 1 words: [noise] 1"]


def write(tmp_path, content):
    (tmp_path / "rec.trs").write_text(content)
    return tmp_path / "rec.trs"
