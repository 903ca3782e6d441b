"""Plain punctuated texts as words and labels, and the score of one against another: what `punc.score` computes."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet, with_capital
from punc.scoring.metrics import compute_metrics
from punc.scoring.stream_counts import Words, count_streams
from punc.text.characters import CharacterReader
from punc.text.passages import Memo
from punc.text.prose_reader import TextReader

# The marks of the English recipes: of several in a slot, the last one here counts.
ENGLISH = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", ":", "-", "–", "—")),
                    Label("PERIOD", "w.", (".", ";", "!", "…")), Label("QUESTION", "w?", ("?",))))
Read = Callable[[str], Words]


def text_reader(labels: LabelSet, characters: bool = False) -> Read:
    """A function from a text to its words; it remembers the words that it has read.

    labels      which marks are read as which label
    characters  whether the text has no blanks between words, as Japanese: then characters are the words
    """
    if characters:
        return _character_reader(labels)
    reader = TextReader(labels, lowercase=False)
    memo = Memo(lambda token: (reader.token(token), ""))
    number = {label.name: i for i, label in enumerate(labels)}
    capital = {label.name: label.capital for label in labels}

    def read(text: str) -> Words:
        passage = memo.read(text.split(), reader.attach, Counter())
        cased, names = passage.words.split(), passage.labels.split()
        if labels.cased:  # then the label has the first letter's capital, and the word has not
            cased = [with_capital(word) if capital[name] else word for word, name in zip(cased, names)]
        return Words(passage.words.lower().split(), np.fromiter(map(number.__getitem__, names), np.int64, len(names)),
                     cased)

    return read


def _character_reader(labels: LabelSet) -> Read:
    reader = CharacterReader(labels)

    def read(text: str) -> Words:
        split = reader.split(text)
        slots = np.array(list(map(labels.index, split.labels)), np.int64)
        return Words([token.lower() for token in split.tokens], slots, split.tokens)

    return read


def read_slots(text: str, labels: LabelSet) -> tuple[Sequence[str], np.ndarray]:
    """The words of a text in lower case, and the number of the label after each, int64 (N,).

    Raises InputError for a text without words.
    """
    words = _read(text, labels)
    return words.plain, words.slots


def _read(text: str, labels: LabelSet) -> Words:
    words = text_reader(labels)(text)
    if not words.plain:
        raise InputError("a text without words", "give a text with words to score")
    return words


def score_texts(reference: str, hypothesis: str, labels: LabelSet = ENGLISH) -> dict[str, float]:
    """All metrics of the marks of `hypothesis` against those of `reference`, by name, in percent; NaN is undefined.

    labels   which marks are read as which label

    Words are compared without case and marks. If they differ, the reference's marks are first projected onto the
    hypothesis' words by edit distance (Tilk & Alumäe 2015, section 3). Raises InputError for a text without words.
    """
    done = count_streams([(_read(reference, labels), _read(hypothesis, labels))], [label.mark for label in labels])
    metrics = compute_metrics(done.confusion[0], labels, others={"words": done.words[0]})
    return {name: float(value) for name, value in metrics.items()}
