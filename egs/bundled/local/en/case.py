"""Capitals of spoken words: utils/calls/spoken.py writes lower case, and this module finds the capitals again."""

from collections.abc import Sequence

from punc.data.labels import LabelSet, with_capital


def capitals(token: str, words: Sequence[str]) -> list[bool]:
    """Whether each spoken word of a token has a capital in it: `Asia-Pacific` has two, `U.S.` two, `Q3` one."""
    lower, at, found = token.lower(), 0, []
    if len(lower) != len(token):  # İ is two characters in lower case
        return [token[:1].isupper()] * len(words)
    for word in words:
        begin = lower.find(word, at)
        found.append(begin >= 0 and token[begin].isupper())
        at = max(at, begin + len(word))
    return found


def with_capitals(token: str, words: Sequence[str]) -> list[str]:
    """The spoken words of a token, with a capital first where the token has one."""
    return [with_capital(word) if capital else word for word, capital in zip(words, capitals(token, words))]


def cased(names: Sequence[str], flags: Sequence[bool], labels: LabelSet) -> list[str]:
    """Labels of lower-case words as those of words with capitals where `flags` says so."""
    upper = {label.name: labels.reading(label.marks[:1], capital=True) for label in labels if not label.capital}
    return [upper[name] if flag else name for name, flag in zip(names, flags, strict=True)]
