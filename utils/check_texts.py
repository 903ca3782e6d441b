#!/usr/bin/env python3
"""usage: check_texts.py [--times CTM-OR-DIR] [--asr CTM-OR-DIR] [--split DIR] TEXT-DIR

Checks the data of a recipe that utils/new_recipe.sh made: at least MIN_TEXTS files *.txt in TEXT-DIR, and word times
and a recogniser's words of these texts, which have their ids: the files' names without the ending. Says how many texts
have them, and names what belongs to none. Called by new_recipe.sh, and by stage 0 of the recipe.

With --split, DIR gets the texts of each set, a file a line, unless it is there: in the order of the names, of every ten
test_ref has the first, dev the second, and train the others; of these, tree has every fifth and rest the rest.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.options import OptionParser
from punc.text.cutter import file_name, sorted_streams
from punc.timing.ctm import CtmIndex
from punc.timing.pauses import word_times

MIN_TEXTS = 4  # one for development, one for test, and two to learn from: 4-gram+DT-p cuts them in two
NAMED = 3


def texts(folder: Path) -> dict[str, Path]:
    """The texts by name, in C order. Raises InputError where there are too few."""
    if not folder.is_dir():
        raise InputError("no such directory", "name the one that has the texts: --text DIR", folder)
    paths = list(folder.glob("*.txt"))
    if len(paths) < MIN_TEXTS:
        raise InputError(f"{len(paths)} files *.txt here", f"give {MIN_TEXTS} texts at least, one a file", folder)
    files = dict(zip(map(file_name, paths), paths))
    return {name: files[name] for name in sorted_streams(map(file_name, paths))}


def split(names: Sequence[str]) -> dict[str, list[str]]:
    """The names in each set; as the module says."""
    sets = defaultdict(list)
    for number, name in enumerate(names):
        sets[{0: "test_ref", 1: "dev"}.get(number % 10, "train")].append(name)
    for number, name in enumerate(sets["train"]):
        sets["rest" if number % 5 else "tree"].append(name)
    return sets


def write_split(folder: Path, files: dict[str, Path]) -> None:
    """Write the files of each set, whole or not at all."""
    with atomic_dir(folder) as beside:
        for name, members in split(list(files)).items():
            lines = "".join(f"{files[member].absolute()}\n" for member in members)
            (beside / name).write_text(lines, encoding="utf-8")


def compare(what: str, path: str, ids: set[str], names: Sequence[str]) -> None:
    """Print how many texts have an id. Raises InputError where none has."""
    known, strange = ids & set(names), ids - set(names)
    if not known:
        raise InputError(f"no text is called '{min(ids)}': they are {some(names)}",
                         "give words the ids of the texts: the files' names without .txt", path)
    print(f"{what} of {len(known)} of {len(names)} texts", file=sys.stderr)
    if strange:
        print(f"{path}: {len(strange)} ids are no text's, left out: {some(strange)}", file=sys.stderr)


def some(names: Sequence[str] | set[str]) -> str:
    """The first names, for a message."""
    return ", ".join([*(f"'{name}'" for name in sorted(names)[:NAMED]), *["…"] * (len(names) > NAMED)])


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("check_texts.py [options] TEXT-DIR", "See the top of the script.", "check_texts.py talks")
    parser.add_argument("--times", default="", metavar="CTM-OR-DIR", help="word times: CTMs or TextGrids")
    parser.add_argument("--asr", default="", metavar="CTM-OR-DIR", help="a recogniser's words: CTMs")
    parser.add_argument("folder", metavar="TEXT-DIR", help="where the texts are")
    parser.add_argument("--split", default="", metavar="DIR", help="write which texts are in which set, if it is new")
    args = parser.parse(arguments)
    files = texts(Path(args.folder))
    names = list(files)
    print(f"{args.folder}: {len(names)} texts", file=sys.stderr)
    if args.times:
        compare("word times", args.times, set(word_times(args.times)), names)
    if args.asr:
        compare("a recogniser's words", args.asr, set(CtmIndex(args.asr)), names)
    if args.split and not Path(args.split).exists():
        write_split(Path(args.split), files)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as mistake:
        sys.exit(f"{Path(sys.argv[0]).name}: {mistake}")
