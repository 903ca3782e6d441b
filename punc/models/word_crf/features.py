"""Features of the slots of a text for a word-level CRF (Gale & Parthasarathy 2017, section 2.2).

A *template* is a kind of feature together with the words that it reads, such as `word[0..1]`. The value of a template
in a slot is an integer, the *key*. In a slot, a template `trigger` may have several keys, and any other template has at
most one.

    word[i..j]     the n-gram of words i to j; word 0 is the word before the slot, word 1 is the word after it
    shape[i]       the shape of word i, such as AaAa for McDonald (`tokens.tokenizers.form`)
    suffix3[i]     the last three characters of word i, if it has more than three
    cluster4[i]    the first four bits of the Brown cluster of word i
    lm[l]          the log-odds of label l according to another model, rounded to a multiple of LM_STEP
    trigger[n]     a trigger of n words in the window

The tokens `<unk>` and END have no shape, suffix or cluster. In a store of forms, the form of an unknown word has a
shape and a suffix, but no cluster (`tokens.tokenizers.form`).

Triggers are n-grams in the *window* of a slot: the last `before` words before the slot and the first `after` words
after it, within the stream. For each mark p, the triggers are the n-grams with the largest pointwise mutual
information over the slots of the training text:

    log [P(n-gram in window, mark = p) / (P(n-gram in window) P(mark = p))]

For each occurrence of an n-gram, the slots whose windows contain it form a *run*. Overlapping runs of an n-gram are
shortened, so that each slot counts once. In base `vocab`, the digits of an n-gram's key are the ids of its words.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import decoded_lines
from punc.base.runs import bounds_of, find_sorted, ranges
from punc.tokens.tokenizers.form import parse_form, word_shape
from punc.tokens.vocabulary import END

SHAPED = 0, 1  # the positions of the words whose shapes and suffixes are features; word 0 is the word before the slot
CLUSTERED = -1, 0, 1, 2  # the positions of the words whose clusters are features
LM_STEP, LM_STEPS = 0.5, 20  # the size of a log-odds step, and the number of steps on either side of 0
MARGIN = 32  # words that are loaded on each side of the slots; the model's `window` must not be larger


class Template(NamedTuple):
    kind: str  # word, trigger, lm, or the name of a word table
    first: int  # the position of the first word (0: the word before the slot); for lm, the label
    size: int = 1  # the number of words

    def __str__(self) -> str:
        if self.kind == "trigger":
            return f"trigger[{self.size}]"
        return f"{self.kind}[{self.first}..{self.first + self.size - 1}]" if self.size > 1 else \
            f"{self.kind}[{self.first}]"


class Text(NamedTuple):
    ids: np.ndarray  # the words of all streams (N,)
    offsets: np.ndarray  # stream i consists of the words ids[offsets[i]:offsets[i + 1]]
    log_probs: np.ndarray | None  # log-posteriors (N, L) of another model


def shape_table(words: Sequence[str]) -> np.ndarray:
    """Return a number for the shape of each word or form, int32 (V,), and −1 for special tokens."""
    return _numbered([None if i <= END else form[0] if (form := parse_form(word)) else word_shape(word)
                      for i, word in enumerate(words)])


def suffix_table(words: Sequence[str], length: int) -> np.ndarray:
    """Return a number for the suffix of each word or form (see `_suffix`), int32 (V,), and −1 for special tokens and
    for words and forms without a suffix of `length` characters."""
    return _numbered([None if i <= END else _suffix(word, length) for i, word in enumerate(words)])


def _suffix(word: str, length: int) -> str | None:
    """Return the last `length` characters of a word or of the suffix in a form. Returns None for a word of at most
    `length` characters, and for a form whose suffix is shorter than `length`."""
    form = parse_form(word)
    if form:
        return form[1][-length:] if len(form[1]) >= length else None
    return word[-length:] if len(word) > length else None


def read_clusters(path: StrPath) -> dict[str, str]:
    """Read a file `paths` of Liang's program (Liang 2005), with lines `BITS<TAB>WORD<TAB>COUNT`. Returns word → bits.
    The bits are the path from the root of the merge tree to the word's leaf (Brown et al. 1992). Raises InputError for
    any other format."""
    bits: dict[str, str] = {}
    for number, line in decoded_lines(path):
        fields = line.split("\t")
        is_count = fields[-1].isascii() and fields[-1].isdigit()
        if len(fields) != 3 or not fields[0] or fields[0].strip("01") or not fields[1] or not is_count:
            raise InputError("the line is not BITS<TAB>WORD<TAB>COUNT",
                             "use the file `paths` that Liang's wcluster writes", path,
                             number)
        if fields[1] in bits:
            raise InputError(f"'{fields[1]}' occurs twice", "remove one of its lines", path, number)
        bits[fields[1]] = fields[0]
    if not bits:
        raise InputError("the file is empty", "make it again, or give another one", path)
    return bits


def cluster_table(words: Sequence[str], clusters: dict[str, str], bits: int) -> np.ndarray:
    """Return a number for the first `bits` bits of each word's cluster, int32 (V,), and −1 if it has no cluster."""
    prefixes = [None if i <= END or word not in clusters else clusters[word][:bits] for i, word in enumerate(words)]
    return _numbered(prefixes)


