#!/usr/bin/env python3
"""usage: check_texts.py [--times CTM-OR-DIR] [--asr CTM-OR-DIR] [--split DIR] TEXT-DIR

Checks the data of a recipe: at least MIN_TEXTS files *.txt in TEXT-DIR, and word times and ASR output of these texts.
Their ids are the names of the files without .txt. Prints how many texts have them, and names ids that belong to no
text. utils/new_recipe.sh and stage 0 of its recipes call it.

With --split, DIR gets a file for each set, with the path of one text a line, unless DIR has some. In the order of the
names, of every ten texts the first goes to test_ref, the second to dev, and the others to train. Of train, every fifth
text goes to tree and the others to rest.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_dir, is_unfinished
from punc.base.options import OptionParser
from punc.bin.script import run_script
from punc.text.cutter import file_name, sorted_streams
from punc.timing.ctm import CtmIndex
from punc.timing.pauses import word_times

MIN_TEXTS = 4  # one for test, one for development, and two for training: 4-gram+DT-p splits them in two
NAMED = 3


def texts(folder: Path) -> dict[str, Path]:
    """The texts by name, in C order. Raises InputError if there are too few."""
    if not folder.is_dir():
        raise InputError("no such directory", "name the one with the texts: --text DIR", folder)
    paths = list(folder.glob("*.txt"))
    if len(paths) < MIN_TEXTS:
        raise InputError(f"{len(paths)} files *.txt here", f"give at least {MIN_TEXTS} texts, one per file", folder)
    files = dict(zip(map(file_name, paths), paths))
    return {name: files[name] for name in sorted_streams(map(file_name, paths))}


def split(names: Sequence[str]) -> dict[str, list[str]]:
    """The names in each set, as the module's docstring says."""
    sets = defaultdict(list)
    for number, name in enumerate(names):
        sets[{0: "test_ref", 1: "dev"}.get(number % 10, "train")].append(name)
    for number, name in enumerate(sets["train"]):
        sets["rest" if number % 5 else "tree"].append(name)
    return sets


def write_split(folder: Path, files: dict[str, Path]) -> None:
    """Write the files of the sets, all or none."""
    with atomic_dir(folder, "train") as tmp:
        for name, members in split(list(files)).items():
            lines = "".join(f"{files[member].absolute()}\n" for member in members)
            (tmp / name).write_text(lines, encoding="utf-8")


def compare(what: str, path: str, ids: set[str], names: Sequence[str]) -> None:
    """Print how many texts are among the ids. Raises InputError if none is."""
    known, unknown = ids & set(names), ids - set(names)
    if not known:
        raise InputError(f"no text is called '{min(ids)}': they are {some(names)}",
                         "use the ids of the texts: the files' names without .txt", path)
    print(f"{what} of {len(known)} of {len(names)} texts", file=sys.stderr)
    if unknown:
        print(f"{path}: {len(unknown)} ids belong to no text, left out: {some(unknown)}", file=sys.stderr)


def some(names: Sequence[str] | set[str]) -> str:
    """The first names, for a message."""
    return ", ".join([*(f"'{name}'" for name in sorted(names)[:NAMED]), *["…"] * (len(names) > NAMED)])


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("check_texts.py [options] TEXT-DIR", "See the top of the script.", "check_texts.py talks")
    parser.add_argument("--times", default="", metavar="CTM-OR-DIR", help="word times: CTMs or TextGrids")
    parser.add_argument("--asr", default="", metavar="CTM-OR-DIR", help="ASR output: CTMs")
    parser.add_argument("folder", metavar="TEXT-DIR", help="where the texts are")
    parser.add_argument("--split", default="", metavar="DIR", help="write which text is in which set, if DIR is new")
    args = parser.parse(arguments)
    files = texts(Path(args.folder))
    names = list(files)
    print(f"{args.folder}: {len(names)} texts", file=sys.stderr)
    if args.times:
        compare("word times", args.times, set(word_times(args.times)), names)
    if args.asr:
        compare("ASR output", args.asr, set(CtmIndex(args.asr)), names)
    if args.split and is_unfinished(Path(args.split)):
        write_split(Path(args.split), files)


if __name__ == "__main__":
    run_script(main, __doc__, Path(sys.argv[0]).name)
