"""`punc punctuate`: restore punctuation with a model."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from punc.base.errors import check_at_least
from punc.base.jobs import Part, Share, add_job_options, new_part
from punc.base.options import OptionParser, from_args
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.decoding.options import DecodingOptions, OutputOptions
from punc.decoding.shipped import CASING, find_model, model_files


def main(arguments: Sequence[str]) -> None:
    if "-" in arguments:
        from punc.bin.live import main as live
        live([argument for argument in arguments if argument != "-"])
        return
    parser = OptionParser(
        "punc punctuate [options] MODEL DATA-DIR OUT-DIR | punc punctuate [options of punc live] [MODEL] -",
        "Punctuates a data directory. MODEL is a directory or the name of a bundled model, such as en. OUT-DIR is a "
        "data directory with the labels as punct. It also has text_punct (the punctuated text), post.ark and post.scp "
        "(the posteriors) and, if there is a CTM, ctm_punct. With - instead of DATA-DIR, the command works like punc "
        "live.",
        "punc punctuate --scale O=0.5 exp/T-LSTM data/test_asr exp/T-LSTM/decode_test_asr")
    parser.add_signature(DecodingOptions)
    parser.add_signature(OutputOptions)
    parser.add_argument("--nj", type=int, default=2, metavar="INT",
                        help="number of processes on this machine that decode; on a GPU, one")
    add_job_options(parser)
    parser.add_argument("directory", metavar="MODEL", help="directory of a model, or the name of a bundled one")
    parser.add_argument("data", metavar="DATA-DIR", help="data directory, or - for standard input")
    parser.add_output("out", metavar="OUT-DIR", help="data directory to make")
    args = parser.parse(arguments)
    args.directory = str(find_model(args.directory))
    check_at_least(1, nj=args.nj)
    # Imported here, because --help does not need this module.
    from punc.decoding.punctuate import find_ctm, log_counts, punctuate, punctuate_share
    directory, data, out, share = Path(args.directory), DataDir(args.data), Path(args.out), Share.parsed(args)
    decoding, output = from_args(DecodingOptions, args), output_options(args)
    if not share:
        punctuate(directory, data, out, decoding, output, args.nj)
        return
    ctm = find_ctm(data, output)
    labels = LabelSet.read(directory / "labels.txt")
    tables = [data.path / name for name in data.tables]
    given = [file for file in (ctm, output.casing, output.clitics) if file]
    with new_part(out, "punctuate", share, args, [*model_files(directory), *tables, *given]) as (part, result):
        counts, result["utterances"] = punctuate_share(directory, data, part, decoding, output, args.nj, share)
        result["counts"] = dict(counts)
    log_counts(out, labels, counts)


def output_options(args: Namespace) -> OutputOptions:
    """Return the output options. The default casing table is the model's, if it has one."""
    options, casing = from_args(OutputOptions, args), Path(args.directory) / CASING
    return replace(options, casing=options.casing or (str(casing) if casing.is_file() else ""))


def join(parts: Sequence[Part], out: Path) -> None:
    from punc.decoding.punctuate import join_punctuated
    args = Namespace(**parts[0].options)
    join_punctuated(parts, out, Path(args.directory), DataDir(args.data), output_options(args))
