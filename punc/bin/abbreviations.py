"""`punc abbreviations`: learn the abbreviations of a corpus from its text."""

import logging
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial

from punc.base.errors import InputError, check_at_least
from punc.base.options import OptionParser
from punc.base.parallel import map_ordered
from punc.text.abbreviations import BEGINS, ORDINAL, STARTER, write_abbreviations
from punc.text.file_parts import FilePart, decode, file_parts
from punc.text.punkt import Types, count_contexts, words_by_kind

logger = logging.getLogger(__name__)
SHOWN = 20


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc abbreviations [options] IN [IN …] OUT",
                          "Learns the abbreviations of a corpus from punctuated text with capitals, by the "
                          "method of Kiss & Strunk (2006). OUT is the file for punc prepare --abbreviations: read "
                          "and edit it. Use a million words or more.",
                          "punc abbreviations raw/train.txt conf/abbreviations.txt")
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes")
    parser.add_argument("inputs", nargs="+", metavar="IN", help="texts")
    parser.add_output("output", metavar="OUT", help="file to write")
    args = parser.parse(arguments)
    check_at_least(1, nj=args.nj)
    tokens: Counter[str] = Counter()
    for some in map_ordered(part_types, file_parts(args.inputs, b"\n"), args.nj):
        tokens.update(some)
    types = Types(tokens)
    if not types.total:
        raise InputError("no words", "give punctuated text", args.inputs[0])
    contexts = Counter[tuple[str, str]]()
    of_part = partial(part_contexts, abbreviations=frozenset(types.abbreviations))
    for part in map_ordered(of_part, file_parts(args.inputs, b"\n"), args.nj):
        contexts.update(part)
    words = words_by_kind(types, contexts)
    about = f"Learned from {types.total:,} words by the method of Kiss & Strunk (2006): read it, and edit it"
    write_abbreviations(args.output, words, about)
    logger.info("punc abbreviations: %s: %d abbreviations, %d words that begin sentences, %d after ordinals, of %s "
                "words", args.output, *(len(words[kind]) for kind in (STARTER, BEGINS, ORDINAL)), f"{types.total:,}")
    logger.info("punc abbreviations: the most certain: %s", " ".join(words[STARTER][:SHOWN]) or "none")


def part_types(part: FilePart) -> Counter[str]:
    return Counter(decode(part.data, Counter()).split())


def part_contexts(part: FilePart, abbreviations: frozenset[str]) -> Counter[tuple[str, str]]:
    return count_contexts(decode(part.data, Counter()), abbreviations)
