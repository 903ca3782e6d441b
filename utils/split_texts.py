#!/usr/bin/env python3
"""usage: split_texts.py [options] TEXT-DIR SPLIT-DIR

Splits the files *.txt in TEXT-DIR into sets. For each set, SPLIT-DIR gets a list of its texts, with one path per line.
test_ref and dev each get about a tenth of the words, and train gets all others. train is split again: tree gets about a
fifth of train's words, and rest gets the others. text_sets.py describes the rules. Existing lists in SPLIT-DIR are
kept, so you can edit them, or write train, dev and test_ref yourself; tree and rest are made if either is missing.

Prints how many texts, words and speakers each set has, how many sentences of test_ref and dev are also in train, and
the most frequent of these sentences. SPLIT-DIR/counts contains the same report. Stage 0 of recipes made by
utils/new_recipe.sh calls this script.
"""

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from check_texts import some, texts
from repeated_sentences import digests, overlap, remove_sentences
from text_sets import (
    MIN_TEXTS,
    SHARES,
    TREE_SHARES,
    Survey,
    cut_text,
    read_speakers,
    split_texts,
    split_training,
    survey,
)

from punc.base.errors import InputError
from punc.base.files import atomic_dir, atomic_file, decode_line, is_unfinished, open_input
from punc.base.options import OptionParser
from punc.bin.script import run_script
from punc.text.passages import file_name, sorted_streams

PIECES = 40  # about this many pieces are made if there are too few texts
CUT = "text"  # directory of the pieces
LONG = 5  # words; a sentence of at least this length is rarely in two texts by chance
WIDTH = 70  # maximum number of characters of a sentence to show
HELD_OUT = [name for name in SHARES if name != "train"]
Sets = Mapping[str, Sequence[Path]]


