"""Which text is in which set: shares of words, whole texts, and a speaker's texts in one set.

Sharing out. A set takes a tenth of the words; the last set takes what is left. The texts are taken in the order of
their names, so that each set has texts from everywhere in that order. Each goes to the set that has the least words for
its share; of several, to the first. It passes a set by if more than half of it would be beyond the share. The first
text of a set is always taken, and the next ones up to LEAST if the set stays within twice its share.

Large texts. A set of one large text says little. So a text of more than a STREAMS-th of a share goes to the last set,
if the smaller ones hold at least twice the words of the shares; if not, one of more than twice as many words, and so
on.

Speakers. Texts that share a speaker, or are linked by others that do, are shared out as one text. A speaker who is in
most texts, as the host of a programme, would link all of them. So if there are fewer than MIN_TEXTS such groups, or one
has more than three quarters of the words, the speakers of more than half of the texts are left out, then those of more
than a quarter, and so on.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

MIN_TEXTS = 4  # one for test, one for development, and two for training: 4-gram+DT-p splits them in two
LEAST = 2  # texts in a set, if they are not too large
STREAMS = 10  # texts that a share can hold; from ten recordings on, intervals are of recordings
SHARES = {"test_ref": Fraction(1, 10), "dev": Fraction(1, 10), "train": Fraction(8, 10)}
TREE_SHARES = {"tree": Fraction(1, 5), "rest": Fraction(4, 5)}  # of train


class Split(NamedTuple):
    """The names of the texts in each set, and the speakers that were left out, because they link too many texts."""

    sets: dict[str, list[str]]
    ignored: set[str]


def split_texts(sizes: Mapping[str, int], speakers: Mapping[str, Collection[str]]) -> Split:
    """Share out texts as the module says: to test_ref, dev and train, and those of train again to tree and rest.

    sizes      the words of each text, by its name, in the order of the names; 1 for each shares out texts, not words
    speakers   the speakers of a text by its name, as far as they are known
    """
    groups, ignored = _groups(sizes, speakers)
    sets: dict[str, list[str]] = {name: [] for name in SHARES}
    for group, name in zip(groups, share_out([_size(group, sizes) for group in groups], SHARES)):
        sets[name] += group
    order = {name: number for number, name in enumerate(sizes)}
    sets = {name: sorted(members, key=order.__getitem__) for name, members in sets.items()}
    return Split(sets | split_training(sets["train"], sizes), ignored)


def split_training(names: Sequence[str], sizes: Mapping[str, int]) -> dict[str, list[str]]:
    """The sets tree and rest, of the texts of train."""
    found: dict[str, list[str]] = {name: [] for name in TREE_SHARES}
    for text, name in zip(names, share_out([sizes[name] for name in names], TREE_SHARES)):
        found[name].append(text)
    return found


def share_out(sizes: Sequence[int], shares: Mapping[str, Fraction]) -> list[str]:
    """The set of each text, given its words; the shares of all sets add up to 1."""
    *small, last = shares
    targets = {name: shares[name] * sum(sizes) for name in small}
    limit = _limit(sizes, list(targets.values()))
    targets[last] = sum(size for size in sizes if size <= limit) - sum(targets.values(), Fraction())
    words, texts, filled = Counter[str](), Counter[str](), {name: Fraction() for name in shares}
    found = []
    for size in sizes:
        name = last
        if size <= limit:
            name = next(name for name in sorted(shares, key=filled.__getitem__)  # sorted keeps the order of the sets
                        if name == last or _fits(size, words[name], texts[name], targets[name]))
            words[name] += size
            texts[name] += 1
            filled[name] = words[name] / targets[name] if targets[name] > 0 else Fraction(words[name])
        found.append(name)
    return found


def _fits(size: int, words: int, texts: int, target: Fraction) -> bool:
    """Whether a text goes into a set that has so many words and texts."""
    return not texts or words + Fraction(size, 2) <= target or (texts < LEAST and words + size <= 2 * target)


def _limit(sizes: Sequence[int], targets: Sequence[Fraction]) -> Fraction:
    """The words of the largest text that is not in the last set, given the words of the other sets."""
    wanted, largest = 2 * sum(targets, Fraction()), max(sizes, default=0)
    limit, most = max(max(targets) / STREAMS, Fraction(1, 2)), 2 * max(targets)  # twice a share is never taken
    while limit < largest:
        small = [size for size in sizes if size <= limit]
        if len(small) >= MIN_TEXTS and (sum(small) >= wanted or limit >= most):
            break
        limit = min(2 * limit, most) if limit < most else 2 * limit
    return limit


def _groups(sizes: Mapping[str, int], speakers: Mapping[str, Collection[str]]) -> tuple[list[list[str]], set[str]]:
    """The texts in groups by speaker, in the order of each group's first text, and the speakers that do not count."""
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
    """The texts that speakers link, directly or by other texts."""
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
        for name in group:  # it grows
            for speaker in speakers[name]:
                new = [other for other in of_speaker.pop(speaker, ()) if other not in seen]
                seen.update(new)
                group += new
        groups.append(group)
    return groups


def _size(group: Sequence[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes[name] for name in group)
