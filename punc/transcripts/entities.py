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
    entities = {html.unescape(entity): entity for entity in ENTITY.findall(like)}
    was: dict[str, list[str]] = {char: [] for char in entities if len(char) == 1}
    for found in re.finditer(f"{ENTITY.pattern}|.", like, re.DOTALL):
        if (char := html.unescape(found[0])) in was:
            was[char].append(found[0])
    forms = {char: iter(every if len(every) == text.count(char) else [entities[char]] * text.count(char))
             for char, every in was.items()}
    return "".join([next(forms[char]) if char in forms else char for char in text])
