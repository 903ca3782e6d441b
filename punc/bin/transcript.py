"""`punc transcript`: ASR output to punctuated text and subtitles."""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from punc.base.jobs import Part, Share, add_job_options, new_part
from punc.base.options import OptionParser
from punc.decoding.options import DecodingOptions
from punc.decoding.transcript import DECODING, join_transcripts, transcript
from punc.runtime.shipped import find_model, model_files


def options() -> OptionParser:
    parser = OptionParser(
        "punc transcript [options] MODEL DATA-DIR OUT-DIR",
        "Punctuates ASR output with a model, named by its directory, or by its name if it ships with punc (en, "
        "en-live). DATA-DIR is the Kaldi data directory that was decoded, --ctm what decoding wrote. OUT-DIR gets "
        "text, ctm, txt/<recording>.txt in paragraphs, and subtitles as srt/<recording>.srt and vtt/<recording>.vtt. "
        "Without --ctm, DATA-DIR/text is punctuated, and OUT-DIR gets text and txt. The scripts utils/punctuate_*.sh "
        "run this in parallel.",
        "punc transcript --ctm exp/tri3/decode_test/score_10/test.ctm exp/TA-LSTM-p data/test transcripts")
    parser.add_signature(DecodingOptions)
    parser.set_defaults(chunk_size=DECODING.chunk_size)
    parser.add_signature(transcript, skip=("decoding", "share"))
    add_job_options(parser)
    parser.add_argument("directory", metavar="MODEL", help="directory of a model, or the name of one that ships")
    parser.add_argument("data", metavar="DATA-DIR", help="Kaldi data directory")
    parser.add_argument("out", metavar="OUT-DIR", help="directory to make")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    args.directory = str(find_model(args.directory))
    directory, data, out, share = Path(args.directory), Path(args.data), Path(args.out), Share.parsed(args)
    run = partial(transcript, directory, data, decoding=DecodingOptions.parsed(args), ctm=args.ctm,
                  lowercase=args.lowercase)
    if not share:
        run(out)
        return
    with new_part(out, "transcript", share, args, "out", files(args)) as (part, _):
        run(part, share=share)


def files(args: Namespace) -> list[Path]:
    """The files that the transcripts are made from."""
    directory, data, ctm = Path(args.directory), Path(args.data), Path(args.ctm)
    names = ("text", "utt2spk", "segments", "reco2file_and_channel", "pauses.scp")
    tables = [data / name for name in names if (data / name).is_file()]
    ctms = sorted(ctm.glob("*.ctm")) if ctm.is_dir() else [ctm]
    return [*model_files(directory), *tables, *(ctms if args.ctm else [])]


def join(parts: Sequence[Part], out: Path) -> None:
    """Join parts of transcripts, for `punc join`."""
    join_transcripts([part.path for part in parts], out)
