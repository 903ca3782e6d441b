"""Counts confusions: the words that a recogniser wrote instead of the reference words.

`punc confusions` writes the counts to a text file, one per line. Tabs separate fields, and spaces separate words:

    punc confusions 1
    runs        27200                           stretches of consecutive wrong words
    slots       607915    none                  slots without a mark, between two correct words
    slots       93064     mark                  slots with a mark, between two correct words
    seen        3116      hundred               a reference word
    heard       3425      hundred               a word of the ASR output
    replaced    314       in          and       a wrong reference word, and the ASR word that replaces it
    replaced    7         100,000     hundred thousand      a wrong reference word, and several ASR words
    replaced    685       's                    a deleted reference word
    inserted    718       mark        and       ASR words between two correct words, here in a slot with a mark

Reference and ASR output are aligned by `timing.align`. The words between two consecutive matches form a *region*, in
which reference words and ASR words are paired in order. The first reference word also gets all surplus ASR words.
Reference words without a partner count as deletions. A region without reference words is an insertion. Regions with
more than LONGEST reference words or more than LONGEST ASR words are left out, because there the reference and the ASR
output are probably not of the same speech.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, decoded_lines
from punc.data.datadir import DataDir, label_numbers
from punc.data.labels import LabelSet
from punc.scoring.project import paired_streams
from punc.timing.align import align_words

AGAIN = "make the file again with punc confusions"
HEADER = "punc confusions 1"
KINDS = ("slots", "seen", "heard", "replaced", "inserted")  # the kinds of lines, except `runs`
PLACES = ("none", "mark")  # the kinds of slots: without a mark, and with a mark
LONGEST = 5  # the maximum number of reference words, and of ASR words, in a region that is counted
Words = tuple[str, ...]


@dataclass
class Confusions:
    """The counts in a file. Each attribute holds the counts of the lines that begin with its name (see the module
    docstring)."""

    runs: int = 0
    slots: Counter[str] = field(default_factory=Counter)  # one of PLACES → count
    seen: Counter[str] = field(default_factory=Counter)
    heard: Counter[str] = field(default_factory=Counter)
    replaced: Counter[tuple[str, Words]] = field(default_factory=Counter)  # (reference word, ASR words) → count
    inserted: Counter[tuple[str, Words]] = field(default_factory=Counter)  # (one of PLACES, ASR words) → count

    @property
    def burst(self) -> float:
        """The correlation between errors in neighbouring words, but at least 0. Noise is drawn with this number as the
        probability b that a word copies the previous word's state (wrong or correct). With probability 1 − b, the
        previous word has no influence: the word is wrong with probability m, the error rate of all words. Thus,
        P(wrong after wrong) = b + (1 − b) m."""
        seen, errors = self.seen.total(), self.replaced.total()
        if not errors or errors == seen:
            return 0.0
        after_error, mean = 1 - self.runs / errors, errors / seen
        return max(0.0, (after_error - mean) / (1 - mean))

    @property
    def wer(self) -> float:
        wrong = sum(count * max(1, len(words)) for (_, words), count in self.replaced.items())
        wrong += sum(count * len(words) for (_, words), count in self.inserted.items())
        return wrong / max(self.seen.total(), 1)

    @property
    def words(self) -> list[str]:
        outputs = {word for _, output in (*self.replaced, *self.inserted) for word in output}
        return sorted({*self.seen, *self.heard, *outputs}, key=str.encode)

    def write(self, path: StrPath) -> None:
        """Write a file that `read_confusions` can read. Lines are sorted by kind, count (highest first), and text."""
        with atomic_file(path) as file:
            file.write(f"{HEADER}\nruns\t{self.runs}\n")
            for kind in KINDS:
                rows = []
                for key, count in getattr(self, kind).items():
                    fields = (key,) if isinstance(key, str) else (key[0], " ".join(key[1]))
                    rows.append((-count, "\t".join(fields).encode()))
                for negative, row in sorted(rows):
                    if negative:
                        file.write(f"{kind}\t{-negative}\t{row.decode()}\n")


def read_confusions(path: StrPath) -> Confusions:
    """Read a file of confusions. Raises InputError for a wrong format, and for missing or contradictory counts."""
    found = Confusions()
    for number, line in decoded_lines(path, AGAIN):
        if number == 1:
            if line != HEADER:
                raise InputError(f"the first line is not '{HEADER}'", AGAIN, path, 1)
            continue
        try:
            _read_line(found, line.split("\t"))
        except ValueError:
            raise InputError("not a count of confusions", AGAIN, path, number) from None
    errors: Counter[str] = Counter()
    for (word, _), count in found.replaced.items():
        errors[word] += count
    if too_often := next((word for word, count in errors.items() if count > found.seen[word]), None):
        raise InputError(f"'{too_often}' was wrong more often than it was seen", AGAIN, path)
    if not found.seen:
        raise InputError("no word was seen", AGAIN, path)
    return found


def _read_line(found: Confusions, fields: list[str]) -> None:
    kind, count, *rest = fields
    number = int(count)
    if not 0 <= number < 1 << 53:  # counts are added up in float64, which is exact below 2^53
        raise ValueError
    key: Words | tuple[str, Words] | str
    if kind == "runs":
        () = rest
        found.runs = number
    elif kind in ("replaced", "inserted"):
        first, words = rest
        if not first or (kind == "inserted" and (first not in PLACES or not words)):
            raise ValueError
        key = (first, tuple(words.split()))
    else:
        (word,) = rest
        if not word or (kind == "slots" and word not in PLACES) or kind not in KINDS:
            raise ValueError
        key = word
    if kind != "runs" and number:  # a count of 0 is skipped, so that its error is never drawn
        getattr(found, kind)[key] += number


def learn(pairs: Sequence[tuple[StrPath, StrPath]], labels: LabelSet) -> tuple[Confusions, int]:
    """Count confusions. Each pair consists of a directory with a labelled reference and a directory with the ASR output
    of the same streams. Also returns the number of reference words in regions that were left out. Raises InputError if
    labels are missing or unknown, if a stream is in only one directory of a pair, or if all reference words were left
    out."""
    found, left_out = Confusions(), 0
    has_mark = np.array([bool(label.mark) for label in labels])
    for ref_dir, asr_dir in pairs:
        ref, asr = DataDir(ref_dir, needs=["punct"]), DataDir(asr_dir)
        for _, spoken, heard in paired_streams(ref, asr):
            left_out += add_stream(found, [word for u in spoken for word in u.words],
                                   [word for u in heard for word in u.words],
                                   has_mark[label_numbers(spoken, labels, ref.path)])
    if not found.seen:
        raise InputError("the two texts are not of the same speech", "give each reference its own ASR output",
                         pairs[0][1])
    return found, left_out


def add_stream(found: Confusions, spoken: Sequence[str], heard: Sequence[str], marks: np.ndarray) -> int:
    """Add the counts of a stream to `found`. Returns the number of reference words in regions that are left out.
    `marks`: whether a mark follows each reference word."""
    alignment = align_words(spoken, heard)
    pairs = alignment.ref_to_hyp.tolist()
    matches = [(-1, -1), *((i, j) for i, j in enumerate(pairs) if j >= 0 and spoken[i] == heard[j]),
               (len(spoken), len(heard))]
    seen, known, left_out = Counter(spoken), Counter(heard), 0
    for (i, j), (next_i, next_j) in pairwise(matches):
        region, output = spoken[i + 1:next_i], heard[j + 1:next_j]
        if max(len(region), len(output)) > LONGEST:
            left_out += len(region)
            seen.subtract(region)
            known.subtract(output)
        elif region:
            found.runs += 1
            found.replaced.update(zip(region, replacements(len(region), output)))
        elif 0 <= i < next_i < len(spoken):
            place = PLACES[int(marks[i])]
            found.slots[place] += 1
            if output:
                found.inserted[place, tuple(output)] += 1
    found.seen.update(+seen)
    found.heard.update(+known)
    return left_out


def replacements(words: int, output: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the ASR words that replace each reference word of a region (see the module docstring), given the number
    of reference words (`words`) and the ASR words (`output`)."""
    more = max(len(output) - words, 0)
    first = [tuple(output[:more + 1]), *((word,) for word in output[more + 1:])] if output else []
    return [*first, *[()] * (words - len(first))]
