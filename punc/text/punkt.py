"""Finds the abbreviations in an unlabelled corpus by the method of Kiss & Strunk (2006, "Unsupervised multilingual
sentence boundary detection", Computational Linguistics 32(4)), which NLTK calls Punkt.

A word w scores high as an abbreviation if it nearly always has a dot, is short, and has dots inside. The word w occurs
C(w, •) times with a dot after it and C(w, ¬•) times without one. C(•) of all N tokens have a dot. λ is the likelihood
ratio of two hypotheses: w has a dot by chance, P(•|w) = C(•)/N, or nearly always, P(•|w) = 0.99. The score is

    S(w) = -2 log λ · e^-length(w) · (dots inside + 1) · length(w)^-C(w, ¬•)      abbreviation: S(w) ≥ 0.3

where length(w) does not count dots. Once the abbreviations are known, sentences end at ! and ?, and at the dots of all
other words. Dunning's log-likelihood ratio finds words of two more kinds, which the module `abbreviations` explains. A
word is of the kind `begins` if it follows a sentence end more often than by chance (ratio ≥ 30). A word is of the kind
`ordinal` if it follows a number with a dot more often than by chance (ratio ≥ 7.88) and is not of the kind `begins`. By
the orthographic heuristic of the paper's second stage, a word is also of the kind `begins` if it occurs in lower case,
and with a capital only at the beginning of sentences.

There are three differences from the paper. A single letter counts as an initial, unless a dot follows it much more
rarely than the average token (less than 1/RARER as often), as is the case for I in English. An abbreviation must occur
at least MIN_COUNT times with a dot, and a word found by the orthographic heuristic at least MIN_COUNT times with a
capital at the beginning of a sentence. The paper's searches for rare abbreviations and for collocations of initials are
left out.

Memory grows with the number of distinct words. NLTK's own trainer takes ten times as long as this module.
"""

import math
import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from punc.text.abbreviations import BEGINS, ORDINAL, STARTER, WORD

ABBREVIATION, BEGINNING, COLLOCATION = 0.3, 30.0, 7.88  # the paper's thresholds
# Group 1, the core, can begin only at the first letter or digit, so matching takes linear time.
TOKEN = re.compile(r"\W*(\w(?:.*\w)?)(\.(?!\.))?(.*)", re.DOTALL)
ELLIPSIS = re.compile(r"\.\.|…")
ENDS = re.compile(r"[!?]")
NUMBER = "##number##"
RARER = 10
MIN_COUNT = 3  # the minimum count of an abbreviation with its dot, and of a word for the orthographic heuristic
PLACES = FIRST, CAPITAL_FIRST, INSIDE, SMALL, NUMBERED, LAST = (
    "first", "capital first", "inside", "small", "numbered", "last")


class Token(NamedTuple):
    """A token: its word in lower case, or NUMBER; whether it has a dot, an end mark and an ellipsis; and whether it
    begins with a capital."""

    word: str
    dot: bool
    end: bool
    ellipsis: bool
    capital: bool


@lru_cache(1 << 18)
def read(text: str) -> Token:
    found = TOKEN.fullmatch(text)
    if not found:
        return Token("", False, bool(ENDS.search(text)), bool(ELLIPSIS.search(text)), False)
    core, dot, rest = found.groups()
    number = core[0].isdigit() and not any(map(str.isalpha, core))
    return Token(NUMBER if number else core.lower(), dot is not None, bool(ENDS.search(rest)),
                 bool(ELLIPSIS.search(rest)), core[0].isupper())


class Types:
    """Counts how often each word occurs with and without a dot, given the count of each token, and finds the
    abbreviations among the words."""

    def __init__(self, tokens: Counter[str]):
        self.dotted: Counter[str] = Counter()
        self.plain: Counter[str] = Counter()
        for text, count in tokens.items():
            if (token := read(text)).word:
                (self.dotted if token.dot else self.plain)[token.word] += count
        self.dots = sum(self.dotted.values())
        self.total = self.dots + sum(self.plain.values())
        self.scores = {word: self.score(word) for word, count in self.dotted.items()
                       if word != NUMBER and count >= MIN_COUNT}
        self.abbreviations = {word for word, score in self.scores.items() if score >= ABBREVIATION}

    def score(self, word: str) -> float:
        inside = word.count(".")
        with_dot, without = self.dotted[word], self.plain[word]
        length = len(word) - inside
        by_chance = _binomial(with_dot, without, self.dots / self.total)
        ratio = -2 * (by_chance - _binomial(with_dot, without, 0.99))
        return ratio * math.exp(-length) * (inside + 1) * length ** -float(without)

    def count(self, word: str) -> int:
        return self.dotted[word] + self.plain[word]


