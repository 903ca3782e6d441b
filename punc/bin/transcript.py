"""`punc transcript`: convert ASR output (a file or a Kaldi data directory) to punctuated text and subtitles."""

import gc
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from punc.base.errors import InputError
from punc.base.jobs import Part, Share, add_job_options, new_part
from punc.base.options import OptionParser, kebab
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import find_model, model_files
from punc.decoding.transcript import join_transcripts, transcript
from punc.decoding.transcript_file import punctuate_files

FILE_ONLY = ("to", "format", "tier", "probabilities", "nj")
DIRECTORY_ONLY = ("ctm", "jobs", "job")


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc transcript [options] MODEL IN … OUT | punc transcript [options] [--ctm CTM] MODEL DATA-DIR OUT-DIR",
        "Punctuates ASR output with a model: a directory, or the name of a bundled one. IN is a recogniser's output "
        "file; punc finds its format by its content: JSON of Whisper, faster-whisper, whisperX, whisper.cpp, "
        "transformers, NeMo, sherpa-onnx, Vosk or a cloud service, CTM, STM, TextGrid, SRT, WebVTT or text. OUT is "
        "the same file with marks and capitals, or has the format of --to; for several files it is a directory. "
        "DATA-DIR is the Kaldi data directory that was decoded, and --ctm names the CTM from decoding. OUT-DIR "
        "gets text, ctm, txt/<recording>.txt in paragraphs, and subtitles as srt/<recording>.srt and "
        "vtt/<recording>.vtt. Without --ctm, DATA-DIR/text is punctuated, and OUT-DIR gets text and txt. The "
        "scripts utils/punctuate_*.sh run this in parallel.",
        "punc transcript en talk.json talk.srt",
        [f"Only with a file: {', '.join(map(kebab, FILE_ONLY))}; only with a directory: "
         f"{', '.join(map(kebab, DIRECTORY_ONLY))}."])
    parser.add_signature(DecodingOptions, skip=("chunk_size", "context", "viterbi", "case_rule"))
    parser.add_signature(transcript, skip=("decoding", "share", "marks"))
    parser.add_signature(punctuate_files)
    add_job_options(parser)
    parser.add_argument("directory", metavar="MODEL", help="directory of a model, or the name of a bundled one")
    parser.add_argument("data", metavar="IN|DATA-DIR", nargs="+",
                        help="files of recognisers (- is standard input), or a Kaldi data directory")
    parser.add_output("out", metavar="OUT|OUT-DIR", help="file or directory to make; - is standard output")
    args = parser.parse(arguments)
    args.directory = str(find_model(args.directory))
    paths = [Path("/dev/stdin" if name == "-" else name) for name in args.data]
    args.data = str(paths[0])
    directory, data, out, share = Path(args.directory), paths[0], Path(args.out), Share.parsed(args)
    is_file = data.is_file() or (not data.is_dir() and not args.ctm and not share)
    check_fit(parser, args, paths, is_file)
    decoding = DecodingOptions(args.scale, device=args.device)
    if is_file:
        # Rarer garbage collection saves a sixth of the time; words form no reference cycles.
        gc.set_threshold(1_000_000)
        punctuate_files(directory, paths, args.out, decoding, to=args.to, marks=args.marks, format=args.format,
                        tier=args.tier, probabilities=args.probabilities, nj=args.nj)
        return
    run = partial(transcript, directory, data, decoding=decoding, ctm=args.ctm, marks=args.marks)
    if not share:
        run(out)
        return
    with new_part(out, "transcript", share, args, files(args)) as (part, _):
        run(part, share=share)


def check_fit(parser: OptionParser, args: Namespace, paths: Sequence[Path], is_file: bool) -> None:
    if len(paths) > 1 and (unlike := [path for path in paths if path.is_dir()]):
        raise InputError("one of several inputs is a directory", "give a directory alone", unlike[0])
    for name in DIRECTORY_ONLY if is_file else FILE_ONLY:
        if getattr(args, name) != parser.get_default(name):
            raise InputError(f"{kebab(name)} with a {'file' if is_file else 'data directory'}", "leave it out")


def files(args: Namespace) -> list[Path]:
    directory, data, ctm = Path(args.directory), Path(args.data), Path(args.ctm)
    names = ("text", "utt2spk", "segments", "reco2file_and_channel", "pauses.scp")
    tables = [data / name for name in names if (data / name).is_file()]
    ctms = sorted(ctm.glob("*.ctm")) if ctm.is_dir() else [ctm]
    return [*model_files(directory), *tables, *(ctms if args.ctm else [])]


def join(parts: Sequence[Part], out: Path) -> None:
    join_transcripts([part.path for part in parts], out)
