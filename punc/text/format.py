"""Formats that `punc prepare` reads. Each format is a module in `punc/text/formats/` and has the module's name.

The first line of the module's docstring is the format's help. The module defines a class `Format`, which inherits
from `format.Format` or `format.TextFormat`.
"""

import importlib
import os
import pkgutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input
from punc.base.parallel import map_ordered
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.text import formats
from punc.text.abbreviations import Abbreviations
from punc.text.file_parts import FilePart, bound, count_lines, decode, file_parts
from punc.text.passages import CHANGES, Cutter, Passage, Unreadable, file_name, sorted_streams
from punc.text.prose import Clitics, TextReader


@dataclass(frozen=True)
class PrepareOptions:
    """The parsed options of `punc prepare`, which `punc prepare --help` describes."""

    labels: LabelSet | None = None
    lowercase: bool = True
    clitics: Clitics | None = None
    abbreviations: Abbreviations | None = None
    remove: str = ""
    clean: tuple[str, ...] = ()
    document_prefix: str = ""
    skip_prefix: str = ""
    speaker: str = ""
    utt_words: int = 50
    independent: bool = False
    keep_names: bool = False
    prefix: str = ""
    nj: int = 1

    def reader(self) -> TextReader:
        if self.labels is None:
            raise InputError("no label set", "give one: --labels conf/labels.txt")
        return TextReader(self.labels, self.lowercase, self.clitics)


class Format(ABC):
    """An input format of `punc prepare`, with the options for reading it."""

    takes: ClassVar[tuple[str, ...]]  # names of the options that apply to the format
    lines_as_utterances: ClassVar[bool] = False  # whether a line can be an utterance (`utt_words` = 0)

    def __init__(self, options: PrepareOptions):
        self.options = options

    @abstractmethod
    def prepare(self, inputs: Sequence[StrPath], output: StrPath) -> Counter[str]:
        """Write the data directory `output`, or leave it unchanged if there is an error. Return the numbers of streams,
        utterances, words and repairs."""


def format_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(formats.__path__))


def load_format(name: str) -> type[Format]:
    """Return the class of a format. Raises ModuleNotFoundError if the format does not exist."""
    return importlib.import_module(f"{formats.__name__}.{name}").Format


def format_help(name: str) -> str:
    return (importlib.import_module(f"{formats.__name__}.{name}").__doc__ or "").partition("\n")[0]


UNMARKED = "utterances without marks"
DROPPED = "marks before a first word, dropped"
STREAM_OPTIONS = ("labels", "document_prefix", "skip_prefix", "utt_words", "keep_names", "prefix", "nj")


