"""Decodes HTML entities in texts, such as `&#39;`, and encodes them in new texts. Tags like `<|en|>` are read as
spaces."""

import re
from html import unescape

SPECIAL = re.compile(r"<\|[^|<>\s]{1,40}\|>|&(?:amp;){0,3}(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
                     "|[\0\x1f\ufffd\ud800-\udfff]")
EACH = re.compile(f"{SPECIAL.pattern}|.", re.S)
TAG = "\x1f"  # stands for a tag in decoded texts; a white-space character, so no word contains it


def decoded(text: str) -> str:
    """Decode the entities of a text, and replace tags by TAG. NUL and lone surrogates, which no output may
    contain, become U+FFFD."""
    return SPECIAL.sub(lambda found: _character(found[0]), text) if SPECIAL.search(text) else text


def encoded(text: str, like: str) -> str:
    """Encode `text`, which replaces `like`, with the entities in `like`. If a character that is encoded in `like`
    occurs equally often in both texts, its occurrences in `text` get the same forms as those in `like`, in order.
    Otherwise, they all get the character's first encoded form in `like`."""
    if not SPECIAL.search(like):
        return text
    forms: dict[str, list[str]] = {_character(form): [] for form in SPECIAL.findall(like)}
    for form in EACH.findall(like):
        if (char := _character(form)) in forms:
            forms[char].append(form)
    for char, every in forms.items():
        if len(every) != text.count(char):
            forms[char] = [next((form for form in every if form != char), char)] * text.count(char)
    left = {char: iter(every) for char, every in forms.items()}
    return "".join([next(left[char]) if char in left else char for char in text])


def _character(form: str) -> str:
    if form[0] == "&":
        char = unescape(unescape(unescape(form)))  # some services escape texts two or three times
        return char if len(char) == 1 else form
    if form[0] == "<" and len(form) > 1:
        return TAG
    return "\ufffd" if form == "\0" or "\ud800" <= form <= "\udfff" else form
