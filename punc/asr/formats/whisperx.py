"""JSON of whisperX and faster-whisper: `segments[].words[]` with `word`, `start`, `end`, `score`, `speaker`.

Source: github.com/m-bain/whisperX, `whisperx/schema.py`: words without letters that the aligner knows, as numbers, have
no times; `word_segments` repeats all words. github.com/SYSTRAN/faster-whisper, `transcribe.py` (Segment, Word): a list
of segments, or one segment a line, as programs write them; its words have `probability` and begin with a blank.
"""

import re

from punc.asr.document import Document, Source
from punc.asr.json_document import read_json
from punc.asr.json_words import Keys, has_member

AFTER = ("nemo", "transformers", "vosk")
KEYS = Keys("words", ("word_segments", "words"), "score")
ITS_OWN = "word_segments", "score", "speaker"
LIST = re.compile(rb'\s*\[\s*(?:\{|\]\s*\Z)')
SEGMENT = re.compile(rb'\s*\{[^{}\[\]]*"(?:start|end|seek|id)"\s*:')  # a segment a line


def recognises(data: bytes) -> bool:
    """Whether it is a list of segments, one segment a line, or an object with members that only whisperX writes."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    if LIST.match(data) or SEGMENT.match(data):
        return True
    return has_member(data, "segments") and any(has_member(data, name) for name in ITS_OWN)


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    keys = KEYS if has_member(source.data, "score") else KEYS._replace(confidence="probability")
    return read_json(source, "whisperx", keys)
