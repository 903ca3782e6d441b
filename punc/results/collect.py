"""The data of result pages, collected from the systems' directories: scores, paired tests, training costs."""

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input, read_lines, unchanged
from punc.results.page_data import Cost, PairedTest
from punc.results.seeds import runs_of
from punc.scoring.counts import read_counts
from punc.scoring.metrics import compute_flat, is_summary, rows_of
from punc.scoring.report import METRICS, METRICS_HEADER
from punc.scoring.significance import Interval, all_flat, check_pair, compare
from punc.scoring.training_noise import compare_runs
from punc.scoring.tsv import read_tsv

# What `punc train` says after an epoch, and after fitting a model that is not trained by gradient.
SECONDS = r"(\d{1,18}(?:\.\d*)?) s$"
EPOCH = re.compile(rf"epoch (\d{{1,9}}): .*?(\d[\d,]{{0,24}}) (?:words|tokens)/s, {SECONDS}", re.ASCII)
FIT = re.compile(rf"dev loss \S+, dev F1 \S+, {SECONDS}", re.ASCII)


class Score(NamedTuple):
    """A score directory: EXP-DIR/`system`/decode_`set`/score."""

    system: str
    set: str
    path: Path
    metrics: dict[str, Interval]
    signature: str


def collect_scores(exp: str | os.PathLike, systems: Sequence[str] = (), sets: Sequence[str] = ()) -> list[Score]:
    """All scores EXP-DIR/SYSTEM/decode_SET/score, by set, then by system.

    Where decode_SET also has score_NAME, another score of the same output, its overall P, R and F1 are NAME's.

    systems, sets   the order; names that are not in it follow in C order

    Raises InputError if there is none.
    """
    scores = []
    for path in Path(exp).glob(f"*/decode_*/score/{METRICS}"):
        with unchanged(path):
            rows = read_tsv(path, METRICS_HEADER, Interval._fields)
            signed = next((line for _, line in read_lines(path.with_name("signature"))), "")
        scores.append(Score(path.parts[-4], path.parts[-3].removeprefix("decode_"), path.parent,
                            {name: Interval(*value) for name, *value in rows} | _others(path.parents[1]), signed))
    if not scores:
        raise InputError("no scores", "punc score writes them to SYSTEM/decode_SET/score", exp)
    return sorted(scores, key=lambda score: (rank(score.set, sets), rank(score.system, systems)))


def _others(decoded: Path) -> dict[str, Interval]:
    """The overall figures of decoded/score_NAME as those of NAME."""
    found: dict[str, Interval] = {}
    for path in sorted(decoded.glob(f"score_*/{METRICS}")):
        name = path.parent.name.removeprefix("score_")
        found |= {row.replace("overall", name): Interval(*value)
                  for row, *value in read_tsv(path, METRICS_HEADER, Interval._fields) if row.startswith("overall.")}
    return found


def rank(name: str, order: Sequence[str]) -> tuple[int, bytes]:
    """The place of a name in an order; names that are not in it follow in C order."""
    return (order.index(name) if name in order else len(order), name.encode())


def paired_tests(scores: Sequence[Score], pairs: Iterable[tuple[str, str]],
                 tested: Sequence[str] = (), shown: Sequence[str] = ()) -> list[PairedTest]:
    """Test pairs of systems against each other on every set that both were scored on.

    A system with several seeds is tested as the mean of its runs, and the test knows training noise (`training_noise`).

    tested   the metrics, as `overall.F1`; none: those of the columns `shown`, or, without these, all

    A pair that no set has both of is left out. Raises InputError if the slots of a pair differ, or for a metric that is
    not tested.
    """
    of_set: dict[str, dict[str, Score]] = {}
    for score in scores:
        of_set.setdefault(score.set, {})[score.system] = score
    wanted = [name for column in shown for name in rows_of(column)]
    tests = []
    for pair in pairs:
        runs = [[[found[name] for name in runs_of(system, found)] for system in pair] for found in of_set.values()]
        tests += [test for these, others in runs if these and others
                  for test in _tests(pair, these, others, tested, wanted)]
    return tests


