"""What `punc punctuate` makes of a data directory: one with the labels as `punct`, and

    text_punct           the words as the label set writes them, one utterance per line
    post.ark, post.scp   posteriors before any scaling: a Kaldi float matrix (words × labels) per utterance
    ctm_punct            the words of a CTM with their marks, if there is a CTM

Several processes decode; on a GPU one does. Memory holds a few groups of tokens (see `spans`). Jobs on several machines
each decode some of the groups that one job would decode, so what they write together is the same, byte for byte
(`punctuated_parts`).
"""

import logging
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from kaldiio.matio import write_array
from tqdm import tqdm

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.base.log import hide_progress
from punc.base.outputs import check_outputs
from punc.base.parallel import map_ordered
from punc.data.datadir import DataDir, Utterance, complete_tables, new_data_dir, write_utterances
from punc.data.kaldi_io import archive_path
from punc.data.labels import RECORD, LabelSet, note_record
from punc.data.tables import TURNS, count_blanks, sort_table
from punc.decoding.marked_ctm import write_marked_ctm
from punc.decoding.options import DecodingOptions, OutputOptions
from punc.decoding.shipped import is_packed
from punc.decoding.spans import Span, span_groups
from punc.decoding.worker import Decoder, Task, task_of
from punc.text.casing import Casing, read_casing
from punc.text.prose import QUOTE, Clitics, ProseWriter
from punc.tokens.tokenizer import read_tokenizer

logger = logging.getLogger(__name__)

# Files that an earlier run with other options may have left in OUT-DIR.
STALE = ("text_punct", "ctm_punct", "post.ark", "post.scp", "pauses.ark", "pauses.scp", TURNS)
Results = Iterator[tuple[list[Utterance], np.ndarray, np.ndarray | None]]


def punctuate(directory: Path, data: DataDir, out: Path, decoding: DecodingOptions, output: OutputOptions,
              nj: int = 2) -> None:
    """Punctuate a data directory with the model of a directory. `out` is replaced as a whole, or left as it was.

    nj   number of processes on this machine that decode; on a GPU it is one

    Raises InputError if there is no model or no data directory, and for options that do not fit them.
    """
    check_outputs([str(out)], [str(data.path)])
    label_set, decoder, groups = _start(directory, data, decoding, output)
    with punctuated_dir(out, data, label_set, output) as (tmp, counts):
        text = PunctuatedText(tmp, out, label_set, output, is_packed(directory))
        counts.update(_write(text, data, _decoded(groups, decoder, nj)))


def punctuate_share(directory: Path, data: DataDir, part: Path, decoding: DecodingOptions, output: OutputOptions,
                    nj: int, share: Share) -> tuple[Counter[str], int]:
    """Punctuate a share of the streams into the directory `part`, for `join_punctuated`.

    Other arguments as those of `punctuate`. Returns how often each label was chosen, and the number of utterances.
    """
    label_set, decoder, groups = _start(directory, data, decoding, output)
    own = share.of(groups, _words, count_blanks(data.path / "text"), _streams)
    text = PunctuatedText(part, part, label_set, output, is_packed(directory))
    return _write(text, data, _decoded(own, decoder, nj)), text.utterances


def _start(directory: Path, data: DataDir, decoding: DecodingOptions,
           output: OutputOptions) -> tuple[LabelSet, Decoder, Iterator[list[Span]]]:
    """The label set, a decoder, and the groups of tokens to decode."""
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    note_record(data.path, label_set)
    decoder = Decoder(directory, decoding, output.posteriors)
    return label_set, decoder, span_groups(data, tokenizer, decoder.options.chunk_size, decoder.context)


def _write(text: "PunctuatedText", data: DataDir, results: Results) -> Counter[str]:
    """Write decoded utterances in the order of `data`; without utterances there are no tables. Returns the labels."""
    with text:
        utterances = text.write(results)
        for first in utterances:
            write_utterances(text.tmp, text.out, chain([first], utterances), not data.has_segments)
    return text.counts


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


def find_ctm(data: DataDir, options: OutputOptions) -> Path | None:
    """The CTM to write with marks; None if there is none. Raises InputError if the one named is missing."""
    if options.ctm and not Path(options.ctm).is_file():
        raise InputError("no such file", "name a CTM, or leave --ctm out", options.ctm)
    default = data.path / "ctm"
    return Path(options.ctm) if options.ctm else default if default.is_file() else None


