"""`punc transcript` for files: punctuates each file and writes it in its own or another format."""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from punc.base.errors import InputError, StrPath, check_at_least
from punc.base.files import atomic_file, check_outputs
from punc.base.options import nearest
from punc.base.processor import give_back_freed_memory
from punc.decoding.marked_transcript import MarkedTranscript, Marker, unknown_words
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import language_of
from punc.decoding.transcript_formats import WRITERS
from punc.text.split_words import AUTO, KEEP, REPLACE
from punc.transcripts.languages import language_code
from punc.transcripts.read import read_transcript
from punc.transcripts.source import encoded
from punc.transcripts.transcript import Transcript, Words, words_of, write

logger = logging.getLogger(__name__)

MARKS = (AUTO, KEEP, REPLACE)
ENDINGS = {".srt": "srt", ".vtt": "vtt", ".ctm": "ctm", ".json": "json", ".txt": "text"}  # extension of OUT → format
# Maps a transcript's format to its name in --to. All other formats are JSON or have an extension in READ_ONLY.
SAME = {"SRT": "srt", "WebVTT": "vtt", "CTM": "ctm", "text": "text"}
# Extensions of formats that are written only if the input has the same format.
READ_ONLY = frozenset((".ass", ".ssa", ".lrc", ".sbv", ".tsv", ".csv", ".ttml", ".dfxp", ".xml", ".smi", ".sami",
                       ".sub", ".textgrid", ".stm", ".eaf", ".mlf", ".rttm", ".doc", ".docx", ".odt", ".rtf", ".pdf",
                       ".htm", ".html"))


def punctuate_files(directory: Path, paths: Sequence[Path], out: StrPath, decoding: DecodingOptions, *, to: str = "",
                    marks: str = AUTO, format: str = "", tier: str = "", probabilities: bool = True,
                    nj: int = 2) -> None:
    """Punctuate files with the model in `directory`.

    If there are several files, or if `out` is a directory or ends with a slash, the output files are written to the
    directory `out` under the names of the input files; if `to` is given, their extension becomes that of the format.
    Otherwise `out` is a file.

    to             srt, vtt, ctm, json, text or paragraphs; default: IN's format if OUT has IN's extension, an unknown
                   one or none, otherwise the format of OUT's extension
    marks          what happens to existing marks: replace, keep, or auto (keep the marks of texts that have many)
    format         text: read IN as plain text; default: detect the format from the content
    tier           for a TextGrid: the tier that contains the words
    probabilities  write the probability of each word's label to JSON in IN's format; other JSON always contains it
    nj             processes that decode

    Each output file is replaced completely or left unchanged. Raises InputError if there is no model, the input is
    broken, or an option does not fit the model or the input. If one of several files is broken, the other files are
    still punctuated before the error is raised.
    """
    for name, value, values in (("to", to, ("", *WRITERS)), ("marks", marks, MARKS)):
        if value not in values:
            raise InputError(f"unknown --{name} {value}", nearest(value, values))
    check_at_least(1, nj=nj)
    marker_of = cache(partial(Marker, directory, decoding, marks, nj))
    broken = 0
    in_directory = len(paths) > 1 or os.path.isdir(out) or os.fspath(out).endswith(os.sep)
    out = Path(out)
    for path, target in zip(paths, _targets(paths, out, to) if in_directory else [out]):
        try:
            transcript = read_transcript(path, format, tier)
            give_back_freed_memory()  # parsed JSON has just been freed
            form = to or _form_of_name(path, target, transcript)
            # Only JSON can hold probabilities.
            rated = form == "json" or (not form and probabilities and transcript.document.rated)
            for note in transcript.notes:
                logger.info("%s: %s", path, note)
            marker = marker_of(rated)
            words = words_of(transcript.texts, marker.script)
            content, messages = punctuated(transcript, words, marker, form, path, rated)
            for message in messages:
                logger.warning("%s: %s", path, message)
        except InputError as error:
            if len(paths) == 1:
                raise
            logger.error("%s", InputError(error.what, error.remedy, error.file or path, error.line))
            broken += 1
            continue
        with atomic_file(target, "wb") as file:
            file.write(content)
        logger.info("%s: %s, %d words", target, form or transcript.format, len(words.texts))
    if broken:
        raise InputError(f"{broken} of {len(paths)} files were not punctuated", "see the messages above", out)


def _targets(paths: Sequence[Path], out: Path, to: str) -> list[Path]:
    ending = next((ending for ending, form in ENDINGS.items() if form == to), ".txt")
    targets = [out / (path.with_suffix(ending) if to else path).name for path in paths]
    if twice := [target for target, count in Counter(targets).items() if count > 1]:
        raise InputError("two input files have this name", "punctuate them one by one, into different directories",
                         twice[0])
    check_outputs(map(str, targets), map(str, paths))
    if not out.is_dir() and (out.exists() or out.suffix.lower() in ENDINGS):
        raise InputError("not a directory", f"give a directory for {len(paths)} files", out)
    out.mkdir(parents=True, exist_ok=True)
    return targets


def punctuated(transcript: Transcript, words: Words, marker: Marker, form: str, path: Path,
               rated: bool) -> tuple[bytes, list[str]]:
    """Return the content of the output file, and warnings. Raises InputError if the transcript does not fit `form`.

    form    the output format, as in `WRITERS`; empty: the transcript's own format
    path    the input file, whose name becomes the recording's name if the transcript has none
    rated   whether to write the probability of each word's label
    """
    marked = marker.mark(words)
    messages = [*transcript.messages, *_warnings(marker.directory, transcript, words, marked)]
    if form:
        words = words._replace(recordings=[name or path.stem for name in words.recordings])
        text = WRITERS[form](words, marked)
        return (text if form == "ctm" else words.script.close(text)).encode(), messages
    text = write(transcript, words, marked.texts, marked.probabilities if rated else None)
    return encoded(text, transcript.encoding), messages


def _form_of_name(path: Path, out: Path, transcript: Transcript) -> str:
    ending = out.suffix.lower()
    if ending in ("", path.suffix.lower()):
        return ""
    form = ENDINGS.get(ending, "")
    if not form and ending in READ_ONLY:
        raise InputError(f"punc does not write {ending} from {transcript.format}", f"give --to {'|'.join(WRITERS)}",
                         out)
    is_json = transcript.format not in SAME and path.suffix.lower() not in READ_ONLY
    return "" if form == SAME.get(transcript.format, "json" if is_json else "") else form


def _warnings(directory: Path, transcript: Transcript, words: Words, marked: MarkedTranscript) -> Iterator[str]:
    if not words.texts:
        yield f"{transcript.format} without words"
    language, own = language_code(transcript.language), language_of(directory)
    if language and own and language != own:
        yield f"it is in another language than the model: {transcript.language}, not {own}"
    elif warning := unknown_words(marked.unknown, len(words.texts)):
        yield warning
    if marked.kept:
        yield "it already has marks, which stay; --marks replace replaces them"
    same = words.streams[1:] == words.streams[:-1]
    for what, wrong in (("end before they begin", words.ends < words.begins),
                        ("begin before the previous word", same & (words.begins[1:] < words.begins[:-1]))):
        if count := int(np.count_nonzero(wrong)):
            yield f"{count} words {what}; the pauses there count as 0, and the times stay"
