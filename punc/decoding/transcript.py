"""A recogniser's output punctuated: what it wrote beside a Kaldi data directory, to transcripts and subtitles.

OUT-DIR gets

    text                      one line an utterance, or a recording where the CTM's ids are recordings
    ctm                       the CTM's words with their marks; the rest of a line as it was; without silences
    srt/<recording>.srt       subtitles
    vtt/<recording>.vtt       subtitles
    txt/<recording>.txt       paragraphs

and without a CTM only `text` and `txt`. Subtitles and paragraphs begin sentences with a capital where the label set
leaves capitals alone. Several jobs make parts of this, each a directory, and `join` makes one of them.
"""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from tqdm import tqdm

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.log import hide_progress
from punc.data.block_reader import at_slots
from punc.data.labels import LabelSet
from punc.data.tables import sort_table
from punc.decoding.asr_input import LONG_CHUNK, Spoken, read_ctm, read_text
from punc.decoding.punctuate import Decoder, Task, parse_scale
from punc.decoding.segments import BATCH_SIZE, CONTEXT
from punc.decoding.subtitles import blocks, capitalized, cues, marks_after, paragraphs, srt, vtt
from punc.text.prose_reader import written
from punc.timing.fast_ctm import CtmFile
from punc.tokens.tokenizer import Encoding, encode_streams, read_tokenizer

KINDS = ("txt", "srt", "vtt")
UNKNOWN = 0.3  # share of unknown words above which something is the matter


def transcript(directory: Path, data: Path, out: Path, *, ctm: str = "", scale: str = "", lowercase: bool = False,
               chunk_size: int = LONG_CHUNK, context: int = CONTEXT, batch_size: int = BATCH_SIZE, job: int = 1, nj: int = 1) -> None:
    """Punctuate a recogniser's output with the model of a directory, whole or not at all.

    ctm        words and times, instead of the words of DATA-DIR/text
    scale      multiply posteriors of labels before the choice: LABEL=FACTOR,…
    lowercase  write all words in lower case first
    chunk_size  tokens of a stream that are decoded in one go; 0: all, however much memory that takes
    context    tokens before a piece (and after it, for a model that reads both ways) that are read with it
    batch_size  chunks in a batch; changes the speed, not the labels
    job        which share of the recordings to punctuate, from 1
    nj         how many shares there are

    Raises InputError for a directory that has no model, for input that is broken or does not fit together, and for
    options that do not fit.
    """
    if not 1 <= job <= nj:
        raise InputError(f"--job={job} is none of --nj={nj}", "give one from 1 to --nj")
    if not (directory / "final.pt").is_file():
        raise InputError("no such file", "train the model, or name another directory", directory / "final.pt")
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    decoder = Decoder(directory, parse_scale(scale, label_set), chunk_size, context, batch_size, False)
    counts = Counter()
    with ExitStack() as stack:
        spoken = read_ctm(data, stack.enter_context(CtmFile(ctm)), job, nj) if ctm else read_text(data, job, nj)
        tmp = stack.enter_context(atomic_dir(out))
        files = [stack.enter_context(open(tmp / name, "wb")) for name in ("text", "ctm")[:1 + bool(ctm)]]
        writer = _Writer(tmp, label_set, *files)
        bar = stack.enter_context(tqdm(desc="punctuating", unit="word", unit_scale=True, leave=False, delay=2,
                                       disable=hide_progress()))
        for group in spoken:
            words = " ".join(group.words).lower().split(" ") if lowercase and group.words else group.words
            bounds = np.unique([0, *group.streams])  # streams without words are none to a model
            encoding, offsets = encode_streams(tokenizer, words, bounds)
            counts.update(tokens=len(encoding.ids), unknown=encoding.lost)
            writer.write(group._replace(words=words), _labels(decoder, encoding, offsets, group.pauses))
            bar.update(len(group.words))
    if counts["unknown"] > UNKNOWN * counts["tokens"]:
        what = "words" if tokenizer.token_type == "word" else "tokens"
        print(f"warning: {counts['unknown']} of {counts['tokens']} {what} are not in {directory / 'vocab'}; "
              "is their case another? then --lowercase true", file=sys.stderr)


