"""JSON of Amazon Transcribe: `results.items[]` with `start_time`, `end_time` and `alternatives[].content`.

Source: docs.aws.amazon.com/transcribe, How Amazon Transcribe works, data input and output. A mark is an item of its
own, `punctuation`, without times: one that goes leaves its item empty, and a new one stands at its word. `transcripts`
and `audio_segments` repeat the words.
"""

from collections.abc import Mapping
from typing import Any

from punc.asr.document import Document, Source
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_walk import Handler
from punc.asr.json_words import is_object_with

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is an object with items that have alternatives, and with transcripts."""
    return is_object_with(data, "items", "alternatives", "transcripts")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found, last = JsonTexts(source), 0.0  # where the last word ends

    def item(value: Mapping[str, Any]) -> Handler:
        nonlocal last
        begin, end = (_number(value.get(name)) for name in ("start_time", "end_time"))
        mark = value.get("type") == "punctuation"
        if mark:
            begin = end = last
        last = end
        return found.members({"alternatives": found.first(found.text("content", lambda best: Facts(
            begin, end, None if mark else _number(best.get("confidence")), value.get("speaker_label"), mark)))})

    def repeated(name: str) -> Handler:
        return found.each(found.members({"transcript": found.copy(name)}))

    results = found.members({"transcripts": repeated("transcripts"), "audio_segments": repeated("segments"),
                             "items": found.each(found.either(item))})
    return found.document("amazon", found.members({"results": results}))


def _number(value: Any) -> float:
    """A number, which stands in a string; NaN for what is none."""
    try:
        return float(value) if isinstance(value, str) and len(value) < 20 else float("nan")
    except ValueError:
        return float("nan")
