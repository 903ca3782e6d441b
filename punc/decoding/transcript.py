"""Punctuates ASR output (a Kaldi data directory, usually with a CTM) and writes transcripts and subtitles.

The files in OUT-DIR are

    text                      the words with their marks, one line per utterance; if the ids of the CTM are recordings
                              or speakers, one line per recording or speaker
    ctm                       the words of the CTM with their marks; other columns and lines are unchanged
    srt/<recording>.srt       subtitles
    vtt/<recording>.vtt       subtitles
    txt/<recording>.txt       paragraphs

Without a CTM, there are only `text` and `txt`. In subtitles and paragraphs, each sentence and each turn of a speaker
begins with a capital, even if the labels have no capitals.
"""

import logging
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.jobs import Share, concatenate
from punc.data.tables import sort_table
from punc.decoding.kaldi_groups import ALL, Group, ctm_groups, file_name, text_groups
from punc.decoding.marked_transcript import MarkedTranscript, Marker, unknown_words
from punc.decoding.options import DecodingOptions
from punc.decoding.transcript_formats import EMPTY, recording_paragraphs, subtitles
from punc.text.split_words import AUTO
from punc.text.word_parts import SILENCE
from punc.transcripts.ctm import CtmIndex
from punc.transcripts.transcript import Words, words_of, write

logger = logging.getLogger(__name__)

DECODING = DecodingOptions()
KINDS = ("txt", "srt", "vtt")
WRITTEN = ".written"  # a file in OUT-DIR that lists the files that punc wrote there


def transcript(directory: Path, data: Path, out: Path, decoding: DecodingOptions = DECODING, *, ctm: str = "",
               marks: str = AUTO, share: Share = ALL) -> None:
    """Punctuate ASR output with the model in `directory`. After an error, `out` is unchanged.

    ctm        take the words and their times from this CTM; default: the words of DATA-DIR/text
    marks      what happens to existing marks: replace, keep, or auto (keep the marks of texts that have many)
    share      punctuate this share of the recordings

    Raises InputError if there is no model, the input is broken, or an option does not fit the model or the input.
    """
    marker = Marker(directory, decoding, marks, probabilities=False)
    counts = Counter[str]()
    index = CtmIndex(ctm) if ctm else None
    groups = ctm_groups(data, index, share, decoding.chunk_size) if index else \
        text_groups(data, share, decoding.chunk_size)
    with ExitStack() as stack:
        tmp = stack.enter_context(atomic_dir(out, "text", written_before(out)))
        files = [stack.enter_context(open(tmp / name, "wb")) for name in ("text", "ctm")[:1 + bool(ctm)]]
        for kind in KINDS if ctm else KINDS[:1]:
            (tmp / kind).mkdir()
        for group in groups:
            words = words_of(group.transcript.texts)
            marked = marker.mark(words, group.pauses)
            counts.update(words=len(words.texts), unknown=marked.unknown)
            _write_group(tmp, group, words, marked, files)
        if share == ALL:
            note_written(tmp)
    for what, number in (index.repairs if index else Counter[str]()).items():
        if number:
            logger.warning("%s: %d %s", ctm, number, what)
    if warning := unknown_words(counts["unknown"], counts["words"]):
        logger.warning("warning: %s: %s", data, warning)


def _write_group(tmp: Path, group: Group, words: Words, marked: MarkedTranscript, files: Sequence[IO[bytes]]) -> None:
    split = marked.words
    silent = split.of([token.kind == SILENCE for token in split.tokens]).astype(bool)
    ends = np.searchsorted(words.of[words.first], [end for _, end in group.lines]).tolist()
    begin = 0
    for (id, _), end in zip(group.lines, ends):
        said = [text for text, hidden in zip(marked.texts[begin:end], silent[begin:end].tolist()) if not hidden]
        files[0].write(" ".join((id, *said)).encode() + b"\n")
        begin = end
    kinds = {"txt": recording_paragraphs(words, marked)}
    if len(files) > 1:
        files[1].write(write(group.transcript, words, marked.texts).encode())
        kinds |= {kind: subtitles(words, marked, kind) for kind in KINDS[1:]}
    for kind, texts in kinds.items():
        for name in group.recordings:
            with open(tmp / kind / f"{file_name(name)}.{kind}", "w", encoding="utf-8", newline="\n") as file:
                file.write(texts.get(name, EMPTY[kind]))


def written_before(out: Path) -> list[str]:
    """Return the names of the files that an earlier run wrote to a directory and that a new run may remove."""
    path = out / WRITTEN
    return [*path.read_text(encoding="utf-8").splitlines(), WRITTEN] if path.is_file() else []


def note_written(tmp: Path) -> None:
    names = sorted(str(path.relative_to(tmp)) for path in tmp.rglob("*") if path.is_file())
    (tmp / WRITTEN).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def join_transcripts(parts: Sequence[Path], out: Path) -> None:
    """Join the transcripts of several jobs in `out`. Raises InputError if a part has no `text`."""
    for part in parts:
        if not (part / "text").is_file():
            raise InputError("no such file", "run its job again", part / "text")
    with atomic_dir(out, "text", written_before(out)) as tmp:
        for name in ("text", "ctm"):
            if (parts[0] / name).is_file():
                concatenate([part / name for part in parts], tmp / name)
        sort_table(tmp / "text")
        for path in chain.from_iterable(part.glob("*/*") for part in parts):
            kind = path.parent.name
            if kind in KINDS and path.suffix == f".{kind}":
                (tmp / kind).mkdir(exist_ok=True)
                shutil.copyfile(path, tmp / kind / path.name)
        made = sorted(path.name for path in tmp.iterdir())
        note_written(tmp)
    logger.info("%s: %s", out, " ".join(made))
