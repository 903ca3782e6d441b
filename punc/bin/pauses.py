"""`punc pauses`: compute one pause per slot from word times."""

import itertools
import logging
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from punc.base.errors import InputError
from punc.base.options import OptionParser, boolean
from punc.data.datadir import DataDir
from punc.timing.pauses import Sources, pauses_by_label, read_channels, stream_pauses, write_pauses
from punc.transcripts.read import word_times

logger = logging.getLogger(__name__)
LONG = 60  # seconds; a longer pause is usually a break in the recording or a wrong time
EXAMPLES = 5  # a message lists at most this many odd pauses or streams of each kind


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc pauses [options] DATA-DIR TIMES",
                          "Adds pauses.scp and pauses.ark to DATA-DIR: the silence after each word, computed from the "
                          "times of words in a CTM, or in a directory of CTMs, TextGrids or Gentle's JSON. The ids "
                          "in TIMES are utterances, recordings or speakers of DATA-DIR.",
                          "punc pauses data/train exp/tri3_ali/ctm")
    parser.add_argument("data", metavar="DATA-DIR", help="data directory")
    parser.add_argument("times", metavar="TIMES", help="a CTM, or a directory of *.ctm, *.TextGrid or Gentle's *.json")
    parser.add_argument("--tier", default="", metavar="NAME", help="tier of TextGrids with the words")
    parser.add_argument("--by-label", type=boolean, default=False, metavar="BOOL",
                        help="print quartiles of the pauses by label")
    args = parser.parse(arguments)
    repairs = Counter[str]()
    sources = word_times(args.times, args.tier, repairs)
    # The pauses of an earlier run are ignored, because they may not fit the text.
    data = DataDir(args.data, ignore=["pauses.scp"], needs=["punct"] if args.by_label else [])
    counts, odd = Counter[str](), defaultdict[str, list[str]](list)
    write_pauses(args.data, pauses_of(data, sources, args, counts, odd))
    logger.info("%s", summary(counts, repairs))
    for what, cases in odd.items():
        more = ", …" if len(cases) > EXAMPLES else ""
        logger.info("punc pauses: %s %s: %s%s", len(cases), what, ", ".join(cases[:EXAMPLES]), more)
    if args.by_label:
        print_by_label(DataDir(args.data))


def pauses_of(data: DataDir, sources: Sources, args: Namespace, counts: Counter[str],
              odd: defaultdict[str, list[str]]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the id and the pauses of each utterance, stream by stream. `odd` gets the cases that users should check.
    Raises InputError if no word has a time."""
    channels = read_channels(data.path / "reco2file_and_channel")
    known, first = set[str](), ""
    for stream, utterances in data.streams():
        first = first or f"utterance '{utterances[0].id}' of '{stream}'"
        untimed = counts["untimed"]
        known.update((stream, *channels.get(stream, ())[:1], *(utterance.id for utterance in utterances)))
        pauses = stream_pauses(utterances, sources, channels, counts)
        if 2 * (counts["untimed"] - untimed) > sum(map(len, pauses)):
            odd["streams with times for less than half of their words, kept with unknown pauses"].append(f"'{stream}'")
        for utterance, vector in zip(utterances, pauses):
            for at in np.flatnonzero(vector > LONG):  # `>` is false for NaN, an unknown pause
                odd[f"pauses of more than {LONG} s, kept"].append(
                    f"{vector[at]:.1f} s after word {at + 1} of '{utterance.id}'")
            yield utterance.id, vector
    if counts["slots"] and counts["untimed"] == counts["slots"]:
        raise InputError(f"no word of {args.data} has a time: it has {first}, but the times have "
                         f"{', '.join(repr(id) for id in itertools.islice(sources, 2))}",
                         "give the times the ids of the utterances or recordings", args.times)
    if unknown := [id for id in sources if id not in known]:
        odd[f"ids of {args.times} that {args.data} does not have, left out"] = [f"'{id}'" for id in unknown]


def summary(counts: Counter[str], repairs: Counter[str]) -> str:
    unknown = counts["slots"] - counts["known"]
    slots = max(counts["slots"], 1)
    repaired = ", ".join(f"{number} {what}" for what, number in repairs.items() if number) or "none"
    return (f"punc pauses: {counts['slots']} slots, {counts['known']} known, {unknown} unknown, "
            f"{unknown / slots:.1%} ({counts['next_to_untimed']} next to the {counts['untimed']} words without a time, "
            f"{counts['ends']} at ends); WER of the timed words {counts['errors'] / slots:.1%}; "
            f"{counts['missing']} utterances without times; {counts['extra']} timed words not in the text; "
            f"repairs: {repaired}")


def print_by_label(data: DataDir) -> None:
    """Print, for each label, the number of slots, the number of unknown pauses, and the quartiles of the known pauses
    in seconds."""
    print("label slots unknown lower median upper")
    for name, pauses in sorted(pauses_by_label(data.utterances()).items()):
        known = pauses[np.isfinite(pauses)]
        quartiles = np.quantile(known, (0.25, 0.5, 0.75)).tolist() if len(known) else [np.nan] * 3
        print(name, len(pauses), len(pauses) - len(known), *(f"{quartile:.3f}" for quartile in quartiles))
