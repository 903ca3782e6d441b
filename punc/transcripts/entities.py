"""Entities of HTML in texts: `&#39;` and `&amp;` are characters, and are written again where they stood."""

import html
import re

ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def decoded(text: str) -> str:
    """A text with characters for its entities."""
    return ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def encoded(text: str, like: str) -> str:
    """A text with entities for the characters that `like`, the text that it replaces, writes so.

    If both have as many of a character, each is written as it was; else all are entities.
    """
    if "&" not in like:
        return text
    for char in {html.unescape(entity) for entity in ENTITY.findall(like)}:
        if len(char) == 1:
            forms = [found[0] for found in ENTITY.finditer(like) if html.unescape(found[0]) == char]
            every = [found[0] for found in re.finditer(f"{ENTITY.pattern}|{re.escape(char)}", like)
                     if html.unescape(found[0]) == char]
            pieces = text.split(char)
            if len(pieces) != len(every) + 1:
                every = forms[:1] * (len(pieces) - 1)
            text = "".join(piece + form for piece, form in zip(pieces, [*every, ""]))
    return text
