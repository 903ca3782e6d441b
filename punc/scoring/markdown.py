"""Markdown: tables, and numbers to read."""

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of a header and rows."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def duration(seconds: float) -> str:
    """A time to read: `47 s`, `12 min`, `3 h 5 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def chance(p: float) -> str:
    """A probability to read: `0.0312`, `<0.0001`."""
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"
