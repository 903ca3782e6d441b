"""`punc transcript` on a file: the same file with marks, or another format."""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import nearest
from punc.base.processor import give_back_freed_memory
from punc.decoding.marked_transcript import MarkedTranscript, Marker
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import language_of
from punc.decoding.transcript_formats import WRITERS
from punc.text.marked_words import AUTO, KEEP, REPLACE
from punc.transcripts.languages import language_code
from punc.transcripts.read import read_transcript
from punc.transcripts.source import encoded
from punc.transcripts.transcript import Transcript, Words, words_of, write

logger = logging.getLogger(__name__)

MARKS = (AUTO, KEEP, REPLACE)
ENDINGS = {".srt": "srt", ".vtt": "vtt", ".ctm": "ctm", ".json": "json", ".txt": "text"}  # what OUT's name says
SAME = {"SRT": "srt", "WebVTT": "vtt", "CTM": "ctm", "text": "text"}  # formats; all others with a row are JSON
# Endings of files that are read, and written only from files of the same kind.
READ_ONLY = frozenset((".ass", ".ssa", ".lrc", ".sbv", ".tsv", ".csv", ".ttml", ".dfxp", ".xml", ".smi", ".sami",
                       ".sub", ".textgrid", ".stm", ".eaf", ".mlf", ".rttm", ".docx", ".pdf", ".html"))
UNKNOWN, FEW = 0.3, 5  # a warning follows if a larger share of the words, and no fewer, is unknown


def punctuate_file(directory: Path, path: Path, out: Path, decoding: DecodingOptions, *, to: str = "",
                   marks: str = AUTO, format: str = "", tier: str = "", probabilities: bool = True,
                   nj: int = 2) -> None:
    """Punctuate a file with the model of a directory. `out` is replaced as a whole, or left as it was.

    to             srt, vtt, ctm, json, text or paragraphs; default: what OUT's name ends with, if not IN's does, too, \
else IN's format
    marks          what happens to marks that are there: replace, keep, or auto: they stay where a text has many
    format         read IN as this format: text; default: it is found
    tier           the tier of a TextGrid that has the words
    probabilities  JSON gets the probability of each word's label
    nj             processes that decode

    Raises InputError if there is no model, and for input or options that are broken or do not fit together.
    """
    for name, value, values in (("to", to, ("", *WRITERS)), ("marks", marks, MARKS)):
        if value not in values:
            raise InputError(f"--{name} {value}", nearest(value, values))
    if nj < 1:
        raise InputError(f"--nj={nj} is too small", "give 1 or more")
    transcript = read_transcript(path, format, tier)
    give_back_freed_memory()  # of JSON's values
    to = to or _form_of_name(path, out, transcript)
    words = words_of(transcript.texts)
    rated = to == "json" or (not to and probabilities and transcript.document.rated)  # others cannot hold them
    marked = Marker(directory, decoding, marks, nj, rated).mark(words)
    for note in transcript.notes:
        logger.info("%s: %s", path, note)
    for message in (*transcript.messages, *_warnings(directory, transcript, words, marked)):
        logger.warning("%s: %s", path, message)
    if to:
        words = words._replace(recordings=[name or path.stem for name in words.recordings])
        content = WRITERS[to](words, marked).encode()
    else:
        text = write(transcript, words, marked.texts, marked.probabilities if rated else None)
        content = encoded(text, transcript.encoding)
    with atomic_file(out, "wb") as file:
        file.write(content)
    logger.info("%s: %s, %d words", out, to or transcript.format, len(words.texts))


def _form_of_name(path: Path, out: Path, transcript: Transcript) -> str:
    """The format that the name of OUT asks for; empty for that of IN. Raises InputError for one that is not written."""
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
    """What a user should know of a transcript that was read, and of what the model made of it."""
    if not words.texts:
        yield f"{transcript.format} without words"
    language, own = language_code(transcript.language), language_of(directory)
    if language and own and language != own:
        yield f"it is in another language than the model: {transcript.language}, not {own}"
    elif marked.unknown > UNKNOWN * len(words.texts) and len(words.texts) >= FEW:
        yield f"{marked.unknown} of {len(words.texts)} words are not known to the model: perhaps another language"
    if marked.kept:
        yield "it has marks already, which stay; --marks replace writes them anew"
    same = words.streams[1:] == words.streams[:-1]
    for what, wrong in (("end before they begin", words.ends < words.begins),
                        ("begin before the word before", same & (words.begins[1:] < words.begins[:-1]))):
        if count := int(np.count_nonzero(wrong)):
            yield f"{count} words {what}; pauses there are 0, and the times stay"
