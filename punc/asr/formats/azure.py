"""JSON of Azure's batch transcription: `recognizedPhrases[].nBest[]` with `words[]`, and texts that repeat them.

Source: learn.microsoft.com/azure/ai-services/speech-service, Get batch transcription results: `word`, `offsetInTicks`
and `durationInTicks`, of 100 nanoseconds, if `wordLevelTimestampsEnabled` was asked for; else `display` has the words.
The first of `nBest` is read. Numbers are words in `words`, and figures in `display`, which stay.
"""

from collections.abc import Mapping
from typing import Any

from punc.asr.document import Document, Source
from punc.asr.json_document import json_number
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_walk import Handler
from punc.asr.json_words import is_object_with

AFTER = ()
TICKS = 10_000_000  # a second
TEXTS = "lexical", "itn", "maskedITN", "display"


def recognises(data: bytes) -> bool:
    """Whether it is an object with phrases."""
    return is_object_with(data, "recognizedPhrases")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    copies = {name: found.copy(name) for name in TEXTS}

    def phrase(value: Mapping[str, Any]) -> Handler:
        def facts(word: Mapping[str, Any]) -> Facts:
            begin, length = (json_number(word.get(name)) / TICKS for name in ("offsetInTicks", "durationInTicks"))
            return Facts(begin, begin + length, word.get("confidence"), value.get("speaker"))

        def best(option: Mapping[str, Any]) -> Handler:
            if option.get("words"):
                return found.members({**copies, "words": found.each(found.text("word", facts))})
            return found.text("display", lambda _: facts(value)._replace(confidence=None))

        return found.members({"nBest": found.first(found.either(best))})

    whole = {name: found.copy(f"whole {name}") for name in TEXTS}
    return found.document("azure", found.members({
        "combinedRecognizedPhrases": found.each(found.members(whole)),
        "recognizedPhrases": found.each(found.either(phrase))}))
