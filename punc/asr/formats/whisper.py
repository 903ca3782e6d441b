"""JSON of openai-whisper: `segments[].words[]` with `word`, `start`, `end`, `probability`.

Source: github.com/openai/whisper, `whisper/utils.py` (WriteJSON) and `whisper/timing.py` (add_word_timestamps). Words
begin with a blank, unless they go on the word before (` state`, `-of`, `-the`, `-art`). Without
`--word_timestamps True` segments have only `text`, whose words then are read.
"""

import json
import re

from punc.asr.document import Document, Source
from punc.asr.json_document import read_json
from punc.asr.json_words import Keys

AFTER = ("amazon", "azure", "deepgram", "google_speech", "nemo", "sherpa_onnx", "speechmatics", "transformers",
         "vosk", "whisper_cpp", "whisperx")
KEYS = Keys("words", ("word_segments", "words"), "probability")
MEMBERS = "segments", "text", "words", "word_segments"
MEMBER = re.compile(rb"\"(?:segments|text|words)\"\s*:")


def recognises(data: bytes) -> bool:
    """Whether it is an object with segments or a text."""
    return data.lstrip()[:1] == b"{" and MEMBER.search(data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON, and for an object that has such members only inside others."""
    found = read_json(source, "whisper", KEYS)
    if not found.pieces and json.JSONDecoder().raw_decode(source.data.decode().lstrip())[0].keys().isdisjoint(MEMBERS):
        raise source.error(f"an object without {', '.join(MEMBERS)}: not Whisper's JSON",
                           "give a format that docs/after-asr.md names", 0)
    return found
