"""ASR output, punctuated: a Kaldi data directory, and usually a CTM, to transcripts and subtitles.

OUT-DIR gets

    text                      one line per utterance, or per recording if the ids of the CTM are recordings
    ctm                       the words of the CTM with their marks; other columns as they were; no silences
    srt/<recording>.srt       subtitles
    vtt/<recording>.vtt       subtitles
    txt/<recording>.txt       paragraphs

and, without a CTM, only `text` and `txt`. In subtitles and paragraphs, sentences and turns of a speaker begin with a
capital, whatever the labels.
"""

import logging
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack
from itertools import compress, pairwise
from pathlib import Path
from typing import IO

import numpy as np
from tqdm import tqdm

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.jobs import Share, concatenate
from punc.base.log import hide_progress
from punc.base.runs import bounds_of
from punc.data.block_reader import at_slots
from punc.data.labels import LabelSet
from punc.data.tables import read_table, sort_table
from punc.decoding.asr_input import ALL, AsrOutput, file_name, read_ctm, read_text, without
from punc.decoding.options import CHUNK_SIZE, DecodingOptions
from punc.decoding.shipped import CASING, is_packed
from punc.decoding.worker import Decoder, Task
from punc.subtitles.cues import make_cues
from punc.subtitles.marks import marks_after
from punc.subtitles.paragraphs import capitalized, cue_texts, paragraphs, srt, vtt, with_speakers
from punc.text.casing import Casing
from punc.text.marked_words import AUTO, MarkedWords, SplitWords, take_apart
from punc.text.word_parts import TokenReader, is_hidden
from punc.timing.fast_ctm import CtmFile
from punc.tokens.tokenizer import Encoding, encode_streams, read_tokenizer

logger = logging.getLogger(__name__)

DECODING = DecodingOptions(chunk_size=2 * CHUNK_SIZE)  # cuts streams less often; a group still fills a batch
KINDS = ("txt", "srt", "vtt")
STALE = ("ctm", *(f"{kind}/*.{kind}" for kind in KINDS))  # files of an older transcript
UNKNOWN = 0.3  # a warning follows if a larger share of the words is unknown


def transcript(directory: Path, data: Path, out: Path, decoding: DecodingOptions = DECODING, *, ctm: str = "",
               lowercase: bool = False, marks: str = AUTO, share: Share = ALL) -> None:
    """Punctuate ASR output with the model of a directory. `out` is replaced as a whole, or left as it was.

    ctm        take the words and their times from this CTM; default: the words of DATA-DIR/text
    lowercase  write all words in lower case first, for ASR output in capitals
    marks      what happens to marks that are there: replace, keep, or auto: they stay where a text has many
    share      punctuate this share of the recordings

    Raises InputError if there is no model, and for input or options that are broken or do not fit together.
    """
    decoder = Decoder(directory, decoding)
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        file = stack.enter_context(CtmFile(ctm)) if ctm else None
        groups = read_ctm(data, file, share, decoding.chunk_size) if file else \
            read_text(data, share, decoding.chunk_size)
        tmp = stack.enter_context(atomic_dir(out, "text", STALE))
        files = [stack.enter_context(open(tmp / name, "wb")) for name in ("text", "ctm")[:1 + bool(ctm)]]
        marked = MarkedWords(label_set, Casing.read(label_set, directory / CASING), marks, is_packed(directory),
                             any_case=False)
        unnamed = {row.key for row in read_table(data / "utt2spk")}
        reader = TokenReader.of(tokenizer.vocabulary.tokens, capitals=True)
        writer = _Writer(tmp, marked, unnamed, *files)
        bar = stack.enter_context(tqdm(desc="punctuating", unit="word", unit_scale=True, leave=False, delay=2,
                                       disable=hide_progress()))
        for group in groups:
            bar.update(len(group.words))
            texts = " ".join(group.words).lower().split(" ") if lowercase and group.words else group.words
            streams = np.repeat(np.arange(len(group.streams)), np.diff([0, *group.streams]))
            words = take_apart(texts, reader, streams, np.zeros(len(texts), bool), streams)
            bounds = np.unique(bounds_of(words.counts)[[0, *group.streams]])  # no streams without words
            encoding, offsets = encode_streams(tokenizer, words.read(), bounds.tolist())
            counts.update(tokens=len(encoding.ids), unknown=encoding.lost)
            slots = np.cumsum(words.counts)[words.counts > 0] - 1  # each word's label is that of its last part
            labels, pauses = np.zeros(len(texts), np.int64), _read_pauses(group, words)
            labels[words.counts > 0] = _labels(decoder, encoding, offsets, pauses)[slots]
            writer.write(group._replace(words=texts), words, labels)
    for what, number in (file.repairs if file else Counter[str]()).items():
        logger.warning("%s: %d %s", ctm, number, what)
    if counts["unknown"] > UNKNOWN * counts["tokens"]:
        what = "words" if tokenizer.token_type == "word" else "tokens"
        logger.warning("warning: %d of %d %s are not in %s; if only their case differs, use --lowercase true",
                       counts["unknown"], counts["tokens"], what, directory / "vocab")


def _labels(decoder: Decoder, encoding: Encoding, offsets: np.ndarray, pauses: np.ndarray | None) -> np.ndarray:
    """The label number of each slot; streams begin at the tokens `offsets`."""
    ids, slots, _ = encoding
    if not len(ids):
        return np.zeros(0, np.int8)
    begins = np.ones(len(offsets) - 1, bool)
    return decoder(Task(ids, at_slots(pauses, slots, len(ids), np.nan), offsets, slots, begins))[0]