def _labels(decoder: Decoder, encoding: Encoding, offsets: np.ndarray, pauses: np.ndarray | None) -> np.ndarray:
    """The label number of each slot of streams that begin at these tokens."""
    ids, slots, _ = encoding
    if not len(ids):
        return np.zeros(0, np.int8)
    begins = np.ones(len(offsets) - 1, bool)
    return decoder(Task(ids, at_slots(pauses, slots, len(ids), np.nan), offsets, slots, begins))[0]


class _Writer:
    """Writes what has been punctuated, group by group."""

    def __init__(self, place: Path, label_set: LabelSet, text: IO[bytes], ctm: IO[bytes] | None = None):
        self.place, self.label_set = place, label_set
        for kind in KINDS if ctm else KINDS[:1]:
            (place / kind).mkdir()
        self._text, self._ctm = text, ctm

    def write(self, spoken: Spoken, labels: np.ndarray) -> None:
        words = written(spoken.words, np.array(self.label_set.names, object)[labels].tolist(), self.label_set)
        begin = 0
        for id, end in spoken.lines:
            self._text.write(" ".join((id, *words[begin:end])).encode() + b"\n")
            begin = end
        if spoken.timed:
            heads, tails = spoken.timed.heads, spoken.timed.tails
            encoded = "\n".join(words).encode().split(b"\n")
            self._ctm.write(b"".join(map(b"%b %b%b\n".__mod__, zip(heads, encoded, tails))))
        self._files(words, marks_after(labels, self.label_set), spoken)

    def _files(self, words: list[str], marks: np.ndarray, spoken: Spoken) -> None:
        """The files of each recording."""
        bounds = np.unique([0, *(end for _, end in spoken.recordings)])
        if not self.label_set.cased:
            words = capitalized(words, marks, bounds[:-1])
        first, shown, begin = np.zeros(0, np.int64), [], 0
        if spoken.timed:
            found = cues(words, marks, spoken.timed.begins, spoken.timed.ends, spoken.turns, bounds[1:])
            first, shown = found.first, list(blocks(words, found))
        ends = [end for _, end in spoken.recordings]
        cut = [0, *np.searchsorted(first, ends).tolist()]  # no cue is of two recordings
        for number, (name, end) in enumerate(spoken.recordings):
            pauses = None if spoken.pauses is None else spoken.pauses[begin:end]
            texts = {"txt": paragraphs(words[begin:end], marks[begin:end], pauses, spoken.turns[begin:end])}
            if spoken.timed:
                own = shown[cut[number]:cut[number + 1]]
                texts |= {"srt": srt(own), "vtt": vtt(own)}
            for kind, text in texts.items():
                place = f"{self.place}/{kind}/{name.replace('/', '_')}.{kind}"
                with open(place, "w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            begin = end


def join(parts: Sequence[Path], out: Path) -> None:
    """Make one transcript of those of several jobs; the parts are gone then, and what `out` had of an older one.

    Raises InputError where a part is missing.
    """
    for part in parts:
        if not (part / "text").is_file():
            raise InputError("no such file", "make all parts first", part / "text")
    with atomic_dir(out) as tmp:
        for name in ("text", "ctm"):
            if (parts[0] / name).is_file():
                with open(tmp / name, "wb") as file:
                    for part in parts:
                        with open(part / name, "rb") as source:
                            shutil.copyfileobj(source, file)
        sort_table(tmp / "text")
        for file in _made(parts):
            (tmp / file.parent.name).mkdir(exist_ok=True)
            os.replace(file, tmp / file.parent.name / file.name)
        made = {file.relative_to(tmp) for file in tmp.rglob("*")}
    for part in parts:
        shutil.rmtree(part)
    for stale in {Path("ctm"), *(file.relative_to(out) for file in _made([out]))} - made:
        (out / stale).unlink(missing_ok=True)
    print(f"{out}: {' '.join(sorted({file.parts[0] for file in made}))}", file=sys.stderr)


def _made(directories: Sequence[Path]) -> Iterator[Path]:
    """The subtitles and paragraphs of some directories."""
    for directory in directories:
        for kind in KINDS:
            if (directory / kind).is_dir():
                with os.scandir(directory / kind) as entries:
                    yield from [Path(entry.path) for entry in entries if entry.name.endswith(f".{kind}")]
