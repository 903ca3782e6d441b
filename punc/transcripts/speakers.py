"""Finds speaker labels at the start of lines: `John Smith:`, `[SPEAKER_00]:`, `(speaker 0)`, `Anna  1:02:10`, `>>`.

The rules cover television captions, minutes of meetings, and the output of diarization. A name has up to five words.
The first begins with a capital; the others may also be numbers or particles, such as `van`. A time, with or
without brackets, may follow the name or, with a dash or bar, precede it; pronouns such as `(she/her)` may follow it. A
telephone number counts as a name, and so do a few kanji or katakana: `話者1：`, `田中さん：`. A user name in lower case
counts only if the file has labels of other kinds.
"""

import re
from typing import NamedTuple

CHEVRONS = re.compile(r"[ \t]*(?:>>+|(?:&gt;){2,})[ \t]*")
DASH = re.compile(r"[ \t]*[-–](?![-–])[ \t]*(?=[^\W_]|['\"“‘(\[¿¡]|$)")
COLON = re.compile(r":[*_]{0,2}(?=[ \t]|$)|：")
STAMP = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
TIME = rf"(?:[(\[]{STAMP}[)\]]|{STAMP})"
AFTER_NAME = re.compile(rf"[ \t]*(?:[-–|,•][ \t]*)?(?:{TIME}|\((?:[a-z]{{1,8}}/){{1,3}}[a-z]{{1,8}}\))$")
BEFORE_NAME = re.compile(rf"{TIME}[ \t]*[-–|•][ \t]*")
COLUMNS = re.compile(rf"([^\t\n:]{{1,60}}?)(?:\t| {{2,9}}){TIME}(?:\t| {{2,9}})(?=\S)")  # Rev's text: name, time, words
NOTE = re.compile(r"[ \t]*(?:\([^()\n]{1,40}\)|\[[^\[\]\n]{1,40}\])$")  # how or where somebody speaks
PHONE = re.compile(r"\+?\d[\d ()-]{5,20}\d")
ID = re.compile(r"(?:speaker|sprecher|hablante|orador|spk|spkr|s)[ _:-]?\d{1,4}|speaker [a-z]|unknown speaker"
                r"|(?:話者|スピーカー) ?\d{1,4}", re.I)  # speaker names from diarization
KANJI = "[々㐀-鿿ァ-ヺー・]{1,9}"  # or katakana
ASIAN = re.compile(rf"{KANJI}(?:[ 　]{KANJI})?(?:さん|くん|ちゃん)?[ 　]?[A-Z0-9Ａ-Ｚ０-９]{{0,3}}")
WORD = re.compile(r"[\w.'’&-]+")
LOWER = re.compile(r"[a-z][a-z0-9._-]{1,15}")  # a user name
PARTICLES = frozenset(("of", "the", "de", "da", "di", "do", "du", "del", "della", "la", "le", "van", "von", "der",
                       "den", "ter", "ten", "al", "bin", "ibn", "and", "y", "e", "&"))
MOST_WORDS, LONGEST = 5, 80  # the maximum numbers of words in a name and of characters in a label


class Label(NamedTuple):
    """A label: its length in characters, and the name, which is empty if the label only shows a change of speaker."""

    size: int
    name: str
    sure: bool = True  # False: counts as a label only in a file that also has sure labels


def find_label(line: str, dashes: bool = False, goes_on: bool = False) -> Label | None:
    """Return the label at the beginning of a line, or None. With `dashes`, in subtitles, a dash before words counts as
    a label, and a name before a time (`Paris 18:45`) does not. `goes_on`: whether the line goes on after markup."""
    dash = DASH.match(line) if dashes else None
    turn = CHEVRONS.match(line) or (dash if dash and (goes_on or dash.end() < len(line)) else None)
    begin = turn.end() if turn else len(line) - len(line.lstrip(" \t"))
    rest = line[begin:begin + LONGEST]
    label = _in_brackets(rest) or _before_colon(rest) or _in_columns(rest) or (
        _alone(line[begin:], dashes) if len(line) < LONGEST else None)
    if label:
        size = begin + label.size
        return label._replace(size=size + len(line[size:]) - len(line[size:].lstrip(" \t")))
    return Label(begin, "") if turn else None


def _in_brackets(text: str) -> Label | None:
    """Find a label such as `[SPEAKER_00]`, `[John Smith]:` or `(speaker 0)`."""
    end = text.find({"[": "]", "(": ")"}.get(text[:1], "\n"))
    if end < 0:
        return None
    name, colon = text[1:end].strip(), text[end + 1:end + 2] == ":"
    if ID.fullmatch(name) or (colon and is_name(name)):
        return Label(end + 1 + colon, name)
    if is_name(name) and re.fullmatch(rf"[ \t]*{STAMP}[ \t]*", text[end + 1:]):
        return Label(len(text), name)
    return None


def _before_colon(text: str) -> Label | None:
    """Find a label such as `John Smith:`, `**MAN 1:**` or `Anna (00:03):`."""
    colon = COLON.search(text)
    if not colon:
        return None
    name = NOTE.sub("", text[:colon.start()].strip("*_ \t"))
    for _ in range(2):  # removes a time and pronouns, in either order
        name = AFTER_NAME.sub("", name)
    if is_name(name):
        return Label(colon.end(), name)
    return Label(colon.end(), name, sure=False) if LOWER.fullmatch(name) else None


def _in_columns(text: str) -> Label | None:
    """Find a label such as `Speaker 0    00:00:01    `, with words after it."""
    found = COLUMNS.match(text)
    return Label(found.end(), found[1]) if found and is_name(found[1]) else None


def _alone(line: str, timed: bool) -> Label | None:
    """Find a label with nothing after it, such as `SPEAKER_01` or, unless the file has times, `Anna Smith  1:02:10` or
    `[00:03.5] - Anna`."""
    text = line.strip("*_ \t")
    name = AFTER_NAME.sub("", BEFORE_NAME.sub("", text, count=1))
    if ID.fullmatch(name) or (name != text and not timed and not text.endswith("/") and is_name(name)):
        return Label(len(line), name)
    return None


def is_name(text: str) -> bool:
    if PHONE.fullmatch(text) or ID.fullmatch(text) or ASIAN.fullmatch(text):
        return True
    words = text.split()
    if not 0 < len(words) <= MOST_WORDS or not words[0][:1].isupper():
        return False
    return all(WORD.fullmatch(word) and (word[0].isupper() or word in PARTICLES or (word.isdigit() and len(word) < 4))
               for word in words)
