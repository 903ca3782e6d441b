"""Aligns words by minimum edit distance, and moves labels along the alignment.

Reference punctuation is moved to the words of a hypothesis, usually ASR output, as in Tilk & Alumäe (2015, section 3):
the two word sequences are aligned with minimum edit distance, and each mark moves along the alignment. rapidfuzz
computes the distance and decides which words *match*. Our own rules decide the rest:

Pairing: the reference and hypothesis words between two matched words are paired in order, as substitutions. If there
are more reference words, the last ones are deleted; if there are more hypothesis words, the first ones are inserted.

Slots: the mark after a reference word goes after the hypothesis word that is paired with it. The mark after a deleted
word goes after the nearest hypothesis word before it. It follows that
  - if the word before a mark is paired, the mark stays directly after it, and any inserted words follow the mark;
  - if the word after a mark is matched, the mark stays directly before it, unless the word before the mark is matched,
    too, and words are inserted between the two; then the mark stays directly after the word before it;
  - a mark with no hypothesis word before it is lost, because it has no slot;
  - of several marks in one slot, the strongest stays.

Ties: if several alignments have the same distance, rapidfuzz chooses the matches without regard to marks, and the
pairing rule pairs the other words.

Of the rules for pairing and slots that we tried, these agree best with a published set of labels for ASR output.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from punc.base.runs import previous_of, ranges, starts_of_runs

# Reference words × hypothesis words. Up to this product, two texts are aligned as a whole, which takes up to a second.
EXACT = 10**10
STRIDE = 8192  # reference words per anchor; a larger stride leaves more stretches to choose from, but takes longer
SUPPORT = 16  # an anchor needs more than this many n-grams near it with nearly the same offset; fewer may be chance
ANCHOR_LENGTHS = (6, 3)  # lengths of n-grams that are unique in both texts, in the order in which they are tried
WINDOW = 30_000  # words of each text in a window (geometric mean); windows are used if long texts have no anchors


@dataclass(frozen=True)
class Alignment:
    """A reference aligned with a hypothesis of `n_hyp` words, and the edit distance in words.

    ref_to_hyp      int64 (reference words,): the index of the hypothesis word that is paired with each reference word,
                    or -1 if the word is deleted; the indices increase
    """

    ref_to_hyp: np.ndarray
    n_hyp: int
    distance: int


def folded(words: Iterable[str]) -> list[str]:
    """Return words in the form in which they are compared: in lower case, and with composed letters (NFC)."""
    return [word.lower() if word.isascii() else unicodedata.normalize("NFC", word.lower()) for word in words]


def align_words(ref: Sequence[str], hyp: Sequence[str]) -> Alignment:
    """Align two word sequences with minimum edit distance; substitution, deletion and insertion each cost 1.

    Texts that are too long to be aligned as a whole (see EXACT) are cut at anchors, so that time and memory grow about
    linearly.
    """
    a, b = word_numbers(ref, hyp)
    return align_streams(a, b, [len(a)], [len(b)])


def align_streams(ref: np.ndarray, hyp: np.ndarray, ref_ends: Sequence[int], hyp_ends: Sequence[int]) -> Alignment:
    """Align each pair of streams, as `align_words` aligns two texts. Words are given as numbers (see `word_numbers`).
    Streams end at `ref_ends` and `hyp_ends`."""
    blocks: list[np.ndarray | list[tuple[int, int, int]]] = []
    r0 = h0 = 0
    for r1, h1 in zip(ref_ends, hyp_ends):
        a, b = ref[r0:r1], hyp[h0:h1]
        if np.array_equal(a, b):
            blocks.append([(r1, h1, 0)])  # an empty block at the end: `_pair` pairs the words before it in order
        else:
            blocks += [_matching_blocks(a[i0:i1], b[j0:j1]) + np.array([r0 + i0, h0 + j0, 0])
                       for i0, i1, j0, j1 in _parts(a, b)]
        r0, h0 = r1, h1
    ref_to_hyp = _pair(np.concatenate(blocks), len(ref))
    paired = ref_to_hyp >= 0
    substituted = int((ref[paired] != hyp[ref_to_hyp[paired]]).sum())
    deleted_and_inserted = len(ref) + len(hyp) - 2 * int(paired.sum())
    return Alignment(ref_to_hyp, len(hyp), substituted + deleted_and_inserted)


def project_slots(alignment: Alignment) -> np.ndarray:
    """Return the hypothesis slot of each reference slot, int64 (reference words,); -1 before the first paired word."""
    return np.maximum.accumulate(alignment.ref_to_hyp)


def project_labels(alignment: Alignment, labels: np.ndarray) -> np.ndarray:
    """Move label numbers from reference slots to hypothesis slots. If a slot gets several labels, the largest number,
    which is the strongest label, stays."""
    slots = project_slots(alignment)
    projected = np.zeros(alignment.n_hyp, dtype=labels.dtype)
    marks = np.flatnonzero((labels > 0) & (slots >= 0))
    np.maximum.at(projected, slots[marks], labels[marks])
    return projected


def word_numbers(ref: Sequence[str], hyp: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers for the words of `ref` and of `hyp`, int64 (words,) each. Equal words get equal numbers."""
    ids = dict(zip(dict.fromkeys(chain(ref, hyp)), count()))
    numbers = [np.fromiter(map(ids.__getitem__, words), np.int64, len(words)) for words in (ref, hyp)]
    return numbers[0], numbers[1]


