"""Punctuation restored: a data directory in, a punctuated one out.

OUT-DIR has the tables of a data directory, with the labels as `punct`, the files of `punctuated_text`, and

    ctm_punct   the words of a CTM with their marks, if there is a CTM

Several processes decode; on a GPU one does. Memory holds a few groups of tokens (see `spans`).
"""

import logging
import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.log import hide_progress
from punc.base.parallel import map_ordered
from punc.data.datadir import DataDir, Utterance, write_tables
from punc.data.labels import LabelSet
from punc.data.tables import sort_table
from punc.decoding.marked_ctm import write_marked_ctm
from punc.decoding.options import DecodingOptions
from punc.decoding.punctuated_text import OutputOptions, PunctuatedText
from punc.decoding.spans import Span, span_groups
from punc.decoding.worker import Decoder, Task, task_of
from punc.tokens.tokenizer import read_tokenizer

logger = logging.getLogger(__name__)

# Files that an earlier run with other options may have left in OUT-DIR.
STALE = ("text_punct", "ctm_punct", "post.ark", "post.scp", "pauses.ark", "pauses.scp")


def punctuate(directory: Path, data: DataDir, out: Path, decoding: DecodingOptions, output: OutputOptions,
              nj: int = 2) -> None:
    """Punctuate a data directory with the model of a directory. `out` is replaced as a whole, or left as it was.

    nj   processes that decode; on a GPU it is one

    Raises InputError if there is no model or no data directory, and for options that do not fit them.
    """
    if nj < 1:
        raise InputError(f"--nj={nj} is too small", "give 1 or more")
    if out.exists() and os.path.samefile(out, data.path):
        raise InputError("OUT-DIR is DATA-DIR", "name another OUT-DIR; the labels there would be lost", out)
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    decoder = Decoder(directory, decoding, output.posteriors)
    ctm = _ctm(data, output.ctm)
    groups = span_groups(data, tokenizer, decoding.chunk_size, decoding.context)
    with atomic_dir(out) as tmp:
        with PunctuatedText(tmp, out, label_set, output) as text:
            tables = write_tables(tmp, out, text.write(_decoded(groups, decoder, nj)), data)
        if not text.counts.total():
            raise InputError("the file has no words", "punctuate a text that has words", data.path / "text")
        extra = ["text_punct"] + ["post.scp"] * output.posteriors
        for name in extra if data.has_segments else ():
            sort_table(tmp / name)
        if ctm:
            write_marked_ctm(tmp / "ctm_punct", ctm, DataDir(tmp), label_set)
        made = {*tables, *(file.name for file in tmp.iterdir())}
    for name in set(STALE) - made:
        (out / name).unlink(missing_ok=True)
    numbers = " ".join(f"{label.name} {text.counts[label.name]}" for label in label_set)
    logger.info("%s: %d words: %s", out, text.counts.total(), numbers)


def _ctm(data: DataDir, path: str) -> Path | None:
    """The CTM to write with marks: `path`, else the data directory's own; None if there is none."""
    if path and not Path(path).is_file():
        raise InputError("no such file", "name a CTM, or leave --ctm out", path)
    default = data.path / "ctm"
    return Path(path) if path else default if default.is_file() else None


def _decoded(groups: Iterable[list[Span]], decoder: Decoder,
             nj: int) -> Iterator[tuple[list[Utterance], np.ndarray, np.ndarray | None]]:
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
