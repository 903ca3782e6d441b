"""Sentences of result pages on how figures were made: runs, what was resampled, what systems were trained on."""

import re
from collections.abc import Sequence

from punc.scoring.page_data import PageData
from punc.scoring.seeds import Spread, join_seeds
from punc.scoring.trainings import same_data

ONE_RUN = "Each row is one run"
STREAMS = "Intervals and tests resample streams: recordings, or texts{}"
BLOCKS = ("Intervals and tests resample blocks of {} words{}, as there are fewer than ten recordings: they are of "
          "other passages of these recordings, not of other recordings")
UNEQUAL = "\\*: A and B were not trained on the same data, as far as is known."
SEEDS = "±: mean and standard deviation of the trainings with {} seeds; any other row is one run"


def runs(data: PageData) -> str:
    """What a row is."""
    runs = {one.runs for row in join_seeds(data.metrics).values() for one in row.values() if isinstance(one, Spread)}
    return SEEDS.format(" or ".join(map(str, sorted(runs)))) if runs else ONE_RUN


def resampled(data: PageData, sets: Sequence[str]) -> str:
    """What intervals and tests resample, by the signatures; nothing for scores of earlier versions."""
    kinds: dict[str, list[str]] = {}
    for name in sets:
        units = {match for (_, other), signed in data.signatures.items() if other == name
                 for match in re.findall(r"\|units:\d+ (streams)|\|units:\d+ blocks of (\d+) words", signed)}
        for streams, block in sorted(units):
            kinds.setdefault(streams or block, []).append(name)
    where = {kind: f" of {', '.join(names)}" if len(kinds) > 1 else "" for kind, names in kinds.items()}
    return "".join(f" {(STREAMS.format(where[kind]) if kind == 'streams' else BLOCKS.format(kind, where[kind]))}."
                   for kind in kinds)


def unequal(name: str, data: PageData) -> str:
    """What systems were trained on whose tests are marked, as they were not trained on the same data."""
    pairs = [(test.this, test.other) for test in data.tests if test.set == name]
    systems = dict.fromkeys(system for pair in pairs if is_unequal(data, *pair) for system in pair)
    said = [f"{system}: {data.trainings[system].data}" for system in systems if system in data.trainings]
    return f" {UNEQUAL} {'; '.join(said)}." if said else ""


def is_unequal(data: PageData, this: str, other: str) -> bool:
    """Whether a test of these systems says that they were not trained on the same data."""
    return bool(data.trainings) and not same_data(data.trainings, this, other)