def options() -> OptionParser:
    parser = OptionParser("split_texts.py [options] TEXT-DIR SPLIT-DIR", "See the top of the script.",
                          "split_texts.py talks data/split")
    parser.add_argument("--by", choices=("words", "texts"), default="words",
                        help="words: sets get shares of the words; texts: of every ten, one is test and the next dev")
    parser.add_argument("--speakers", default="", metavar="FILE",
                        help="who speaks: lines TEXT SPEAKER …, or Kaldi's utt2spk; nobody is in two sets")
    parser.add_argument("--speaker-prefix", default="#speaker", metavar="STRING",
                        help="a line of a text that begins with STRING names a speaker")
    parser.add_argument("--cut-below", type=int, default=MIN_TEXTS, metavar="N",
                        help=f"fewer than N texts are cut at paragraphs, into about {PIECES} pieces")
    parser.add_argument("--leave-out", type=int, default=0, metavar="N",
                        help="leave sentences of N words or more out of training if another set has them; 0: none")
    parser.add_argument("--nj", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("folder", metavar="TEXT-DIR", help="where the texts are")
    parser.add_argument("split", metavar="SPLIT-DIR", help="where to write the lists")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    split = Path(args.split)
    if is_unfinished(split):
        make(args, split)
    sets = read_sets(split)
    lists = [split / name for name in sets]
    if not is_newer(split / "counts", lists):
        found = survey((path for name in SHARES for path in sets[name]), args.speaker_prefix, args.nj)
        if args.speakers:
            add_speakers(found, args.speakers)
        with atomic_file(split / "counts") as file:
            file.writelines(f"{line}\n" for line in report(sets, found, args.nj))
    print((split / "counts").read_text(encoding="utf-8"), end="", file=sys.stderr)
    listed = {file_name(path) for name in SHARES for path in sets[name]}
    if not (split / CUT).exists() and (unused := texts(Path(args.folder), 1).keys() - listed):
        print(f"{len(unused)} texts are in no set: {some(unused)}", file=sys.stderr)


def make(args: Namespace, split: Path) -> None:
    """Write all lists or, after an error, none."""
    files = texts(Path(args.folder), 1)
    with atomic_dir(split, "train") as tmp:
        if len(files) < args.cut_below:
            files = cut(files, tmp, split, args.nj)
        found = survey(map(tmp_path(tmp, split), files.values()), args.speaker_prefix, args.nj)
        if args.speakers:
            add_speakers(found, args.speakers)
        sizes = {name: found.words[name] if args.by == "words" else 1 for name in files}
        sets, ignored = split_texts(sizes, found.speakers)
        if ignored:
            print(f"{len(ignored)} speakers link too many texts, and may be in several sets: {some(ignored)}",
                  file=sys.stderr)
        paths = {name: [files[member] for member in members] for name, members in sets.items()}
        if args.leave_out:
            paths = leave_out(args, paths, tmp, split)
        for name, members in paths.items():
            (tmp / name).write_text("".join(f"{path.absolute()}\n" for path in members), encoding="utf-8")


def tmp_path(tmp: Path, split: Path) -> Callable[[Path], Path]:
    """Return a function that maps the final path of a file in `split` to its temporary path in `tmp`. Other paths stay
    unchanged."""
    return lambda path: tmp / path.relative_to(split) if path.is_relative_to(split) else path


def cut(files: Mapping[str, Path], tmp: Path, split: Path, nj: int) -> dict[str, Path]:
    """Cut texts into pieces. Return the final paths of the pieces by name. Raises InputError if there are too few."""
    words = sum(survey(files.values(), "", nj).words.values())
    (tmp / CUT).mkdir()
    pieces = [piece for path in files.values() for piece in cut_text(path, tmp / CUT, -(-words // PIECES))]
    if len(pieces) < MIN_TEXTS:
        raise InputError(f"{len(files)} files *.txt, which can be cut into {len(pieces)} at their lines",
                         f"give at least {MIN_TEXTS} texts, or texts with a paragraph a line",
                         next(iter(files.values())).parent)
    print(f"too few texts ({len(files)}), so they are cut into {len(pieces)}, which share speakers and topics",
          file=sys.stderr)
    names = {file_name(piece): split / CUT / piece.name for piece in pieces}
    return {name: names[name] for name in sorted_streams(names)}


def leave_out(args: Namespace, sets: dict[str, list[Path]], tmp: Path, split: Path) -> dict[str, list[Path]]:
    """Return the sets. If a text of train has sentences of at least `args.leave_out` words that are also in test_ref or
    dev, it is replaced by a copy without these sentences."""
    place = tmp_path(tmp, split)
    known = digests((place(path) for name in HELD_OUT for path in sets[name]), args.nj)
    removed, new = Counter[str](), {}
    (tmp / "train_text").mkdir()
    for path in sets["train"]:
        copy = split / "train_text" / path.name
        if found := remove_sentences(place(path), place(copy), known, args.leave_out):
            new[path] = copy
            removed += found
        else:
            place(copy).unlink()
    print(f"left out of train: {removed['sentences']:,} sentences of {args.leave_out} words or more that are also in "
          f"test_ref or dev ({removed['words']:,} words)", file=sys.stderr)
    return {name: [new.get(path, path) for path in members] for name, members in sets.items()}


def add_speakers(found: Survey, table: str) -> None:
    for name, speakers in read_speakers(table, found.words).items():
        found.speakers[name] |= speakers


def read_sets(split: Path) -> dict[str, list[Path]]:
    """Return the texts of each set. Write tree and rest if either is missing. Raises InputError if a text is in two of
    test_ref, dev and train, or if tree and rest do not add up to train."""
    sets: dict[str, list[Path]] = {}
    seen: dict[str, str] = {}
    for name in SHARES:
        sets[name] = read_list(split / name)
        for line, path in enumerate(sets[name], 1):
            if other := seen.get(file_name(path)):
                raise InputError(f"'{file_name(path)}' is in {other}, too", "keep one line for each text", split / name,
                                 line)
            seen[file_name(path)] = name
    if not all((split / name).exists() for name in TREE_SHARES):
        trained = {file_name(path): path for path in sets["train"]}
        words = survey(trained.values(), "", 1).words
        for name, members in split_training(list(trained), words).items():
            with atomic_file(split / name) as file:
                file.writelines(f"{trained[member]}\n" for member in members)
    sets |= {name: read_list(split / name) for name in TREE_SHARES}
    if sorted(sets["tree"] + sets["rest"]) != sorted(sets["train"]):
        raise InputError("tree and rest do not add up to train", "remove both; they are made again",
                         split / "tree")
    return sets


def read_list(path: Path) -> list[Path]:
    """Return the paths that a list file names. Raises InputError if a line is not the path of a file, or if the list is
    empty."""
    found = []
    with open_input(path, f"write it, or remove {path.parent}; it is made again") as file:
        for number, raw in enumerate(file, 1):
            line = decode_line(raw, path, number)
            if not Path(line).is_file():
                raise InputError(f"no such file: '{line}'", "write the path of one text a line", path, number)
            found.append(Path(line))
    if not found:
        raise InputError("the list is empty", "give the set a text", path)
    return found


def is_newer(path: Path, others: Iterable[Path]) -> bool:
    return path.exists() and all(os.stat(path).st_mtime_ns >= os.stat(other).st_mtime_ns for other in others)


def report(sets: Sets, found: Survey, nj: int) -> list[str]:
    """Return the lines of the report: counts of each set, and the sentences that test_ref and dev share with train."""
    names = {name: [file_name(path) for path in members] for name, members in sets.items()}
    speakers = {name: {speaker for text in members for speaker in found.speakers[text]}
                for name, members in names.items()}
    total = sum(found.words.values())
    lines = [f"{'set':<10}{'texts':>8}{'words':>13}{'share':>8}" + f"{'speakers':>10}" * any(speakers.values())]
    for name, members in names.items():
        words = sum(found.words[text] for text in members)
        lines.append(f"{name:<10}{len(members):>8,}{words:>13,}{words / max(total, 1):>8.1%}"
                     + f"{len(speakers[name]):>10,}" * any(speakers.values()))
    for name in HELD_OUT:
        if both := speakers[name] & speakers["train"]:
            lines.append(f"{len(both):,} speakers of {name} speak in train, too: {some(both)}")
        shared = overlap(sets[name], sets["train"], LONG, nj)
        lines.append(f"{shared.repeated[0]:,} of {shared.sentences:,} sentences of {name} are also in train "
                     f"({shared.repeated[1]:,} of {shared.words:,} words), {shared.long[0]:,} of them of {LONG} words "
                     "or more" + (":" if shared.frequent else ""))
        lines += [f"{number:>8,} × {text if len(text) <= WIDTH else text[:WIDTH - 2] + ' …'}"
                  for text, number in shared.frequent]
    return lines


if __name__ == "__main__":
    run_script(main, __doc__, Path(sys.argv[0]).name)
