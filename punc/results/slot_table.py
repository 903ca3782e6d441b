"""The slots of a set as columns: the words, the reference, the pauses, and what each system wrote in each slot.

The words come from the input that the systems punctuated. If the reference has other words (for example, if the input
is ASR output), its labels are projected onto the words of the input, as in `scoring.counts`. A system is left out if
its files cannot be read, if its words differ from those of the first system, or if its slots do not give the counts of
its score, for example because the data has changed since the score was computed. `left_out` contains the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.runs import bounds_of, next_of
from punc.data.datadir import DataDir, Utterance
from punc.data.kaldi_io import read_posteriors
from punc.data.labels import LabelSet
from punc.results.collect import Score
from punc.scoring.counts import LAST_SLOTS, confusion, counted_slots, read_counts
from punc.scoring.project import paired_streams
from punc.scoring.report import signature_parts
from punc.timing.align import align_words, project_labels


@dataclass
class Recognition:
    """How the recognised words differ from the spoken words."""

    wrong: np.ndarray  # bool (words,): whether each recognised word is substituted or inserted
    spoken: dict[int, str]  # maps the number of each substituted word to the word that was spoken
    # maps the number of a recognised word to the words that were omitted after it; words that were omitted at the start
    # of a stream are under the stream's first word
    missing: dict[int, str]
    # int64 (words,): how many words are between the slot after each word and the nearest error; -1 if its stream has no
    # error
    distance: np.ndarray
    wer: float  # word error rate, in percent; NaN without spoken words


class Hypothesis(NamedTuple):
    """The output of a system."""

    labels: np.ndarray  # int8 (slots,)
    posteriors: np.ndarray | None = None  # float32 (slots, labels); None if the system has no posteriors


@dataclass
class SlotTable:
    """All slots of a set, stream by stream."""

    labels: LabelSet
    words: list[str]  # the word before each slot
    streams: list[str]  # the names of the streams
    begins: np.ndarray  # int64 (streams + 1,): stream i consists of the slots begins[i] to begins[i + 1] − 1
    reference: np.ndarray  # int8 (slots,)
    pauses: np.ndarray  # float32 (slots,) seconds; NaN: unknown
    counted: np.ndarray  # bool (slots,): whether the score counts a slot (--last-slot)
    hypotheses: dict[str, Hypothesis] = field(default_factory=dict)  # by system
    left_out: dict[str, str] = field(default_factory=dict)  # system -> the reason why it is left out
    recognition: Recognition | None = None  # None if the spoken words are not known

    @property
    def stream_of(self) -> np.ndarray:
        """Return the index of each slot's stream, int64 (slots,)."""
        return np.repeat(np.arange(len(self.streams)), np.diff(self.begins))

    def confusion(self, system: str, group: np.ndarray | None = None, groups: int = 1) -> np.ndarray:
        """Count the scored slots by group, reference label and system's label: (groups, labels, labels). Group -1 is
        left out."""
        group = np.zeros(len(self.words), np.int64) if group is None else group
        used = self.counted & (group >= 0)
        return confusion(self.reference[used].astype(np.int64), self.hypotheses[system].labels[used].astype(np.int64),
                         group[used], groups, len(self.labels))


