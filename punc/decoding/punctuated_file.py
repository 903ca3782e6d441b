"""`punc transcript` on a file of a recogniser: the same file with marks, or another format."""

import logging
import os
from pathlib import Path

import numpy as np

from punc.asr.document import Document, write_document
from punc.asr.read import read_document
from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import nearest
from punc.base.processor import give_back_freed_memory
from punc.decoding.document_output import WRITERS
from punc.decoding.documents import punctuate_document
from punc.decoding.options import DecodingOptions

logger = logging.getLogger(__name__)

ENDINGS = {".srt": "srt", ".vtt": "vtt", ".ctm": "ctm", ".json": "json", ".txt": "text"}  # what OUT's name says
SAME = {"srt": ("srt",), "vtt": ("webvtt",), "ctm": ("ctm",), "json": ("whisper", "whisperx", "vosk"), "text": ()}


def punctuate_file(directory: Path, path: Path, out: Path, decoding: DecodingOptions, *, to: str = "",
                   keep_marks: bool = False, probabilities: bool = True, nj: int = 2) -> None:
    """Punctuate a file with the model of a directory. `out` is replaced as a whole, or left as it was.

    to             srt, vtt, ctm, json, text or paragraphs; default: what OUT's name ends with, if not IN's does, too, \
else IN's format
    keep_marks     words that have marks stay as they are
    probabilities  JSON gets the probability of each word's label
    nj             processes that decode

    Raises InputError if there is no model, and for input or options that are broken or do not fit together.
    """
    if to and to not in WRITERS:
        raise InputError(f"--to {to}", nearest(to, WRITERS))
    if nj < 1:
        raise InputError(f"--nj={nj} is too small", "give 1 or more")
    if out.exists() and os.path.samefile(out, path):
        raise InputError("OUT is IN", "name another OUT", out)
    document = read_document(path)
    give_back_freed_memory()  # of JSON's values
    if not to and out.suffix.lower() != path.suffix.lower():
        to = ENDINGS.get(out.suffix.lower(), "")
        to = "" if document.format in SAME.get(to, ()) else to
    if not document.pieces:
        logger.warning("%s: %s without words", path, document.format)
    _warn_of_times(path, document)
    wanted = to == "json" or (not to and probabilities and document.field is not None)  # others cannot hold them
    punctuated = punctuate_document(directory, document, decoding, keep_marks, nj, wanted)
    if to:
        document = document._replace(recordings=[name or path.stem for name in document.recordings])
        text = WRITERS[to](document, punctuated)
        with atomic_file(out) as file:
            file.write(text)
    else:
        pieces, values = punctuated.pieces(document)
        with atomic_file(out, "wb") as file:
            write_document(file, document, pieces, values if wanted else None)
    logger.info("%s: %s, %d words", out, to or document.format, len(punctuated.texts))


def _warn_of_times(path: Path, document: Document) -> None:
    """Say how many words have times that a clock cannot give, and how they were read."""
    same = document.streams[1:] == document.streams[:-1]
    for what, wrong in (("end before they begin", document.ends < document.begins),
                        ("begin before the word before", same & (document.begins[1:] < document.begins[:-1]))):
        if count := int(np.count_nonzero(wrong)):
            logger.warning("%s: %d words %s; pauses there are 0, and the times stay", path, count, what)
