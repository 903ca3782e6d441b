"""Converts written tokens to spoken words, by the same rules for references, any ASR output, and other text.

The word error rate depends on these rules:

- Words are in lower case. Tags such as `<laugh>`, words that replace tags in aligned transcripts (`inaudible`,
  `crosstalk`), and cut-off words (`comp-`) are dropped. Fillers (um, uh) and `gonna` are kept: they are words, and ASR
  systems write them.
- Compounds, fractions and initials are split: `long-term` → long term, `U.S.` → u s, `10-K` → ten k; `&` → and.
- Numbers are spelled out: `2020` → twenty twenty, `6.8%` → six point eight percent, `769,000` → seven hundred sixty
  nine thousand, `31st` → thirty first, `$2.45` → two dollars and forty five cents, `$5.1 million` → five point one
  million dollars. Numbers without commas are read digit by digit if they have seven digits or more, or a leading 0.
  Letters with digits (`q3`, `5g`) are not changed.
- Finally, only letters, digits, and apostrophes inside a word are kept. All other characters separate words.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
            "twelve": "twelfth"}
CURRENCIES = {"$": ("dollar", "cent"), "€": ("euro", "cent"), "£": ("pound", "penny"), "¥": ("yen", ""),
              "₽": ("ruble", ""), "₵": ("cedi", ""), "₹": ("rupee", "")}
MAGNITUDES = frozenset(("hundred", "thousand", "million", "billion", "trillion", "millions", "billions"))
NOISES = frozenset(("inaudible", "crosstalk"))
TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "vs", "messrs"))  # no sentence ends at their periods
PLAIN = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "\u00a0": " "})
TAG = re.compile(r"<[^<>]*>")
MARKS = frozenset(",.;:?!")
ENDING = re.compile(r"[^\w%&$€£]*$")
HAS_CURRENCY = re.compile(f"[{''.join(CURRENCIES)}]")
CURRENCY = re.compile(rf"^(?:[a-z]{{1,3}})?([{''.join(CURRENCIES)}])(?=[\d.])")
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\.\d+|\d+")
PART = re.compile(rf"(?:{NUMBER.pattern})(?:st|nd|rd|th)?(?![a-z\d])|[^\W_]+(?:'[^\W_]+)*'?|[%&]")


def cardinal(n: int) -> list[str]:
    """Return a whole number below 10^12 in words, without `and`."""
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10], *([ONES[n % 10]] if n % 10 else [])]
    size, name = next(scale for scale in SCALES if n >= scale[0])
    return [*cardinal(n // size), name, *(cardinal(n % size) if n % size else [])]


def number(text: str) -> list[str]:
    """Return a number, which may have commas and a point, in words. Numbers that can be years (1100 to 2099, except
    2000 to 2009) are read as years."""
    whole, point, decimals = text.replace(",", "").partition(".")
    if len(whole) > 12 or ("," not in text and (len(whole) > 6 or (len(whole) > 1 and whole[0] == "0"))):
        words = [ONES[int(digit)] for digit in whole]
    elif "," not in text and not point and len(whole) == 4 and 1100 <= int(whole) < 2100 and whole[1:3] != "00":
        rest = int(whole[2:])
        tail = ["hundred"] if not rest else ["o", ONES[rest]] if rest < 10 else cardinal(rest)
        words = [*cardinal(int(whole[:2])), *tail]
    else:
        words = cardinal(int(whole)) if whole else []
    return [*words, *(["point"] + [ONES[int(digit)] for digit in decimals] if point else [])]


def ordinal(words: Sequence[str]) -> list[str]:
    """Convert a cardinal number, given as words, to an ordinal."""
    *first, last = words
    return [*first, ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")]


def amount(text: str, unit: str, part: str) -> list[str]:
    """Return an amount of money in words. Two decimals are read as cents or pence (`part`), unless `text` has commas or
    `part` is empty."""
    whole, _, decimals = text.partition(".")
    if part and len(decimals) == 2 and text.count(",") == 0:
        units, parts = int(whole or 0), int(decimals)
        said = [*number(whole), plural(unit, units)] if units else []
        also = [*cardinal(parts), plural(part, parts)] if parts else []
        return [*said, *(["and"] if said and also else []), *also] or ["zero", plural(unit, 0)]
    return [*number(text), plural(unit, 1 if text == "1" else 2)]


def plural(unit: str, n: int) -> str:
    """Return the name of a currency's unit in the singular or plural."""
    return unit if n == 1 or unit == "yen" else {"penny": "pence"}.get(unit, unit + "s")


