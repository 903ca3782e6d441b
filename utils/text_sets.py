"""Decides which text is in which set. Texts stay whole, and each set gets a share of the words. If possible, no speaker
is in two of train, dev and test_ref; but tree and rest, which divide train, may share speakers.

Distribution. Each set except the last gets about its share of the words (SHARES, TREE_SHARES); the last set gets all
other texts. Texts are taken in the order of their names, and each set gets texts from all parts of this order. A text
goes to the set that has the fewest words relative to its share; of several such sets, to the first one. A set is
skipped if more than half of the text would exceed the set's share. But a set always takes its first text, and takes up
to LEAST texts if it stays within twice its share.

Large texts. A set with only one large text is not representative, so a text with more words than a limit goes to the
last set. At first, the limit is the largest share, in words, of any set except the last, divided by STREAMS. It is
doubled until at least MIN_TEXTS texts are within it, and either these texts have at least twice as many words as all
sets except the last should get, or the limit is at least twice that largest share.

Speakers. Texts that share a speaker, directly or through other texts, form a group, which counts as one text. A speaker
who is in most texts, such as the host of a programme, would link all of them. So if there are fewer than MIN_TEXTS
groups, or if one group has more than three quarters of the words, speakers who are in more than half of the texts are
ignored; if that is not enough, speakers who are in more than a quarter, and so on.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.parallel import map_ordered
from punc.data.tables import fields, read_table
from punc.text.file_parts import FilePart, file_parts
from punc.text.passages import file_name

MIN_TEXTS = 4  # one text each for test and dev, and two for training, because 4-gram+DT-p splits train
LEAST = 2  # minimum number of texts in a set, if they are not too large
STREAMS = 10  # minimum number of texts in a share, if possible; intervals resample recordings only if there are ten
SHARES = {"test_ref": Fraction(1, 10), "dev": Fraction(1, 10), "train": Fraction(8, 10)}
TREE_SHARES = {"tree": Fraction(1, 5), "rest": Fraction(4, 5)}  # shares of train


class Split(NamedTuple):
    """The names of the texts in each set, and the speakers who were ignored because they link too many texts."""

    sets: dict[str, list[str]]
    ignored: set[str]


def split_texts(sizes: Mapping[str, int], speakers: Mapping[str, Collection[str]]) -> Split:
    """Distribute texts to test_ref, dev and train, and the texts of train to tree and rest, by this module's rules.

    sizes      name → number of words, in the order of the names; or name → 1, to count texts instead of words
    speakers   name → known speakers
    """
    groups, ignored = _groups(sizes, speakers)
    sets: dict[str, list[str]] = {name: [] for name in SHARES}
    for group, name in zip(groups, share_out([_size(group, sizes) for group in groups], SHARES)):
        sets[name] += group
    order = {name: number for number, name in enumerate(sizes)}
    sets = {name: sorted(members, key=order.__getitem__) for name, members in sets.items()}
    return Split(sets | split_training(sets["train"], sizes), ignored)


def split_training(names: Sequence[str], sizes: Mapping[str, int]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in TREE_SHARES}
    for text, name in zip(names, share_out([sizes[name] for name in names], TREE_SHARES)):
        found[name].append(text)
    return found


def share_out(sizes: Sequence[int], shares: Mapping[str, Fraction]) -> list[str]:
    """Return the set of each text. `sizes`: number of words in each text. `shares`: fraction of the words for each set;
    the fractions add up to 1."""
    *small, last = shares
    targets = {name: shares[name] * sum(sizes) for name in small}
    limit = _limit(sizes, list(targets.values()))
    targets[last] = sum(size for size in sizes if size <= limit) - sum(targets.values(), Fraction())
    words, texts, filled = Counter[str](), Counter[str](), {name: Fraction() for name in shares}
    found = []
    for size in sizes:
        name = last
        if size <= limit:
            name = next(name for name in sorted(shares, key=filled.__getitem__)  # ties: in the order of `shares`
                        if name == last or _fits(size, words[name], texts[name], targets[name]))
            words[name] += size
            texts[name] += 1
            filled[name] = words[name] / targets[name] if targets[name] > 0 else Fraction(words[name])
        found.append(name)
    return found


def _fits(size: int, words: int, texts: int, target: Fraction) -> bool:
    return not texts or words + Fraction(size, 2) <= target or (texts < LEAST and words + size <= 2 * target)


def _limit(sizes: Sequence[int], targets: Sequence[Fraction]) -> Fraction:
    """Return the number of words above which a text goes to the last set. `targets`: number of words for each set
    except the last."""
    wanted, largest = 2 * sum(targets, Fraction()), max(sizes, default=0)
    limit, most = max(max(targets) / STREAMS, Fraction(1, 2)), 2 * max(targets)
    while limit < largest:
        small = [size for size in sizes if size <= limit]
        if len(small) >= MIN_TEXTS and (sum(small) >= wanted or limit >= most):
            break
        limit = min(2 * limit, most) if limit < most else 2 * limit
    return limit


def _groups(sizes: Mapping[str, int], speakers: Mapping[str, Collection[str]]) -> tuple[list[list[str]], set[str]]:
    """Return the texts in groups by speaker, in the order of each group's first text, and the ignored speakers."""
    counts = Counter(speaker for name in sizes for speaker in speakers.get(name, ()))
    total, limit = sum(sizes.values()), len(sizes)
    while True:
        ignored = {speaker for speaker, number in counts.items() if number > limit}
        groups = _linked(sizes, {name: {*speakers.get(name, ())} - ignored for name in sizes})
        largest = max((_size(group, sizes) for group in groups), default=0)
        if limit <= 1 or (len(groups) >= MIN_TEXTS and 4 * largest <= 3 * total):
            return groups, ignored
        limit //= 2


