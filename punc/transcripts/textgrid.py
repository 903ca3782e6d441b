"""Reads TextGrids of Praat and of aligners, in the long and the short form.

A tier of words has a name in WORD_TIERS, such as `words`, which may follow the name of a speaker: `speaker - words`
(Montreal Forced Aligner). If there are no such tiers, all interval tiers are read, except tiers of parts of words, such
as phones. If several tiers are read, each is a speaker. An interval may contain many words. Other tiers stay unchanged.

Source: www.fon.hum.uva.nl/praat/manual/TextGrid_file_formats.html.
"""

import re
from functools import partial
from typing import NamedTuple

from punc.transcripts.clock import checked_seconds
from punc.transcripts.source import Source, Stretch, TextReader
from punc.transcripts.transcript import Transcript

SILENCE = frozenset(("", "sil", "sp", "SIL", "SP", "<eps>", "<p:>", "#"))
NUMBER = r"(-?\d{1,15}(?:\.\d{0,18})?(?:[eE][-+]?\d{1,3})?)"
QUOTED = r'"((?:[^"]|"")*)"'
TIER = re.compile(rf'"(IntervalTier|TextTier)"\s+(?:name = )?{QUOTED}\s+(?:xmin = )?{NUMBER}'
                  rf"\s+(?:xmax = )?{NUMBER}\s+(?:(?:intervals|points): size = )?(\d{{1,18}})(?!\d)")
INTERVAL = re.compile(rf"^[ \t]*(?:xmin = )?{NUMBER}[ \t\r]*\n[ \t]*(?:xmax = )?{NUMBER}[ \t\r]*\n"
                      rf"[ \t]*(?:text = )?{QUOTED}", re.M)
GRID = re.compile(rf'"TextGrid"\s+(?:xmin = )?{NUMBER}\s+(?:xmax = )?{NUMBER}\s+(?:tiers\? )?<exists>'
                  r"\s+(?:size = )?(\d{1,9})(?!\d)")
BROKEN = "the file is cut short, or broken: save it again"
# Names of tiers of words in MFA, P2FA, MAUS and other programs.
WORD_TIERS = ("words", "word", "ort-mau", "ort", "orthography", "tokens", "token")
OTHER_TIERS = re.compile(r"(?<![a-z])(?:phon(?:e(?:me)?)?|segment|syllable|kan|mau|mas|trn|ipa|sampa)s?(?![a-z])", re.I)


class Tier(NamedTuple):
    """An interval tier: its name, its number of intervals, and the characters [start, stop) with its intervals."""

    name: str
    size: int
    start: int
    stop: int


def find_tiers(source: Source) -> list[Tier]:
    """Return the interval tiers of a file. Raises InputError if the file is cut short or broken."""
    text, grid = source.text, GRID.search(source.text)
    heads = list(TIER.finditer(text))
    if len(heads) != text.count('"IntervalTier"') + text.count('"TextTier"'):
        raise source.error("a tier without a name, times or size", BROKEN)
    if not grid or len(heads) != int(grid[3]):
        raise source.error(f"{len(heads)} tiers, but the file says that it has {grid[3] if grid else 'others'}", BROKEN)
    bounds = [*(head.start() for head in heads[1:]), len(text)]
    return [Tier(head[2].replace('""', '"').strip(), int(head[5]), head.end(), stop)
            for head, stop in zip(heads, bounds) if head[1] == "IntervalTier"]


def choose_tiers(source: Source, tiers: list[Tier], name: str = "") -> list[Tier]:
    """Return the tiers called `name` or, if there are none, those called `SPEAKER - name`, for any speaker. If `name`
    is empty, return the tiers of words (see the module docstring). Raises InputError if no tier fits."""
    for wanted in [name] if name else WORD_TIERS:
        chosen = [tier for tier in tiers if tier.name == wanted or tier.name.lower() == wanted.lower()] or \
            [tier for tier in tiers if tier.name.lower().endswith(f" - {wanted.lower()}")]
        if chosen:
            return chosen
    chosen = [] if name else [tier for tier in tiers if not OTHER_TIERS.search(tier.name)]
    if not chosen:
        names = ", ".join(f"'{tier.name}'" for tier in tiers) or "no tier of intervals"
        raise source.error(f"no tier '{name}' of words" if name else "no tier of words",
                           f"give one with --tier: {names}")
    return chosen


def intervals(source: Source, tier: Tier) -> list[Stretch]:
    """Return the intervals of a tier. Raises InputError if an interval is missing, or has no valid times."""
    found, at = list[Stretch](), tier.start
    for match in [*INTERVAL.finditer(source.text, tier.start, tier.stop), None]:
        quote = source.text.find('"', at, match.start() if match else tier.stop)
        if quote >= 0 and source.text.find('"', quote + 1, tier.stop) < 0:
            raise source.error("a text without a closing quote", BROKEN, quote)
        if quote >= 0:
            raise source.error("a text whose interval has no times", "write two numbers, one per line", quote)
        if match:
            at = match.end()
            begin, end = (_seconds(source, match, i) for i in (1, 2))
            if end < begin or (found and begin < found[-1].begin):
                raise source.error(f"an interval from {begin:g} to {end:g} s", "fix its times", match.start(1))
            found.append(Stretch(*match.span(3), begin, end))
    if len(found) != tier.size:
        raise source.error(f"tier '{tier.name}' has {len(found)} intervals, but its size is {tier.size}", BROKEN,
                           tier.start)
    return found


def _seconds(source: Source, found: re.Match[str], group: int, what: str = "time") -> float:
    return checked_seconds(found[group], what, partial(source.error, at=found.start(group)))


def read_textgrid(source: Source, tier: str = "") -> Transcript:
    """Read the words of a TextGrid. Raises InputError if the file is broken, or has no tier of words."""
    reader = TextReader(source, escapes=(('"', '""'),))
    tiers = find_tiers(source)
    chosen = choose_tiers(source, tiers, tier)
    # All tiers are read, because `intervals` raises an error if a tier is cut short.
    for stream, one in enumerate(tiers):
        speaker = "" if len(chosen) == 1 else re.sub(r" - \w+$", "", one.name)
        for found in intervals(source, one):
            if one in chosen and source.text[found.start:found.stop].strip() not in SILENCE:
                reader.read(found._replace(speaker=speaker, segment=stream, stream=stream), keep_speaker=False)
    grid = GRID.search(source.text)
    assert grid  # `find_tiers` has checked this
    return reader.transcript("TextGrid", end=_seconds(source, grid, 2, "end"))
