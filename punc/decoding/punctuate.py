"""Punctuation restored: a data directory in, a punctuated one out (see `punctuated_text`).

Several processes decode; on a GPU one does. Memory holds a few groups of tokens (see `spans`). Jobs on several machines
each decode some of the groups that one job would decode, so what they write together is the same, byte for byte
(`punctuated_parts`).
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from tqdm import tqdm

from punc.base.jobs import Share
from punc.base.log import hide_progress
from punc.base.parallel import map_ordered
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_utterances
from punc.data.label_record import note_record
from punc.data.labels import LabelSet
from punc.data.tables import count_blanks
from punc.decoding.options import DecodingOptions, OutputOptions
from punc.decoding.punctuated_text import PunctuatedText, check_out, punctuated_dir
from punc.decoding.spans import Span, span_groups
from punc.decoding.worker import Decoder, Task, task_of
from punc.tokens.tokenizer import read_tokenizer

Results = Iterator[tuple[list[Utterance], np.ndarray, np.ndarray | None]]


def punctuate(directory: Path, data: DataDir, out: Path, decoding: DecodingOptions, output: OutputOptions,
              nj: int = 2) -> None:
    """Punctuate a data directory with the model of a directory. `out` is replaced as a whole, or left as it was.

    nj   number of processes on this machine that decode; on a GPU it is one

    Raises InputError if there is no model or no data directory, and for options that do not fit them.
    """
    check_out(out, data)
    label_set, decoder, groups = _start(directory, data, decoding, output)
    with punctuated_dir(out, data, label_set, output) as (tmp, counts):
        counts.update(_write(tmp, out, data, _decoded(groups, decoder, nj), label_set, output).counts)


def punctuate_share(directory: Path, data: DataDir, part: Path, decoding: DecodingOptions, output: OutputOptions,
                    nj: int, share: Share) -> tuple[Counter[str], int]:
    """Punctuate a share of the streams into the directory `part`, for `join_punctuated`.

    Other arguments as those of `punctuate`. Returns how often each label was chosen, and the number of utterances.
    """
    label_set, decoder, groups = _start(directory, data, decoding, output)
    own = share.of(groups, _words, count_blanks(data.path / "text"), _streams)
    text = _write(part, part, data, _decoded(own, decoder, nj), label_set, output)
    return text.counts, text.utterances


def _start(directory: Path, data: DataDir, decoding: DecodingOptions,
           output: OutputOptions) -> tuple[LabelSet, Decoder, Iterator[list[Span]]]:
    """The label set, a decoder, and the groups of tokens to decode."""
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    note_record(data.path, label_set)
    decoder = Decoder(directory, decoding, output.posteriors)
    return label_set, decoder, span_groups(data, tokenizer, decoder.options.chunk_size, decoder.context)


def _write(tmp: Path, out: Path, data: DataDir, results: Results, label_set: LabelSet,
           output: OutputOptions) -> PunctuatedText:
    """Write decoded utterances in the order of `data`; of a share without utterances there are no tables."""
    with PunctuatedText(tmp, out, label_set, output) as text:
        utterances = text.write(results)
        for first in utterances:
            write_utterances(tmp, out, chain([first], utterances), not data.has_segments)
    return text


def _words(group: list[Span]) -> int:
    return sum(len(utterance.words) for span in group for utterance in span.utterances)


def _streams(group: list[Span]) -> tuple[str, str]:
    """The first and the last stream of a group."""
    return group[0].utterances[0].stream, group[-1].utterances[-1].stream


def _decoded(groups: Iterable[list[Span]], decoder: Decoder, nj: int) -> Results:
    """The utterances of each group with their label numbers and posteriors."""
    waiting: deque[list[Utterance]] = deque()

    def tasks() -> Iterator[Task]:
        for group in groups:
            waiting.append([utterance for span in group for utterance in span.utterances])
            yield task_of(group)

    with tqdm(desc="punctuating", unit="word", unit_scale=True, leave=False, delay=2, disable=hide_progress()) as bar:
        for labels, posteriors in map_ordered(decoder, tasks(), nj if decoder.device == "cpu" else 1):
            yield waiting.popleft(), labels, posteriors
            bar.update(len(labels))