def _tests(pair: tuple[str, str], these: Sequence[Score], others: Sequence[Score], tested: Sequence[str],
           shown: Sequence[str]) -> list[PairedTest]:
    """Tests of a pair of systems, each with its runs, on a set."""
    runs = [*these, *others]
    counts, labels = zip(*(read_counts(run.path) for run in runs))
    for run, other in zip(runs[1:], counts[1:]):
        check_pair(counts[0], other, os.fspath(run.path), not _is_aligned(runs[0], run))
    flat, measure, first = all_flat(counts), partial(compute_flat, labels=labels[0]), len(these)
    result = compare(flat[0], flat[1], measure) if len(runs) == 2 else compare_runs(flat[:first], flat[first:], measure)
    found = {name: c for name, c in result.items() if is_summary(name) and name != f"{labels[0].names[0]}.F1"}
    for name in tested:
        if name not in found:
            raise InputError(f"there is no test of '{name}'", f"there are {' '.join(found)}")
    return [PairedTest(*pair, runs[0].set, name, *map(_rounded, (c.difference, c.low, c.high, c.p)))
            for name, c in found.items() if (name in tested if tested else name in shown or not shown)]


def _is_aligned(*scores: Score) -> bool:
    """Whether a system changed words of a reference that all have in common: then slots differ, and units do not."""
    signed = [dict(part.partition(":")[::2] for part in score.signature.split("|")) for score in scores]
    return len({parts.get("reference") for parts in signed}) == 1 and any(
        parts.get("words", "").startswith("aligned") for parts in signed)


def collect_costs(exp: str | os.PathLike, systems: Iterable[str]) -> dict[str, Cost]:
    """The cost of training of each system that has a complete log in EXP-DIR/SYSTEM/log.

    The log is train.log; if the run was stopped and went on, it is train.1.log, train.2.log, … and train.log.
    """
    costs = {system: read_cost(system, Path(exp) / system / "log" / "train.log") for system in systems}
    return {system: cost for system, cost in costs.items() if cost}


def read_cost(system: str, log: Path) -> Cost | None:
    """Read the cost of training from the messages of `punc train`; None if the first epoch is not there.

    An epoch that was trained again, because the run was stopped before it was on disk, counts once, as the model was
    trained; a first epoch begins a new run.
    """
    lines = [line for part in log_parts(log) for line in _lines(part)]
    epochs: dict[int, tuple[float, float]] = {}
    for match in filter(None, map(EPOCH.search, lines)):
        epochs = {epoch: cost for epoch, cost in epochs.items() if epoch < int(match[1])}
        epochs[int(match[1])] = (float(match[2].replace(",", "")), float(match[3]))
    fits = [float(match[1]) for match in map(FIT.search, lines) if match]
    if 1 in epochs:
        seconds = sum(elapsed for _, elapsed in epochs.values())
        tokens = sum(rate * elapsed for rate, elapsed in epochs.values())
        return Cost(system, float(len(epochs)), _rounded(seconds), _rounded(tokens / max(seconds, 1e-9)))
    return Cost(system, np.nan, _rounded(fits[-1]), np.nan) if fits and not epochs else None


def log_parts(log: Path) -> list[Path]:
    """The logs of a run in their order: NAME.1.log, NAME.2.log, … and NAME.log."""
    number = re.compile(re.escape(log.stem) + r"\.(\d+)\.log")
    found = {int(match[1]): path for path in log.parent.glob("*.log") if (match := number.fullmatch(path.name))}
    return [*(found[n] for n in sorted(found)), *([log] if log.is_file() else [])]


def _lines(path: Path) -> list[str]:
    with open_input(path) as file:
        return [line.decode("utf-8", "replace").rstrip() for line in file]


def _rounded(value: float) -> float:
    """A number as a table has it, so that a page is the same from the table."""
    return float(f"{value:.4f}")
