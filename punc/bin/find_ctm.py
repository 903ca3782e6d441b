"""`punc find-ctm`: print the path of the CTM of a Kaldi decode directory.

Chooses the CTM that the options name or, without options, the only CTM or the one with the best WER. A decode
directory may contain:

    decode/score_10/dev.ctm        written by get_ctm.sh or get_ctm_conf.sh with language-model weight 10
    decode/score_10_0.5/dev.ctm    the same, but with word insertion penalty 0.5
    decode/ctm                     written by get_ctm_fast.sh
    decode/scoring_kaldi/best_wer  %WER 12.34 [ … ] exp/…/decode/wer_10_0.5
"""

import re
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import read_lines
from punc.base.options import OptionParser


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc find-ctm [options] DATA-DIR DECODE-DIR",
                          "Prints the path of the CTM of a Kaldi decode directory: the one that the options name, the "
                          "only one, or the one with the best WER (scoring_kaldi/best_wer).",
                          "punc find-ctm --lmwt 10 data/test exp/tri3/decode_test")
    parser.add_signature(find_ctm)
    parser.add_argument("data", metavar="DATA-DIR", help="Kaldi data directory")
    parser.add_argument("decode", metavar="DECODE-DIR", help="its decode directory")
    args = parser.parse(arguments)
    print(find_ctm(Path(args.decode), Path(args.data).resolve().name, lmwt=args.lmwt, wip=args.wip,
                   score_dir=args.score_dir))


def find_ctm(decode: Path, name: str, *, lmwt: str = "", wip: str = "", score_dir: str = "") -> Path:
    """Return the path of a decode directory's CTM.

    name       name of the data directory, after which get_ctm.sh names the file
    lmwt       language-model weight, as in score_LMWT
    wip        word insertion penalty, as in score_LMWT_WIP
    score_dir  name of the directory in DECODE-DIR that contains the CTM

    Raises InputError if there is no such CTM, or more than one. The message lists the choices, if there are any.
    """
    if not decode.is_dir():
        raise InputError("no such decode directory", "give the one that the ASR system wrote", decode)
    if score_dir and not (decode / score_dir).is_dir():
        raise InputError("no such directory", _choices(decode), decode / score_dir)
    folder = decode / score_dir if score_dir else _score_dir(decode, lmwt, wip)
    found = sorted(file for file in folder.iterdir() if file.is_file() and re.search(r"(^|\.)ctm$", file.name))
    chosen = [file for file in found if file.name == f"{name}.ctm"] or found
    if len(chosen) == 1:
        return chosen[0]
    if found:
        raise InputError(f"which CTM: {' '.join(file.name for file in found)}?", "keep one, or give its "
                         "name to punctuate_ctm.sh", folder)
    raise InputError("no *.ctm here", "make one with steps/get_ctm.sh or steps/get_ctm_conf.sh", folder)


def _score_dir(decode: Path, lmwt: str, wip: str) -> Path:
    scores = _score_dirs(decode)
    if lmwt:
        chosen = [path for path in scores if (path.name + "_").startswith(f"score_{lmwt}_{wip and wip + '_'}")]
        if not chosen and wip:  # get_ctm.sh does not put the insertion penalty into the directory's name
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
        raise InputError(f"{len(scores)} directories score_*, but no scoring_kaldi/best_wer", _choices(decode), decode)
    for number, line in read_lines(best):
        weights = re.search(r"wer_([0-9.]+)(?:_([0-9.]+))?$", line)
        if line.startswith("%WER") and weights:
            return _score_dir(decode, weights[1], weights[2] or "")
        raise InputError("not a line of score_kaldi_wer.sh", _choices(decode), best, number)
    raise InputError("the file is empty", _choices(decode), best)


def _score_dirs(decode: Path) -> list[Path]:
    return sorted(path for path in decode.glob("score_*") if path.is_dir())


def _choices(decode: Path) -> str:
    names = " ".join(path.name for path in _score_dirs(decode))
    return f"choose with --lmwt, --wip or --score-dir from {names}" if names else "make some with steps/get_ctm.sh"