def _numbered(values: list[str | None]) -> np.ndarray:
    numbers = {value: number for number, value in enumerate(sorted({v for v in values if v is not None}))}
    return np.array([-1 if value is None else numbers[value] for value in values], np.int32)


def templates(window: int, ngram: int, tables: Sequence[str], lm_labels: int, trigger_ngram: int) -> list[Template]:
    """Return the templates of a model.

    tables          names of the word tables
    lm_labels       number of labels whose log-odds, computed by another model, are features; 0: no such model
    trigger_ngram   number of words in the longest triggers; 0: no triggers
    """
    result = [Template("word", first, n) for n in range(1, ngram + 1) for first in range(1 - window, window - n + 2)]
    result += [Template(name, first) for name in tables
               for first in (CLUSTERED if name.startswith("cluster") else SHAPED)]
    result += [Template("lm", label) for label in range(lm_labels)]
    return result + [Template("trigger", 0, n) for n in range(1, trigger_ngram + 1)]


class Finder:
    """Finds the keys of templates in the slots of a text.

    tables          name → word table: a number for each word of the vocabulary, (V,)
    triggers        for each length of 1, 2, … words, the sorted keys of the triggers
    before, after   numbers of words before and after a slot in the trigger window
    """

    def __init__(self, vocab: int, tables: dict[str, np.ndarray], triggers: Sequence[np.ndarray], before: int,
                 after: int):
        self.vocab, self.tables, self.triggers = vocab, tables, triggers
        self.before, self.after = before, after

    def keys(self, templates: Sequence[Template], text: Text, start: int,
             stop: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, for each template, the slots in [start, stop) that have a key, as offsets from `start`, and their
        keys; both int64 (M,)."""
        slots = np.arange(start, stop)
        stream = np.searchsorted(text.offsets, slots, side="right") - 1
        begins, ends = text.offsets[stream], text.offsets[stream + 1]
        left = max(start - MARGIN, 0)
        near = np.asarray(text.ids[left:stop + MARGIN]).astype(np.int64)
        words: dict[int, np.ndarray] = {}

        def word(offset: int) -> np.ndarray:
            """Return for each slot the word at an offset from it, or END if this word is outside the slot's stream."""
            if offset not in words:
                indices = slots + offset
                inside = (indices >= begins) & (indices < ends)
                words[offset] = np.where(inside, near[np.where(inside, indices - left, 0)], END)
            return words[offset]

        for template in templates:
            if template.kind == "trigger":
                yield firing(text.ids, text.offsets, start, stop, template.size, self.vocab, self.before,
                             self.after, self.triggers[template.size - 1])
                continue
            if template.kind == "word":
                found = word(template.first)
                for offset in range(template.first + 1, template.first + template.size):
                    found = found * self.vocab + word(offset)
            elif template.kind == "lm":
                assert text.log_probs is not None, "lm features without a model"
                found = odds_step(text.log_probs[start:stop, template.first])
            else:
                found = self.tables[template.kind][word(template.first)].astype(np.int64)
            has_key = np.flatnonzero(found >= 0)
            yield has_key, found[has_key]


def odds_step(log_probs: np.ndarray) -> np.ndarray:
    """Convert log-posteriors to log-odds in steps of LM_STEP. Steps are numbered from 0 to 2 · LM_STEPS; the number
    LM_STEPS stands for even odds."""
    log_probs = np.minimum(log_probs.astype(np.float64), -1e-12)
    odds = log_probs - np.log(-np.expm1(log_probs))
    return np.clip(np.rint(odds / LM_STEP), -LM_STEPS, LM_STEPS).astype(np.int64) + LM_STEPS


def attributes(found: Iterator[tuple[np.ndarray, np.ndarray]], tables: Sequence[np.ndarray],
               slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of all slots as numbers, int64 (M,), and where each slot ends in this array, (slots,).

    found    the result of `Finder.keys`
    tables   for each template, the sorted keys that are features; features are numbered from 0, table by table
    """
    slots_of, numbers, base = [], [], 0
    for (where, keys), table in zip(found, tables, strict=True):
        number = find_sorted(table, keys)
        slots_of.append(where[number >= 0])
        numbers.append(number[number >= 0] + base)
        base += len(table)
    where = np.concatenate(slots_of)
    order = np.argsort(where.astype(np.uint16) if slots <= 1 << 16 else where, kind="stable")
    return np.concatenate(numbers)[order], np.cumsum(np.bincount(where, minlength=slots))


def scores(found: Iterator[tuple[np.ndarray, np.ndarray]], tables: Sequence[np.ndarray],
           weights: Sequence[np.ndarray], slots: int, labels: int) -> np.ndarray:
    """Return the sum of the weights of each slot's features, float64 (slots, L). `found` and `tables` are as in
    `attributes`; `weights` are (keys, L) for each template."""
    result = np.zeros((slots, labels))
    for (where, keys), table, weight in zip(found, tables, weights, strict=True):
        number = find_sorted(table, keys)
        where, number = where[number >= 0], number[number >= 0]
        for label in range(labels):
            result[:, label] += np.bincount(where, weight[number, label], slots)
    return result


def ngram_keys(ids: np.ndarray, n: int, vocab: int) -> np.ndarray:
    """Return the keys of all n-grams of the words (N,), in text order, int64 (N − n + 1,)."""
    ids = np.asarray(ids)
    count = max(len(ids) - n + 1, 0)
    keys = np.zeros(count, np.int64)
    for index in range(n):
        keys = keys * vocab + ids[index:index + count]
    return keys


def runs(ids: np.ndarray, offsets: np.ndarray, n: int, vocab: int, before: int, after: int,
         wanted: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find, for each n-gram of the words (N,), the slots whose windows contain it. With `wanted` (sorted keys), find
    only these n-grams. Returns runs of slots as three int64 arrays (M,): the key of the n-gram, the first slot, and the
    last slot. Runs are sorted by key and slot. Runs with the same key are disjoint."""
    keys = ngram_keys(ids, n, vocab)
    starts = np.arange(len(keys))
    if wanted is not None:
        starts = np.flatnonzero(find_sorted(wanted, keys) >= 0)
        keys = keys[starts]
    stream = np.searchsorted(offsets, starts, side="right") - 1
    begins, ends = offsets[stream], offsets[stream + 1]
    first = np.maximum(starts + n - 1 - after, begins)
    last = np.minimum(starts + before - 1, ends - 1)
    holds = np.flatnonzero((starts + n <= ends) & (first <= last))
    order = holds[np.argsort(keys[holds], kind="stable")]
    keys, first, last = keys[order], first[order], last[order]
    # Runs with the same key are in ascending order. Each is shortened to begin after the end of the previous one.
    again = 1 + np.flatnonzero(keys[1:] == keys[:-1])
    first[again] = np.maximum(first[again], last[again - 1] + 1)
    new = first <= last
    return keys[new], first[new], last[new]


def select(ids: np.ndarray, labels: np.ndarray, offsets: np.ndarray, vocab: int, n_labels: int, number: int,
           before: int, after: int, min_count: int, longest: int = 3) -> list[np.ndarray]:
    """Return the keys of the triggers of all marks, as a sorted array for each length from 1 to `longest` words.

    number      maximum number of triggers of a mark p; of n-grams with equal mutual information, those in the windows
                of more slots with p come first, then shorter n-grams
    min_count   for each trigger of p, the minimum number of slots with p whose windows contain it; without a minimum,
                rare n-grams would be chosen, because their mutual information is large
    """
    labels = np.asarray(labels)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for n in range(1, longest + 1):
        keys, first, last = runs(ids, offsets, n, vocab, before, after)
        keys, starts = np.unique(keys, return_index=True)
        if not len(keys):
            found.append((keys, np.zeros((n_labels, 0)), np.zeros(0)))
            continue
        slots = np.add.reduceat(last - first + 1, starts)
        joint = np.empty((n_labels, len(keys)), np.int64)
        for label in range(n_labels):
            sums = bounds_of(labels == label)
            joint[label] = np.add.reduceat(sums[last + 1] - sums[first], starts)
        often = (joint[1:] >= min_count).any(axis=0)
        found.append((keys[often], joint[:, often], slots[often]))
    chosen: list[set[int]] = [set() for _ in range(longest)]
    sizes = np.repeat(np.arange(longest), [len(keys) for keys, _, _ in found])
    keys = np.concatenate([f[0] for f in found])
    slots = np.concatenate([f[2] for f in found])
    for label in range(1, n_labels):
        joint = np.concatenate([f[1][label] for f in found])
        enough = np.flatnonzero(joint >= min_count)
        # The pointwise mutual information is log P(p | n-gram) − log P(p). The last term is the same for all n-grams.
        best = enough[np.lexsort((sizes[enough], -joint[enough], -joint[enough] / slots[enough]))[:number]]
        for size, key in zip(sizes[best].tolist(), keys[best].tolist()):
            chosen[size].add(key)
    return [np.array(sorted(keys), np.int64) for keys in chosen]


def firing(ids: np.ndarray, offsets: np.ndarray, start: int, stop: int, n: int, vocab: int, before: int,
           after: int, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the wanted n-grams in the windows of slots [start, stop). Returns the slots, counted from
    `start`, and the keys, (M,) each."""
    left, right = max(start - before + 1, 0), min(stop + after, len(ids))
    inside = offsets[(offsets > left) & (offsets < right)]
    around = np.concatenate([[left], inside, [right]]) - left
    keys, first, last = runs(ids[left:right], around, n, vocab, before, after, wanted)
    first = np.maximum(first + left, start)
    last = np.minimum(last + left, stop - 1)
    lengths = np.maximum(last - first + 1, 0)
    return ranges(first - start, lengths), np.repeat(keys, lengths)
