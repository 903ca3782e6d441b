"""`punc prepare`: convert texts, transcripts or ASR output to a data directory."""

import logging
import os
import re
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

from punc.base.errors import InputError, check_at_least
from punc.base.options import OptionParser, boolean, kebab
from punc.data.labels import LabelSet
from punc.text.abbreviations import Abbreviations
from punc.text.format import UNMARKED, Format, PrepareOptions, format_help, format_names, load_format
from punc.text.not_speech import KINDS, messages, parse_kinds
from punc.text.passages import CHANGES
from punc.text.prose import Clitics

logger = logging.getLogger(__name__)
SIZES = ("streams", "utterances", "words")
FEW = 100  # the minimum number of words for the warning that no word has a mark
OPTIONS = tuple(field.name for field in fields(PrepareOptions))


def options() -> OptionParser:
    parser = OptionParser("punc prepare --format NAME [options] IN [IN …] OUT-DIR",
                          "Makes a data directory from texts, transcripts or ASR output. Each file begins a stream.",
                          "punc prepare --format lrec --labels conf/labels.txt train2012 data/train2012",
                          ["formats, and the options that apply to each:", *map(describe, format_names())])
    parser.add_argument("--format", required=True, choices=format_names(), metavar="NAME",
                        help="format of the input, one of those below")
    parser.add_argument("--labels", metavar="FILE", help="label set: which marks are read as which label")
    parser.add_argument("--lowercase", type=boolean, default=True, metavar="BOOL", help="write words in lower case")
    parser.add_argument("--clitics", metavar="FILE", help="split words by these rules: n't, l', cannot can not")
    parser.add_argument("--abbreviations", metavar="FILE",
                        help="words whose dots are marks only at the end of a sentence, like those of initials, "
                             "ordinals and ellipses")
    parser.add_argument("--remove", default="", metavar="REGEX",
                        help="leave out text that matches, such as \\(Applause\\)")
    parser.add_argument("--clean", default="", metavar="KIND,…",
                        help=f"remove text that is not speech, and count its words: {', '.join(KINDS)}; entities are "
                             "decoded instead")
    parser.add_argument("--document-prefix", default="", metavar="STRING",
                        help="a line that begins with STRING, such as #doc, begins a stream")
    parser.add_argument("--skip-prefix", default="", metavar="STRING",
                        help="leave out lines that begin with STRING, such as #speaker")
    parser.add_argument("--speaker", default="", metavar="REGEX",
                        help="a match at the beginning of a line, such as '#speaker (.*)' or '([A-Z]+):', is removed; "
                             "its group, or all of it, is the speaker of the text that follows; OUT-DIR gets turns")
    parser.add_argument("--utt-words", type=int, default=50, metavar="N",
                        help="words in an utterance; 0: each line is an utterance")
    parser.add_argument("--independent", type=boolean, default=False, metavar="BOOL",
                        help="each line or segment is a stream of its own")
    parser.add_argument("--keep-names", type=boolean, default=False, metavar="BOOL",
                        help="name the stream of a file after the file, without its ending, instead of by a number")
    parser.add_argument("--prefix", default="", metavar="STRING", help="beginning of every stream's name")
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes")
    parser.add_argument("inputs", nargs="+", metavar="IN", help="input files")
    parser.add_output("output", metavar="OUT-DIR", help="data directory to write")
    return parser


def describe(name: str) -> str:
    takes = load_format(name).takes
    names = [kebab(option) for option in OPTIONS if option in takes]
    return f"  {name:<12}{format_help(name)}\n{'':14}{' '.join(names)}"


def main(arguments: Sequence[str]) -> None:
    parser = options()
    args = parser.parse(arguments)
    kind = load_format(args.format)
    for name in OPTIONS:
        if name not in kind.takes and getattr(args, name) != parser.get_default(name):
            raise InputError(f"{kebab(name)} does not apply to --format {args.format}", "leave it out")
    check(args, kind)
    given = {name: getattr(args, name) for name in OPTIONS}
    given["labels"] = LabelSet.read(args.labels) if args.labels else None
    given["clitics"] = Clitics(args.clitics) if args.clitics else None
    given["abbreviations"] = Abbreviations.read(args.abbreviations) if args.abbreviations else None
    given["clean"] = parse_kinds(args.clean)
    log_counts(args.output, kind(PrepareOptions(**given)).prepare(args.inputs, args.output), bool(args.speaker))


def log_counts(output: str, counts: Counter[str], turns: bool) -> None:
    sizes = [f"{counts[what]:,} {what}" for what in SIZES]
    logger.info("punc prepare: %s: %s", output, ", ".join(sizes))
    if turns:
        logger.info("punc prepare: %s: %s %s", output, f"{counts[CHANGES]:,}", CHANGES)
    if counts[UNMARKED] == counts["utterances"] and counts["words"] >= FEW:
        logger.warning("punc prepare: %s: no word has a mark or a capital; is the input punctuated text?", output)
    for line in messages(Counter({what: counts[what] for what in counts.keys() - {*SIZES, CHANGES, UNMARKED}})):
        logger.info("punc prepare: %s", line)


def check(args: Namespace, kind: type[Format]) -> None:
    least = 0 if kind.lines_as_utterances else 1
    if args.utt_words < least:
        raise InputError(f"--utt-words {args.utt_words}", f"give {least} or more for --format {args.format}")
    check_at_least(1, nj=args.nj)
    if args.independent and args.document_prefix:
        raise InputError("--independent cannot be combined with --document-prefix",
                         "give only one of them, because each defines the streams")
    if args.keep_names and (args.independent or args.document_prefix):
        raise InputError("--keep-names, but a file has several streams",
                         "leave it out, or leave out --independent or --document-prefix")
    if not re.fullmatch(r"[\w.-]*", args.prefix):
        raise InputError(f"an id cannot begin with --prefix '{args.prefix}'", "use letters, digits and . _ -")
    for name, expression in (("remove", args.remove), ("speaker", args.speaker)):
        try:
            re.compile(expression)
        except re.error as error:
            raise InputError(f"--{name} '{expression}' is not a regular expression: {error}", "fix it") from None
