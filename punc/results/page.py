"""Renders an experiment as one self-contained HTML page."""

import json
import logging
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.results.collect import Epoch, Score, collect_scores, paired_tests, read_training
from punc.results.figures import draw, styles
from punc.results.page_data import SPREAD, PageData, Spread, first_runs, join_seeds, read_page_data
from punc.results.set_view import view
from punc.results.slot_table import SlotTable, read_slot_table
from punc.scoring.metrics import is_summary
from punc.scoring.report import chance, figure

logger = logging.getLogger(__name__)

MAIN = "overall.F1"  # the first column of the table of systems, and the metric that is tested
ALPHA = 0.05
MOST_SLOTS = 10_000  # the maximum number of slots of a set in the error browser; a larger set is sampled
MOST_STREAMS = 50  # a sample consists of parts of this many streams, or of more streams in full if MOST_SLOTS allows
PASSAGE = 60  # the maximum number of slots in a passage (see `encode`)
UNKNOWN = "--"


def render(exp: Path, title: str, data: Path | None = None, recordings: Sequence[str] = ()) -> str:
    """Return the page of an experiment, with systems and sets in the order of RESULTS.tsv if this file exists.

    data         the directory that contains the data directories DATA/SET; None: the directory `data` next to `exp`
    recordings   streams that the error browser shows in full, in addition to its sample

    Raises InputError if there is no score, and for a recording that is in no set.
    """
    results = read_page_data(exp) if (exp / "RESULTS.tsv").is_file() else PageData({}, {})
    scores = collect_scores(exp, results.systems, results.sets)
    names = first_runs(dict.fromkeys(score.system for score in scores))
    style = styles(names)
    training = {name: epochs for name in names if (epochs := read_training(exp / name))}
    unknown = set(recordings)
    views, browsed = [], []
    for number, name in enumerate(dict.fromkeys(score.set for score in scores), 1):
        of_set = [score for score in scores if score.set == name]
        shown_runs = [score for score in of_set if score.system in names]
        spoken = name.rpartition("_")[0] + "_ref"  # the set with the spoken words
        table = read_slot_table(shown_runs, data or exp.resolve().parent / "data", "" if spoken == name else spoken)
        shown: set[str] = set()
        if isinstance(table, SlotTable):
            unknown -= set(table.streams)
            browsed.append(_browsed(name, table, recordings))
            shown = {passage["stream"] for passage in browsed[-1]["passages"]}
            for system, reason in table.left_out.items():
                logger.info("punc report: no errors of %s on %s: %s", system, name, reason)
        else:
            logger.info("punc report: no errors on %s: %s", name, table)
        views.append({"name": name, "id": f"set{number}", "table": systems_table(of_set),
                      **view(table, style, f"set{number}", shown)})
    if unknown:
        raise InputError(f"no set has a recording '{min(unknown)}'", "give a recording, or a speaker, of a set")
    content = json.dumps({"sets": browsed}, ensure_ascii=False, separators=(",", ":"))
    return _filled(title=title, sets=views, training=_training(training, style), browsed=bool(browsed),
                   spread=SPREAD, json=content.replace("<", "\\u003c"))


