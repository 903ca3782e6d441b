"""Fills in the findings of a page: sentences whose figures come from the tables of the page.

A finding refers to a figure by its cell, in braces; names with spaces are quoted:

    {SYSTEM SET METRIC}       51.1; the mean if there are several seeds
    {± SYSTEM SET METRIC}     51.1 ± 1.1: the mean and the standard deviation of the seeds
    {A - B SET METRIC}        +1.3: a difference
    {A > B C SET METRIC}      57.0 against 52.0 (p = 0.0005) and 50.7: A is above B and C; with <, below them
    {p A B SET METRIC}        p = 0.0312, from a paired test
    {tests A B SET}           overall F1 +0.4 (p = 0.2089), Err +0.3 (p = 0.0024): all paired tests of A − B, except the
                              tests of SER and of the macro average

`published SYSTEM` in place of SYSTEM refers to the system's published row. A finding must name each system whose
figures it quotes. A number that does not come from a cell must be in backticks, together with a word that names what it
counts. Years, words that begin with a letter (F1), and names of the page's systems, sets and metrics (4-gram) need
no backticks.
"""

import logging
import math
import re
import shlex
from collections.abc import Collection, Sequence

from punc.base.errors import InputError
from punc.base.options import nearest
from punc.results.page_data import Metrics, PageData, PairedTest, Published, Spread, join_seeds
from punc.scoring.report import chance, figure
from punc.scoring.significance import Interval

BORDER = re.compile(r"^(?=- |$)", re.MULTILINE)  # between two findings
REFERENCE = re.compile(r"\{([^{}]*)\}")
COUNT = r"an?|half|third|quarter|one|two|three|four|five|six|seven|eight|nine|ten|twenty"
PART = re.compile(rf"{REFERENCE.pattern}|`(?=[^`]*[A-Za-z])(?![^`]*\d\.\d)[^`]*`|"
                  rf"(?P<typed>[{{}}]|[\w@+.,-]*\d[\w@+-]*|\b(?:{COUNT}) (?:a )?(?:points?|tenths?|per ?cent)\b)")
NAME = re.compile(r"(?:19|20)\d\d|[A-Za-z][\w@+-]*")
LEVEL = 0.05  # the significance level

logger = logging.getLogger(__name__)


class NotBorneOutError(Exception):
    """Raised if a row, figure or test that a finding quotes is missing, or if the figures contradict the finding."""


def filled(text: str, data: PageData, published: Sequence[Published], declared: Collection[str], path: str) -> str:
    """Fill in the figures of the findings in `text`, which was read from `path`.

    A finding is left out, with a warning, in four cases: it quotes a row that is not on the page, but `declared` or
    other rows contain the row's system and set; it quotes an undefined figure; it quotes a test that is not on the
    page; its `<` or `>` is false, or a test finds the difference not significant (p ≥ LEVEL).

    Raises InputError for a figure typed by hand, for a system that the finding quotes but does not name, and for braces
    whose content is malformed or contains an unknown name.
    """
    figures = Figures(data, published, declared)
    kept, line = [], 1
    for finding in BORDER.split(text):
        try:
            kept.append(_filled(finding, figures, path, line))
        except NotBorneOutError as error:
            logger.warning("punc results: %s:%d: this finding is left out: %s", path, line, error)
        line += finding.count("\n")
    return "".join(kept)


def _filled(finding: str, figures: "Figures", path: str, line: int) -> str:
    prose = REFERENCE.sub("", finding)

    def part(found: re.Match) -> str:
        try:
            if found[1] is not None:
                return figures.text(found[1], prose)
            if found["typed"] and not figures.is_name(found["typed"]):
                raise InputError("a figure was typed", "refer to its cell: {SYSTEM SET METRIC}")
            return found[0]
        except InputError as error:
            at = line + finding.count("\n", 0, found.start())
            raise InputError(f"{found[0]}: {error.what}", error.remedy, path, at) from None
    return PART.sub(part, finding)


