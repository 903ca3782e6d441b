"""Writes the output of `punc punctuate` for a data directory: a data directory with the labels as `punct`, and

    text_punct           the words with their marks and capitals, one utterance per line
    post.ark, post.scp   posteriors before any scaling: a Kaldi float matrix (words × labels) per utterance
    ctm_punct            the words of a CTM with their marks, if there is a CTM

Several processes decode, but only one on a GPU. Only a few groups of spans are in memory at a time (see `spans`). The
streams can be divided among jobs on several machines. Each job writes a part, which is a directory with the tables of
its share. The joined parts are identical to the output of a run without jobs.
"""

import logging
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO

import numpy as np
from kaldiio.matio import write_array

from punc.base.errors import InputError
from punc.base.files import check_outputs, decoded_lines
from punc.base.jobs import Part, Share, concatenate
from punc.base.log import progress_bar
from punc.base.parallel import map_ordered
from punc.data.datadir import DataDir, Utterance, complete_tables, new_data_dir, write_utterances
from punc.data.kaldi_io import archive_path, parse_location
from punc.data.labels import RECORD, LabelSet, note_record
from punc.data.tables import TURNS, count_blanks, fields, read_table, sort_table
from punc.decoding.marked_ctm import write_marked_ctm
from punc.decoding.options import DecodingOptions, OutputOptions
from punc.decoding.spans import Span, span_groups
from punc.decoding.worker import Decoder, Task, task_of
from punc.text.casing import Casing, read_casing
from punc.text.prose import QUOTE, Clitics, ProseWriter
from punc.tokens.tokenizer import read_tokenizer

logger = logging.getLogger(__name__)

# Files that an earlier run with other options may have left in OUT-DIR.
STALE = ("text_punct", "ctm_punct", "post.ark", "post.scp", "pauses.ark", "pauses.scp", TURNS)
# Yields utterances, the label numbers of their words (N,), and the posteriors (N, L) or None.
Results = Iterator[tuple[list[Utterance], np.ndarray, np.ndarray | None]]


def punctuate(directory: Path, data: DataDir, out: Path, decoding: DecodingOptions, output: OutputOptions,
              nj: int = 2) -> None:
    """Punctuate a data directory with the model in `directory`. After an error, `out` is unchanged. Raises InputError
    if the model is missing, the data directory is invalid, or an option does not fit them."""
    check_outputs([str(out)], [str(data.path)])
    label_set, decoder, groups = _start(directory, data, decoding, output)
    with punctuated_dir(out, data, label_set, output) as (tmp, counts):
        counts.update(_write(tmp, out, data, label_set, output, decoder, _decoded(groups, decoder, nj))[0])


def punctuate_share(directory: Path, data: DataDir, part: Path, decoding: DecodingOptions, output: OutputOptions,
                    nj: int, share: Share) -> tuple[Counter[str], int]:
    """Punctuate a share of the streams and write `part`, a directory for `join_punctuated`. Return the counts of labels
    by name, and the number of utterances."""
    label_set, decoder, groups = _start(directory, data, decoding, output)
    own = share.of(groups, _words, count_blanks(data.path / "text"), _streams)
    return _write(part, part, data, label_set, output, decoder, _decoded(own, decoder, nj))


def _start(directory: Path, data: DataDir, decoding: DecodingOptions,
           output: OutputOptions) -> tuple[LabelSet, Decoder, Iterator[list[Span]]]:
    tokenizer = read_tokenizer(directory)
    label_set = LabelSet.read(directory / "labels.txt")
    note_record(data.path, label_set)
    decoder = Decoder(directory, decoding, output.posteriors)
    return label_set, decoder, span_groups(data, tokenizer, decoder.options.chunk_size, decoder.context)


def _write(tmp: Path, out: Path, data: DataDir, label_set: LabelSet, output: OutputOptions, decoder: Decoder,
           results: Results) -> tuple[Counter[str], int]:
    names = ("text_punct", "post.ark", "post.scp") if output.posteriors else ("text_punct",)
    with ExitStack() as stack:
        files = [stack.enter_context(open(tmp / name, "wb")) for name in names]
        text = PunctuatedText(files, out, label_set, output, decoder.packed)
        utterances = text.write(results)
        for first in utterances:
            write_utterances(tmp, out, chain([first], utterances), not data.has_segments)
    return text.counts, text.utterances


def _words(group: list[Span]) -> int:
    return sum(len(utterance.words) for span in group for utterance in span.utterances)


def _streams(group: list[Span]) -> tuple[str, str]:
    return group[0].utterances[0].stream, group[-1].utterances[-1].stream


def _decoded(groups: Iterable[list[Span]], decoder: Decoder, nj: int) -> Results:
    waiting: deque[list[Utterance]] = deque()

    def tasks() -> Iterator[Task]:
        for group in groups:
            waiting.append([utterance for span in group for utterance in span.utterances])
            yield task_of(group)

    with progress_bar("punctuating", "word") as bar:
        for labels, posteriors in map_ordered(decoder, tasks(), nj if decoder.device == "cpu" else 1):
            yield waiting.popleft(), labels, posteriors
            bar.update(len(labels))


def find_ctm(data: DataDir, options: OutputOptions) -> Path | None:
    """Return the path of the CTM whose words get marks in `ctm_punct`, or None if there is none. Raises InputError if
    `options.ctm` names a file that does not exist."""
    ctm = Path(options.ctm) if options.ctm else data.path / "ctm"
    if options.ctm and not ctm.is_file():
        raise InputError("no such file", "give a CTM, or leave --ctm out", ctm)
    return ctm if ctm.is_file() else None


