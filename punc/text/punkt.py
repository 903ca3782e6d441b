"""The abbreviations of a corpus, found without labels by the method of Kiss & Strunk (2006), which NLTK has as Punkt
("Unsupervised multilingual sentence boundary detection", Computational Linguistics 32(4)).

A word w is an abbreviation if it is bound to its dot, short, and has dots inside. Of its tokens, C(w, •) have a dot
behind and C(w, ¬•) have none; N tokens have C(•) dots. The log-likelihood ratio of the hypotheses that w has a dot by
chance, P(•|w) = C(•)/N, and nearly always, P(•|w) = 0.99, is scaled:

    S(w) = log λ · e^-length(w) · (dots inside + 1) · length(w)^-C(w, ¬•)      abbreviation: S(w) ≥ 0.3

where length counts no dots. Then sentences end at the dots of other words, and at ! and ?. By Dunning's log-likelihood
ratio, a word begins sentences if it follows an end more often than by chance (≥ 30), and belongs to ordinals if it
follows a number and its dot more often than by chance (≥ 7.88) and begins no sentences. A word also begins sentences
if it occurs in small letters, and with a capital only at their beginnings (the orthographic heuristic of the second
stage).

Not as in the paper: an abbreviation, and a word of the orthographic heuristic, occurs `min_count` times; rare
abbreviations and collocations of initials are not looked for. Memory grows with the number of different words.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from punc.text.abbreviations import BEGINS, ORDINAL, STARTER, WORD

ABBREVIATION, BEGINNING, COLLOCATION = 0.3, 30.0, 7.88  # least scores, those of the paper
TOKEN = re.compile(r"[^\w]*(.*\w)(\.(?!\.))?(.*)", re.DOTALL)
ELLIPSIS = re.compile(r"\.\.|…")
ENDS = re.compile(r"[!?]")
NUMBER = "##number##"


class Token(NamedTuple):
    """A token: its word in lower case, and whether it has a dot, an end mark, an ellipsis, a capital.

    The word of all numbers is NUMBER. A token without letters and digits has none.
    """

    word: str
    dot: bool
    end: bool
    ellipsis: bool
    capital: bool


@lru_cache(1 << 18)
def read(text: str) -> Token:
    """What a token is."""
    found = TOKEN.fullmatch(text)
    if not found:
        return Token("", False, bool(ENDS.search(text)), bool(ELLIPSIS.search(text)), False)
    core, dot, rest = found.groups()
    number = core[0].isdigit() and not any(map(str.isalpha, core))
    return Token(NUMBER if number else core.lower(), dot is not None, bool(ENDS.search(rest)),
                 bool(ELLIPSIS.search(rest)), core[0].isupper())


def count_types(text: str) -> Counter[str]:
    """How often each token of a text occurs."""
    return Counter(text.split())


class Types:
    """Counts of words with and without a dot, from counts of tokens; and the abbreviations among them.

    min_count  occurrences of an abbreviation with its dot
    """

    def __init__(self, tokens: Counter[str], min_count: int = 3):
        self.dotted: Counter[str] = Counter()
        self.plain: Counter[str] = Counter()
        for text, count in tokens.items():
            if (token := read(text)).word:
                (self.dotted if token.dot else self.plain)[token.word] += count
        self.dots = sum(self.dotted.values())
        self.total = self.dots + sum(self.plain.values())
        self.scores = {word: self.score(word) for word, count in self.dotted.items()
                       if word != NUMBER and count >= min_count}
        self.abbreviations = {word for word, score in self.scores.items() if score >= ABBREVIATION}

    def score(self, word: str) -> float:
        """S(w)."""
        inside, with_dot, without = word.count("."), self.dotted[word], self.plain[word]
        length = len(word) - inside
        ratio = dunning_abbreviation(with_dot, without, self.dots / self.total)
        return ratio * math.exp(-length) * (inside + 1) * length ** -float(without)

    def count(self, word: str) -> int:
        """How often a word occurs."""
        return self.dotted[word] + self.plain[word]


class Contexts:
    """What stands at the ends and in the middle of sentences; contexts of several texts add up.

    ends      sentences
    first     words that begin sentences: word → count
    capital   words with a capital that begin sentences, those that do not, and words without one
    numbered  words that follow a number and its dot
    """

    def __init__(self) -> None:
        self.ends = 0
        self.first, self.numbered = Counter[str](), Counter[str]()
        self.capital_first, self.capital_inside, self.small = Counter[str](), Counter[str](), Counter[str]()

    def add(self, other: "Contexts") -> None:
        """Add the counts of another text."""
        self.ends += other.ends
        for name in ("first", "numbered", "capital_first", "capital_inside", "small"):
            getattr(self, name).update(getattr(other, name))


def count_contexts(text: str, abbreviations: frozenset[str]) -> Contexts:
    """The contexts of a text's words, given the abbreviations, without dots."""
    counts, tokens = Contexts(), [token for token in map(read, text.split()) if token.word]
    pairs = Counter(zip(map(_place, tokens, [abbreviations] * len(tokens)), tokens[1:]))
    counts.ends = sum(map(_is_end, tokens, [abbreviations] * len(tokens)))
    for (place, token), count in pairs.items():
        if place == NUMBER:
            counts.numbered[token.word] += count
        elif place == "end":
            counts.first[token.word] += count
        if not token.capital:
            counts.small[token.word] += count
        elif place == "end":
            counts.capital_first[token.word] += count
        elif place == "inside":
            counts.capital_inside[token.word] += count
    return counts


