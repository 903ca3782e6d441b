"""What systems were trained on, from the conf files of their models: which rows of a page can be compared."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from punc.base.files import open_input

STORE = re.compile(r"^# punc .*, store (\S+)$")
SOURCE = re.compile(r"^# (.*)/text \d+ bytes")  # of a store's conf: the text of a data directory
BASES = ("text-model", "initial-model", "lm-model")  # options that name a model to build on
UNKNOWN = "unknown"


class Training(NamedTuple):
    """A system's training.

    family   the architecture, as `--model` names it; of a system that is not ours, its own name
    data     the data directories that it and the models below it were trained on, as `data/train`, sorted, with ` + `
             between, whatever their words were cut into; `store/train` if the store is not there any more; UNKNOWN if
             that cannot be told
    """

    system: str
    family: str
    data: str


def collect_trainings(exp: Path, systems: Iterable[str]) -> dict[str, Training]:
    """The training of each system in EXP-DIR."""
    found = {}
    for system in systems:
        conf = _read_conf(_model_of(exp / system))
        data = _data_of(exp, _model_of(exp / system), ())
        found[system] = Training(system, conf.get("model", system), " + ".join(sorted(data)) or UNKNOWN)
    return found


def same_data(trainings: dict[str, Training], this: str, other: str) -> bool:
    """Whether two systems are known to have been trained on the same data."""
    sets = [trainings[system].data if system in trainings else UNKNOWN for system in (this, other)]
    return sets[0] == sets[1] != UNKNOWN


def _model_of(directory: Path) -> Path:
    """The model that made the rows of a directory: itself, or the one that its log of `punc punctuate` names."""
    if (directory / "conf").is_file():
        return directory
    for log in sorted(directory.glob("log/decode_*.log")):
        with open_input(log) as file:
            line = file.readline().decode("utf-8", "replace")
        if " punctuate " in line:
            words = line.split()
            if len(words) > 3:  # … MODEL-DIR DATA-DIR OUT-DIR, from the recipe's directory
                return directory.parent / Path(words[-3]).name
    return directory


def _data_of(exp: Path, directory: Path, above: tuple[Path, ...]) -> set[str]:
    """The sets of a model and of those below it; the name of a model that is not in EXP-DIR."""
    conf = _read_conf(directory)
    if not conf:
        return {directory.name} if above else set()
    sets = set(_sources(Path(conf.get("store", "")), filter(None, conf.get("train-set", "").split(","))))
    for base in (exp / Path(conf[option]).name for option in BASES if conf.get(option)):
        if base not in (*above, directory):  # a model below itself is a mistake of a conf file
            sets |= _data_of(exp, base, (*above, directory))
    return sets


def _sources(store: Path, names: Iterable[str]) -> Iterator[str]:
    """The data directories of sets of a store, relative to this one; `store/NAME` where its conf does not name one."""
    found, members = {}, {}
    if (store / "conf").is_file():
        for line in (store / "conf").read_text(encoding="utf-8", errors="replace").splitlines():
            if match := SOURCE.match(line):
                found[Path(match[1]).name] = os.path.relpath(match[1])
            elif line.startswith("--join="):
                name, _, joined = line.removeprefix("--join=").partition("=")
                members[name] = joined.split(",")
    for name in names:
        for member in members.get(name, [name]):
            yield found.get(member, f"{store.name}/{member}")


def _read_conf(directory: Path) -> dict[str, str]:
    """The options of a model's conf, and its `store`; empty without a conf."""
    if not (directory / "conf").is_file():
        return {}
    conf = {}
    for line in (directory / "conf").read_text(encoding="utf-8", errors="replace").splitlines():
        if match := STORE.match(line):
            conf["store"] = match[1]
        elif line.startswith("--"):
            name, _, value = line[2:].partition("=")
            conf[name] = value
    return conf
