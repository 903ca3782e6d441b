"""Result pages in Markdown: a short RESULTS.md, and results/SET.md with all rows, paired tests and signatures."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from punc.base.errors import InputError
from punc.results.page_data import SPREAD, Cost, Metrics, PageData, Published, Spread, join_seeds, runs_of, without_seed
from punc.scoring.metrics import columns, lower_is_better, rows_of
from punc.scoring.report import chance, duration, figure, markdown_table
from punc.scoring.significance import Interval

MOST_ROWS, MOST_COLUMNS = 10, 7  # the maximum size of the table in RESULTS.md
UNKNOWN = Interval(np.nan, np.nan, np.nan)

LEGEND = ("Figures are in percent, with the 95 % interval of the test set in brackets (docs/metrics.md). "
          f"{SPREAD}; a figure without ± is one run.")
MAIN_LEGEND = " **Bold**: the best of our rows. The pages below name the sources of published figures."
SET_LEGEND = " P / R / F1 in columns with three figures; –: undefined, because nothing was predicted or expected."
TESTED = "p is two-sided, by approximate randomisation; the 95 % interval of the difference is by the paired bootstrap."
TESTED_RUNS = (" If a system has several seeds, their mean is tested. Then p and the interval are those of a t-test "
               "that accounts for the variance between training runs as well as that of the test set (Obuchowski & "
               "Rockette 1995; Hillis 2014). If a system has one run, this run is tested.")


@dataclass
class Settings:
    """What a page shows. The fields are the options of `punc results`.

    columns        columns of the tables in results/SET.md, such as `overall` (P, R and F1) or `Err`; none: all columns
                   except that of the empty label
    main           systems in the table of RESULTS.md; none: the first MOST_ROWS systems
    main_columns   columns of the table of RESULTS.md, such as `overall.F1@test_ref`; none: overall.F1 of each set
    links          links to other pages, each as `PATH TEXT`
    """

    title: str = "Results"
    about: str = ""
    columns: Sequence[str] = ()
    main: Sequence[str] = ()
    main_columns: Sequence[str] = ()
    published: Sequence[Published] = ()
    findings: str = ""
    links: Sequence[str] = field(default_factory=tuple)


def render(data: PageData, settings: Settings) -> dict[str, str]:
    """Return the text of each page by file name: RESULTS.md, and results/SET.md for each set.

    Raises InputError if a column is in no score, or if the table of RESULTS.md is too large.
    """
    pages = {"RESULTS.md": _main_page(data, settings)}
    return pages | {f"results/{name}.md": _set_page(name, data, settings) for name in data.sets}


def _main_page(data: PageData, settings: Settings) -> str:
    parts = [f"# {settings.title}"]
    if settings.about:
        parts.append(settings.about)
    if data.command:
        parts.append(f"Made by\n\n```sh\n{data.command}\n```")
    parts += [markdown_table(_main_table(data, settings)), LEGEND + MAIN_LEGEND]
    if settings.findings.strip():
        parts.append(f"## What we found\n\n{settings.findings.strip()}")
    links = [f"- [{name}](results/{name}.md): all rows, paired tests and signatures" for name in data.sets]
    links.append("- [RESULTS.tsv](RESULTS.tsv): all figures as a table")
    links += [f"- [{name}](results/{name})" for name in data.pictures]
    for link in settings.links:
        path, _, text = link.partition(" ")
        links.append(f"- [{path}]({path}): {text}")
    parts.append("## More\n\n" + "\n".join(links))
    return "\n\n".join(parts) + "\n"


def _main_table(data: PageData, settings: Settings) -> list[list[str]]:
    of_set: dict[str, set[str]] = {}
    for (_, name), metrics in data.metrics.items():
        of_set.setdefault(name, set()).update(metrics)
    wanted = [_split(column) for column in settings.main_columns] or [("overall.F1", name) for name in data.sets]
    figures = [(metric, name) for metric, name in wanted if metric in of_set.get(name, ())]
    theirs = {(row.system, row.set, row.metric): row.value for row in settings.published}
    rows = join_seeds(data.metrics)
    known = list(dict.fromkeys(system for system, _ in rows))
    systems = [system for system in settings.main or known[:MOST_ROWS]
               if any((system, name) in rows or (system, name, metric) in theirs for metric, name in figures)]
    systems = systems or known[:MOST_ROWS]
    if figures:
        metric, name = figures[0]
        ours_or_theirs = {system: rows[system, name][metric].value if metric in rows.get((system, name), {}) else
                          theirs.get((system, name, metric)) for system in systems}
        systems = _best_first(ours_or_theirs, lower_is_better(metric))
    cells = [["system", *systems]]
    for metric, name in figures:
        ours = [rows.get((system, name), {}).get(metric) for system in systems]
        cells.append([f"{metric.replace('.', ' ')}, {name}", *_bold_best(ours, lower_is_better(metric))])
        published = [theirs.get((system, name, metric)) for system in systems]
        if any(value is not None for value in published):
            cells.append(["published", *("" if value is None else f"{value:.1f}" for value in published)])
    if any(system in data.costs for system in systems):
        cells.append(["training", *(_cost(data.costs[system]) if system in data.costs else "" for system in systems)])
    if len(systems) > MOST_ROWS or len(cells) > MOST_COLUMNS:
        raise InputError(f"the table of RESULTS.md has {len(systems)} rows and {len(cells)} columns",
                         f"--main and --main-columns name too many: at most {MOST_ROWS} rows and {MOST_COLUMNS} "
                         "columns, published figures and training included")
    return [list(row) for row in zip(*cells)]


def _best_first(values: dict[str, float | None], lowest: bool) -> list[str]:
    known = {system: value for system, value in values.items() if value is not None and not np.isnan(value)}
    return sorted(known, key=lambda system: known[system], reverse=not lowest) + [
        system for system in values if system not in known]


def _split(column: str) -> tuple[str, str]:
    metric, at, name = column.partition("@")
    if not at:
        raise InputError(f"--main-columns: '{column}' names no set", "write METRIC@SET, as overall.F1@test_ref")
    return metric, name


def _bold_best(values: Sequence[Interval | Spread | None], lowest: bool) -> list[str]:
    """Format each value as `value (low–high)` or `mean ± deviation`, and None as an empty string. All figures that
    round to the best figure are bold."""
    known = [one.value for one in values if one and not np.isnan(one.value)]
    best = figure((min if lowest else max)(known)) if known else ""
    shown = [figure(one.value) if one else "" for one in values]
    return [(f"**{text}**" if text == best else text) + _bounds(one) if one else "" for text, one in zip(shown, values)]


def _bounds(value: Interval | Spread) -> str:
    if isinstance(value, Spread):
        return f" ± {figure(value.deviation)}"
    return "" if np.isnan(value.low) else f" ({value.low:.1f}–{value.high:.1f})"


def _cost(cost: Cost) -> str:
    if np.isnan(cost.epochs):
        return duration(cost.seconds)
    return f"{cost.epochs:.0f} epoch{'s' if cost.epochs != 1 else ''}, {duration(cost.seconds)}"


def _set_page(name: str, data: PageData, settings: Settings) -> str:
    sources = list(dict.fromkeys(row.source for row in settings.published if row.set == name))
    several = any(isinstance(value, Spread) for row in _rows_of_set(name, data).values() for value in row.values())
    parts = [f"# {settings.title}: {name}"]
    if settings.about:
        parts.append(settings.about)
    parts.append(f"{LEGEND}{SET_LEGEND} [Back to the main page](../RESULTS.md)")
    shown = _shown_columns(name, data, settings)
    parts.append(markdown_table(_set_table(name, data, settings, shown, sources)))
    if of_runs := _run_table(name, data, shown):
        parts.append(f"## Each run\n\nOne figure for each seed; in columns of P / R / F1, it is F1.\n\n{of_runs}")
    if tests := _test_table(name, data):
        parts.append(f"## Paired tests\n\n{TESTED}{TESTED_RUNS if several else ''}\n\n{tests}")
    if sources:
        parts.append("## Sources of the published figures\n\n" +
                     "\n".join(f"{i}. {source}" for i, source in enumerate(sources, 1)))
    systems_of: dict[str, dict[str, None]] = {}
    for (system, other), signed in data.signatures.items():
        if other == name:
            systems_of.setdefault(signed, {})[without_seed(system)] = None
    parts.append("## Signatures\n\n" + "\n".join(f"- {', '.join(systems)}: `{signed}`"
                                                 for signed, systems in systems_of.items()))
    return "\n\n".join(parts) + "\n"


def _shown_columns(name: str, data: PageData, settings: Settings) -> list[str]:
    known = columns(metric for metrics in data.metrics.values() for metric in metrics)
    for column in settings.columns:
        if column not in known:
            raise InputError(f"no score has a column '{column}'", f"there are {' '.join(known)}")
    of_set = (metric for (_, other), metrics in data.metrics.items() if other == name for metric in metrics)
    return list(settings.columns) or [column for column in columns(of_set) if column not in data.empty_labels()]


def _rows_of_set(name: str, data: PageData) -> dict[str, Metrics]:
    of_set = {(system, other): metrics for (system, other), metrics in data.metrics.items() if other == name}
    return {system: metrics for (system, _), metrics in join_seeds(of_set).items()}


def _set_table(name: str, data: PageData, settings: Settings, shown: Sequence[str],
               sources: Sequence[str]) -> list[list[str]]:
    """Return the table of a set: a header, each system followed by its published row, and then the systems with only a
    published row."""
    ours = _rows_of_set(name, data)
    theirs: dict[str, list[Published]] = {}
    for row in settings.published:
        if row.set == name:
            theirs.setdefault(row.system, []).append(row)
    rows = [["system", *shown]]
    for system in dict.fromkeys([*ours, *theirs]):
        if system in ours:
            rows.append([f"**{system}**", *(_cell(ours[system], column) for column in shown)])
        if system in theirs:
            values = {row.metric: Interval(row.value, np.nan, np.nan) for row in theirs[system]}
            where = ", ".join(str(i) for i in sorted({sources.index(row.source) + 1 for row in theirs[system]}))
            rows.append([f"{system}, published [{where}]", *(_cell(values, column) for column in shown)])
    return rows


def _cell(measured: Metrics, column: str) -> str:
    """Return the text of a cell: `value (low–high)`, or `P / R / F1 (low–high)` with the interval of F1. For several
    seeds, `± deviation` replaces the interval. The text is empty if the row has no figures for the column."""
    names = rows_of(column)
    if not any(name in measured for name in names):
        return ""
    found = [measured.get(name, UNKNOWN) for name in names]
    return " / ".join(figure(one.value) for one in found) + _bounds(found[-1])


def _run_table(name: str, data: PageData, shown: Sequence[str]) -> str:
    names = [system for system, other in data.metrics if other == name]
    rows = [["system", *shown]]
    for system in dict.fromkeys(map(without_seed, names)):
        runs = [data.metrics[run, name] for run in runs_of(system, names)]
        if len(runs) > 1:
            last = [rows_of(column)[-1] for column in shown]
            rows.append([system, *(", ".join(figure(run.get(row, UNKNOWN).value) for run in runs) for row in last)])
    return markdown_table(rows) if len(rows) > 1 else ""


def _test_table(name: str, data: PageData) -> str:
    rows = [["A", "B", "metric", "A", "B", "A − B", "p"]]
    figures: dict[tuple[str, str], Metrics] = {**data.metrics, **join_seeds(data.metrics)}
    for test in data.tests:
        if test.set == name:
            values = (f"{figures[system, name][test.metric].value:.1f}" for system in (test.this, test.other))
            rows.append([test.this, test.other, test.metric, *values,
                         f"{test.difference:+.1f} ({test.low:+.1f} … {test.high:+.1f})", chance(test.p)])
    return markdown_table(rows) if len(rows) > 1 else ""