@lru_cache(1 << 20)
def words_of(token: str, magnitude: bool = False) -> tuple[tuple[str, ...], str]:
    """Return the spoken words of a token, and the currency to say after the next token ("" if there is none).

    magnitude  whether the next token is a magnitude, as in `$5.1 million`
    """
    token = TAG.sub(" ", token.translate(PLAIN).lower()).strip()
    if token.isalpha() and token.isascii():
        return (() if token in NOISES else (token,)), ""
    # A hyphen at the end, after a letter, shows that the word was cut off.
    if re.search(r"[^\W\d_]-$", token):
        token = token[:token[:-1].rfind("-") + 1]
    currency = CURRENCY.match(token)
    token = token[currency.end():] if currency else token
    words, pending = [], ""
    for index, part in enumerate(PART.finditer(token)):
        text = part[0]
        if not text[-1].isalnum() and text not in "%&":
            text = text.rstrip("'") if len(text) > 1 else ""
        digits = NUMBER.match(text)
        if text in ("%", "&"):
            words.append("percent" if text == "%" else "and")
        elif digits and index == 0 and currency and digits.end() == len(text):
            unit, cent = CURRENCIES[currency[1]]
            if magnitude:
                words += number(text)
                pending = plural(unit, 2)
            else:
                words += amount(text, unit, cent)
        elif digits and digits.end() == len(text):
            words += number(text)
        elif digits and text[digits.end():] in ("st", "nd", "rd", "th") and text[digits.end() - 1].isdigit():
            words += ordinal(number(digits[0]))
        elif text and text not in NOISES:
            words.append(text)
    return tuple(words), pending


def spoken(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the spoken words of each token of a text. Dropped tokens have none."""
    result, pending = [], ""
    for token, following in zip(tokens, [*tokens[1:], ""]):
        magnitude = following.lower().rstrip(".,;:?!") in MAGNITUDES
        words, unit = words_of(token, magnitude)
        if pending and words and not unit:
            words, pending = (*words, pending), ""
        result.append(words)
        pending = unit or pending
    return result


def parts(token: str) -> tuple[str, str]:
    """Split off the punctuation at the end of a token. Return the rest, and the marks that can be labels. The hyphen of
    a cut-off word is not split off, unless such a mark follows it."""
    ending = ENDING.search(token)[0]
    core = token[:len(token) - len(ending)]
    kept = "".join(mark for mark in ending if mark in MARKS)
    if core.strip("(\"'").lower() in TITLES:
        kept = kept.replace(".", "")
    return core + ("-" if ending.startswith("-") and not kept else ""), kept


def lower_case(token: str, words: Iterable[str]) -> Iterable[str]:
    """Return the spoken words unchanged, because they are already in lower case."""
    return words


class SpokenText(dict):
    """Maps written tokens to their spoken words with marks. Stores the results, because tokens recur.

    write   gets a token without its marks, and its spoken words; returns these words, for example with capitals
    """

    def __init__(self, write: Callable[[str, Iterable[str]], Iterable[str]] = lower_case):
        self.write = write

    def __missing__(self, token: str) -> str:
        core, ending = parts(token)
        text = " ".join(self.write(core, words_of(core)[0])) + ending
        if len(self) < 1 << 20:
            self[token] = text
        return text

    def line(self, line: str) -> str:
        """Convert a line of text to spoken words with their marks."""
        tokens = line.split()
        if not HAS_CURRENCY.search(line):
            return " ".join(map(self.__getitem__, tokens))
        cores, endings = zip(*map(parts, tokens))
        return " ".join(" ".join(self.write(core, words)) + ending
                        for core, words, ending in zip(cores, spoken(cores), endings))
