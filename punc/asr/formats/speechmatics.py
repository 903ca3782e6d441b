"""JSON of Speechmatics (json-v2): `results[]` with `type`, `start_time`, `end_time` and `alternatives[].content`.

Source: docs.speechmatics.com, Transcript output. A mark is a result of its own, `punctuation`: one that goes leaves its
result empty, and a new one stands at its word.
"""

from collections.abc import Mapping
from typing import Any

from punc.asr.document import Document, Source
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_walk import Handler
from punc.asr.json_words import has_list, is_object_with

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is an object with a list of results that have times and alternatives."""
    return is_object_with(data, "alternatives", "content", "start_time") and has_list(data, "results")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)

    def result(value: Mapping[str, Any]) -> Handler:
        mark = value.get("type") == "punctuation"
        return found.members({"alternatives": found.first(found.text("content", lambda best: Facts(
            value.get("start_time"), value.get("end_time"), best.get("confidence"), best.get("speaker"), mark)))})

    return found.document("speechmatics", found.members({"results": found.each(found.either(result))}))
