#!/usr/bin/env python3
"""Sentences of posts and of other files, one a line, to the texts of all sets: OUT-DIR/{train,dev,test}_*.txt.

    *_single   single sentences
    *_multi    the same sentences in texts of 2 to 5: those of a post that has several, one after another, as they
               follow there; all others at random, with others of their kind

Files are read in runs of RUN lines, and each run is in one set: neighbours, which may be translations of the same
sentence, do not meet in training and test. A sentence that is there twice, whatever its marks, counts once: in test,
else in dev.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.text.characters import CharacterReader, Split
from punc.text.file_parts import decode

RUN = 50  # lines
SENTENCES = (2, 3, 4, 5)  # of a text
ENDS = {"P", "Q", "E"}
BREAK = "__BR__"
OPENING, CLOSING = "「『（(【《〈“", "」』）)】》〉”"


class Sentence(NamedTuple):
    """A sentence as it is written, and its tokens without marks, by which it is known."""

    text: str
    key: str


class Line(NamedTuple):
    """The sentences of a line, and whether it is a post."""

    sentences: list[Sentence]
    post: bool


class SentenceReader:
    """Cuts lines into sentences.

    A sentence ends after a 。, ？ or ！ outside of brackets, and behind brackets that close after one where a line ends
    or another bracket opens. What is left at a line's end without such a mark is dropped.

    line_breaks  what BREAK is in a post: "stop" ends a sentence, as the post's end does, where no mark stands before
                 it: 。 is written there; "drop": nothing
    """

    def __init__(self, labels: LabelSet, line_breaks: str):
        self.reader, self.stop = CharacterReader(labels), line_breaks == "stop"
        self.counts = Counter()

    def line(self, line: str, post: bool) -> Line:
        """The sentences of a line."""
        if post and self.stop:
            parts = [self._stopped(self.reader.split(part)) for part in line.split(BREAK)]
            found = [sentence for part in joined(parts) for sentence in self._sentences(part)]
        else:
            found = list(self._sentences(self.reader.split(line.replace(BREAK, " ") if post else line)))
        return Line(found, post)

    def _stopped(self, split: Split) -> Split:
        """The split with 。 at its end where no mark is."""
        if split.tokens and split.labels[-1] == "N" and not ended(split):
            split.labels[-1] = "P"
            self.counts["lines of posts that were given a full stop"] += 1
        return split

    def _sentences(self, split: Split) -> Iterator[Sentence]:
        begin, depth, marked = 0, 0, False  # marked: with a mark, and nothing behind it but brackets that close
        for i, (token, label) in enumerate(zip(split.tokens, split.labels)):
            depth = max(0, depth + (token in OPENING) - (token in CLOSING))
            marked = label in ENDS or (marked and token in CLOSING)
            after = split.tokens[i + 1] if i + 1 < len(split.tokens) else OPENING[0]
            quoted = label not in ENDS and after not in OPENING  # 「はい。」と言った。 goes on
            if marked and not depth and after not in CLOSING and not quoted:
                yield self._sentence(split, begin, i + 1)
                begin, marked = i + 1, False
        if depth and marked:  # a bracket that nothing closes
            yield self._sentence(split, begin, len(split.tokens))
        elif begin < len(split.tokens):
            self.counts["ends of lines without a mark, dropped"] += 1

    def _sentence(self, split: Split, begin: int, end: int) -> Sentence:
        tokens = split.tokens[begin:end]
        part = Split(tokens, [], ["", *split.rests[begin + 1:end], ""], [])
        return Sentence(self.reader.write(part, split.labels[begin:end]), "".join(tokens))


def ended(split: Split) -> bool:
    """Whether a mark ends the tokens, or only closing brackets are behind it."""
    for token, label in zip(reversed(split.tokens), reversed(split.labels)):
        if label in ENDS:
            return True
        if token not in CLOSING:
            return False
    return False


def joined(parts: Iterable[Split]) -> Iterator[Split]:
    """Lines of a post, one behind the other where a comma is between."""
    before = Split([], [], [""], [])
    for part in parts:
        before = Split(before.tokens + part.tokens, before.labels + part.labels,
                       before.rests + part.rests[1:], [])
        if before.labels and before.labels[-1] != "C":
            yield before
            before = Split([], [], [""], [])
    if before.tokens:
        yield before


def read(path: str, reader: SentenceReader, post: bool) -> list[list[Line]]:
    """The runs of a file's lines. Raises InputError for a file that has no line."""
    repairs = Counter()
    with open_input(path) as file:
        lines = decode(file.read(), repairs).split("\n")
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise InputError("not one line", "name a file of posts or sentences, one a line", path)
    reader.counts.update(repairs)
    read_lines = [reader.line(line, post) for line in lines]
    kind = "posts" if post else "other lines"
    reader.counts[kind] += len(lines)
    reader.counts[f"{kind} that have a sentence"] += sum(bool(line.sentences) for line in read_lines)
    return [read_lines[i:i + RUN] for i in range(0, len(read_lines), RUN)]


