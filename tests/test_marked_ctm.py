"""Marks on the words of a CTM, which may differ from the words of the text."""

from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.decoding.marked_ctm import write_marked_ctm


def marked(tmp_path, utterances, ctm, **files):
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    (tmp_path / "times").write_text(ctm)
    write_data_dir(tmp_path / "data", utterances)
    for name, text in files.items():
        (tmp_path / "data" / name).write_text(text)
    write_marked_ctm(tmp_path / "out", tmp_path / "times", DataDir(tmp_path / "data"),
                     LabelSet.read(tmp_path / "labels.txt"))
    return [line.split()[4] for line in (tmp_path / "out").read_text().splitlines()]


def test_marked_ctm_other_words_get_the_marks_of_their_slots(tmp_path):
    said = Utterance("a", "a", ["one", "two", "three", "four"], ["COMMA", "O", "PERIOD", "PERIOD"])
    ctm = "".join(f"a 1 {i} 0.5 {word}\n" for i, word in enumerate(["One", "uh", "2", "four", "five"]))
    assert marked(tmp_path, [said], ctm) == ["One,", "uh", "2.", "four.", "five"]


def test_marked_ctm_recordings_by_file_and_channel(tmp_path, capsys):
    calls = [Utterance("l-1", "l", ["a"], ["COMMA"]), Utterance("l-2", "l", ["b"], ["O"]),
             Utterance("r-1", "r", ["a"], ["PERIOD"]), Utterance("s-1", "s", ["c"], ["O"])]
    ctm = "call A 0 1 a\ncall A 2 1 b\ncall B 5 1 a\n"
    assert marked(tmp_path, calls, ctm, reco2file_and_channel="l call A\nr call B\n") == ["a,", "b", "a."]
    assert capsys.readouterr().err == f"{tmp_path / 'times'}: no times for 1 utterances\n"
