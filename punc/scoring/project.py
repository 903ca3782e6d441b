"""Projects the labels of one data directory onto the words of another (Tilk & Alumäe 2015, section 3).

Each stream is aligned as a whole, so the reference and the hypothesis may be cut into different utterances.
`timing.align` describes the rules of alignment and projection.
"""

import shutil
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.data.datadir import DataDir, Utterance, label_numbers, new_data_dir
from punc.data.labels import RECORD, LabelSet, check_record
from punc.data.tables import sort_table
from punc.timing.align import align_words, folded, project_labels, project_slots

# Files that depend on the hypothesis directory's own marks. They are not copied to the new directory.
PUNCTUATED = ("punct", RECORD, "text_punct", "ctm_punct", "post.scp")


class Projection(NamedTuple):
    """Sums over streams. `words` counts reference words."""

    streams: int
    words: int
    errors: int  # edit distance in words
    marks: int  # reference slots with a non-empty label, including the moved, merged and lost ones
    moved: int  # marks that moved to an earlier slot, because their word was deleted
    merged: int  # marks that were dropped because a stronger mark took the slot
    lost: int  # marks that were dropped because no hypothesis word precedes them

    @property
    def wer(self) -> float:
        """Word error rate: errors / reference words."""
        return self.errors / self.words if self.words else 0.0


def project(ref_dir: StrPath, hyp_dir: StrPath, out_dir: StrPath, labels: LabelSet) -> Projection:
    """Write `out_dir`: a copy of the data directory `hyp_dir` whose `punct` contains the labels of `ref_dir`.

    Subdirectories, hidden files and files that depend on the marks of `hyp_dir` are not copied. Archives are not copied
    either; the copied tables refer to the archives of `hyp_dir`. Memory holds all ids, but only one stream at a time.
    Raises InputError if the directories have different streams, or if a label of `ref_dir` is not in `labels` or is
    written differently there.
    """
    ref = DataDir(ref_dir, needs=["punct"])
    hyp = DataDir(hyp_dir, ignore=["punct"])
    check_record(ref.path, labels)
    sums = np.zeros(len(Projection._fields), np.int64)
    with new_data_dir(out_dir, *PUNCTUATED) as tmp:
        with open(tmp / "punct", "w", encoding="utf-8", newline="\n") as punct:
            for _, ref_utterances, hyp_utterances in paired_streams(ref, hyp):
                projected, counts = project_stream(ref_utterances, hyp_utterances, labels, ref.path)
                sums += counts
                names = map(labels.names.__getitem__, projected.tolist())
                for utterance in hyp_utterances:
                    punct.write(" ".join((utterance.id, *islice(names, len(utterance.words)))) + "\n")
        sort_table(tmp / "punct")  # the lines are still in the order of recordings and times
        for file in hyp.path.iterdir():
            if file.is_file() and file.name not in PUNCTUATED and file.suffix != ".ark" and file.name[0] != ".":
                shutil.copyfile(file, tmp / file.name)
        labels.write(tmp / RECORD)
    return Projection(*sums.tolist())


def paired_streams(ref: DataDir, hyp: DataDir) -> Iterator[tuple[str, list[Utterance], list[Utterance]]]:
    """Yield each stream with its utterances in both directories. Raises InputError if one directory lacks a stream."""
    for (a, ref_utterances), (b, hyp_utterances) in zip_longest(ref.streams(), hyp.streams(), fillvalue=("", [])):
        if a != b:
            # Streams come in C-locale order, so the side with the later name lacks the earlier name.
            missing, lacking = (a, hyp) if not b or (a and a.encode() < b.encode()) else (b, ref)
            other = ref if lacking is hyp else hyp
            raise InputError(f"no stream '{missing}', which {other.path} has",
                             "give both the same streams: recordings (with segments) or speakers (without)",
                             lacking.path)
        yield a, ref_utterances, hyp_utterances


def project_stream(ref: Sequence[Utterance], hyp: Sequence[Utterance], labels: LabelSet,
                   path: StrPath) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the projected label number of each hypothesis slot of a stream, int8 (words,), and the stream's counts, in
    the order of the fields of `Projection`."""
    numbers = label_numbers(ref, labels, path).astype(np.int8)
    alignment = align_words(*(folded(word for utterance in side for word in utterance.words) for side in (ref, hyp)))
    projected, slots = project_labels(alignment, numbers), project_slots(alignment)
    marks = numbers > 0
    n_marks, n_lost = int(marks.sum()), int((marks & (slots < 0)).sum())
    n_moved = int((marks & (slots >= 0) & (alignment.ref_to_hyp < 0)).sum())
    n_merged = n_marks - n_lost - int((projected > 0).sum())
    return projected, (1, len(numbers), alignment.distance, n_marks, n_moved, n_merged, n_lost)