def count_contexts(text: str, abbreviations: frozenset[str]) -> Counter[tuple[str, str]]:
    """Count how often each word is at each of PLACES, given the abbreviations. The counts of several texts can be added
    up."""
    counts = Counter[tuple[str, str]]()
    tokens = [token for token in map(read, text.split()) if token.word]
    places = [_place(token, abbreviations) for token in tokens]
    for (place, token), count in Counter(zip(places, tokens[1:])).items():
        if place in (NUMBERED, FIRST):
            counts[place, token.word] += count
        if not token.capital:
            counts[SMALL, token.word] += count
        elif place in (FIRST, INSIDE):
            counts[CAPITAL_FIRST if place == FIRST else INSIDE, token.word] += count
    for token, count in Counter(tokens).items():
        if _is_end(token, abbreviations):
            counts[LAST, token.word] += count
    return counts


def _is_end(token: Token, abbreviations: frozenset[str]) -> bool:
    return token.end or (token.dot and not token.ellipsis and token.word not in abbreviations)


def _place(before: Token, abbreviations: frozenset[str]) -> str:
    """Return the place of the word after the token `before`: FIRST, INSIDE or NUMBERED; "" if unclear."""
    if _is_end(before, abbreviations):
        if before.word == NUMBER and not before.end:
            return NUMBERED
        # After an initial, it is unclear whether a sentence begins.
        return FIRST if len(before.word) > 1 or before.end else ""
    return "" if before.dot or before.ellipsis else INSIDE


def words_by_kind(types: Types, contexts: Counter[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the words of each of four kinds: STARTER (abbreviations), highest score first; WORD (single letters),
    sorted by code point; BEGINS and ORDINAL, most frequent first."""
    places: dict[str, Counter[str]] = {place: Counter() for place in PLACES}
    for (place, word), count in contexts.items():
        places[place][word] = count
    ends = places[LAST].total()
    begins = {word for word, count in places[FIRST].items()
              if word != NUMBER and is_bound(ends, types.count(word), count, types.total, BEGINNING)}
    ordinals = [word for word, count in places[NUMBERED].most_common() if count > 1 and word not in begins
                and is_bound(types.count(NUMBER), types.count(word), count, types.total, COLLOCATION)]
    begins |= {word for word, count in places[CAPITAL_FIRST].items()
               if count >= MIN_COUNT and word in places[SMALL] and word not in places[INSIDE]}
    letters = [word for word in types.dotted if len(word) == 1 and
               types.dotted[word] * types.total * RARER < types.dots * types.count(word)]
    abbreviations = sorted(types.abbreviations, key=lambda word: (-types.scores[word], word))
    return {STARTER: [f"{word}." for word in abbreviations], WORD: [f"{word}." for word in sorted(letters)],
            BEGINS: [word for word, _ in places[FIRST].most_common() if word in begins], ORDINAL: ordinals}


def is_bound(first: int, second: int, both: int, total: int, least: float) -> bool:
    """Return whether the second event follows the first more often than by chance, with a ratio (see `dunning`) of at
    least `least`. `first` and `second` count the events; `both` counts how often the second follows the first."""
    return both * total > first * second and second >= both and dunning(first, second, both, total) >= least


def dunning(first: int, second: int, both: int, total: int) -> float:
    """Return Dunning's log-likelihood ratio for the hypothesis that the second event does not depend on the first."""
    elsewhere = total - first
    chance = second / total
    after = both / first
    other = (second - both) / elsewhere
    alike = _binomial(both, first - both, chance) + _binomial(second - both, elsewhere - second + both, chance)
    differ = _binomial(both, first - both, after) + _binomial(second - both, elsewhere - second + both, other)
    return -2 * (alike - differ)


def _binomial(successes: float, failures: float, chance: float) -> float:
    return ((successes * math.log(chance) if successes > 0 else 0.0)
            + (failures * math.log(1 - chance) if failures > 0 else 0.0))
