"""RESULTS.tsv and RESULTS.md: the scores of many systems and sets, with published figures beside them."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, read_lines
from punc.data.labels import LabelSet
from punc.scoring.metrics import figures, read_counts
from punc.scoring.report import PRF, columns, is_summary, read_tsv, write_tsv
from punc.scoring.significance import Interval, check_pair, compare


class Score(NamedTuple):
    """What stands in exp/<system>/decode_<set>/score."""

    system: str
    set: str
    path: Path
    figures: dict[str, Interval]
    signature: str


class Published(NamedTuple):
    """One published figure, in percent, and where it stands."""

    system: str
    set: str
    metric: str
    value: float
    source: str


def collect(exp: str | os.PathLike, systems: Sequence[str] = (), sets: Sequence[str] = ()) -> list[Score]:
    """All scores of exp/<system>/decode_<set>/score, by set, then system, in C order, those named first as named.

    Raises InputError where there is none.
    """
    scores = []
    for path in Path(exp).glob("*/decode_*/score/figures.tsv"):
        rows = read_tsv(path, ("metric", "value", "low", "high"), ("value", "low", "high"))
        signed = next((line for _, line in read_lines(path.with_name("signature"))), "")
        scores.append(Score(path.parts[-4], path.parts[-3].removeprefix("decode_"), path.parent,
                            {name: Interval(*figure) for name, *figure in rows}, signed))
    if not scores:
        raise InputError("no scores", "punc score writes them to SYSTEM/decode_SET/score", exp)
    return sorted(scores, key=lambda score: (_place(score.set, sets), _place(score.system, systems)))


def _place(name: str, order: Sequence[str]) -> tuple[int, bytes]:
    return (order.index(name) if name in order else len(order), name.encode())


def read_published(path: str | os.PathLike) -> list[Published]:
    """Read a table of published figures: system, set, metric, value, source with tabs between, under that header."""
    return [Published(*row) for row in read_tsv(path, Published._fields, ("value",))]


def write_results(prefix: str | os.PathLike, scores: Sequence[Score], title: str = "Results", command: str = "",
                  published: Sequence[Published] = (), compared: Sequence[tuple[str, str]] = (),
                  shown: Sequence[str] = (), notes: str = "", tested: Sequence[str] = ()) -> None:
    """Write PREFIX.tsv, a line for each figure, and PREFIX.md, tables with published figures beside ours.

    scores     as `collect` orders them
    compared   pairs of systems to test against each other on every set that both were scored on
    shown      columns of the tables, as `punc.scoring.report.columns` names them; none: all but the empty label's
    notes      Markdown that is appended as it is
    tested     metrics that are tested, as `overall.F1`; none: all F1 of labels, overall and macro F1, Err, SER
    """
    known = columns(metric for score in scores for metric in score.figures)
    for column in shown:
        if column not in known:
            raise InputError(f"no score has a column '{column}'", f"there are {' '.join(known)}")
    tests = [section for pair in compared for section in _comparison_section(*pair, scores, tested)]
    write_tsv(f"{prefix}.tsv", ("system", "set", "metric", "value", "low", "high"),
               ((score.system, score.set, name, *figure) for score in scores for name, figure in score.figures.items()))
    parts = [f"# {title}"]
    if command:
        parts.append(f"Made by\n\n```sh\n{command}\n```")
    parts.append("All figures in percent, P / R / F1 where there are three; in brackets the 95 % confidence interval "
                 "(of F1 where there are three). –: undefined, as nothing was predicted or expected.")
    sources = list(dict.fromkeys(figure.source for figure in published))
    for name in dict.fromkeys(score.set for score in scores):
        parts.append(_set_section(name, [score for score in scores if score.set == name],
                                  [figure for figure in published if figure.set == name], sources, shown))
    parts += tests
    if sources:
        parts.append("## Sources of the published figures\n\n" +
                     "\n".join(f"{i}. {source}" for i, source in enumerate(sources, 1)))
    parts.append("## Signatures\n\n" + "\n".join(_signatures(scores)))
    with atomic_file(f"{prefix}.md") as file:
        file.write("\n\n".join([*parts, notes.strip()]).rstrip() + "\n")


def _set_section(name: str, scores: Sequence[Score], published: Sequence[Published], sources: Sequence[str],
                 chosen: Sequence[str]) -> str:
    """The table of one set: each system's row, the published one below it; published systems of others at the end."""
    empty = {LabelSet.read(score.path / "labels.txt").names[0] for score in scores}
    shown = list(chosen) or [column for column in columns(metric for score in scores for metric in score.figures)
                             if column not in empty]
    rows = [["system", *shown]]
    for system in dict.fromkeys([score.system for score in scores] + [figure.system for figure in published]):
        rows += [[f"**{system}**", *(_cell(score.figures, column) for column in shown)]
                 for score in scores if score.system == system]
        theirs = [figure for figure in published if figure.system == system]
        if theirs:
            values = {figure.metric: Interval(figure.value, np.nan, np.nan) for figure in theirs}
            where = ", ".join(str(i) for i in sorted({sources.index(figure.source) + 1 for figure in theirs}))
            rows.append([f"{system}, published [{where}]", *(_cell(values, column) for column in shown)])
    return f"## {name}\n\n{_markdown(rows)}"