def read_slot_table(scores: Sequence[Score], data: Path, reference_words: str = "") -> SlotTable | str:
    """Return the slots of the systems that were scored on a set, or the reason why there are none.

    data              the directory that contains the data directories DATA/SET
    reference_words   the set with the spoken words, such as test_ref, if the scored set contains ASR output
    """
    table, reasons = None, {}
    for score in scores:
        try:
            reference, decoded = _directories(score, data)
            labels = LabelSet.read(score.path / "labels.txt")
            classes = _classes(labels, score.path.parents[2])
            last_slot = signature_parts(score.signature).get("last-slot", "true")
            if last_slot not in LAST_SLOTS:
                raise InputError(f"the signature has 'last-slot:{last_slot[:40]}'", "score again", score.path)
            found = table or _begin(reference, decoded, labels, classes, last_slot)
            _add(found, score, decoded, classes)
            table = found
        except InputError as error:
            reasons[score.system] = f"{error.what} ({error.remedy})"
    if table is None:
        return "; ".join(f"{system}: {reason}" for system, reason in reasons.items()) or "no score"
    table.left_out = reasons
    if table.recognition is None and reference_words and (data / reference_words / "text").is_file():
        spoken = {name: [word for u in utterances for word in u.words]
                  for name, utterances in DataDir(data / reference_words, ["punct", "pauses.scp"]).streams()}
        if set(spoken) >= set(table.streams):
            table.recognition = recognise([spoken[name] for name in table.streams], table.words, table.begins)
    return table


def _directories(score: Score, data: Path) -> tuple[Path, Path]:
    """Return the directories of the reference and of the output that were scored. Their paths come from the
    log of `punc score`; if the log does not show them, they are guessed from the score's path."""
    exp = score.path.parents[2]
    log = exp / score.system / "log" / f"score_{score.set}.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    for command in (line.split() for line in lines if line.startswith("# punc score ")):
        for place in exp.resolve().parents:  # one of these is the recipe's directory, where the command ran
            reference, decoded = (place / path for path in command[-3:-1])
            if (reference / "punct").is_file() and (decoded / "punct").is_file():
                return reference, decoded
    return data / score.set, score.path.parent


def _classes(scored: LabelSet, exp: Path) -> dict[str, int]:
    """Return label name → number of the scored label. A name that is not in the scored label set, because labels were
    merged for scoring, gets the first scored label with the same mark."""
    known = {name: number for number, name in enumerate(scored.names)}
    by_mark = {label.mark: number for number, label in reversed(list(enumerate(scored)))}
    for path in sorted(exp.glob("*/labels.txt")):
        for label in LabelSet.read(path):
            if label.mark in by_mark:
                known.setdefault(label.name, by_mark[label.mark])
    return known


def _numbers(utterances: Sequence[Utterance], classes: Mapping[str, int], path: Path) -> np.ndarray:
    try:
        return np.array([classes[name] for u in utterances for name in u.labels or ()], np.int8)
    except KeyError as error:
        raise InputError(f"label {error} is not a label of the score", "score again", path / "punct") from None


def _begin(reference: Path, decoded: Path, labels: LabelSet, classes: Mapping[str, int], last_slot: str) -> SlotTable:
    sides = DataDir(reference, ["pauses.scp"], ["punct"]), DataDir(decoded, needs=["punct"])
    table = SlotTable(labels, [], [], np.zeros(1, np.int64), np.zeros(0, np.int8), np.zeros(0, np.float32),
                      np.zeros(0, bool))
    spoken, slots, pauses, aligned = [], [], [], False
    for stream, ref, hyp in paired_streams(*sides):
        said, words = ([word for u in side for word in u.words] for side in (ref, hyp))
        numbers = _numbers(ref, classes, reference)
        if said != words:
            numbers = project_labels(align_words(said, words), numbers)
            aligned = True
        table.streams.append(stream)
        table.words += words
        spoken.append(said)
        slots.append(numbers)
        pauses += [np.full(len(u.words), np.nan, np.float32) if u.pauses is None else u.pauses for u in hyp]
    table.begins = bounds_of(map(len, slots))
    table.reference, table.pauses = np.concatenate(slots), np.concatenate(pauses)
    table.counted = counted_slots([len(one) for one in slots], last_slot)
    if aligned:
        table.recognition = recognise(spoken, table.words, table.begins)
    return table


