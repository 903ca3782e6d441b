"""Texts that repeat a document's words: which words stand in which place."""

from collections.abc import Sequence

import numpy as np

from punc.asr.document import Document, Places
from punc.base.runs import next_of
from punc.timing.align import align_words

MARKS = ".,?!:;…\"'()[]<>«»“”-–—"  # how words and their repetition may differ, as in letter case


def word_bounds(joined: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first piece of each word, and the piece after its last."""
    first = np.flatnonzero(~joined)
    return first, next_of(first, len(joined))


def word_texts(pieces: Sequence[str], first: np.ndarray, last: np.ndarray) -> list[str]:
    """The text of each word."""
    if len(first) == len(pieces):
        return list(pieces)
    return ["".join(pieces[begin:end]) for begin, end in zip(first.tolist(), last.tolist())]


def folded(word: str) -> str:
    """A word as it is compared with its repetition."""
    return word.strip(MARKS).casefold()


def matched(texts: Sequence[str], starts: np.ndarray, stops: np.ndarray, document: Document) -> Places:
    """The places that repeat a word of the document; a place with another word is left out, and stays as it is.

    texts          what stands in each place
    starts, stops  int64 (P,): the bytes of each place
    """
    first, last = (bounds.astype(np.int32) for bounds in word_bounds(document.joined))  # to save memory
    words = word_texts(document.pieces, first, last)
    if list(texts) == words:
        return Places(starts, stops, first, last, np.zeros(len(first), bool))
    if list(texts) == document.pieces:  # a list of the same pieces
        pieces = np.arange(len(texts), dtype=np.int32)
        return Places(starts, stops, pieces, pieces + 1, np.zeros(len(pieces), bool))
    ref, hyp = (list(map(folded, column)) for column in (texts, words))
    number = align_words(ref, hyp).ref_to_hyp
    same = np.fromiter((at >= 0 and ref[i] == hyp[at] for i, at in enumerate(number.tolist())), bool, len(number))
    other = np.fromiter((texts[i] != words[number[i]] for i in np.flatnonzero(same).tolist()), bool, int(same.sum()))
    return Places(starts[same], stops[same], first[number[same]], last[number[same]], other)
