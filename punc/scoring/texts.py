"""Reads the reference and the hypothesis of a score (texts, files or data directories) as words and labels.

The reference and the hypothesis are called *sides*, and their texts are called *streams*. A file is one text, or
contains one text (such as a recording or a post) per line.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.datadir import DataDir, Utterance, label_numbers
from punc.data.labels import Label, LabelSet, with_capital
from punc.scoring.counts import BLOCK, Counts, Words, add_up, count_streams, counted_slots
from punc.scoring.metrics import compute_metrics
from punc.scoring.posteriors import Posteriors
from punc.scoring.project import paired_streams
from punc.text.characters import CharacterReader
from punc.text.passages import Memo
from punc.text.prose import TextReader
from punc.timing.align import folded

# The labels of the English recipes. If a slot has several marks, the one whose label comes last in this list counts.
ENGLISH = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", ":", "-", "–", "—")),
                    Label("PERIOD", "w.", (".", ";", "!", "…")), Label("QUESTION", "w?", ("?",))))
BATCH = 1 << 16  # reference words in a batch; a batch is aligned faster than its short streams one by one
WHOLE = "text"  # the stream's name, if the texts are compared as a whole
NO_WORDS = "a text without words", "give a text with words to score"

Read = Callable[[str], Words]
Stream = tuple[str, list[Utterance], list[Utterance]]  # name, reference utterances, hypothesis utterances


def text_reader(labels: LabelSet, characters: bool = False) -> Read:
    """Return a function that splits a text into words and labels. With `characters`, the text has no spaces between
    words, and each token of `CharacterReader` is a word."""
    if characters:
        return _character_reader(labels)
    reader = TextReader(labels, lowercase=False)
    memo = Memo(reader.token)
    capital = {label.name: label.capital for label in labels}

    def read(text: str) -> Words:
        passage = memo.read(reader.split(text), reader.attach, Counter())
        cased, names = passage.words.split(), passage.labels.split()
        if labels.cased:  # the reader has moved the first letters' capitals to the labels, so put them back
            cased = [with_capital(word) if capital[name] else word for word, name in zip(cased, names)]
        slots = np.fromiter(map(labels.index, names), np.int64, len(names))
        return Words(folded(passage.words.split()), slots, cased)

    return read


def _character_reader(labels: LabelSet) -> Read:
    reader = CharacterReader(labels)

    def read(text: str) -> Words:
        split = reader.split(text)
        slots = np.fromiter(map(labels.index, split.labels), np.int64, len(split.labels))
        return Words([token.lower() for token in split.tokens], slots, split.tokens)

    return read


def score_texts(reference: str, hypothesis: str, labels: LabelSet = ENGLISH,
                characters: bool = False) -> dict[str, float]:
    """Score the marks of `hypothesis` against the marks of `reference`. Return all metrics in percent; NaN: undefined.

    labels       the label set, which maps marks to labels
    characters   whether the texts have no spaces between words, as in Japanese

    Words are compared without case and marks. If the words differ, the reference's marks are first projected onto the
    hypothesis' words by edit distance (Tilk & Alumäe 2015, section 3). Raises InputError for a text without words.
    """
    ref, hyp = map(text_reader(labels, characters), (reference, hypothesis))
    if not ref.plain or not hyp.plain:
        raise InputError(*NO_WORDS)
    counts, _ = count_streams([WHOLE], [(ref, hyp)], labels, block=0)
    metrics = compute_metrics(counts.confusion[0], labels, words=counts.words[0])  # type: ignore[index]
    return {name: float(value) for name, value in metrics.items()}


def side_of(utterances: Sequence[Utterance], labels: LabelSet, path: Path) -> Words:
    """Return a stream's utterances as words with label numbers. Raises InputError for a label not in the set."""
    words = [word for utterance in utterances for word in utterance.words]
    slots = label_numbers(utterances, labels, path)
    if not labels.cased:
        return Words(folded(words), slots)
    capital = np.array([label.capital for label in labels])[slots].tolist()
    return Words(folded(words), slots, [with_capital(word) if big else word for word, big in zip(words, capital)])


