"""A CTM of ASR output to a data directory: streams, pauses, the copied CTM, and errors that leave the output."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.validate import validate
from punc.text.format import PrepareOptions, load_format
from punc.timing.ctm import CtmIndex

CTM = """b 1 0.00 0.20 HELLO 0.9
b 1 0.30 0.20 <eps>
b 1 0.50 0.25 There 0.8
b 1 0.75 0.25 <eps>
a-x 1 2.00 0.50 three
a-x 1 0.00 0.50 One
a-x 1 1.00 0.50 Two
c 1 0.00 9.00 <eps>
"""


def run(tmp_path, text, *options):
    (tmp_path / "asr.ctm").write_text(text)
    return main(["prepare", "--format=ctm", *options, str(tmp_path / "asr.ctm"), str(tmp_path / "out")])


def test_ctm_format_words_and_pauses(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "punct").write_text("of an older text\n")
    assert run(tmp_path, CTM, "--utt-words=2") == 0
    one, two, three = DataDir(tmp_path / "out").utterances()
    assert [(u.id, u.stream, u.words, u.labels) for u in (one, two, three)] == [
        ("a-x-00000001", "a-x", ["one", "two"], None), ("a-x-00000002", "a-x", ["three"], None),
        ("b-00000001", "b", ["hello", "there"], None)]
    np.testing.assert_array_equal(np.concatenate([one.pauses, two.pauses]), np.array([0.5, 0.5, np.nan], np.float32))
    np.testing.assert_array_equal(three.pauses, np.array([0.3, 0.25], np.float32))  # the silence ends the recording
    validate(tmp_path / "out")
    written = CtmIndex(tmp_path / "out" / "ctm")
    assert [word.word for word in written["b"]().words] == ["HELLO", "There"]
    assert written["b"]().words[0].confidence == 0.9
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"punc prepare: {tmp_path / 'out'}: 2 streams, 3 utterances, 5 words",
                     "punc prepare: repaired: 1 lines that were not in time order"]


def test_ctm_format_pauses_are_found_from_another_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asr.ctm").write_text(CTM)
    assert main(["prepare", "--format=ctm", "asr.ctm", "out"]) == 0
    (tmp_path / "copy").mkdir()
    for name in ("text", "utt2spk", "pauses.scp"):  # as punc project does
        (tmp_path / "copy" / name).write_bytes((tmp_path / "out" / name).read_bytes())
    monkeypatch.chdir("/")
    assert [len(u.pauses) for u in DataDir(tmp_path / "copy").utterances()] == [3, 2]


def test_ctm_format_keeps_case(tmp_path):
    assert run(tmp_path, CTM, "--lowercase=false") == 0
    assert [u.words for u in DataDir(tmp_path / "out").utterances()] == [["One", "Two", "three"], ["HELLO", "There"]]


@pytest.mark.parametrize(("text", "options", "message"), [
    ("a 1 0 1\n", [], "asr.ctm:1: 4 columns; "),
    ("a 1 0 1 <eps>\n", [], "out: no utterance to write; "),
    ("a 1 0 1 x\na& 1 0 1 x\n", [], "'a' and 'a&' cannot be sorted both as streams and by their utterances; "),
    ("a 1 0 1 x\na-0 1 0 1 x\n", [], "'a' and 'a-0' cannot be sorted both as streams and by their utterances; "),
    (CTM, ["--labels=labels.txt"], "--labels does not apply to --format ctm; leave it out"),
    (CTM, ["--nj=7"], "--nj does not apply to --format ctm; leave it out"),
    (CTM, ["--utt-words=0"], "--utt-words 0; give 1 or more for --format ctm"),
])
def test_ctm_format_error_is_one_line_and_leaves_output(tmp_path, capsys, text, options, message):
    assert run(tmp_path, "a 1 0 1 x\n") == 0
    before = (tmp_path / "out" / "text").read_bytes()
    capsys.readouterr()
    assert run(tmp_path, text, *options) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert (tmp_path / "out" / "text").read_bytes() == before


def test_ctm_format_of_two_files(tmp_path):
    with pytest.raises(InputError, match="2 inputs; give one CTM, or a directory of CTMs"):
        load_format("ctm")(PrepareOptions()).prepare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
