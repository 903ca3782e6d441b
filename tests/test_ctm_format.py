"""CTMs of ASR output become data directories; the CTM of a Kaldi decode directory is found."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.find_ctm import find_ctm
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.validate import validate
from punc.text.format import PrepareOptions, load_format
from punc.transcripts.ctm import CtmIndex

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
    np.testing.assert_array_equal(three.pauses, np.array([0.3, 0.25], np.float32))  # 0.25 s until the utterance ends
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
    for name in ("text", "utt2spk", "pauses.scp"):  # punc project copies the table of pauses, but not the archive
        (tmp_path / "copy" / name).write_bytes((tmp_path / "out" / name).read_bytes())
    monkeypatch.chdir("/")
    assert [len(u.pauses) for u in DataDir(tmp_path / "copy").utterances()] == [3, 2]


def test_ctm_format_keeps_case(tmp_path):
    assert run(tmp_path, CTM, "--lowercase=false") == 0
    assert [u.words for u in DataDir(tmp_path / "out").utterances()] == [["One", "Two", "three"], ["HELLO", "There"]]


@pytest.mark.parametrize(("text", "options", "message"), [
    ("a 1 0 1\n", [], "asr.ctm:1: 4 columns; "),
    ("a 1 0 1 <eps>\n", [], "out: there are no utterances to write; "),
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
    with pytest.raises(InputError, match="2 inputs instead of one; give one CTM, or a directory of CTMs"):
        load_format("ctm")(PrepareOptions()).prepare([tmp_path / "a", tmp_path / "b"], tmp_path / "out")


def decode(place, *files, best=None):
    for file in files:
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text("x\n")
    if best is not None:
        (place / "scoring_kaldi").mkdir()
        (place / "scoring_kaldi/best_wer").write_text(best)
    return place


BEST = "%WER 10.12 [ 10 / 99, 1 ins, 2 del, 7 sub ] exp/tri3/decode/wer_11_0.5\n"


@pytest.mark.parametrize(("files", "options", "chosen"), [
    (["score_9/dev.ctm"], {}, "score_9/dev.ctm"),
    (["score_9/x.ctm", "score_9/dev.ctm", "score_9/dev.ctm.filt"], {}, "score_9/dev.ctm"),
    (["score_9/x.ctm"], {}, "score_9/x.ctm"),
    (["ctm"], {}, "ctm"),
    (["dev.ctm", "log/x.log"], {}, "dev.ctm"),
    (["score_9/dev.ctm", "score_11/dev.ctm"], {}, "score_11/dev.ctm"),
    (["score_9_0.5/dev.ctm", "score_11_0.0/dev.ctm", "score_11_0.5/dev.ctm"], {}, "score_11_0.5/dev.ctm"),
    (["score_1/dev.ctm", "score_11/dev.ctm"], {"lmwt": "1"}, "score_1/dev.ctm"),
    (["score_9_0.5/dev.ctm", "score_11_0.5/dev.ctm"], {"lmwt": "9"}, "score_9_0.5/dev.ctm"),
    (["score_9_0.5/dev.ctm", "score_9_1.0/dev.ctm"], {"lmwt": "9", "wip": "1.0"}, "score_9_1.0/dev.ctm"),
    (["score_9/dev.ctm", "score_11/dev.ctm"], {"score_dir": "score_9"}, "score_9/dev.ctm"),
])
def test_find_ctm_chooses(tmp_path, files, options, chosen):
    assert find_ctm(decode(tmp_path, *files, best=BEST), "dev", **options) == tmp_path / chosen


@pytest.mark.parametrize(("files", "best", "options", "said"), [
    ([], None, {}, "no *.ctm here; make one with steps/get_ctm.sh"),
    (["score_9/x"], None, {}, "score_9: no *.ctm here; "),
    (["a.ctm", "b.ctm"], None, {}, "which CTM: a.ctm b.ctm?; "),
    (["score_9/a.ctm", "score_8/a.ctm"], None, {}, "2 directories score_*, but no scoring_kaldi/best_wer; choose with "
     "--lmwt, --wip or --score-dir from score_8 score_9"),
    (["score_9/a.ctm", "score_8/a.ctm"], BEST, {}, "0 directories for --lmwt 11 --wip 0.5; choose with "),
    (["score_9/a.ctm", "score_8/a.ctm"], "what\n", {}, "best_wer:1: not a line of score_kaldi_wer.sh; choose with "),
    (["score_9/a.ctm", "score_8/a.ctm"], "", {}, "best_wer: the file is empty; choose with "),
    (["score_9_0/a.ctm", "score_9_1/a.ctm"], None, {"lmwt": "9"}, "2 directories for --lmwt 9; choose with "),
    (["score_9/a.ctm"], None, {"score_dir": "score_8"}, "score_8: no such directory; choose with "),
    (["a.ctm"], None, {"lmwt": "8"}, "0 directories for --lmwt 8; make some with steps/get_ctm.sh"),
])
def test_find_ctm_unclear_names_choices(tmp_path, files, best, options, said):
    with pytest.raises(InputError) as error:
        find_ctm(decode(tmp_path, *files, best=best), "dev", **options)
    assert said in str(error.value)


def test_find_ctm_command_prints_path(tmp_path, capsys):
    decode(tmp_path / "decode", "score_9/dev.ctm", "score_9/other.ctm", "score_10/dev.ctm")
    (tmp_path / "dev").mkdir()
    assert main(["find-ctm", "--lmwt", "9", f"{tmp_path}/dev/", f"{tmp_path}/decode"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/decode/score_9/dev.ctm\n"
    assert main(["find-ctm", f"{tmp_path}/dev", f"{tmp_path}/none"]) == 1
    assert "no such decode directory; " in capsys.readouterr().err