def _cell(measured: Mapping[str, Interval], column: str) -> str:
    """The figures of a column, `P / R / F1 (low–high)` or `value (low–high)`, empty where there are none."""
    names = [column] if column in measured else [f"{column}.{part}" for part in PRF]
    if not any(name in measured for name in names):
        return ""
    found = [measured.get(name, Interval(np.nan, np.nan, np.nan)) for name in names]
    last = found[-1]
    return (" / ".join("–" if np.isnan(figure.value) else f"{figure.value:.1f}" for figure in found)
            + ("" if np.isnan(last.low) else f" ({last.low:.1f}–{last.high:.1f})"))


def _comparison_section(this: str, other: str, scores: Sequence[Score], tested: Sequence[str]) -> list[str]:
    """A table of paired tests of two systems, of some metrics or all.

    Raises InputError where no set has both systems, where the slots differ, and for a metric that is not tested.
    """
    of = {(score.system, score.set): score for score in scores}
    pairs = [(score, of[other, score.set]) for score in scores
             if score.system == this and (other, score.set) in of]
    if not pairs:
        raise InputError(f"no set on which both '{this}' and '{other}' are scored", "score both, or mend the names")
    rows = [["set", "metric", this, other, "difference", "p"]]
    for one, two in pairs:
        (counts, labels), (others, _) = read_counts(one.path), read_counts(two.path)
        check_pair(counts, others, os.fspath(two.path))
        result = compare(counts.confusion, others.confusion, partial(figures, labels=labels))
        tests = {name: c for name, c in result.items() if is_summary(name) and name != f"{labels.names[0]}.F1"}
        for name in tested:
            if name not in tests:
                raise InputError(f"there is no test of '{name}'", f"there are {' '.join(tests)}")
        rows += [[one.set, name, f"{c.this:.1f}", f"{c.other:.1f}",
                  f"{c.difference:+.1f} ({c.low:+.1f} … {c.high:+.1f})", f"{c.p:.4f}"]
                 for name, c in tests.items() if not tested or name in tested]
    return [f"## {this} against {other}\n\nPaired tests: p two-sided, by approximate randomisation; "
            f"the difference's 95 % interval by the paired bootstrap.\n\n{_markdown(rows)}"]


def _signatures(scores: Sequence[Score]) -> list[str]:
    """One line for each signature, with what has it."""
    of = {}
    for score in scores:
        of.setdefault((score.set, score.signature), []).append(score.system)
    return [f"- {name}, {', '.join(systems)}: `{signed}`" for (name, signed), systems in of.items()]


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of a header and rows."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
