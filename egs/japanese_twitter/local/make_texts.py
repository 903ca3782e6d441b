#!/usr/bin/env python3
"""Makes the texts of all sets, OUT-DIR/*.txt, from books, posts, and files with one or more sentences per line.

    *_single   texts of one sentence
    *_multi    the same sentences, 2 to 5 in each text: those of a book or post in order, others in random order

train_* and dev_* mix books, posts and sentences of the other files. test_books_*, test_posts_* and test_sentences_*
keep them apart.

Books are held out as whole works: no work is in two sets. Works are sorted by a hash of their names; the first ones
are test, the next ones dev. Only the first HELD_OUT sentences of a held-out work are used; its other sentences are in
no set. The other files are cut into runs of RUN lines, and each run goes to a random set as a whole, because
neighbouring lines may be translations of the same sentence. Test is filled first, then dev, then train. Of sentences
that differ only in their marks, only the first that is found is used.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path

from split_sentences import BREAK, Line, Sentence, SentenceReader

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.base.options import OptionParser
from punc.bin.script import run_script
from punc.data.labels import LabelSet
from punc.text.file_parts import decode

RUN = 50  # this many neighbouring lines of a file go to the same set
HELD_OUT = 500  # maximum number of sentences from a held-out book
SENTENCES = (2, 3, 4, 5)  # possible numbers of sentences in a text
DOCUMENT = "#doc "


def read(path: str, reader: SentenceReader, post: bool) -> list[list[Line]]:
    """Return the lines of a file in runs of RUN lines. Raises InputError if the file has no lines."""
    lines = lines_of(path, reader)
    read_lines = [reader.line(line, post) for line in lines]
    kind = "posts" if post else "other lines"
    reader.counts[kind] += len(lines)
    reader.counts[f"{kind} that have a sentence"] += sum(bool(line.sentences) for line in read_lines)
    return [read_lines[i:i + RUN] for i in range(0, len(read_lines), RUN)]


def read_books(path: str, reader: SentenceReader) -> list[list[Line]]:
    """Return each work of a file as a run. Raises InputError for text before the first #doc line."""
    return [[Line(work, True)] for work in read_works(path, reader).values()]


def read_works(path: str, reader: SentenceReader) -> dict[str, list[Sentence]]:
    """Return the works of a file by name, sorted by a hash of the name. Raises InputError for text before the first
    #doc line."""
    works: dict[str, list[Sentence]] = {}
    name = ""
    for line in lines_of(path, reader):
        if line.startswith(DOCUMENT):
            name = line.removeprefix(DOCUMENT)
        elif not name:
            raise InputError("no #doc line before the first text", "write `#doc NAME` before each book", path, 1)
        else:
            works.setdefault(name, []).extend(reader.line(line, False).sentences)
    reader.counts["books"] += len(works)
    return {name: works[name] for name in sorted(works, key=lambda name: blake2b(name.encode()).digest())}


def lines_of(path: str, reader: SentenceReader) -> list[str]:
    """Return the non-empty lines of a file. Raises InputError if there are none."""
    repairs = Counter()
    with open_input(path) as file:
        lines = decode(file.read(), repairs).split("\n")
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise InputError("the file has no lines", "give a file of books, posts or sentences", path)
    reader.counts.update(repairs)
    return lines


def divide(kinds: dict[str, list[list[Line]]], sizes: dict[str, int],
           works: int = 0) -> dict[str, dict[str, list[Line]]]:
    """Divide the runs of each kind into sets. Return the lines of each set and kind.

    `sizes` maps each set except train to a number of sentences. In the order of `sizes`, each set takes runs of every
    kind until it has at least this number of sentences of the kind. All other runs go to train; if `works` is not 0,
    train gets only the next `works` books. Each sentence is used only once.
    """
    seen: set[str] = set()
    left = {kind: iter(runs) for kind, runs in kinds.items()}
    sets: dict[str, dict[str, list[Line]]] = {}
    for name, size in [*sizes.items(), ("train", sys.maxsize)]:
        most = sys.maxsize if name == "train" else HELD_OUT
        if name == "train" and works and "books" in left:
            left["books"] = islice(left["books"], works)
        sets[name] = {kind: take(runs, size, most, seen) for kind, runs in left.items()}
    return sets


