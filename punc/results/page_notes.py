"""Sentences of result pages on how figures were made: runs, what was resampled, what systems were trained on."""

import re
from collections.abc import Sequence

from punc.results.page_data import PageData
from punc.results.seeds import Spread, join_seeds
from punc.results.trainings import same_data

ONE_RUN = "Each row is one run"
STREAMS = "Intervals and tests resample streams: recordings, or texts{}"
BLOCKS = ("Intervals and tests resample blocks of {} words{}, as there are fewer than ten recordings: they are of "
          "other passages of these recordings, not of other recordings")
MIXED = "Rows of {} do not all resample the same; their signatures say what each does"
UNITS = re.compile(r"\|units:\d+ (streams|utterances|blocks of \d+ words)")
UNEQUAL = "\\*: A and B were not trained on the same data, as far as is known."
SEEDS = "±: mean and standard deviation of trainings with several seeds ({}); any other row is one run"
TESTED = ("p is two-sided, by approximate randomisation; the 95 % interval of the difference is by the paired "
          "bootstrap.")
TESTED_RUNS = (" Of a system with several seeds the mean is tested; then both are by a t-test that knows the noise of "
               "training besides that of the test set (Obuchowski & Rockette 1995; Hillis 2014). A system with one run "
               "counts as it is.")


def runs(data: PageData) -> str:
    """What a row is: which systems have how many runs."""
    systems: dict[int, dict[str, None]] = {}
    for (system, _), row in join_seeds(data.metrics).items():
        for number in {one.runs for one in row.values() if isinstance(one, Spread)}:
            systems.setdefault(number, {})[system] = None
    found = "; ".join(f"{number}: {', '.join(names)}" for number, names in sorted(systems.items()))
    return SEEDS.format(found) if found else ONE_RUN


def tested(name: str, data: PageData) -> str:
    """How the systems of a set were tested."""
    rows = join_seeds(data.metrics)
    several = any(isinstance(rows.get((system, name), {}).get(test.metric), Spread)
                  for test in data.tests if test.set == name for system in (test.this, test.other))
    return TESTED + TESTED_RUNS * several


def resampled(data: PageData, sets: Sequence[str]) -> str:
    """What intervals and tests resample, by the signatures; nothing of utterances, which earlier versions resampled."""
    kinds: dict[str, list[str]] = {}
    mixed = []
    for name in sets:
        units = {unit for (_, other), signed in data.signatures.items() if other == name
                 for unit in UNITS.findall(signed)}
        for unit in sorted(units, reverse=True):
            kinds.setdefault(unit, []).append(name)
        mixed += [name] * (len(units) > 1)
    where = {kind: f" of {', '.join(names)}" if len(kinds) > 1 else "" for kind, names in kinds.items()}
    said = [STREAMS.format(where[kind]) if kind == "streams" else BLOCKS.format(kind.split()[2], where[kind])
            for kind in kinds if kind != "utterances"]
    return "".join(f" {one}." for one in [*said, *([MIXED.format(", ".join(mixed))] if mixed else [])])


def unequal(name: str, data: PageData) -> str:
    """What systems were trained on whose tests are marked, as they were not trained on the same data."""
    pairs = [(test.this, test.other) for test in data.tests if test.set == name]
    systems = dict.fromkeys(system for pair in pairs if is_unequal(data, *pair) for system in pair)
    said = [f"{system}: {data.trainings[system].data}" for system in systems if system in data.trainings]
    return f" {UNEQUAL} {'; '.join(said)}." if said else ""


def is_unequal(data: PageData, this: str, other: str) -> bool:
    """Whether a test of these systems says that they were not trained on the same data.

    Not if neither has a record of its training, as the rows of earlier versions.
    """
    return bool({this, other} & data.trainings.keys()) and not same_data(data.trainings, this, other)
