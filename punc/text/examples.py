"""Counts of what was found in a text, by what it is and by example, next to the other counts of `punc prepare`.

A key of such a count is `WHAT<TAB>EXAMPLE`. So counts of several processes and jobs add up as the others do. The sums
are exact. There can be as many examples as there is text: beyond MOST of them, the rarest are counted together.
"""

from collections import Counter
from collections.abc import Iterator

MOST = 20_000  # different examples that are remembered
WIDTH = 40  # characters of an example
SHOWN = 10


def note(counts: Counter[str], what: str, example: str, times: int = 1) -> None:
    """Count an example of something."""
    if len(example) > WIDTH:
        example = example[:WIDTH - 1] + "…"
    counts[f"{what}\t{' '.join(example.split())}"] += times


def bound(counts: Counter[str]) -> None:
    """Count the rarer examples together if there are many."""
    examples = [key for key in counts if "\t" in key] if len(counts) > MOST else []
    if len(examples) > MOST:
        examples.sort(key=lambda key: (-counts[key], key))
        for key in examples[MOST // 2:]:
            what, _, example = key.partition("\t")
            if example:
                counts[f"{what}\t"] += counts.pop(key)


def found(counts: Counter[str]) -> Iterator[tuple[str, int, str]]:
    """What was found, in order: its name, how often, and the most frequent examples as a line of text."""
    examples: dict[str, list[tuple[int, str]]] = {}
    for key, times in counts.items():
        what, tab, example = key.partition("\t")
        if tab:
            examples.setdefault(what, []).append((-times, example))
    for what, some in sorted(examples.items()):
        shown = [f"{example} {-times:,}" for times, example in sorted(one for one in some if one[1])[:SHOWN]]
        total = -sum(times for times, _ in some)
        if len(some) > len(shown):
            shown.append("…")
        yield what, total, ", ".join(shown)
