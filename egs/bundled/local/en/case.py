"""Restores the capitals of spoken words, which utils/calls/spoken.py writes in lower case."""

from collections.abc import Sequence

from punc.data.labels import LabelSet, with_capital


def capitals(token: str, words: Sequence[str]) -> list[bool]:
    """Return for each spoken word of a token whether the word gets a capital. Both words of `Asia-Pacific` get one."""
    lower, at, found = token.lower(), 0, []
    if len(lower) != len(token):  # İ becomes two characters in lower case, so indices in `lower` do not fit `token`
        return [token[:1].isupper()] * len(words)
    for word in words:
        begin = lower.find(word, at)
        found.append(begin >= 0 and token[begin].isupper())
        at = max(at, begin + len(word))
    return found


def with_capitals(token: str, words: Sequence[str]) -> list[str]:
    """Return the spoken words of a token, each with a capital if its first letter is a capital in the token."""
    return [with_capital(word) if capital else word for word, capital in zip(words, capitals(token, words))]


def cased(names: Sequence[str], flags: Sequence[bool], labels: LabelSet) -> list[str]:
    """Return the names of labels. Where the flag is true, the label gets a capital: COMMA becomes CAP_COMMA, for
    example."""
    upper = {label.name: labels.reading(label.marks[:1], capital=True) for label in labels if not label.capital}
    return [upper[name] if flag else name for name, flag in zip(names, flags, strict=True)]
