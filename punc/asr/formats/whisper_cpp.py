"""JSON of whisper.cpp: `transcription[]` with `text` and `offsets`, in milliseconds.

Source: github.com/ggml-org/whisper.cpp, `examples/cli/cli.cpp` (output_json). With `--max-len 1` each text is a word;
one that goes on the word before has no blank. `tokens`, which `--output-json-full` adds, stay as they are.
"""

from collections.abc import Mapping
from typing import Any

from punc.asr.document import Document, Source
from punc.asr.json_document import json_number
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_words import is_object_with

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is an object with a transcription that has offsets."""
    return is_object_with(data, "transcription", "offsets")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    segments = found.each(found.text("text", _facts))
    return found.document("whisper_cpp", found.members({"transcription": segments}), blanks=True)


def _facts(segment: Mapping[str, Any]) -> Facts:
    offsets = segment.get("offsets")
    begin, end = (offsets.get("from"), offsets.get("to")) if isinstance(offsets, dict) else (None, None)
    return Facts(json_number(begin) / 1000, json_number(end) / 1000, speaker=segment.get("speaker"))
