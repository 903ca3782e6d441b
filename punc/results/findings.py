"""The findings of a page: sentences whose figures the program fills in from the cells of the page.

A figure stands in braces, and names what it is:

    {SYSTEM SET METRIC}             a cell, as `{T-LSTM test_ref overall.F1}`: 50.9; of several seeds, their mean
    {± SYSTEM SET METRIC}           the mean of several seeds and their standard deviation: 50.9 ± 0.8
    {published SYSTEM SET METRIC}   a published figure
    {A - B SET METRIC}              a difference, with its sign: +1.3; A and B may be published ones: `published A`
    {p A B SET METRIC}              the p of a paired test, as a table of the page has it

A digit outside of braces and backticks is an error, unless it is a part of a name, as F1 and 4-gram, or a year.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from punc.base.errors import InputError
from punc.base.options import nearest
from punc.results.page_data import PageData, Published
from punc.results.rows import Spread, join_seeds
from punc.scoring.tables import chance

REFERENCE = re.compile(r"\{([^{}]*)\}")
QUOTED = re.compile(r"`[^`]*`")
DIGIT = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"(?<![\w.,-])(?:(?:19|20)\d\d(?![\d.,]*\d)|[A-Za-z][\w@+-]*|\d+-[A-Za-z]\w*(?:[+-]\w+)*)")


def filled(text: str, data: PageData, published: Sequence[Published], path: str) -> str:
    """The findings in `text`, of the file `path`, with their figures.

    Raises InputError for a figure that the page does not have, and for one that is typed.
    """
    figures = Figures(data, published)
    for number, line in enumerate(text.splitlines(), 1):
        if typed := DIGIT.search(NAME.sub("", REFERENCE.sub("", QUOTED.sub("", line)))):
            raise InputError(f"a typed figure, {typed[0]}", "name its cell: {SYSTEM SET METRIC}", path, number)
        for reference in REFERENCE.findall(line):
            try:
                figures.text(reference)
            except InputError as error:
                raise InputError(f"{{{reference}}}: {error.what}", error.remedy, path, number) from None
    return REFERENCE.sub(lambda found: figures.text(found[1]), text)


class Figures:
    """The cells of a page, those of several seeds as one, its published figures, and its paired tests."""

    def __init__(self, data: PageData, published: Sequence[Published]):
        rows = {**data.metrics, **join_seeds(data.metrics)}
        self._cells = {(*row, metric): value for row, metrics in rows.items() for metric, value in metrics.items()}
        self._published = {(row.system, row.set, row.metric): row.value for row in published}
        self._chances = {(*pair, test.set, test.metric): test.p for test in data.tests
                         for pair in ((test.this, test.other), (test.other, test.this))}

    def text(self, reference: str) -> str:
        """What stands on the page for a reference. Raises InputError if the page has no such figure."""
        parts = reference.split()
        if len(parts) < 3:
            raise InputError("too short", "write {SYSTEM SET METRIC}")
        *names, name, metric = parts
        if names[0] == "p":
            return chance(_find(self._chances, (*names[1:], name, metric)))
        if names[0] == "±":
            spread = _find(self._cells, (*names[1:], name, metric))
            if not isinstance(spread, Spread):
                raise InputError("a single run has no deviation", "leave out ±")
            return f"{spread.value:.1f} ± {spread.deviation:.1f}"
        if "-" in names:
            at = names.index("-")
            difference = self._value(names[:at], name, metric) - self._value(names[at + 1:], name, metric)
            return f"{difference:+.1f}".replace("-", "−")
        return f"{self._value(names, name, metric):.1f}"

    def _value(self, names: Sequence[str], name: str, metric: str) -> float:
        if names[0] == "published":
            return _find(self._published, (*names[1:], name, metric))
        return _find(self._cells, (*names, name, metric)).value


def _find(figures: Mapping[Any, Any], key: tuple[str, ...]) -> Any:
    if key in figures:
        return figures[key]
    for i, part in enumerate(key):
        known = sorted({other[i] for other in figures if other[:i] == key[:i] and len(other) > i})
        if part not in known:
            raise InputError(f"the page has no '{part}' there", nearest(part, known))
    raise InputError("the page has no such figure", "write {SYSTEM SET METRIC}")