def _read_pauses(output: AsrOutput, words: SplitWords) -> np.ndarray | None:
    """The pause after each word that the model reads; what it does not read, as a tag, is silence."""
    if output.pauses is None or (words.counts == 1).all():
        return output.pauses
    after = output.pauses.astype(float)
    spoken = output.timed.ends - output.timed.begins if output.timed else np.zeros(len(after))
    for i in np.flatnonzero(words.counts == 0)[::-1].tolist():
        if i and words.streams[i] == words.streams[i - 1]:
            after[i - 1] += spoken[i] + after[i]
    pauses = np.zeros(int(words.counts.sum()), np.float32)
    pauses[np.cumsum(words.counts)[words.counts > 0] - 1] = after[words.counts > 0]
    return pauses


class _Writer:
    """Writes punctuated ASR output to a directory, group by group; without a CTM, `ctm` is None.

    marked    writes words with their labels
    unnamed   what is no name of a speaker: utterances that stand for one
    """

    def __init__(self, directory: Path, marked: MarkedWords, unnamed: Set[str], text: IO[bytes],
                 ctm: IO[bytes] | None = None):
        self._directory, self._marked, self._unnamed, self._text, self._ctm = directory, marked, unnamed, text, ctm
        for kind in KINDS if ctm else KINDS[:1]:
            (directory / kind).mkdir()

    def write(self, output: AsrOutput, read: SplitWords, labels: np.ndarray) -> None:
        words, labels = self._marked.write(read, labels)
        begin = 0
        for id, end in output.lines:
            self._text.write(" ".join((id, *words[begin:end])).encode() + b"\n")
            begin = end
        if output.timed and self._ctm:
            heads, tails = output.timed.heads, output.timed.tails
            encoded = "\n".join(words).encode().split(b"\n")
            self._ctm.write(b"".join(map(b"%b %b%b\n".__mod__, zip(heads, encoded, tails))))
        marks = marks_after(words, labels, self._marked.label_set)
        hidden = read.of([is_hidden(token) for token in read.tokens]) if words else np.zeros(0, bool)
        if hidden.any():
            words, marks = list(compress(words, ~hidden)), marks[~hidden]
            output = without(output, hidden)
        self._write_recordings(words, marks, output)

    def _write_recordings(self, words: list[str], marks: np.ndarray, output: AsrOutput) -> None:
        """Write the paragraphs and subtitles of each recording."""
        bounds = np.unique([0, *(end for _, end in output.recordings)])
        words = capitalized(words, marks, bounds[:-1], output.turns)
        names, paragraph_words = self._speakers(words, output, bounds)
        first, shown, voices, begin = np.zeros(0, np.int64), [], [], 0
        if output.timed:
            cues = make_cues(words, marks, output.timed.begins, output.timed.ends, output.turns, bounds[1:])
            first, shown = cues.first, list(cue_texts(words, cues))
            voices = [names[i] for i in first.tolist()]
        ends = [end for _, end in output.recordings]
        cut = [0, *np.searchsorted(first, ends).tolist()]  # a cue belongs to one recording
        for number, (name, end) in enumerate(output.recordings):
            pauses = None if output.pauses is None else output.pauses[begin:end]
            texts = {"txt": paragraphs(paragraph_words[begin:end], marks[begin:end], pauses, output.turns[begin:end])}
            if output.timed:
                own = slice(cut[number], cut[number + 1])
                texts |= {"srt": srt(shown[own]), "vtt": vtt(shown[own], voices[own])}
            for kind, text in texts.items():
                path = f"{self._directory}/{kind}/{file_name(name)}.{kind}"
                with open(path, "w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            begin = end

    def _speakers(self, words: list[str], output: AsrOutput, bounds: np.ndarray) -> tuple[list[str], list[str]]:
        """The name of each word's speaker, empty if it is the only one of its recording; and the words with names."""
        numbers, several = output.speaker, np.zeros(len(words), bool)
        for begin, end in pairwise(bounds.tolist()):
            several[begin:end] = output.turns[begin:end - 1].any()
        if not several.any():
            return [""] * len(words), words
        shown = ["" if name in self._unnamed else name for name in output.speakers]
        names = [shown[i] if one else "" for i, one in zip(numbers.tolist(), several.tolist())]
        starts = sorted({*bounds[:-1].tolist(), *(np.flatnonzero(output.turns) + 1).tolist()} - {len(words)})
        return names, with_speakers(words, starts, names)


def join_transcripts(parts: Sequence[Path], out: Path) -> None:
    """Join the transcripts of several jobs to one, in place of an older one in `out`.

    Raises InputError if a part has no transcripts; `out` is then as it was.
    """
    for part in parts:
        if not (part / "text").is_file():
            raise InputError("no such file", "run its job again", part / "text")
    with atomic_dir(out, "text", STALE) as tmp:
        for name in ("text", "ctm"):
            if (parts[0] / name).is_file():
                concatenate([part / name for part in parts], tmp / name)
        sort_table(tmp / "text")
        for path in _made(parts):
            (tmp / path.parent.name).mkdir(exist_ok=True)
            _link(path, tmp / path.parent.name / path.name)
        made = sorted(path.name for path in tmp.iterdir())
    logger.info("%s: %s", out, " ".join(made))


def _link(path: Path, target: Path) -> None:
    """A second name for a file, because a killed join is run again; a copy where the file system has no such names."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def _made(directories: Sequence[Path]) -> Iterator[Path]:
    """The files of subtitles and paragraphs in some directories."""
    for directory in directories:
        for kind in KINDS:
            if (directory / kind).is_dir():
                with os.scandir(directory / kind) as entries:
                    yield from [Path(entry.path) for entry in entries if entry.name.endswith(f".{kind}")]
