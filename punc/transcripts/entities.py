"""Entities of HTML in texts: `&#39;` and `&amp;` are characters, and are written again where they stood."""

import html
import re

ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def decoded(text: str) -> str:
    """A text with characters for its entities."""
    return ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def encoded(text: str, like: str) -> str:
    """A text with entities for the characters that `like`, the text that it replaces, writes so."""
    if "&" not in like:
        return text
    forms = {html.unescape(entity): entity for entity in ENTITY.findall(like)}
    return text.translate(str.maketrans({char: entity for char, entity in forms.items() if len(char) == 1}))
