"""`punc pauses`: word times to one pause per slot."""

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from punc.base.errors import InputError
from punc.base.idtable import IdTable
from punc.base.options import OptionParser, boolean
from punc.data.datadir import DataDir, segment
from punc.data.tables import read_table
from punc.timing.ctm import MAX_OVERLAP
from punc.timing.pauses import pauses_by_label, read_channels, stream_pauses, word_times, write_pauses

LONG = 60  # s; a longer pause is hardly one: a break in the recording, or a wrong time
NAMED = 5  # of the odd cases of a kind, so many are named


def main(arguments: Sequence[str]) -> int:
    parser = OptionParser("punc pauses [options] DATA-DIR TIMES",
                          "Adds pauses.scp and pauses.ark to DATA-DIR: the silence after each word, by the word times "
                          "of a CTM, or of a directory of CTMs or TextGrids. Their ids are utterances, recordings "
                          "or speakers of DATA-DIR.",
                          "punc pauses data/train exp/tri3_ali/ctm")
    parser.add_argument("data", metavar="DATA-DIR", help="a data directory")
    parser.add_argument("times", metavar="TIMES", help="a CTM, or a directory of *.ctm or *.TextGrid")
    parser.add_argument("--format", choices=("auto", "ctm", "textgrid"), default="auto", help="of the word times")
    parser.add_argument("--tier", default="words", help="the tier of the words in TextGrids")
    parser.add_argument("--silence", metavar="WORDS", help="what stands for silence, blanks between, if not the usual")
    parser.add_argument("--max-overlap", type=float, default=MAX_OVERLAP, metavar="SECONDS",
                        help="how far words of one id and channel may overlap")
    parser.add_argument("--substituted", type=boolean, default=True, metavar="BOOL",
                        help="take the time of another word that stands in a word's place")
    parser.add_argument("--by-label", type=boolean, default=False, metavar="BOOL",
                        help="print the quartiles of the pauses by label")
    options = parser.parse(arguments)
    counts, repairs, odd = Counter(), Counter(), {}
    silence = None if options.silence is None else options.silence.split()
    sources = word_times(options.times, options.format, options.tier, silence, options.max_overlap, repairs)
    data = DataDir(options.data)
    if options.by_label and not data.has_labels:
        raise InputError("no such file", "--by-label needs labels", data.path / "punct")
    data.has_pauses = False  # those of an older run may not fit the text any more
    write_pauses(options.data, pauses_of(data, sources, options, counts, odd))
    print(summary(counts, repairs), file=sys.stderr)
    for what, cases in odd.items():
        print(f"punc pauses: {len(cases)} {what}: {', '.join(cases[:NAMED])}{', …' * (len(cases) > NAMED)}",
              file=sys.stderr)
    if options.by_label:
        print_by_label(DataDir(options.data))
    return 0


def pauses_of(data: DataDir, sources, options, counts: Counter,
              odd: dict[str, list[str]]) -> Iterator[tuple[str, np.ndarray]]:
    """Utterance ids with their pauses, stream by stream; `odd` gets what a user may want to look at.

    Raises InputError where no word of `data` has a time.
    """
    segments = channels = None
    if data.has_segments:
        path = data.path / "segments"
        segments = IdTable(2)
        for row in read_table(path):
            segments.add(row.key, *segment(row, path)[1:])
    if (data.path / "reco2file_and_channel").is_file():
        channels = read_channels(data.path / "reco2file_and_channel")
    first = ""
    for stream, utterances in data.streams():
        first = first or f"utterance '{utterances[0].id}' of '{stream}'"
        untimed = counts["untimed"]
        pauses = stream_pauses(stream, [(utterance.id, utterance.words) for utterance in utterances], sources,
                               segments, channels, options.substituted, counts)
        if 2 * (counts["untimed"] - untimed) > sum(map(len, pauses)):
            odd.setdefault("streams of which more than half has no time, kept with those pauses unknown",
                           []).append(f"'{stream}'")
        for utterance, vector in zip(utterances, pauses):
            for at in np.flatnonzero(vector > LONG):  # NaN is not above
                odd.setdefault(f"pauses of more than {LONG} s, kept", []).append(
                    f"{vector[at]:.1f} s after word {at + 1} of '{utterance.id}'")
        yield from zip((utterance.id for utterance in utterances), pauses)
    if counts["slots"] and counts["untimed"] == counts["slots"]:
        raise InputError(f"no word of {options.data} has a time: it has {first}, the times have "
                         f"{', '.join(repr(id) for id in itertools.islice(sources, 2))}",
                         "give the times the ids of the utterances or recordings", options.times)


def summary(counts: Counter, repairs: Counter) -> str:
    unknown = counts["slots"] - counts["known"]
    mended = ", ".join(f"{number} {what}" for what, number in repairs.items() if number) or "none"
    return (f"punc pauses: {counts['slots']} slots, {counts['known']} known, {unknown} unknown "
            f"({counts['beside']} beside the {counts['untimed']} words without a time, {counts['ends']} at ends); "
            f"{counts['missing']} utterances without times; {counts['extra']} timed words not in the text; "
            f"repairs: {mended}")


def print_by_label(data: DataDir) -> None:
    table = pauses_by_label((utterance.labels, utterance.pauses) for utterance in data.utterances())
    print("label slots unknown lower median upper")
    for name, row in sorted(table.items()):
        print(f"{name} {row.slots} {row.unknown} {row.lower:.3f} {row.median:.3f} {row.upper:.3f}")
