"""`punc prepare`: raw punctuated text to a data directory."""

import os
import re
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

from punc.base.errors import InputError
from punc.base.options import OptionParser, boolean
from punc.data.labels import LabelSet
from punc.text.prepare import prepare
from punc.text.prose_reader import Clitics, TextReader
from punc.text.readers import RawFormat
from punc.text.trs import prepare_trs
from punc.timing.prepare_ctm import prepare_ctm

FORMATS = ("lrec", "sil", "prose", "characters", "mteval", "trs", "ctm")


def options() -> OptionParser:
    parser = OptionParser("punc prepare --format FORMAT --labels FILE [options] IN [IN …] OUT-DIR",
                          "Raw punctuated text to a data directory; each input file begins a stream.",
                          "punc prepare --format lrec --labels conf/labels.txt train2012 data/train2012")
    parser.add_argument("--format", required=True, choices=FORMATS,
                        help="lrec: word<TAB>LABEL lines; sil: word <sil=0.12> ,COMMA; prose; characters: prose "
                             "without blanks between words, as Japanese, every character a word; mteval: XML; trs; "
                             "ctm: a recogniser's words and their pauses, without labels")
    parser.add_argument("--labels", metavar="FILE", help="label set: which marks are which label; not for ctm")
    parser.add_argument("--lowercase", type=boolean, default=True, metavar="BOOL", help="write words in lower case")
    parser.add_argument("--clitics", metavar="FILE", help="split words by these rules: n't, l', cannot can not")
    parser.add_argument("--remove", default="", metavar="REGEX", help="text to leave out, as \\(Applause\\)")
    parser.add_argument("--document-prefix", default="", metavar="STRING", help="a line that begins so begins a stream, as #doc")
    parser.add_argument("--skip-prefix", default="", metavar="STRING", help="lines that begin so are left out, as #speaker")
    parser.add_argument("--utt-words", type=int, default=50, metavar="N",
                        help="words of an utterance; 0: every line of prose is one (mteval, trs: always every segment)")
    parser.add_argument("--independent", type=boolean, default=False, metavar="BOOL",
                        help="every line or segment is a text of its own, so a stream")
    parser.add_argument("--keep-names", type=boolean, default=False, metavar="BOOL",
                        help="the stream of a file is called as the file, without its ending; else it has a number")
    parser.add_argument("--prefix", default="", metavar="STRING", help="what stream names begin with")
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes")
    parser.add_argument("inputs", nargs="+", metavar="IN", help="input files")
    parser.add_argument("output", metavar="OUT-DIR", help="data directory to write")
    return parser


def main(arguments: Sequence[str]) -> int:
    args = options().parse(arguments)
    counts = of_ctm(args) if args.format == "ctm" else of_text(args)
    sizes = [f"{counts.pop(what):,} {what}" for what in ("streams", "utterances", "words")]
    print(f"punc prepare: {args.output}: {', '.join(sizes)}", file=sys.stderr)
    for repair, count in sorted(counts.items()):
        print(f"punc prepare: repaired: {count:,} {repair}", file=sys.stderr)
    return 0


def of_ctm(args: Namespace) -> Counter:
    """Counts of a data directory made from a CTM. Raises InputError for options that do not go with it."""
    if args.labels or args.clitics or args.remove or args.document_prefix or args.skip_prefix or args.independent or args.prefix:
        raise InputError("a CTM has words and no marks", "leave out all but --lowercase and --utt-words")
    if len(args.inputs) > 1:
        raise InputError(f"{len(args.inputs)} inputs", "give one CTM, or a directory that has some")
    if args.utt_words < 1:
        raise InputError("--utt-words below 1", "give a number of words")
    return prepare_ctm(args.inputs[0], args.output, args.lowercase, args.utt_words)


def of_text(args: Namespace) -> Counter:
    """Counts of a data directory made from punctuated text. Raises InputError for options that do not go together."""
    if not args.labels:
        raise InputError("no label set", "name one: --labels conf/labels.txt")
    lines = args.format in ("prose", "characters") and (args.independent or args.utt_words == 0)
    if args.utt_words < 0 or args.nj < 1:
        raise InputError("--utt-words below 0 or --nj below 1", "give a number of words, and of processes")
    if args.format in ("lrec", "sil") and (args.independent or args.utt_words == 0):
        raise InputError(f"{args.format} text has no utterances", "give --utt-words above 0, and not --independent")
    if args.format == "characters" and args.clitics:
        raise InputError("characters are not split", "leave out --clitics")
    if args.format == "trs" and (args.independent or args.document_prefix or args.skip_prefix or args.prefix):
        raise InputError("trs files have streams of their own", "leave out --independent, --document-prefix, --skip-prefix and --prefix")
    if args.independent and args.document_prefix:
        raise InputError("--independent with --document-prefix", "give one of them: each says what a stream is")
    if args.keep_names and (args.independent or args.document_prefix or args.format in ("mteval", "trs")):
        raise InputError("--keep-names where a file has several streams", "leave it out, or --independent or --document-prefix")
    if not re.fullmatch(r"[\w.-]*", args.prefix):
        raise InputError(f"prefix '{args.prefix}' cannot begin an id", "use letters, digits and . _ -")
    try:
        re.compile(args.remove)
    except re.error as error:
        raise InputError(f"--remove '{args.remove}' is no regular expression: {error}", "mend it") from None
    reader = TextReader(LabelSet.read(args.labels), args.lowercase, Clitics(args.clitics) if args.clitics else None)
    if args.format == "trs":
        return prepare_trs(args.inputs, args.output, reader, args.remove)
    raw = RawFormat(args.format, reader, lines, args.document_prefix, args.skip_prefix, args.remove, args.keep_names)
    return prepare(raw, args.inputs, args.output, args.utt_words, args.prefix, args.independent, args.nj)