def divide(runs: list[list[Line]], sizes: dict[str, int], rng: random.Random) -> dict[str, list[Line]]:
    """Runs at random to sets of so many sentences or a few more, the rest to train; no sentence twice."""
    rng.shuffle(runs)
    seen, sets, left = set(), {}, iter(runs)
    for name, size in [*sizes.items(), ("train", sys.maxsize)]:
        sets[name], count = [], 0
        while count < size and (run := next(left, None)) is not None:
            for line in run:
                new = []
                for sentence in line.sentences:
                    if sentence.key not in seen:
                        seen.add(sentence.key)
                        new.append(sentence)
                count += len(new)
                if new:
                    sets[name].append(Line(new, line.post))
    return sets


def together(lines: Sequence[Line], rng: random.Random) -> list[list[Sentence]]:
    """The sentences of lines as texts of several; one that would be left alone is left out."""
    texts, alone = [], {True: [], False: []}
    for line in lines:
        rest = line.sentences
        while line.post and len(rest) > 1:
            size = min(rng.choice(SENTENCES), len(rest))
            texts.append(rest[:size])
            rest = rest[size:]
        alone[line.post] += rest
    for pool in alone.values():
        rng.shuffle(pool)
        while len(pool) > 1:
            size = rng.choice(SENTENCES)
            texts.append(pool[:size])
            del pool[:size]
    return texts


def write(path: Path, texts: Iterable[Sequence[Sentence]], rng: random.Random) -> None:
    """Texts in any order, one a line."""
    lines = ["".join(sentence.text for sentence in text) for text in texts]
    rng.shuffle(lines)
    with atomic_file(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def options() -> OptionParser:
    parser = OptionParser("local/make_texts.py [options] OUT-DIR [SENTENCES …]", __doc__.partition("\n")[0],
                          "local/make_texts.py --labels conf/labels.txt --posts posts.txt data/raw")
    parser.add_argument("--labels", required=True, metavar="FILE", help="the label set")
    parser.add_argument("--posts", default="", metavar="FILE", help="posts, one a line")
    parser.add_argument("--line-breaks", choices=("stop", "drop"), default="stop",
                        help=f"what {BREAK} is in a post: the end of a sentence, or nothing")
    parser.add_argument("--test", type=int, default=10000, metavar="N", help="sentences of test")
    parser.add_argument("--dev", type=int, default=5000, metavar="N", help="sentences of dev")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is put where")
    parser.add_argument("out", metavar="OUT-DIR")
    parser.add_argument("sentences", nargs="*", metavar="SENTENCES", help="files of sentences, one a line")
    return parser


def main(arguments: Sequence[str]) -> None:
    args, out = options().parse(arguments), None
    reader, rng = SentenceReader(LabelSet.read(args.labels), args.line_breaks), random.Random(args.seed)
    files = [(path, False) for path in args.sentences] + [(args.posts, True)] * bool(args.posts)
    if not files:
        raise InputError("no file to read", "name posts: --posts FILE")
    runs = [run for path, post in files for run in read(path, reader, post)]
    sets = divide(runs, {"test": args.test, "dev": args.dev}, rng)
    if not all(sets.values()):
        raise InputError("too few sentences for three sets", "give more, or smaller --test and --dev")
    out = Path(args.out)
    for name, lines in sets.items():
        single = [[sentence] for line in lines for sentence in line.sentences]
        multi = together(lines, rng)
        write(out / f"{name}_single.txt", single, rng)
        write(out / f"{name}_multi.txt", multi, rng)
        print(f"{name}: {len(single)} sentences, {len(multi)} texts of several")
    for what, count in reader.counts.items():
        print(f"{count} {what}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
