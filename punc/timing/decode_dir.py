"""The CTM of a Kaldi decode directory: that of the weights with the best WER, or of those named.

    decode/score_10/dev.ctm       get_ctm.sh, get_ctm_conf.sh: language-model weight 10; score_10_0.5: and penalty 0.5
    decode/ctm                    get_ctm_fast.sh
    decode/scoring_kaldi/best_wer %WER 12.34 [ … ] exp/…/decode/wer_10_0.5
"""

import re
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import read_lines


def find_ctm(decode: Path, name: str = "", *, lmwt: str = "", wip: str = "", score_dir: str = "") -> Path:
    """The CTM of a decode directory.

    name       of the data directory, which get_ctm.sh takes for the file
    lmwt       language-model weight, as in score_LMWT
    wip        word insertion penalty, as in score_LMWT_WIP
    score_dir  the directory of the CTM, by its name in DECODE-DIR

    Raises InputError, which names the choices, where it is not clear which.
    """
    if not decode.is_dir():
        raise InputError("no such decode directory", "name the one that the recogniser wrote", decode)
    if score_dir and not (decode / score_dir).is_dir():
        raise InputError("no such directory", _choices(decode), decode / score_dir)
    place = decode / score_dir if score_dir else _place(decode, lmwt, wip)
    found = sorted(file for file in place.iterdir() if file.is_file() and re.search(r"(^|\.)ctm$", file.name))
    chosen = [file for file in found if file.name == f"{name}.ctm"] or found
    if len(chosen) == 1:
        return chosen[0]
    if found:
        raise InputError(f"which CTM: {' '.join(file.name for file in found)}?", "keep one, or name it to "
                         "punctuate_ctm.sh", place)
    raise InputError("no *.ctm here", "make one with steps/get_ctm.sh or steps/get_ctm_conf.sh", place)


def _place(decode: Path, lmwt: str, wip: str) -> Path:
    """The directory with the CTM."""
    scores = _score_dirs(decode)
    if lmwt:
        chosen = [path for path in scores if (path.name + "_").startswith(f"score_{lmwt}_{wip and wip + '_'}")]
        if not chosen and wip:  # get_ctm.sh has no penalty in the name
            chosen = [path for path in scores if path.name == f"score_{lmwt}"]
        asked = f"--lmwt {lmwt}" + f" --wip {wip}" * bool(wip)
        if len(chosen) != 1:
            raise InputError(f"{len(chosen)} directories for {asked}", _choices(decode), decode)
        return chosen[0]
    if len(scores) == 1:
        return scores[0]
    if not scores:
        return decode
    best = decode / "scoring_kaldi" / "best_wer"
    if not best.is_file():
        raise InputError(f"{len(scores)} directories score_*, and no scoring_kaldi/best_wer", _choices(decode), decode)
    for number, line in read_lines(best):
        weights = re.search(r"wer_([0-9.]+)(?:_([0-9.]+))?$", line)
        if line.startswith("%WER") and weights:
            return _place(decode, weights[1], weights[2] or "")
        raise InputError("not what score_kaldi_wer.sh writes", _choices(decode), best, number)
    raise InputError("the file is empty", _choices(decode), best)


def _score_dirs(decode: Path) -> list[Path]:
    return sorted(path for path in decode.glob("score_*") if path.is_dir())


def _choices(decode: Path) -> str:
    names = " ".join(path.name for path in _score_dirs(decode))
    return f"choose with --lmwt, --wip or --score-dir from {names}" if names else "make some with steps/get_ctm.sh"
