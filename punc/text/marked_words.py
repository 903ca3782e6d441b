"""Writes the words of a transcript with their labels."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import numpy as np

from punc.base.runs import previous_of, starts_of_runs
from punc.data.labels import Label, LabelSet, with_capital
from punc.text.abbreviations import NEVER, shipped
from punc.text.casing import Casing
from punc.text.split_words import AUTO, REPLACE, SplitWords, keeps, unmarked
from punc.text.word_parts import MARK, NUMBER, TAG, URL, WORD, Token

INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
SPACED = (2, 3)  # how many letters an abbreviation written with spaces may have
LETTER = re.compile(r"[^\W\d_](?:['’]s)?")
LETTER_WORDS = "aeioy"  # letters that are words, too: a, I; Spanish e, o, y
NO_OPENING = str.maketrans("", "", "¿¡")  # removes marks before words


class MarkedWords:
    """Writes words with their labels. For `marks`, see `keeps`. With `sentences`, sentences begin with a capital."""

    def __init__(self, label_set: LabelSet, casing: Casing, marks: str = REPLACE, sentences: bool = False):
        self.label_set, self._casing, self._marks, self._sentences = label_set, casing, marks, sentences
        self._bare = Label("", "w"), Label("", "W")
        self._opens = any(label.opening for label in label_set)
        self._ends = [i for i, label in enumerate(label_set) if label.name in label_set.sentence_ends]

    def write(self, words: SplitWords, labels: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Return the text of each word, and its label, int64 (W,). A label changes if the word's existing mark, or the
        lack of one, is kept, or if a mark moves from or to the word."""
        labels = labels.copy()
        kinds = words.of([token.kind for token in words.tokens])
        had = words.of([t.marks != "" for t in words.tokens])
        self._move(words, labels, kinds == TAG, had)
        alone = np.zeros(len(labels), bool)  # whether a separate mark follows
        following = np.flatnonzero((kinds == MARK) & ~starts_of_runs(words.streams))
        alone[following - 1] = True
        kept = keeps(words, self._marks)
        stays = np.zeros(len(labels), bool)  # whether a word keeps its case
        if kept.any():
            complete = kept & ~unmarked(words) if self._marks == AUTO else np.zeros(len(labels), bool)
            stays = (complete if self._marks == AUTO else kept) & _has_capitals(words)
            self._keep(words, labels, kept, complete, stays)
        self._join_abbreviations(words, labels)
        self._join_with_next(words, labels)
        if self.label_set.cased:
            self._spell(words, labels, stays)
        starts, inside = self._sentence_starts(words, labels, kinds, following)
        # A word that keeps its case gets a capital only if a sentence end is added before it.
        added = previous_of(np.isin(labels, self._ends) & ~words.marked & ~words.pointed, False)
        starts = np.where(stays, added & ~starts_of_runs(words.streams), starts) & self._sentences
        cased = stays | self._kept_case(words, kinds, inside) if self.label_set.cased else np.ones(len(labels), bool)
        return self._texts(words, labels, np.stack([cased, starts, alone, kept])), labels

    def _sentence_starts(self, words: SplitWords, labels: np.ndarray, kinds: np.ndarray,
                         following: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays, bool (W,): whether each word begins a sentence according to the labels, and whether it is
        inside a sentence according to the existing marks."""
        read = np.flatnonzero((words.counts > 0) & (kinds != TAG))
        begins, before = starts_of_runs(words.streams[read]), following - 1
        ends = words.of([token.ends for token in words.tokens])
        ended = np.isin(labels, self._ends)
        ended[before] = ends[following]
        ends[before] |= ends[following]
        capital = np.zeros((2, len(labels)), bool)
        for row, after in zip(capital, (ended, ends)):
            row[read] = begins | previous_of(after[read], True)
        return capital[0] | words.turns, ~capital[1]

    def _move(self, words: SplitWords, labels: np.ndarray, tags: np.ndarray, had: np.ndarray) -> None:
        """Move the new marks of tags that stand for a word to the previous word. If both have a new mark, the stronger
        one stays. A tag's new mark is dropped if the tag already has a mark, or if its stream has no previous word."""
        read = np.flatnonzero(words.counts)
        for i in np.flatnonzero(tags[read])[::-1].tolist():  # backwards, because a mark can move past several tags
            at, before = int(read[i]), int(read[i - 1]) if i else -1
            label = self.label_set[int(labels[at])]
            if not label.mark:
                continue
            labels[at] = 0
            if before >= 0 and words.streams[before] == words.streams[at] and not had[at]:
                labels[before] = self.with_mark(int(labels[before]), label)

    def with_mark(self, own: int, other: Label) -> int:
        """Return the label `own` with the stronger of two marks: its own mark, and the mark of the label `other`."""
        label = self.label_set[own]
        marks = (*(label.marks if label.mark else ()), *other.marks)
        return self._number(marks, label.capital, label.opening)

    def _number(self, marks: Iterable[str], capital: bool = False, opening: str = "") -> int:
        return self.label_set.index(self.label_set.reading(marks, capital, opening))

    def _keep(self, words: SplitWords, labels: np.ndarray, kept: np.ndarray, complete: np.ndarray,
              stays: np.ndarray) -> None:
        """Where `kept` is true, give words the labels of their existing marks. A word without an existing mark keeps
        its new mark if it ends a turn or stream, or if `complete` is false. Labels have no capitals where `stays` is
        true, and after a word whose new mark would end a sentence, but whose existing mark does not."""
        marked = words.of([token.marks != "" and token.kind != TAG for token in words.tokens])
        has = words.marked | words.pointed
        added = ~has & (~complete | words.ends)
        ended = words.of([token.ends for token in words.tokens])
        lower = stays | previous_of(np.isin(labels, self._ends) & complete & ~added & ~ended, False)
        for i in np.flatnonzero(kept).tolist():
            label = self.label_set[int(labels[i])]
            marks: Iterable[str] = label.marks if added[i] else ()
            if marked[i]:
                marks = words.tokens[words.codes[i]].marks
            lead = label.capital and not lower[i], "" if stays[i] or complete[i] else label.opening
            labels[i] = self._number(marks, *lead)

    def _join_abbreviations(self, words: SplitWords, labels: np.ndarray) -> None:
        """Remove the marks and capitals inside abbreviations that are written with spaces, such as `z. B.`."""
        letters = words.of([len(token.core) == 2 and token.core[1] == "." for token in words.tokens])
        for i in np.flatnonzero(letters).tolist():
            for size in SPACED:
                part = slice(i, i + size)
                cores = [words.tokens[code].core.lower() for code in words.codes[part].tolist()]
                kind = shipped().kinds.get("".join(cores)) if letters[part].all() else None
                if kind and (words.streams[part] == words.streams[i]).all():
                    label = self.label_set[int(labels[part][-1])]
                    last = self._number(label.marks) if kind != NEVER else 0
                    labels[part] = [*[0] * (size - 1), last]

    def _join_with_next(self, words: SplitWords, labels: np.ndarray) -> None:
        """Remove the marks of words that belong to the next word."""
        for i in np.flatnonzero(words.with_next).tolist():
            label = self.label_set[int(labels[i])]
            labels[i] = self._number((), label.capital, label.opening)

    def _spell(self, words: SplitWords, labels: np.ndarray, stays: np.ndarray) -> None:
        """Give two or more spelled letters, such as `u s` and `b b c's`, capitals, and remove the marks between them.
        Letters that are words do not count at either end, as in `a u s company` and `ten a m i think`. `p m` stays."""
        single = words.of([token.kind == WORD and token.marks == "" and LETTER.fullmatch(token.core) is not None
                           for token in words.tokens]) & ~stays
        starts = starts_of_runs(single, words.streams, np.cumsum(words.turns))
        for begin, end in pairwise([*np.flatnonzero(starts).tolist(), len(single)]):
            if not single[begin] or end - begin < 2:
                continue
            letters = "".join(words.tokens[code].core[0].lower() for code in words.codes[begin:end].tolist())
            first, last = len(letters) - len(letters.lstrip(LETTER_WORDS)), len(letters.rstrip(LETTER_WORDS))
            if last - first < 2 or letters[first:last] == "pm":
                continue
            for i in range(begin + first, begin + last):
                label = self.label_set[int(labels[i])]
                marks = label.marks if label.mark and i == begin + last - 1 else ()
                labels[i] = self._number(marks, True, label.opening)

    def _kept_case(self, words: SplitWords, kinds: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Return which words keep their case, bool (W,): numbers, URLs, words with a capital after the first letter,
        and words inside a sentence that begin with a capital."""
        kept = (kinds == NUMBER) | (kinds == URL)
        lower = words.of([token.has_lower for token in words.tokens])
        if not (lower & (kinds == WORD)).any():
            return kept  # in a text all in capitals, capitals show nothing
        inner = words.of([token.inner_capital for token in words.tokens])
        upper = words.of([token.first_capital for token in words.tokens])
        return kept | inner | (upper & inside)

    def _texts(self, words: SplitWords, labels: np.ndarray, flags: np.ndarray) -> list[str]:
        @cache
        def text(token: int, label: int, *flags_of_word: bool) -> str:
            return self.text(words.tokens[token], self.label_set[label], *flags_of_word)

        return list(map(text, words.codes.tolist(), labels.tolist(), *flags.tolist()))

    def text(self, token: Token, label: Label, cased: bool, start: bool, alone: bool, keep: bool = False) -> str:
        """Return the text of a word with its label. The flags state whether the word keeps its case (`cased`), begins a
        sentence (`start`), is followed by a separate mark (`alone`), and keeps its marks (`keep`)."""
        lead, core, before, marks, after = token[1:6]
        if token.kind not in (WORD, NUMBER, URL):
            return lead + core + before + marks + after
        if self._opens and not keep:
            lead = lead.translate(NO_OPENING)
        stays = keep and (marks != "" or core[-1] == ".")
        if token.kind == WORD:
            core = self._core(core, label.capital, cased, start)
        if stays:
            return lead + core + before + marks + after
        opening, mark = "" if label.opening in lead else label.opening, label.mark
        if core[-1] == ".":
            mark = "" if token.kind == NUMBER else mark.removeprefix(".")
        return lead + opening + core + before + ("" if alone else mark) + after

    def _core(self, core: str, capital: bool, cased: bool, start: bool) -> str:
        if not cased:
            bare = core.removesuffix(".").lower()
            written = self._casing.write_word(bare.replace("’", "'"), self._bare[capital])
            if "’" in bare:
                written = "".join("’" if old == "’" else new for old, new in zip(bare, written))
            if core[-1] == "." and written.isupper() and bare.isalpha():
                written = self._bare[capital].write(bare)  # the table means an acronym, such as LIC, not lic.
            elif written == with_capital(bare) and INITIALS.fullmatch(bare) and f"{bare}." not in shipped().kinds:
                written = bare.upper()  # c.e.o., but e.g.
            core = written + core[len(bare):]
        elif capital and core == core.lower():
            core = with_capital(core)
        return with_capital(core) if start and core == core.lower() else core


def _has_capitals(words: SplitWords) -> bool:
    tokens = [token for token in words.tokens if token.kind == WORD]
    return any(token.has_lower for token in tokens) and any(token.first_capital and token.core[1:] for token in tokens)