def _linked(names: Collection[str], speakers: Mapping[str, Collection[str]]) -> list[list[str]]:
    of_speaker = defaultdict(list)
    for name in names:
        for speaker in speakers[name]:
            of_speaker[speaker].append(name)
    groups, seen = [], set[str]()
    for first in names:
        if first in seen:
            continue
        seen.add(first)
        group = [first]
        for name in group:  # the group grows in the loop
            for speaker in speakers[name]:
                new = [other for other in of_speaker.pop(speaker, ()) if other not in seen]
                seen.update(new)
                group += new
        groups.append(group)
    return groups


def _size(group: Sequence[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes[name] for name in group)


PIECE = re.compile(r"_\d{3,}$")  # the end of a piece's name


class Survey(NamedTuple):
    """The number of words in each text, and the speakers that the text's lines name. The keys are the texts' names."""

    words: dict[str, int]
    speakers: dict[str, set[str]]


def survey(paths: Iterable[str | os.PathLike[str]], speaker_prefix: str, nj: int) -> Survey:
    """Read texts in `nj` processes. Lines that begin with `speaker_prefix`, unless it is empty, name a speaker."""
    paths = list(paths)
    found = Survey({file_name(path): 0 for path in paths}, {file_name(path): set() for path in paths})
    for path, words, speakers in map_ordered(partial(_part, prefix=speaker_prefix), file_parts(paths, b"\n"), nj):
        found.words[file_name(path)] += words
        found.speakers[file_name(path)] |= speakers
    return found


def _part(part: FilePart, prefix: str) -> tuple[str, int, set[str]]:
    """Return the path of a part's file, the number of words in the part, and the speakers that its lines name."""
    words, speakers, start = 0, set(), prefix.encode()
    for line in part.data.splitlines():
        if prefix and line.startswith(start):
            speakers.add(line[len(start):].decode(errors="replace").strip())
        elif not line.startswith(b"#"):
            words += len(line.split())
    return part.path, words, speakers - {""}


def read_speakers(path: str | os.PathLike[str], names: Iterable[str]) -> dict[str, set[str]]:
    """Read the speakers of texts from lines `TEXT SPEAKER …` or, as in Kaldi's utt2spk, `UTTERANCE SPEAKER`.

    An utterance belongs to a text if its id is the text's name, then `-` or `_`, then anything; of several such texts,
    to the one with the longest name. A piece of a text (`cut_text`) has the speakers of the complete text. Raises
    InputError for a line without a speaker, and if no line belongs to a text.
    """
    whole = {name: PIECE.sub("", name) for name in names}
    found: dict[str, set[str]] = {name: set() for name in [*whole, *whole.values()]}
    for row in read_table(path, sort=False):
        speakers = fields(row.value)
        if not speakers:
            raise InputError(f"'{row.key}' has no speaker", "write: TEXT SPEAKER", path, row.line)
        key = row.key
        while key and key not in found:
            key = key[:max(key.rfind("-"), key.rfind("_"), 0)]
        if key:
            found[key].update(speakers)
    if found and not any(found.values()):
        raise InputError("no line names a text", f"write: TEXT SPEAKER, as '{next(iter(found))} anna'", path)
    return {name: found[name] | found[of] for name, of in whole.items()}


def cut_text(path: str | os.PathLike[str], folder: Path, words: int) -> list[Path]:
    """Cut a text into files NAME_001.txt, … of at least `words` words (the last may be shorter). Return their paths.

    Once a piece has `words` words, it ends before the next line that is empty or begins with `#`; once it has twice as
    many, it ends with the current line.
    """
    pieces: list[list[bytes]] = [[]]
    found: list[Path] = []
    count = 0

    def write() -> None:
        found.append(folder / f"{file_name(path)}_{len(found) + 1:03d}.txt")
        found[-1].write_bytes(b"".join(pieces.pop()))

    with open_input(path) as file:
        for line in file:
            border = not line.strip() or line.startswith(b"#")
            if count >= words and (border or count >= 2 * words):
                write()
                pieces, count = [[]], 0
            pieces[-1].append(line)
            count += 0 if line.startswith(b"#") else len(line.split())
    if count or not found:
        write()
    return found
