"""`punc punctuate`: restore punctuation with a model."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from punc.base.errors import InputError
from punc.base.jobs import Part, Share, add_job_options, new_part
from punc.base.options import OptionParser, boolean, kebab
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.decoding.options import DecodingOptions, OutputOptions, parse_scale
from punc.decoding.shipped import CASING, DEFAULT_LIVE, find_model, is_packed, model_files
from punc.live.session import LiveOptions
from punc.live.streaming import LiveFormat
from punc.text.casing import Casing

# Options that apply to a data directory, not to standard input; to words that come there; and to both.
DIRECTORY_ONLY = {"nj", "jobs", "job",
                  *(field.name for field in (*fields(DecodingOptions), *fields(OutputOptions)))} - {"scale"}
LIVE_ONLY = [field.name for field in (*fields(LiveFormat), *fields(LiveOptions))]


def options() -> OptionParser:
    parser = OptionParser(
        "punc punctuate [options] MODEL DATA-DIR OUT-DIR | punc punctuate [options] [MODEL] -",
        "Punctuates a data directory with a model, named by its directory, or by its name if it ships with punc (en, "
        "en-live). OUT-DIR is a data directory with the labels as punct. It also has text_punct (the punctuated text), "
        "post.ark and post.scp (the posteriors) and, if there is a CTM, ctm_punct. With - instead of DATA-DIR, "
        "punctuates words, a CTM or JSON lines from standard input as they arrive; an empty line ends a stream; the "
        f"default MODEL is then {DEFAULT_LIVE}.",
        "punc punctuate --scale O=0.5 exp/T-LSTM data/test_asr exp/T-LSTM/decode_test_asr",
        [f"Only with -: {', '.join(map(kebab, [*LIVE_ONLY, 'characters']))}; and of the others --scale."])
    parser.add_signature(DecodingOptions)
    parser.add_signature(OutputOptions)
    parser.add_argument("--nj", type=int, default=2, metavar="INT",
                        help="number of processes on this machine that decode; on a GPU it is one")
    add_job_options(parser)
    for kind in (LiveFormat, LiveOptions):
        parser.add_signature(kind)
    parser.add_argument("--characters", type=boolean, default=False, metavar="BOOL",
                        help="each line is a text without blanks between words, as in Japanese; all but "
                             "its marks stays as it is")
    parser.add_argument("directory", metavar="MODEL", help="directory of a model, or the name of one that ships")
    parser.add_argument("data", metavar="DATA-DIR", nargs="?", help="data directory, or - for standard input")
    parser.add_output("out", metavar="OUT-DIR", nargs="?", help="data directory to make")
    return parser


def main(arguments: Sequence[str]) -> None:
    parser = options()
    args = parser.parse(arguments)
    if (args.directory, args.data) == ("-", None):
        args.directory, args.data = DEFAULT_LIVE, "-"
    if args.data is None:
        raise InputError("missing: DATA-DIR", "see punc punctuate --help")
    args.directory = str(find_model(args.directory))
    if (args.data == "-") != (args.out is None):
        raise InputError("give OUT-DIR with a DATA-DIR, and not with -", "see punc punctuate --help")
    given = {name for name in {*DIRECTORY_ONLY, *LIVE_ONLY, "characters"}
             if getattr(args, name) != parser.get_default(name) or parser.value(arguments, kebab(name)) is not None}
    if args.out is None:
        known, where = (["scale"], "- and --characters") if args.characters else (["scale", *LIVE_ONLY], "-")
        for name in sorted(given.difference(known, ["characters"])):
            there = " ".join(map(kebab, known))
            raise InputError(f"{kebab(name)} with {where}", f"leave it out: there go only {there}")
        punctuate_standard_input(args)
        return
    for name in sorted(given & {"characters", *LIVE_ONLY}):
        raise InputError(f"{kebab(name)} with a DATA-DIR", "leave it out: it is for -")
    if args.nj < 1:
        raise InputError(f"--nj={args.nj} is too small", "give 1 or more")
    punctuate_directory(args)


def punctuate_directory(args: Namespace) -> None:
    # Imported here: for standard input, this would take a third of the time to the first word.
    from punc.decoding.punctuate import find_ctm, log_counts, punctuate, punctuate_share
    directory, data, out, share = Path(args.directory), DataDir(args.data), Path(args.out), Share.parsed(args)
    decoding, output = DecodingOptions.parsed(args), output_options(args)
    if not share:
        punctuate(directory, data, out, decoding, output, args.nj)
        return
    ctm = find_ctm(data, output)
    labels = LabelSet.read(directory / "labels.txt")
    tables = [data.path / name for name in data.tables]
    given = [file for file in (ctm, output.casing, output.clitics) if file]
    with new_part(out, "punctuate", share, args, "out", [*model_files(directory), *tables, *given]) as (part, result):
        counts, result["utterances"] = punctuate_share(directory, data, part, decoding, output, args.nj, share)
        result["counts"] = dict(counts)
    log_counts(out, labels, counts)


def output_options(args: Namespace) -> OutputOptions:
    options = OutputOptions(args.posteriors, args.casing, args.clitics, args.ctm)
    return options.with_casing_of(Path(args.directory))


def join(parts: Sequence[Part], out: Path) -> None:
    from punc.decoding.punctuated_parts import join_punctuated
    args = parts[0].parsed()
    join_punctuated(parts, out, Path(args.directory), DataDir(args.data), output_options(args))


def punctuate_standard_input(args: Namespace) -> None:
    """Write the words of standard input with their marks to standard output."""
    from punc.decoding.decode import load_model
    from punc.live.streaming import punctuate_lines, punctuate_streaming
    live, form = LiveOptions(args.max_delay, args.utterance_end), LiveFormat(args.input, args.output)
    directory = Path(args.directory)
    model = load_model(directory)
    source, sink, scale = sys.stdin.fileno(), sys.stdout.buffer, parse_scale(args.scale, model.labels)
    if args.characters:
        punctuate_lines(model, source, sink, scale)
    else:
        casing = Casing.read(model.labels, directory / CASING, is_packed(directory))
        punctuate_streaming(model, source, sink, scale, casing, live, form)