def count(reference: DataDir, hypothesis: DataDir, labels: LabelSet, block: int = BLOCK, last_slot: str = "true",
          match: str = "utterances", posteriors: Posteriors | None = None) -> Counts:
    """Count slots and word errors, one batch of streams at a time (see `count_streams`). If `posteriors` are given, add
    the slots to their histograms. Both directories must have labels. Raises InputError if the ids of utterances (or of
    streams, if `match` is "streams") differ, if a label is not in the set, or if there is no slot to score.
    """
    parts = []
    for batch in _batches(_streams_of_both(reference, hypothesis, match)):
        sides = [(side_of(ref, labels, reference.path), side_of(hyp, labels, hypothesis.path)) for _, ref, hyp in batch]
        counts, expected = count_streams([name for name, _, _ in batch], sides, labels, block, last_slot)
        parts.append(counts)
        if posteriors:
            counted = counted_slots([len(hyp.plain) for _, hyp in sides], last_slot)
            posteriors.add([utterance for _, _, hyp in batch for utterance in hyp], expected, counted)
    return add_up(parts, reference.path)


def _batches(streams: Iterator[Stream]) -> Iterator[list[Stream]]:
    batch, words = [], 0
    for stream in streams:
        batch.append(stream)
        words += sum(len(utterance.words) for utterance in stream[1])
        if words >= BATCH:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def _streams_of_both(reference: DataDir, hypothesis: DataDir, match: str) -> Iterator[Stream]:
    for name, ref, hyp in paired_streams(reference, hypothesis):
        for one, other in zip_longest(ref, hyp) if match == "utterances" else ():
            ref_id, hyp_id = ("nothing" if side is None else f"utterance '{side.id}'" for side in (one, other))
            if ref_id != hyp_id:
                raise InputError(f"it has {hyp_id} where {reference.path} has {ref_id}",
                                 "score the output for the same data directory, or give --match streams if only the "
                                 "utterances differ", hypothesis.path)
        yield name, ref, hyp


class Side(NamedTuple):
    """The streams of a data directory, which have names (`named`), or of a file, which are numbered from 1. Empty lines
    at the end of a file are not streams."""

    path: Path
    names: list[str]
    streams: list[Words]
    named: bool

    @property
    def words(self) -> int:
        return sum(len(stream.plain) for stream in self.streams)

    @property
    def checksum(self) -> str:
        """Return 12 hex digits of a hash of the words and labels of each stream."""
        digest = hashlib.sha256()
        for stream in self.streams:
            digest.update(" ".join(stream.plain).encode() + b"\n" + stream.slots.astype(np.int8).tobytes())
        return digest.hexdigest()[:12]

    @property
    def as_whole(self) -> "Side":
        cased = None
        if all(stream.cased is not None for stream in self.streams):
            cased = [word for stream in self.streams for word in stream.cased or ()]
        one = Words([word for stream in self.streams for word in stream.plain],
                    np.concatenate([stream.slots for stream in self.streams]), cased)
        return self._replace(names=[WHOLE], streams=[one])


def read_side(path: Path, labels: LabelSet, read: Read) -> Side:
    """Read a file or a data directory. Each line of a file is a stream, which the function `read` splits into words.
    Raises InputError if there are no words, or if a data directory has no labels."""
    if path.is_dir():
        data = DataDir(path, needs=["punct"])
        both = [(name, side_of(utterances, labels, path)) for name, utterances in data.streams()]
        side = Side(path, [name for name, _ in both], [words for _, words in both], True)
    else:
        with open_input(path) as file:
            lines = [decode_line(line.replace(b"\r\n", b"\n"), path, i).strip() for i, line in enumerate(file, 1)]
        while lines and not lines[-1]:
            lines.pop()
        width = len(str(len(lines)))
        side = Side(path, [f"{i:0{width}}" for i in range(1, len(lines) + 1)], [read(line) for line in lines], False)
    if not side.words:
        raise InputError(*NO_WORDS, path)
    return side


def count_sides(ref: Side, hyp: Side, labels: LabelSet, block: int = BLOCK) -> Counts:
    """Count the slots and word errors in each block of `block` words (see `count_streams`). Both sides must have the
    same number of streams. Raises InputError if both sides are data directories and the names of their streams
    differ."""
    if ref.named and hyp.named and ref.names != hyp.names:
        raise InputError(f"the streams differ from those of {ref.path}", "punctuate that directory", hyp.path)
    names = ref.names if ref.named else hyp.names
    counts, _ = count_streams(names, list(zip(ref.streams, hyp.streams)), labels, block)
    return add_up([counts], ref.path)