@contextmanager
def punctuated_dir(out: Path, data: DataDir, label_set: LabelSet,
                   options: OutputOptions) -> Iterator[tuple[Path, Counter[str]]]:
    """A directory to write the punctuated utterances of `data` to, in their order, and to count labels by name.

    When the block ends, the directory gets its other files and replaces `out` as a whole; after an error, `out` is as
    it was. Raises InputError if there are no words.
    """
    ctm, counts = find_ctm(data, options), Counter[str]()
    with new_data_dir(out, *STALE) as tmp:
        yield tmp, counts
        if not counts.total():
            raise InputError("the file has no words", "punctuate a text that has words", data.path / "text")
        complete_tables(tmp, data)
        label_set.write(tmp / RECORD)
        for name in ("text_punct", "post.scp") if data.has_segments else ():
            if (tmp / name).is_file():
                sort_table(tmp / name)
        if ctm:
            write_marked_ctm(tmp / "ctm_punct", ctm, DataDir(tmp), label_set)
    log_counts(out, label_set, counts)


def log_counts(out: Path, label_set: LabelSet, counts: Counter[str]) -> None:
    """Say how many words a directory has, and how often each label was chosen."""
    numbers = " ".join(f"{label.name} {counts[label.name]}" for label in label_set)
    logger.info("%s: %d words: %s", out, counts.total(), numbers)


class PunctuatedText:
    """Writes text_punct, and post.ark with its index, to `tmp`, which will be renamed to `out`. A context manager.

    sentences    a word that begins a sentence gets a capital, whatever its label

    counts       how often each label was chosen, by name
    utterances   how many utterances were written

    Raises InputError if the file of casing or clitics is bad.
    """

    def __init__(self, tmp: Path, out: Path, label_set: LabelSet, options: OutputOptions, sentences: bool):
        self.tmp, self.out = tmp, out
        self.counts: Counter[str] = Counter()
        self.utterances = 0
        self._label_set = label_set
        self._prose: ProseWriter | None = None
        self._matrices: _Matrices | None = None
        with ExitStack() as stack:
            self._text = stack.enter_context(open(tmp / "text_punct", "wb"))
            table = read_casing(options.casing) if options.casing else {}
            self._casing, self._stream = Casing(label_set, table, sentences), ""
            if options.clitics or (options.casing and any(QUOTE in label.mark for label in label_set)):
                self._prose = ProseWriter(self._text, label_set, table,
                                          Clitics(options.clitics).tokens if options.clitics else frozenset())
            if options.posteriors:
                ark, index = (stack.enter_context(open(tmp / name, "wb")) for name in ("post.ark", "post.scp"))
                self._matrices = _Matrices(ark, index, archive_path(os.path.abspath(out / "post.ark")))
            self._files = stack.pop_all()

    def __enter__(self) -> "PunctuatedText":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._files.close()

    def write(self, results: Iterable[tuple[list[Utterance], np.ndarray, np.ndarray | None]]) -> Iterator[Utterance]:
        """Write utterances, and yield them with their labels.

        results   some utterances, the label numbers of their words (N,), and their posteriors (N, L) or None
        """
        names = np.array(self._label_set.names, object)
        for utterances, chosen, posteriors in results:
            labels = names[chosen].tolist()
            if not self._prose:
                words = self._casing.write(list(chain.from_iterable(u.words for u in utterances)), labels,
                                           self._starts(utterances))
            counts = np.bincount(chosen, minlength=len(names)).tolist()
            self.counts.update(dict(zip(self._label_set.names, counts)))
            self.utterances += len(utterances)
            begin = 0
            for utterance in utterances:
                end = begin + len(utterance.words)
                if self._prose:
                    self._prose.write(utterance.id, utterance.stream, utterance.words, labels[begin:end])
                else:
                    self._text.write(" ".join((utterance.id, *words[begin:end])).encode() + b"\n")
                if self._matrices and posteriors is not None:
                    self._matrices.write(utterance.id, posteriors[begin:end])
                yield utterance._replace(labels=labels[begin:end])
                begin = end
        if self._prose:
            self._prose.close()

    def _starts(self, utterances: Sequence[Utterance]) -> list[int]:
        """The words that begin a stream."""
        starts, begin = [], 0
        for utterance in utterances:
            if utterance.words and utterance.stream != self._stream:
                starts.append(begin)
                self._stream = utterance.stream
            begin += len(utterance.words)
        return starts


class _Matrices:
    """Writes Kaldi matrices and their index to an archive that will be at `path`."""

    def __init__(self, ark: IO[bytes], index: IO[bytes], path: str):
        self._ark, self._index, self._path = ark, index, path

    def write(self, key: str, matrix: np.ndarray) -> None:
        """Append a float32 matrix; in Kaldi, one without rows has no columns either."""
        self._ark.write(key.encode() + b" ")
        self._index.write(f"{key} {self._path}:{self._ark.tell()}\n".encode())
        write_array(self._ark, matrix if len(matrix) else np.zeros((0, 0), np.float32))