def take(runs: Iterator[list[Line]], size: int, most: int, seen: set[str]) -> list[Line]:
    """Take runs until they have at least `size` sentences whose keys are not in `seen`. Return the lines with only
    these sentences, at most `most` per line or book, and add their keys to `seen`."""
    lines, count = [], 0
    while count < size and (run := next(runs, None)) is not None:
        for line in run:
            new = []
            for sentence in line.sentences:
                if sentence.key not in seen and len(new) < most:
                    seen.add(sentence.key)
                    new.append(sentence)
            count += len(new)
            if new:
                lines.append(Line(new, line.together))
    return lines


def together(lines: Sequence[Line], rng: random.Random) -> list[list[Sentence]]:
    """Join the sentences of lines into texts of several sentences.

    Lines whose sentences belong together are cut into texts. The sentences of other lines are joined in random order.
    When lines are cut, single sentences may remain; these are joined with one another in random order. A sentence left
    over at the end is in no text.
    """
    texts, alone = [], {True: [], False: []}
    for line in lines:
        rest = line.sentences
        while line.together and len(rest) > 1:
            size = min(rng.choice(SENTENCES), len(rest))
            texts.append(rest[:size])
            rest = rest[size:]
        alone[line.together] += rest
    for pool in alone.values():
        rng.shuffle(pool)
        while len(pool) > 1:
            size = rng.choice(SENTENCES)
            texts.append(pool[:size])
            del pool[:size]
    return texts


def write(path: Path, texts: Iterable[Sequence[Sentence]], rng: random.Random) -> None:
    lines = ["".join(sentence.text for sentence in text) for text in texts]
    rng.shuffle(lines)
    with atomic_file(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def options() -> OptionParser:
    parser = OptionParser("local/make_texts.py [options] OUT-DIR [SENTENCES …]", __doc__.partition("\n")[0],
                          "local/make_texts.py --labels conf/labels.txt --posts posts.txt data/raw")
    parser.add_argument("--labels", required=True, metavar="FILE", help="the label set")
    parser.add_argument("--posts", default="", metavar="FILE", help="posts, one a line")
    parser.add_argument("--books", default="", metavar="FILE", help="books, a paragraph a line, #doc NAME before each")
    parser.add_argument("--line-breaks", choices=("stop", "drop"), default="stop",
                        help=f"whether {BREAK} in a post ends a sentence or is dropped")
    parser.add_argument("--test", type=int, default=10000, metavar="N", help="sentences of each kind in test")
    parser.add_argument("--dev", type=int, default=3000, metavar="N", help="sentences of each kind in dev")
    parser.add_argument("--works", type=int, default=0, metavar="N", help="maximum number of books in train; 0: all")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random split and order")
    parser.add_argument("out", metavar="OUT-DIR")
    parser.add_argument("sentences", nargs="*", metavar="SENTENCES", help="files of sentences, one or more a line")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    reader, rng = SentenceReader(LabelSet.read(args.labels), args.line_breaks), random.Random(args.seed)
    kinds = {"sentences": [run for path in args.sentences for run in read(path, reader, False)],
             "posts": read(args.posts, reader, True) if args.posts else []}
    for runs in kinds.values():
        rng.shuffle(runs)
    kinds["books"] = read_books(args.books, reader) if args.books else []
    kinds = {kind: runs for kind, runs in kinds.items() if runs}
    if not kinds:
        raise InputError("no input file", "give posts: --posts FILE")
    sets = divide(kinds, {"test": args.test, "dev": args.dev}, args.works)
    if not all(lines for found in sets.values() for lines in found.values()):
        raise InputError("too few sentences for three sets", "give more sentences, or smaller --test and --dev")
    out = Path(args.out)
    for name, found in sets.items():
        parts = {f"test_{kind}": [kind] for kind in found} if name == "test" else {name: list(found)}
        for part, of in parts.items():
            single = [[sentence] for kind in of for line in found[kind] for sentence in line.sentences]
            multi = list(chain.from_iterable(together(found[kind], rng) for kind in of))
            write(out / f"{part}_single.txt", single, rng)
            write(out / f"{part}_multi.txt", multi, rng)
            print(f"{part}: {len(single)} sentences, {len(multi)} texts of several")
    for what, count in reader.counts.items():
        print(f"{count} {what}")


if __name__ == "__main__":
    run_script(main, __doc__)
