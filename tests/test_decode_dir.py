"""The CTM of a Kaldi decode directory."""

import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.timing.decode_dir import find_ctm


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
    (["score_9/a.ctm", "score_8/a.ctm"], None, {}, "2 directories score_*, and no scoring_kaldi/best_wer; choose with "
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
