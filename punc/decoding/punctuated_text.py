"""What `punc punctuate` writes: a data directory with the labels as `punct`, and

    text_punct           the words as the label set writes them, one utterance per line
    post.ark, post.scp   posteriors before any scaling: a Kaldi float matrix (words × labels) per utterance
    ctm_punct            the words of a CTM with their marks, if there is a CTM
"""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from kaldiio.matio import write_array

from punc.base.errors import InputError
from punc.data.archive_path import archive_path
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import complete_tables, new_data_dir
from punc.data.label_record import RECORD
from punc.data.labels import LabelSet
from punc.data.tables import sort_table
from punc.data.turns import TURNS
from punc.decoding.marked_ctm import write_marked_ctm
from punc.decoding.options import OutputOptions
from punc.text.casing import Casing, read_casing
from punc.text.prose_reader import Clitics
from punc.text.prose_writer import QUOTE, ProseWriter

logger = logging.getLogger(__name__)

# Files that an earlier run with other options may have left in OUT-DIR.
STALE = ("text_punct", "ctm_punct", "post.ark", "post.scp", "pauses.ark", "pauses.scp", TURNS)


def check_out(out: Path, data: DataDir) -> None:
    """Raise InputError if the directory to make is the one to punctuate."""
    if out.exists() and os.path.samefile(out, data.path):
        raise InputError("OUT-DIR is DATA-DIR", "name another OUT-DIR; the labels there would be lost", out)


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

    counts       how often each label was chosen, by name
    utterances   how many utterances were written

    Raises InputError if the file of casing or clitics is bad.
    """

    def __init__(self, tmp: Path, out: Path, label_set: LabelSet, options: OutputOptions):
        self.counts: Counter[str] = Counter()
        self.utterances = 0
        self._label_set = label_set
        self._prose: ProseWriter | None = None
        self._matrices: _Matrices | None = None
        with ExitStack() as stack:
            self._text = stack.enter_context(open(tmp / "text_punct", "wb"))
            table = read_casing(options.casing) if options.casing else {}
            self._casing, self._stream = Casing(label_set, table, options.sentence_case), ""
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
