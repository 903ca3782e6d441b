#!/usr/bin/env python3
"""usage: check_texts.py [--times TIMES] [--asr CTM-OR-DIR] [--audio DIR] TEXT-DIR

Checks the data of a recipe. TEXT-DIR must have at least MIN_TEXTS files *.txt; if only texts are given, one is enough,
because split_texts.py can cut it into pieces. In word times, ASR output and names of recordings, a text's id is the
name of its file without .txt. Prints how many texts have word times, how many have ASR output, how many have
recordings, and some of the ids that belong to no text. It is an error if none of the ids belongs to a text.
utils/new_recipe.sh and stage 0 of its recipes call this script.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from text_sets import MIN_TEXTS

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.bin.script import run_script
from punc.text.passages import file_name, sorted_streams
from punc.transcripts.ctm import CtmIndex
from punc.transcripts.read import word_times

NAMED = 3


def texts(folder: Path, least: int) -> dict[str, Path]:
    """Return the files of the texts by name, in C-locale order. Raises InputError if there are fewer than `least`."""
    if not folder.is_dir():
        raise InputError("no such directory", "give the directory with the texts: --text DIR", folder)
    paths = list(folder.glob("*.txt"))
    if len(paths) < least:
        raise InputError(f"{len(paths)} files *.txt here", f"give at least {MIN_TEXTS} texts, one per file", folder)
    files = dict(zip(map(file_name, paths), paths))
    return {name: files[name] for name in sorted_streams(map(file_name, paths))}


def recordings(folder: Path) -> list[Path]:
    """Return the files *.wav of a directory. Raises InputError if there are none."""
    found = sorted(folder.glob("*.wav"))
    if not found:
        raise InputError("no *.wav here", "give a directory with NAME.wav for NAME.txt, 16 kHz, 16 bit, mono", folder)
    return found


def compare(what: str, path: str, ids: set[str], names: Sequence[str]) -> None:
    """Print how many of the texts `names` are among the ids. Raises InputError if none is."""
    known, unknown = ids & set(names), ids - set(names)
    if not known:
        raise InputError(f"no text is called '{min(ids)}'; the texts are {some(names)}",
                         "use the ids of the texts: the files' names without .txt", path)
    print(f"{what} of {len(known)} of {len(names)} texts", file=sys.stderr)
    if unknown:
        print(f"{path}: {len(unknown)} ids belong to no text, left out: {some(unknown)}", file=sys.stderr)


def some(names: Sequence[str] | set[str]) -> str:
    return ", ".join([*(f"'{name}'" for name in sorted(names)[:NAMED]), *["…"] * (len(names) > NAMED)])


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("check_texts.py [options] TEXT-DIR", "See the top of the script.", "check_texts.py talks")
    parser.add_argument("--times", default="", metavar="TIMES", help="word times: CTMs, TextGrids or Gentle's JSON")
    parser.add_argument("--asr", default="", metavar="CTM-OR-DIR", help="ASR output: CTMs")
    parser.add_argument("--audio", default="", metavar="DIR", help="recordings: NAME.wav")
    parser.add_argument("folder", metavar="TEXT-DIR", help="where the texts are")
    args = parser.parse(arguments)
    names = list(texts(Path(args.folder), MIN_TEXTS if args.times or args.asr or args.audio else 1))
    print(f"{args.folder}: {len(names)} texts", file=sys.stderr)
    if args.times:
        compare("word times", args.times, set(word_times(args.times)), names)
    if args.asr:
        compare("ASR output", args.asr, set(CtmIndex(args.asr)), names)
    if args.audio:
        compare("recordings", args.audio, {file_name(path) for path in recordings(Path(args.audio))}, names)


if __name__ == "__main__":
    run_script(main, __doc__, Path(sys.argv[0]).name)