@contextmanager
def punctuated_dir(out: Path, data: DataDir, label_set: LabelSet,
                   options: OutputOptions) -> Iterator[tuple[Path, Counter[str]]]:
    """Yield a temporary directory and a counter of label names. The caller writes the punctuated utterances of `data`
    to the directory, in order, and counts their labels. At the end of the `with` block, the other files of the output
    are written, and all files move to `out`. Raises InputError if no labels were counted."""
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
    """Log how many words were written to a directory, and how often each label was chosen."""
    numbers = " ".join(f"{label.name} {counts[label.name]}" for label in label_set)
    logger.info("%s: %d words: %s", out, counts.total(), numbers)


class PunctuatedText:
    """Writes text_punct and, if `files` has three files, post.ark and post.scp. Counts utterances and labels. `out`:
    the final directory, whose path post.scp contains. `sentences`: whether the first word of a sentence gets a capital
    even if its label has none. Raises InputError if the casing file or the clitics file is invalid."""

    def __init__(self, files: Sequence[IO[bytes]], out: Path, label_set: LabelSet, options: OutputOptions,
                 sentences: bool):
        self.counts, self.utterances = Counter[str](), 0
        self._label_set = label_set
        self._text, *self._posteriors = files
        table = read_casing(options.casing) if options.casing else {}
        self._casing, self._stream = Casing(label_set, table, sentences), ""
        self._prose: ProseWriter | None = None
        if options.clitics or (options.casing and any(QUOTE in label.mark for label in label_set)):
            self._prose = ProseWriter(self._text, label_set, table,
                                      Clitics(options.clitics).tokens if options.clitics else frozenset())
        self._archive = archive_path(os.path.abspath(out / "post.ark"))

    def write(self, results: Results) -> Iterator[Utterance]:
        """Write the utterances in `results` to the files, and yield each utterance with its labels."""
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
                if self._posteriors and posteriors is not None:
                    self._write_matrix(utterance.id, posteriors[begin:end])
                yield utterance._replace(labels=labels[begin:end])
                begin = end
        if self._prose:
            self._prose.close()

    def _starts(self, utterances: Sequence[Utterance]) -> list[int]:
        starts, begin = [], 0
        for utterance in utterances:
            if utterance.words and utterance.stream != self._stream:
                starts.append(begin)
                self._stream = utterance.stream
            begin += len(utterance.words)
        return starts

    def _write_matrix(self, key: str, matrix: np.ndarray) -> None:
        """Append posteriors to the archive. An empty matrix is written as 0 × 0, because Kaldi has no 0 × L matrix."""
        ark, index = self._posteriors
        ark.write(key.encode() + b" ")
        index.write(f"{key} {self._archive}:{ark.tell()}\n".encode())
        write_array(ark, matrix if len(matrix) else np.zeros((0, 0), np.float32))


def join_punctuated(parts: Sequence[Part], out: Path, directory: Path, data: DataDir, output: OutputOptions) -> None:
    """Join the parts of all jobs into the output of `punctuate`. Raises InputError unless the parts have exactly the
    words of `data`, each with a label."""
    label_set = LabelSet.read(directory / "labels.txt")
    check_outputs([str(out)], [str(data.path)])
    _check_words(parts, data)
    full = [part for part in parts if part.result["utterances"]]
    paths = [part.path for part in full]
    with punctuated_dir(out, data, label_set, output) as (tmp, counts):
        counts.update(sum((Counter(part.result["counts"]) for part in parts), Counter()))
        for name in full[0].files() if full else ():
            if not name.endswith(".scp"):
                concatenate([path / name for path in paths], tmp / name)
        # As in the output of a run without jobs, the path in post.scp is absolute, and the path in pauses.scp begins
        # with `out` as the user wrote it.
        _join_index(paths, tmp, "post", os.path.abspath(out / "post.ark"))
        _join_index(paths, tmp, "pauses", str(out / "pauses.ark"))


def _check_words(parts: Sequence[Part], data: DataDir) -> None:
    """Raise InputError unless the joined parts have exactly the words of `data`, in order, each with a label."""
    utterances = DataDir(data.path, ignore=("punct", "pauses.scp")).utterances()
    for part in parts:
        path, again, expected = part.path, part.again, part.result["utterances"]
        count = 0
        tables = [read_table(path / name, sort=False) for name in ("text", "punct") if expected]
        for text, punct in zip_longest(*tables):
            utterance, count = next(utterances, None), count + 1
            if utterance is None or text is None or (text.key, fields(text.value)) != (utterance.id, utterance.words):
                raise InputError(f"the words differ from those of {data.path / 'text'}", again, path / "text", count)
            if punct is None or punct.key != text.key or len(fields(punct.value)) != len(utterance.words):
                raise InputError(f"utterance '{text.key}' does not have one label for each word",
                                 again, path / "punct", count)
        if count != expected:
            raise InputError(f"{count} utterances instead of {expected}", again, path / "text")
    if utterance := next(utterances, None):
        raise InputError(f"no job punctuated utterance '{utterance.id}'", "run all jobs again: the data has changed",
                         data.path / "text")


def _join_index(parts: Sequence[Path], tmp: Path, name: str, archive: str) -> None:
    if not parts or not (parts[0] / f"{name}.scp").is_file():
        return
    begin, archive = 0, archive_path(archive)
    with open(tmp / f"{name}.scp", "wb") as out:
        for part in parts:
            index = part / f"{name}.scp"
            for number, line in decoded_lines(index):
                key, _, place = line.partition(" ")
                out.write(f"{key} {archive}:{begin + parse_location(place, index, number)[1]}\n".encode())
            begin += (part / f"{name}.ark").stat().st_size
