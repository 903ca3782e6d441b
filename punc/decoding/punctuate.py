"""Punctuation restored: a data directory in, a punctuated one out (see `punctuated_text`).

Several processes decode; on a GPU one does. Memory holds a few groups of tokens (see `spans`). Jobs on several machines
each decode some of the groups that one job would decode, so what they write together is the same, byte for byte
(`punctuated_parts`).
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from tqdm import tqdm

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.log import hide_progress
from punc.base.parallel import map_ordered
from punc.data.datadir import DataDir, Utterance, write_utterances
from punc.data.labels import LabelSet
from punc.decoding.options import DecodingOptions
from punc.decoding.punctuated_parts import Part, describe_run, remove_part
from punc.decoding.punctuated_text import OutputOptions, PunctuatedText, check_out, find_ctm, log_counts, punctuated_dir
from punc.decoding.shares import check_job, count_blanks, share
from punc.decoding.spans import Span, span_groups
from punc.decoding.worker import Decoder, Task, task_of
from punc.runtime.shipped import is_packed
from punc.tokens.tokenizer import read_tokenizer

Results = Iterator[tuple[list[Utterance], np.ndarray, np.ndarray | None]]


def punctuate(directory: Path, data: DataDir, out: Path, decoding: DecodingOptions, output: OutputOptions,
              nj: int = 2, jobs: int = 0, job: int = 1) -> None:
    """Punctuate a data directory with the model of a directory. `out` is replaced as a whole, or left as it was.

    nj    number of processes on this machine that decode; on a GPU it is one
    jobs  number of jobs, on any machines, that each punctuate a share of the streams; OUT-DIR is then this job's part
    job   which of these jobs this is, from 1

    Raises InputError if there is no model or no data directory, and for options that do not fit them.
    """
    output = output.with_casing_of(directory)
    if nj < 1:
        raise InputError(f"--nj={nj} is too small", "give 1 or more")
    if jobs or job != 1:
        check_job(job, jobs, "--jobs")
    check_out(out, data)
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    decoder = Decoder(directory, decoding, output.posteriors)
    groups = span_groups(data, tokenizer, decoding.chunk_size, decoding.context_of(is_packed(directory)))
    if not jobs:
        with punctuated_dir(out, data, label_set, output) as (tmp, counts):
            counts.update(_write(tmp, out, data, _decoded(groups, decoder, nj), label_set, output).counts)
        return
    find_ctm(data, output)
    run = describe_run(directory, data, decoding, output)
    own = share(groups, _words, count_blanks(data.path / "text"), job, jobs, _streams)
    remove_part(out)
    with atomic_dir(out) as tmp:
        text = _write(tmp, out, data, _decoded(own, decoder, nj), label_set, output)
        Part(job, jobs, text.utterances, dict(text.counts), run).write(tmp)
    log_counts(out, label_set, text.counts)


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
