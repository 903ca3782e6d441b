#!/usr/bin/env python3
"""usage: align_pocketsphinx.py [options] JOB NJ CORPUS-DIR OUT-DIR

Uses pocketsphinx to find the times of words in every NJ-th recording CORPUS-DIR/NAME.wav, starting with the JOB-th. The
words of NAME.txt are aligned with the recording, and their times are written to OUT-DIR/NAME.ctm. If the alignment
fails, for example because the speaker does not say the words of NAME.txt, the recording is recognised, and the
recognised words are written to OUT-DIR/NAME.ctm instead. For recognition, a long recording is cut into parts at quiet
moments. An existing CTM that is newer than NAME.wav and NAME.txt is kept. align_audio.sh calls this script.

The phones of a word that is not in the dictionary come from flite, which knows only English. If flite is not installed,
or if --hmm, --dict or --lm is given, such a word is left out and gets no time.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from speech import RATE, Heard, Sphinx, flite_phones, read_wav, timed

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.options import OptionParser
from punc.bin.script import run_script
from punc.timing.pauses import TimedWord
from punc.transcripts.ctm import write_ctm

# Samples. A recording longer than LONGEST is recognised in parts; all parts except the last are longer than SHORTEST.
LONGEST, SHORTEST = 30 * RATE, 20 * RATE
QUIET = RATE // 5  # samples; length of the quiet stretch in the middle of which a part ends


def options() -> OptionParser:
    parser = OptionParser("align_pocketsphinx.py [options] JOB NJ CORPUS-DIR OUT-DIR", "See the top of the script.",
                          "align_pocketsphinx.py 1 1 data/align/corpus data/align/times")
    for name, what in (("hmm", "acoustic model, a directory"), ("dict", "dictionary"), ("lm", "language model")):
        parser.add_argument(f"--{name}", default="", metavar="PATH", help=f"{what}; empty: pocketsphinx's, for English")
    parser.add_argument("job", type=int, metavar="JOB", help="number of this job, from 1")
    parser.add_argument("nj", type=int, metavar="NJ", help="number of jobs")
    parser.add_argument("corpus", metavar="CORPUS-DIR", help="NAME.wav and NAME.txt")
    parser.add_argument("out", metavar="OUT-DIR", help="where to write NAME.ctm")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    if find_spec("pocketsphinx") is None:
        raise InputError("pocketsphinx is not installed", "pip install 'punc-toolkit[speech]'")
    models = {name: getattr(args, name) for name in ("hmm", "dict", "lm") if getattr(args, name)}
    for path in sorted(Path(args.corpus).glob("*.wav"))[args.job - 1::args.nj]:
        text, out = path.with_suffix(".txt"), Path(args.out) / f"{path.stem}.ctm"
        if out.exists() and out.stat().st_mtime >= max(path.stat().st_mtime, text.stat().st_mtime):
            continue
        with open_input(text) as file:
            words = file.read().decode().split()
        # Decoders adapt to the recordings that they have heard, so each recording gets new ones.
        print(f"{path.stem}: {align(path, words, out, models)}", flush=True)


def align(path: Path, words: Sequence[str], out: Path, models: dict[str, str]) -> str:
    """Write the times of a recording's words. Return a message that says how the times were found."""
    samples, speaks = read_wav(path), not models and shutil.which("flite") is not None
    sphinx = Sphinx(flite_phones if speaks else lambda word: "", **models)
    known = [word for word in words if speaks or sphinx.knows(word)]
    heard = sphinx.align(samples, known, known) if known else None
    found = [timed(path.stem, 0.0, heard, False)] if heard else [
        timed(path.stem, begin / RATE, parts, True) for begin, parts in recognise(sphinx, samples)]
    rows: list[TimedWord] = [row for part in found for row in part]
    if not rows:
        return "no word was recognised"
    write_ctm(out, rows)
    unknown = f", {len(words) - len(known)} not in the dictionary" if len(known) < len(words) else ""
    return f"{len(words)} words {'aligned' if heard else f'in the text, {len(rows)} recognised'}{unknown}"


def recognise(sphinx: Sphinx, samples: np.ndarray) -> Iterator[tuple[int, list[Heard]]]:
    """Recognise a recording in parts. Yield the index of each part's first sample, and the part's words."""
    begin = 0
    while begin < len(samples):
        end = cut(samples[begin:begin + LONGEST]) + begin if len(samples) - begin > LONGEST else len(samples)
        yield begin, sphinx.recognise(samples[begin:end])
        begin = end


def cut(samples: np.ndarray) -> int:
    """Return the index of the sample in the middle of the quietest 0.2 s after SHORTEST."""
    power = np.cumsum(np.square(samples[SHORTEST:].astype(np.float64)))
    return SHORTEST + QUIET // 2 + int((power[QUIET:] - power[:-QUIET]).argmin())


if __name__ == "__main__":
    run_script(main, __doc__, Path(sys.argv[0]).name)