def _matching_blocks(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the runs of equal words as rows (start in a, start in b, length), with an empty run at the end."""
    from rapidfuzz.distance import Levenshtein  # imported only when needed, because the import takes 50 ms

    blocks = Levenshtein.editops(a.tolist(), b.tolist()).as_matching_blocks()
    return np.array([(block.a, block.b, block.size) for block in blocks], np.int64)


def _pair(blocks: np.ndarray, n_ref: int) -> np.ndarray:
    """Make `ref_to_hyp` from the matching blocks by the pairing rule. The last block is at the end of both texts."""
    ref_to_hyp = np.full(n_ref, -1, np.int64)
    ref_start, hyp_start, size = blocks.T
    ref_before = previous_of(ref_start + size, 0)  # start of the unmatched reference words before each block
    hyp_before = previous_of(hyp_start + size, 0)
    n_pairs = np.minimum(ref_start - ref_before, hyp_start - hyp_before)
    for first_ref, first_hyp, length in (ref_start, hyp_start, size), (ref_before, hyp_start - n_pairs, n_pairs):
        ref_to_hyp[ranges(first_ref, length)] = ranges(first_hyp, length)
    return ref_to_hyp


def _parts(a: np.ndarray, b: np.ndarray, lengths: Sequence[int] = ANCHOR_LENGTHS) -> Iterator[tuple[int, ...]]:
    """Cut two texts into parts that are aligned separately: (start in a, end in a, start in b, end in b)."""
    if len(a) * len(b) <= EXACT:
        yield 0, len(a), 0, len(b)
        return
    cuts = _anchors(a, b, lengths[0]) if lengths else _windows(a, b)
    ends = [*cuts, (len(a), len(b))]
    for (r0, h0), (r1, h1) in zip([(0, 0), *cuts], ends):
        # Windows are short enough, but a part between two anchors may still be too long.
        for i0, i1, j0, j1 in _parts(a[r0:r1], b[h0:h1], lengths[1:]):
            yield r0 + i0, r0 + i1, h0 + j0, h0 + j1


def _anchors(a: np.ndarray, b: np.ndarray, n: int) -> list[tuple[int, int]]:
    """Return the positions (in a, in b) at which to cut two texts.

    A stretch is a run of equal words whose n-grams occur once in a and once in b. In every STRIDE words of a, the
    middle of the longest stretch is a candidate if more than SUPPORT n-grams of these words have nearly the same offset
    as the stretch. Patience sorting selects the longest sequence of candidates that rises in both texts.
    """
    in_a, in_b = _common_unique(_ngrams(a, n), _ngrams(b, n))
    if not len(in_a):
        return []
    stride = in_a // STRIDE
    # Within a stretch, positions rise by one in both texts, like `order`, so the differences below are constant.
    order = np.arange(len(in_a))
    first = np.flatnonzero(starts_of_runs(in_a - order, in_b - order, stride))
    size = np.diff(np.append(first, len(in_a))) + n - 1
    start_a, start_b, stride = in_a[first], in_b[first], stride[first]
    by_size = np.lexsort((start_a, -size, stride))
    best = by_size[np.unique(stride[by_size], return_index=True)[1]]
    bounds = np.searchsorted(in_a, [stride[best] * STRIDE, (stride[best] + 1) * STRIDE]).T
    offset = in_b - in_a
    near = STRIDE // 8
    best = best[[np.sum(np.abs(offset[i:j] - offset[first[k]]) <= near) > SUPPORT
                 for k, (i, j) in zip(best, bounds)]]
    middle = size[best] // 2
    return _rising((start_a[best] + middle).tolist(), (start_b[best] + middle).tolist())


def _ngrams(ids: np.ndarray, n: int) -> np.ndarray:
    hashes = np.zeros(max(len(ids) - n + 1, 0), np.uint64)
    for k in range(n):
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes += ids[k : k + len(hashes)].astype(np.uint64) + np.uint64(1)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _common_unique(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    once = []
    for values in (a, b):
        value, index, number = np.unique(values, return_index=True, return_counts=True)
        once.append((value[number == 1], index[number == 1]))
    _, i, j = np.intersect1d(once[0][0], once[1][0], assume_unique=True, return_indices=True)
    in_a, in_b = once[0][1][i], once[1][1][j]
    order = np.argsort(in_a)
    return in_a[order], in_b[order]


def _rising(x: list[int], y: list[int]) -> list[tuple[int, int]]:
    # Patience sorting: `tops` has the top value of each pile, `top_points` its index in y, and `before` links each
    # point to a point of the previous pile.
    tops: list[int] = []
    top_points: list[int] = []
    before: list[int] = []
    for point, value in enumerate(y):
        pile = bisect_right(tops, value)
        before.append(top_points[pile - 1] if pile else -1)
        tops[pile : pile + 1], top_points[pile : pile + 1] = [value], [point]
    kept, point = [], top_points[-1] if top_points else -1
    while point >= 0:
        kept.append((x[point], y[point]))
        point = before[point]
    return kept[::-1]


def _windows(a: np.ndarray, b: np.ndarray) -> list[tuple[int, int]]:
    """Return where texts that have no anchors are cut into windows.

    A window ends in the middle of the longest run of equal words that begins in its third quarter. If there is no such
    run, the window keeps its full length.
    """
    cuts: list[tuple[int, int]] = []
    r, h = 0, 0
    while (len(a) - r) * (len(b) - h) > EXACT:
        scale = WINDOW / ((len(a) - r) * (len(b) - h)) ** 0.5  # below 1/3, because WINDOW² < EXACT / 9
        rows = int((len(a) - r) * scale) + 1
        columns = int((len(b) - h) * scale) + 1
        blocks = _matching_blocks(a[r : r + rows], b[h : h + columns])
        blocks = blocks[(blocks[:, 0] >= rows // 2) & (blocks[:, 0] < rows * 3 // 4)]
        if len(blocks):
            start_a, start_b, size = blocks[blocks[:, 2].argmax()].tolist()
            rows = start_a + size // 2
            columns = start_b + size // 2
        r += rows
        h += columns
        cuts.append((r, h))
    return cuts