class Figures:
    """The cells of a page (single runs, and means of the systems with several seeds), its published figures, and its
    paired tests."""

    def __init__(self, data: PageData, published: Sequence[Published], declared: Collection[str]):
        self._rows: dict[tuple[str, str], Metrics] = {**data.metrics, **join_seeds(data.metrics)}
        for one in published:
            key = f"published {one.system}", one.set
            self._rows[key] = {**self._rows.get(key, {}), one.metric: Interval(one.value, math.nan, math.nan)}
        self._tests = data.tests
        self._systems = {system.removeprefix("published ") for system, _ in self._rows}
        self._known = self._systems.union(declared, *self._rows)
        self._names = self._known.union(metric.split(".")[0] for row in self._rows.values() for metric in row)

    def is_name(self, word: str) -> bool:
        """Return whether a word that contains a digit is a name, not a figure."""
        return word in self._names or NAME.fullmatch(word) is not None

    def text(self, reference: str, prose: str) -> str:
        """Return the text that replaces a reference in braces, such as {SYSTEM SET METRIC}, given without the braces.
        `prose` is the text of the finding outside braces."""
        words = shlex.split(reference) if reference.count('"') % 2 == 0 else []
        for system in self._systems.intersection(words):
            if not re.search(rf"(?<![\w+-]){re.escape(system)}(?![\w+-])", prose):
                raise InputError(f"the finding does not name {system}", "say whose figure it is")
        for i in reversed(range(len(words) - 1)):
            if words[i] == "published":
                words[i:i + 2] = [f"published {words[i + 1]}"]
        match words:
            case ["tests", this, other, name]:
                tests = self._paired(this, other, name)
                return ", ".join(f"{test.metric.replace('.', ' ')} {_signed(test.difference)} ({_p(test)})"
                                 for test in tests if test.metric not in ("SER", "macro.F1"))
            case ["p", this, other, name, metric]:
                return _p(*self._paired(this, other, name, metric))
            case ["±", system, name, metric]:
                cell = self._cell(system, name, metric)
                spread = f" ± {figure(cell.deviation)}" if isinstance(cell, Spread) else " (one run)"
                return figure(cell.value) + spread
            case [this, "-", other, name, metric]:
                return _signed(self._cell(this, name, metric).value - self._cell(other, name, metric).value)
            case [this, "<" | ">" as sign, *others, name, metric] if others:
                return self._compared(this, sign, others, name, metric)
            case [system, name, metric]:
                return figure(self._cell(system, name, metric).value)
        raise InputError("not a reference", "write {SYSTEM SET METRIC}")

    def _cell(self, system: str, name: str, metric: str) -> Interval | Spread:
        row = self._row(system, name)
        if metric not in row:
            raise InputError(f"{system} has no {metric} on {name}", nearest(metric, row))
        if math.isnan(row[metric].value):
            raise NotBorneOutError(f"{metric} of {system} on {name} is undefined")
        return row[metric]

    def _row(self, system: str, name: str) -> Metrics:
        for part in (system, name):
            if part not in self._known:
                raise InputError(f"the page has no {part}", nearest(part, self._known))
        if (system, name) not in self._rows:
            raise NotBorneOutError(f"the page has no row of {system} on {name}")
        return self._rows[system, name]

    def _paired(self, this: str, other: str, name: str, metric: str = "") -> list[PairedTest]:
        for system in (this, other):
            row = self._row(system, name)
            if metric and metric not in row:
                raise InputError(f"{system} has no {metric} on {name}", nearest(metric, row))
        tests = self._tests_of(this, other, name, metric)
        if not tests:  # for example, rows that --keep has kept are not tested against new rows
            raise NotBorneOutError(f"the page does not test {this} and {other} on {name}: --compare={this},{other}")
        return tests

    def _tests_of(self, this: str, other: str, name: str, metric: str = "") -> list[PairedTest]:
        turned = [test._replace(this=test.other, other=test.this, difference=-test.difference) for test in self._tests]
        return [test for test in [*self._tests, *turned] if (test.this, test.other, test.set) == (this, other, name)
                and metric in ("", test.metric)]

    def _compared(self, this: str, sign: str, others: Sequence[str], name: str, metric: str) -> str:
        ours = figure(self._cell(this, name, metric).value)
        theirs = []
        for other in others:
            shown = figure(self._cell(other, name, metric).value)
            ahead = float(ours) < float(shown) if sign == "<" else float(ours) > float(shown)
            tests = self._tests_of(this, other, name, metric)
            shown += "".join(f" ({_p(test)})" for test in tests)
            if not ahead or any(test.p >= LEVEL for test in tests):
                raise NotBorneOutError(f"{metric} on {name} is {ours} for {this}, but {shown} for {other}")
            theirs.append(shown)
        return f"{ours} against " + " and ".join(filter(None, [", ".join(theirs[:-1]), theirs[-1]]))


def _p(test: PairedTest) -> str:
    shown = chance(test.p)
    return f"p {shown[0]} {shown[1:]}" if shown[0] == "<" else f"p = {shown}"


def _signed(difference: float) -> str:
    return f"{round(difference, 1) + 0:+.1f}".replace("-", "−")