class TextFormat(Format):
    """A format of punctuated text, in which each file begins a stream. Several processes read parts of the text.

    These repairs are counted: bytes that are not UTF-8 are removed, carriage returns become line ends, and a mark
    before a stream's first word is dropped.
    """

    takes: ClassVar[tuple[str, ...]] = STREAM_OPTIONS
    delimiter: ClassVar[bytes] = b"\n"  # each part of a file ends with these bytes
    has_utterances: ClassVar[bool] = False  # whether the text marks the end of every utterance

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self.reader = options.reader()
        self.lines = self.lines_as_utterances and (options.independent or options.utt_words == 0)

    @abstractmethod
    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        """Yield the passages in a part of a file, and count repairs. Raises Unreadable for text beyond repair."""

    def has_pauses(self, inputs: Sequence[StrPath]) -> bool:
        return False

    def position(self, text: str, fault: str) -> int:
        """Return the index at which the faulty text `fault` begins in `text`; negative if it is not found."""
        return text.find(fault)

    def streams(self, text: str, line_start: bool) -> Iterator[tuple[str | None, str]]:
        """Yield the name and the text of each stream, without lines that begin with `skip_prefix`. The name is None for
        text before the first line that begins with `document_prefix`: this text continues an earlier stream, or is the
        beginning of a file."""
        document_prefix = self.options.document_prefix
        skip_prefix = self.options.skip_prefix
        if line_start and (document_prefix or skip_prefix):
            text = "\n" + text
        if skip_prefix:
            first, *rest = text.split("\n" + skip_prefix)
            text = "\n".join([first, *(part.partition("\n")[2] for part in rest)])
        first, *rest = text.split("\n" + document_prefix) if document_prefix else [text]
        if not rest or first.strip():
            yield None, first
        for part in rest:
            name, _, part = part.partition("\n")
            yield name.strip(), part

    def read(self, data: bytes, line_start: bool = True) -> tuple[list[Passage], Counter[str]]:
        """Return the passages in a part of a file, and the counts of repairs. Raises InputError for text that cannot be
        repaired. The error's line number counts from the start of the part."""
        repairs: Counter[str] = Counter()
        text = decode(data, repairs)
        try:
            return list(self.passages(text, line_start, repairs)), repairs
        except Unreadable as error:
            what, remedy, fault = error.args
            at = max(self.position(text, fault), 0)
            raise InputError(what, remedy, line=text.count("\n", 0, at) + 1) from None

    def read_part(self, part: FilePart) -> tuple[list[Passage], Counter[str]]:
        """Read a part as `read` does, but raise InputError with the path and, unless the input is a pipe, with the line
        number in the file."""
        try:
            passages, repairs = self.read(part.data, part.line_start)
        except InputError as error:
            if not os.path.isfile(part.path):  # a pipe cannot be read again to count lines
                raise InputError(error.what, error.remedy, part.path) from None
            with open_input(part.path) as file:
                before = count_lines(file, part.offset)
            raise InputError(error.what, error.remedy, part.path, before + (error.line or 1)) from None
        if part.first and passages and passages[0].stream is None:
            passages[0] = passages[0]._replace(stream=file_name(part.path) if self.options.keep_names else "")
        return passages, repairs

    def prepare(self, inputs: Sequence[StrPath], output: StrPath) -> Counter[str]:
        """Write the streams in the order of the files or, with `keep_names`, sorted by name. See `Format.prepare`."""
        counts = Counter[str]()
        repairs = Counter[str]()
        options = self.options
        if options.keep_names:
            files = dict(zip(map(file_name, inputs), inputs))
            inputs = [files[name] for name in sorted_streams(map(file_name, inputs))]
        size = 0 if self.lines or self.has_utterances else options.utt_words
        cutter = Cutter(size, self.reader.attach, options.prefix, options.independent, self.has_pauses(inputs),
                        not options.keep_names, options.abbreviations, bool(options.speaker))

        def passages() -> Iterator[Passage]:
            for some, repaired in map_ordered(self.read_part, file_parts(inputs, self.delimiter), options.nj):
                repairs.update(repaired)
                bound(repairs)
                yield from some

        write_data_dir(output, counted(cutter.cut(passages()), counts, repairs, self.reader.labels.names[0]),
                       label_set=self.reader.labels)
        repairs[DROPPED] += cutter.dropped
        return counts + repairs + cutter.dots


def counted(utterances: Iterable[Utterance], counts: Counter[str], repairs: Counter[str],
            empty: str) -> Iterator[Utterance]:
    """Yield the utterances unchanged. Count streams, utterances, words, changes of speaker, words without a pause, and
    utterances in which every word has the label `empty`."""
    stream = None
    for utterance in utterances:
        counts[UNMARKED] += utterance.labels is not None and set(utterance.labels) == {empty}
        counts["streams"] += utterance.stream != stream
        counts["utterances"] += 1
        counts["words"] += len(utterance.words)
        if utterance.turns is not None:
            counts[CHANGES] += int(utterance.turns.sum())
        if utterance.pauses is not None and (unknown := int(np.isnan(utterance.pauses).sum())):
            repairs["words without a pause, read as unknown"] += unknown
        stream = utterance.stream
        yield utterance
