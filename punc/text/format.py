"""Formats that `punc prepare` reads: each is a file of `punc/text/formats/`, found by its name.

The first line of the file's docstring is its help. The file defines a class `Format`, derived from the one here.
"""

import importlib
import os
import pkgutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.text import formats
from punc.text.abbreviations import Abbreviations
from punc.text.prose_reader import Clitics, TextReader


@dataclass(frozen=True)
class PrepareOptions:
    """How files become a data directory: the options of `punc prepare`.

    labels           which marks are read as which label
    lowercase        write words in lower case
    clitics          rules that split words; None leaves words whole
    abbreviations    say which dots are no mark; None takes all as marks
    remove           regular expression; text that it matches is left out
    clean            what is taken out as no speech: names of `not_speech.KINDS`
    document_prefix  a line that begins with it begins a stream, and the rest of the line is the stream's name
    skip_prefix      lines that begin with it are left out
    speaker          regular expression; what it matches at the beginning of a line names who speaks from there
    utt_words        words in an utterance; 0: each line is an utterance
    independent      each line or segment is a stream of its own
    keep_names       the stream of a file has the file's name, without its ending, and no number
    prefix           what stream names begin with
    nj               processes; the output does not depend on it
    """

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
        """A reader of words and marks. Raises InputError if there is no label set."""
        if self.labels is None:
            raise InputError("no label set", "name one: --labels conf/labels.txt")
        return TextReader(self.labels, self.lowercase, self.clitics)


class Format(ABC):
    """A format to read, with the options to read it.

    takes         names of the options that apply to the format
    lines_as_utterances  whether its lines can be utterances (`utt_words` = 0)
    """

    takes: ClassVar[tuple[str, ...]]
    lines_as_utterances: ClassVar[bool] = False

    def __init__(self, options: PrepareOptions):
        self.options = options

    @abstractmethod
    def prepare(self, inputs: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]) -> Counter[str]:
        """Write the data directory `output` from the files `inputs`.

        Returns counts: streams, utterances, words, and the repairs. Raises InputError for files that cannot be read or
        repaired; `output` is then as it was.
        """


def format_names() -> list[str]:
    """The names of all formats."""
    return sorted(module.name for module in pkgutil.iter_modules(formats.__path__))


def load_format(name: str) -> type[Format]:
    """The class of a format. Raises ModuleNotFoundError if there is no such format."""
    return importlib.import_module(f"{formats.__name__}.{name}").Format


def format_help(name: str) -> str:
    """The first line of the docstring of a format's file."""
    return (importlib.import_module(f"{formats.__name__}.{name}").__doc__ or "").partition("\n")[0]