def _add(table: SlotTable, score: Score, decoded: Path, classes: Mapping[str, int]) -> None:
    data, labels, places, end = DataDir(decoded, ["pauses.scp"]), [], {}, 0
    for _, utterances in data.streams():
        labels.append(_numbers(utterances, classes, decoded))
        for utterance in utterances:
            begin, end = end, end + len(utterance.words)
            if utterance.words != table.words[begin:end]:
                raise InputError(f"the words differ from those of the first system, from utterance '{utterance.id}' on",
                                 "only systems that punctuate the same words can be shown in one text", decoded)
            places[utterance.id] = begin, end
    if end != len(table.words):
        raise InputError("fewer words than the first system's text", "punctuate the same data", decoded)
    table.hypotheses[score.system] = Hypothesis(np.concatenate(labels), _posteriors(table, decoded, classes, places))
    scored, names = read_counts(score.path)
    if names.names != table.labels.names or (table.confusion(score.system)[0] != scored.confusion.sum(0)).any():
        del table.hypotheses[score.system]
        raise InputError("the slots differ from those of the score", "score again", decoded)


def _posteriors(table: SlotTable, decoded: Path, classes: Mapping[str, int],
                places: Mapping[str, tuple[int, int]]) -> np.ndarray | None:
    """Return the posterior of each scored label in each slot, float32 (slots, labels); None if a slot has none."""
    archive, model = decoded / "post.ark", decoded.resolve().parent / "labels.txt"
    if not archive.is_file() or not model.is_file():
        return None
    names = LabelSet.read(model).names
    if unknown := set(names) - set(classes):
        raise InputError(f"label '{min(unknown)}' is not one of the score's", "punctuate and score again", model)
    columns = [classes[name] for name in names]
    # A matrix that sums the posteriors of the labels in each class.
    merged = np.eye(len(table.labels), dtype=np.float32)[columns]
    found, slots = np.zeros((len(table.words), len(table.labels)), np.float32), 0
    for id, matrix in read_posteriors(archive):
        begin, end = places.get(id, (0, 0))
        if matrix.shape != (end - begin, len(columns)):
            raise InputError(f"the posteriors of '{id}' belong to other slots", "punctuate again", archive)
        found[begin:end] = matrix @ merged
        slots += end - begin
    return found if slots == len(found) else None


def recognise(spoken: Sequence[Sequence[str]], words: Sequence[str], begins: np.ndarray) -> Recognition:
    """Align the spoken words of each stream with its recognised words, by minimum edit distance. Stream i consists of
    the words words[begins[i]:begins[i + 1]]; `begins` is int64 (streams + 1,)."""
    wrong, at_missing = np.ones(len(words), bool), np.zeros(len(words), bool)
    replaced, missing = dict[int, str](), dict[int, str]()
    distances, errors = [np.zeros(0, np.int64)], 0
    for said, begin, end in zip(spoken, begins[:-1].tolist(), begins[1:].tolist()):
        alignment = align_words(said, words[begin:end])
        errors += alignment.distance
        slot = begin
        for word, at in zip(said, alignment.ref_to_hyp.tolist()):
            if at >= 0:
                slot = begin + at
                wrong[slot] = words[slot] != word
                if wrong[slot]:
                    replaced[slot] = word
            elif begin < end:
                at_missing[slot] = True
                missing[slot] = f"{missing[slot]} {word}" if slot in missing else word
        own = wrong[begin:end]
        distances.append(nearest(own | at_missing[begin:end] | next_of(own, False)))
    total = sum(map(len, spoken))
    return Recognition(wrong, replaced, missing, np.concatenate(distances), 100 * errors / total if total else np.nan)


def nearest(marked: np.ndarray) -> np.ndarray:
    """Return the distance from each position of a bool array to the nearest True, int64; -1 if none is True."""
    places = np.flatnonzero(marked)
    if not len(places):
        return np.full(len(marked), -1, np.int64)
    here = np.arange(len(marked))
    right = np.searchsorted(places, here)
    after = np.abs(places[np.minimum(right, len(places) - 1)] - here)
    return np.minimum(after, np.abs(places[np.maximum(right - 1, 0)] - here))
