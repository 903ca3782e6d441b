"""An experiment as one HTML page that needs nothing else: no network, no other file."""

import importlib.util
import json
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from punc.base.errors import InputError
from punc.data.labels import Label
from punc.results.collect import collect_scores
from punc.results.figures import plot_training, styles
from punc.results.page_data import PageData, read_page_data
from punc.results.sample import choose, encode
from punc.results.seeds import first_runs
from punc.results.set_view import view
from punc.results.slot_table import SlotTable, read_slot_table
from punc.results.systems_table import systems_table
from punc.results.training_log import read_training

logger = logging.getLogger(__name__)


@dataclass
class Settings:
    """What a page shows; the fields are the options of `punc report`.

    data             where the data directories are, DATA/SET; none: `data` next to the experiment
    systems, sets    their order; none: that of RESULTS.tsv, if there is one. Others follow, sorted
    most_slots       of each set in the error browser
    recordings       streams that the error browser shows whole, whatever the sample is
    words            ASR set -> the set with the words that were spoken; none: SET_ref for SET_…
    """

    title: str = "Report"
    data: Path | None = None
    systems: Sequence[str] = ()
    sets: Sequence[str] = ()
    most_slots: int = 10_000
    recordings: Sequence[str] = ()
    words: dict[str, str] = field(default_factory=dict)


def missing_packages() -> list[str]:
    """The packages that a report needs and that are not installed."""
    return [name for name in ("jinja2", "matplotlib") if importlib.util.find_spec(name) is None]


def render(exp: Path, settings: Settings) -> str:
    """The page of an experiment.

    Raises InputError if there is no score, and for a recording that no set has.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    systems, sets = _order(exp, settings)
    scores = collect_scores(exp, systems, sets)
    names = first_runs(dict.fromkeys(score.system for score in scores))
    style = styles(names)
    training = {name: epochs for name in names if (epochs := read_training(exp / name))}
    unknown = set(settings.recordings)
    views, browsed = [], []
    for number, name in enumerate(dict.fromkeys(score.set for score in scores), 1):
        of_set = [score for score in scores if score.set == name]
        shown_runs = [score for score in of_set if score.system in names]
        table = read_slot_table(shown_runs, settings.data or exp.resolve().parent / "data", _spoken(name, settings))
        shown: set[str] = set()
        if isinstance(table, SlotTable):
            unknown -= set(table.streams)
            browsed.append(_browsed(name, table, settings))
            shown = {passage["stream"] for passage in browsed[-1]["passages"]}
            for system, reason in table.left_out.items():
                logger.info("punc report: no errors of %s on %s: %s", system, name, reason)
        else:
            logger.info("punc report: no errors on %s: %s", name, table)
        views.append({"name": name, "id": f"set{number}", "table": systems_table(of_set),
                      **view(table, style, f"set{number}", shown)})
    if unknown:
        raise InputError(f"no set has a recording '{min(unknown)}'", "name a recording, or a speaker, of a set")
    environment = Environment(loader=PackageLoader("punc.results", "."), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number_text
    return environment.get_template("page.html").render(
        title=settings.title, sets=views, training=_training(training, style),
        browsed=bool(browsed), json=script_data({"sets": browsed}), css=_text("page.css"), js=_text("page.js"))


def number_text(value: float | None) -> str:
    """A figure of a table: one decimal, – if it is undefined."""
    return "–" if value is None or math.isnan(value) else f"{value:.1f}"


def script_data(data: Any) -> str:
    """Data as JSON inside a script element, where `<` would end it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _text(name: str) -> str:
    return files("punc.results").joinpath(name).read_text(encoding="utf-8")


def _order(exp: Path, settings: Settings) -> tuple[Sequence[str], Sequence[str]]:
    """The order of systems and sets: as asked for, else as RESULTS.tsv has them."""
    results = read_page_data(exp) if (exp / "RESULTS.tsv").is_file() else PageData({}, {})
    return settings.systems or results.systems, settings.sets or results.sets


def _spoken(name: str, settings: Settings) -> str:
    """The set with the words that were spoken in a set; empty if it is the set itself."""
    spoken = settings.words.get(name) or name.rpartition("_")[0] + "_ref"
    return "" if spoken == name else spoken


def _browsed(name: str, table: SlotTable, settings: Settings) -> dict[str, Any]:
    """What the error browser gets of a set."""
    wanted = [number for number, stream in enumerate(table.streams) if stream in settings.recordings]
    ranges = choose(table.begins, settings.most_slots, wanted)
    slots, all_slots = sum(end - begin for begin, end in ranges), len(table.words)
    note = (f"All {all_slots:,} slots." if slots == all_slots else
            f"A sample of {slots:,} of {all_slots:,} slots, from {len(ranges)} of {len(table.streams)} recordings or "
            "speakers. punc report --recordings NAMES shows those whole.")
    return {"name": name, "note": note, "labels": [{"name": one.name, "mark": shown_mark(one)} for one in table.labels],
            "systems": list(table.hypotheses), "passages": encode(table, ranges)}


def shown_mark(label: Label) -> str:
    """How a label looks by itself: its mark, Aa for a capital, empty for no mark."""
    return ("Aa" if label.capital else "") + label.mark


def _training(training: dict, style: dict) -> dict[str, Any] | None:
    if not training:
        return None
    return {"svg": plot_training(training, style), "rows": [
        {"system": system, "epochs": len(epochs), "kept": next(one for one in epochs if one.kept),
         "lowest": min(epochs, key=lambda one: one.dev_loss),
         "highest": max(epochs, key=lambda one: (one.dev_f1 == one.dev_f1, one.dev_f1))}  # NaN is the lowest
        for system, epochs in training.items()]}