def _is_end(token: Token, abbreviations: frozenset[str]) -> bool:
    return token.end or (token.dot and not token.ellipsis and token.word not in abbreviations)


def _place(before: Token, abbreviations: frozenset[str]) -> str:
    """Where a word stands, by the token before it: at a sentence's beginning, inside one, or unknown."""
    if _is_end(before, abbreviations):
        if before.word == NUMBER and not before.end:
            return NUMBER
        return "end" if len(before.word) > 1 or before.end else "unknown"  # an initial
    return "unknown" if before.dot or before.ellipsis else "inside"


def words_by_kind(types: Types, contexts: Contexts, min_count: int = 3) -> dict[str, list[str]]:
    """The words of each kind of `abbreviations`: abbreviations by score, others by count."""
    first = contexts.first
    begins = {word for word, count in first.items() if word != NUMBER and is_bound(
        contexts.ends, types.count(word), count, types.total, BEGINNING)}
    ordinals = [word for word, count in contexts.numbered.most_common() if count > 1 and word not in begins
                and is_bound(types.count(NUMBER), types.count(word), count, types.total, COLLOCATION)]
    begins |= {word for word, count in contexts.capital_first.items()
               if count >= min_count and contexts.small[word] and not contexts.capital_inside[word]}
    letters = [word for word, score in types.scores.items() if len(word) == 1 and score < ABBREVIATION]
    found = sorted(types.abbreviations, key=lambda word: (-types.scores[word], word))
    return {STARTER: with_dots(found), WORD: with_dots(sorted(letters)),
            BEGINS: [word for word, _ in first.most_common() if word in begins], ORDINAL: ordinals}


def with_dots(words: Iterable[str]) -> list[str]:
    return [f"{word}." for word in words]


def dunning_abbreviation(with_dot: int, without: int, chance: float) -> float:
    """-2 log of the likelihood that a word has a dot by `chance` over that it has one with probability 0.99."""
    return -2 * (_binomial(with_dot, without, chance) - _binomial(with_dot, without, 0.99))


def is_bound(first: int, second: int, both: int, total: int, least: float) -> bool:
    """Whether `both`, the second event after the first, is more frequent than by chance, with a score of `least`."""
    return both * total > first * second and second >= both and dunning(first, second, both, total) >= least


def dunning(first: int, second: int, both: int, total: int) -> float:
    """Dunning's log-likelihood ratio: is the second event as probable after the first as elsewhere?"""
    elsewhere = total - first
    chance, after, other = second / total, both / first, (second - both) / elsewhere
    alike = _binomial(both, first - both, chance) + _binomial(second - both, elsewhere - second + both, chance)
    differ = _binomial(both, first - both, after) + _binomial(second - both, elsewhere - second + both, other)
    return -2 * (alike - differ)


def _binomial(successes: float, failures: float, chance: float) -> float:
    """The log-likelihood of counts, without the binomial coefficient."""
    return ((successes * math.log(chance) if successes > 0 else 0.0)
            + (failures * math.log(1 - chance) if failures > 0 else 0.0))