def _filled(**values: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("punc.results", "."), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = figure
    css, js = (files("punc.results").joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return environment.get_template("page.html").render(css=css, js=js, **values)


def systems_table(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the scores of one set as `columns` and `rows`; all seeds of a system share one row. Each of a row's
    `cells` is an Interval, a Spread or None. The `test` of a row states how its overall F1 differs from the F1 of the
    `best` system. For the rows that combine several runs, `runs` lists how many runs they combine; each number is
    listed once."""
    empty = LabelSet.read(scores[0].path / "labels.txt").names[0]
    names = [name for name in dict.fromkeys(name for score in scores for name in score.metrics)
             if is_summary(name) and name != f"{empty}.F1"]
    names.sort(key=lambda name: name != MAIN)
    found = join_seeds({(score.system, score.set): score.metrics for score in scores})
    metrics = {system: row for (system, _), row in found.items()}
    known = [system for system, row in metrics.items() if MAIN in row and not np.isnan(row[MAIN].value)]
    best = max(known, key=lambda system: metrics[system][MAIN].value, default="")
    rows = [{"system": system, "cells": [row.get(name) for name in names],
             "test": "best" if system == best else _against(best, system, scores) if best else ""}
            for system, row in metrics.items()]
    return {"columns": [name.replace(".", " ") for name in names], "rows": rows, "best": best,
            "runs": sorted({one.runs for row in metrics.values() for one in row.values() if isinstance(one, Spread)})}


def _against(best: str, system: str, scores: Sequence[Score]) -> str:
    try:
        test = paired_tests(scores, [(best, system)], [MAIN])[0]
    except InputError as error:
        return f"not testable: {error.what}"
    if np.isnan(test.p):
        return "undefined"
    verdict = "worse" if test.p < ALPHA else "not significant"
    return f"{verdict}: {-test.difference:+.1f}, p {chance(test.p)}"


def _training(training: dict[str, list[Epoch]], style: dict[str, dict]) -> dict[str, Any] | None:
    if not training:
        return None
    curves: dict[str, dict[str, Any]] = {}
    points: dict[str, dict[str, Any]] = {}
    for title, name in (("loss of training", "loss"), ("dev loss", "dev_loss"), ("dev F1", "dev_f1"),
                        ("learning rate", "rate")):
        curves[title], points[title] = {}, {}
        for system, epochs in training.items():
            kept = [epoch for epoch in epochs if epoch.kept]
            curves[title][system] = [one.number for one in epochs], [getattr(one, name) for one in epochs]
            points[title][system] = [one.number for one in kept], [getattr(one, name) for one in kept]
    svg = draw(curves, style, "training", points, logarithmic=["learning rate"], xlabel="epoch")
    return {"svg": svg, "rows": [
        {"system": system, "epochs": len(epochs), "kept": next(one for one in epochs if one.kept),
         "lowest": min(epochs, key=lambda one: one.dev_loss),
         "highest": max(epochs, key=lambda one: (one.dev_f1 == one.dev_f1, one.dev_f1))}  # NaN counts as the lowest
        for system, epochs in training.items()]}


def _browsed(name: str, table: SlotTable, recordings: Sequence[str]) -> dict[str, Any]:
    wanted = [number for number, stream in enumerate(table.streams) if stream in recordings]
    ranges = choose(table.begins, MOST_SLOTS, wanted)
    slots, all_slots = sum(end - begin for begin, end in ranges), len(table.words)
    note = (f"All {all_slots:,} slots." if slots == all_slots else
            f"A sample of {slots:,} of {all_slots:,} slots, from {len(ranges)} of {len(table.streams)} recordings or "
            "speakers. punc report --recordings NAMES shows recordings in full.")
    labels = [{"name": label.name, "mark": ("Aa" if label.capital else "") + label.mark} for label in table.labels]
    return {"name": name, "note": note, "labels": labels, "systems": list(table.hypotheses),
            "passages": encode(table, ranges)}


def choose(begins: np.ndarray, most: int, wanted: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Return ranges of the slots to show, in order. No range spans two streams. The streams `wanted` are shown in full.

    begins   int64 (streams + 1,): where the slots of each stream begin
    most     the maximum number of slots to show, not counting `wanted`. If there are more slots, streams are drawn at
             random. They are shown in full if `most` slots are enough for MOST_STREAMS or more of them; otherwise, a
             random part of each is shown, with a length proportional to the stream's length
    """
    sizes = np.diff(begins)
    if begins[-1] <= most:
        return [(int(begin), int(begin + size)) for begin, size in zip(begins, sizes) if size]
    rng = np.random.default_rng(1)
    order = rng.permutation(np.flatnonzero(sizes))
    # If `most` slots are enough for MOST_STREAMS or more complete streams, they are shown; otherwise, parts of
    # MOST_STREAMS streams are shown.
    fit = int(np.searchsorted(np.cumsum(sizes[order]), most, side="right"))
    drawn = order[:max(fit, min(MOST_STREAMS, most))]
    share = min(1.0, most / sizes[drawn].sum())
    ranges = {}
    for stream in sorted(drawn.tolist()):
        size = max(1, int(sizes[stream] * share))
        begin = int(begins[stream]) + int(rng.integers(0, sizes[stream] - size + 1))
        ranges[stream] = begin, begin + size
    for stream in wanted:
        ranges[stream] = int(begins[stream]), int(begins[stream + 1])
    return [ranges[stream] for stream in sorted(ranges)]


def encode(table: SlotTable, ranges: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the slots in `ranges` as passages of up to PASSAGE slots, in the form that the page's script reads.

    A passage contains `stream`, `at` (the number of its first slot in the stream, from 1), `words`, and strings with a
    fixed number of characters per slot: ref and hyp (one character, whose code is 48 + the number of the label), post
    (two digits: the posterior of the system's label in percent) and pause (two digits of base 36: hundredths of a
    second, `--`: unknown). hyp and post are lists with a string for each system. `wrong` maps the index of each wrong
    word in the passage to the spoken word, or to "" if nothing was spoken. `missing` maps the index of a word to the
    spoken words that the recogniser omitted after it.
    """
    passages = []
    stream_of = table.stream_of
    cuts = [(at, min(at + PASSAGE, end)) for begin, end in ranges for at in range(begin, end, PASSAGE)]
    for begin, end in cuts:
        stream = int(stream_of[begin])
        passage: dict[str, Any] = {
            "stream": table.streams[stream], "at": begin - int(table.begins[stream]) + 1,
            "words": " ".join(table.words[begin:end]), "ref": _labels(table.reference[begin:end]),
            "pause": "".join(map(_pause, table.pauses[begin:end].tolist())),
            "hyp": [_labels(one.labels[begin:end]) for one in table.hypotheses.values()],
            "post": ["" if one.posteriors is None else _percent(one.posteriors[begin:end], one.labels[begin:end])
                     for one in table.hypotheses.values()]}
        if (found := table.recognition) is not None:
            passage["wrong"] = {i - begin: found.spoken.get(i, "") for i in range(begin, end) if found.wrong[i]}
            passage["missing"] = {i - begin: found.missing[i] for i in range(begin, end) if i in found.missing}
        passages.append(passage)
    return passages


def _labels(labels: np.ndarray) -> str:
    return "".join(chr(48 + label) for label in labels.tolist())


def _percent(posteriors: np.ndarray, labels: np.ndarray) -> str:
    chosen = posteriors[np.arange(len(labels)), labels.astype(np.int64)]
    return "".join(f"{min(99, round(100 * value)):02}" for value in chosen.tolist())


def _pause(seconds: float) -> str:
    if np.isnan(seconds):
        return UNKNOWN
    number = max(0, min(36 * 36 - 1, round(100 * seconds)))
    return np.base_repr(number, 36).lower().zfill(2)
