"""JSON of openai-whisper: `segments[].words[]` with `word`, `start`, `end`, `probability`.

Source: github.com/openai/whisper, `whisper/utils.py` (WriteJSON) and `whisper/timing.py` (add_word_timestamps). Words
begin with a blank, unless they go on the word before (` state`, `-of`, `-the`, `-art`). Without
`--word_timestamps True` segments have only `text`, whose words then are read.
"""

import re

from punc.asr.document import Document, Source
from punc.asr.json_document import read_json
from punc.asr.json_words import Keys

AFTER = ("whisperx", "vosk")
KEYS = Keys("words", ("word_segments", "words"), "probability")
MEMBER = re.compile(rb"\"(?:segments|text|words)\"\s*:")


def recognises(data: bytes) -> bool:
    """Whether it is an object with segments or a text."""
    return data.lstrip()[:1] == b"{" and MEMBER.search(data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    return read_json(source, "whisper", KEYS)
