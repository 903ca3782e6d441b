"""JSON of Google Cloud Speech-to-Text: `results[].alternatives[]` with `transcript` and `words[]`.

Source: cloud.google.com/speech-to-text/docs, SpeechRecognitionAlternative and WordInfo: `startTime` and `endTime` (v2:
`startOffset`, `endOffset`) as `1.300s`; without `enableWordTimeOffsets` there is only `transcript`. The first
alternative is read. A result with speakers and no transcript repeats all words. A long operation has `results` in
`response`.
"""

import re
from collections.abc import Mapping
from typing import Any

from punc.asr.document import Document, Source
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_words import has_list, is_object_with

AFTER = ("speechmatics",)
SPEAKERS = "speakerTag", "speakerLabel"
SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,9})?")


def recognises(data: bytes) -> bool:
    """Whether it is an object with a list of results that have alternatives."""
    return is_object_with(data, "alternatives") and has_list(data, "results")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    timed = found.listed("words", found.members({"transcript": found.copy("transcript"),
                                                 "words": found.each(found.text("word", _facts))}), "transcript")
    again = found.members({"words": found.each(found.members({"word": found.copy("words")}))})
    alternative = found.either(lambda value: again if _repeats(value) else timed)
    results = found.each(found.members({"alternatives": found.first(alternative)}))
    return found.document("google_speech", found.members({"results": results,
                                                          "response": found.members({"results": results})}))


def _repeats(alternative: Mapping[str, Any]) -> bool:
    words = alternative.get("words")
    first = words[0] if isinstance(words, list) and words else None
    return "transcript" not in alternative and isinstance(first, dict) and not first.keys().isdisjoint(SPEAKERS)


def _facts(word: Mapping[str, Any]) -> Facts:
    return Facts(_seconds(word.get("startTime", word.get("startOffset"))),
                 _seconds(word.get("endTime", word.get("endOffset"))), word.get("confidence"))


def _seconds(value: Any) -> float | None:
    return float(value[:-1]) if isinstance(value, str) and value[-1:] == "s" and SECONDS.fullmatch(value[:-1]) else None
