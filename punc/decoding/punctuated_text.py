"""The files that `punc punctuate` writes besides the tables of a data directory.

    text_punct           the words as the label set writes them, one utterance per line
    post.ark, post.scp   posteriors before any scaling: a Kaldi float matrix (words × labels) per utterance
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from kaldiio.matio import write_array

from punc.data.datadir import Utterance
from punc.data.labels import LabelSet
from punc.text.casing import read_casing
from punc.text.prose_reader import Clitics, written
from punc.text.prose_writer import ProseWriter


@dataclass(frozen=True)
class OutputOptions:
    """What `punc punctuate` writes besides the labels.

    posteriors  write post.ark and post.scp
    casing      a file of words with more capitals than the first letter (NATO); text_punct becomes prose
    clitics     a file of clitics to join to their words (do n't → don't); text_punct becomes prose
    ctm         the CTM to write as ctm_punct; default: DATA-DIR/ctm, if there is one
    """

    posteriors: bool = True
    casing: str = ""
    clitics: str = ""
    ctm: str = ""


class PunctuatedText:
    """Writes these files to the directory `tmp`, which will be renamed to `out`. A context manager.

    counts   how often each label was chosen, by name

    Raises InputError if the file of casing or clitics is bad.
    """

    def __init__(self, tmp: Path, out: Path, label_set: LabelSet, options: OutputOptions):
        self.counts: Counter[str] = Counter()
        self._label_set = label_set
        self._prose: ProseWriter | None = None
        self._matrices: _Matrices | None = None
        with ExitStack() as stack:
            self._text = stack.enter_context(open(tmp / "text_punct", "wb"))
            if options.casing or options.clitics:
                self._prose = ProseWriter(self._text, label_set, read_casing(options.casing) if options.casing else {},
                                          Clitics(options.clitics).tokens if options.clitics else frozenset())
            if options.posteriors:
                ark, index = (stack.enter_context(open(tmp / name, "wb")) for name in ("post.ark", "post.scp"))
                self._matrices = _Matrices(ark, index, os.path.abspath(out / "post.ark"))
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
                words = written(list(chain.from_iterable(u.words for u in utterances)), labels, self._label_set)
            counts = np.bincount(chosen, minlength=len(names)).tolist()
            self.counts.update(dict(zip(self._label_set.names, counts)))
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


class _Matrices:
    """Writes Kaldi matrices and their index to an archive that will be at `path`."""

    def __init__(self, ark: IO[bytes], index: IO[bytes], path: str):
        self._ark, self._index, self._path = ark, index, path

    def write(self, key: str, matrix: np.ndarray) -> None:
        """Append a float32 matrix; in Kaldi, one without rows has no columns either."""
        self._ark.write(key.encode() + b" ")
        self._index.write(f"{key} {self._path}:{self._ark.tell()}\n".encode())
        write_array(self._ark, matrix if len(matrix) else np.zeros((0, 0), np.float32))
