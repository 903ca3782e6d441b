"""Manifests of NVIDIA NeMo: a recording a line, with `pred_text`, and `timestamps_word[]` if it was asked for times.

Source: github.com/NVIDIA/NeMo, `examples/asr/transcribe_speech.py` and `nemo/collections/asr/parts/utils/
transcribe_utils.py` (write_transcription). A line with an `offset` is a part of a recording, and its times count from
there. A reference in `text` stays as it is, and so do `timestamps_char`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from punc.asr.document import Document, Source
from punc.asr.json_document import json_number
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_walk import Handler
from punc.asr.json_words import is_object_with

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is objects with a text or words that were recognised."""
    return is_object_with(data, "pred_text") or is_object_with(data, "timestamps_word")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    segments = found.each(found.members({"segment": found.copy("segment")}))

    def line(value: Mapping[str, Any]) -> Handler:
        start = json_number(value.get("offset"))

        def facts(word: Mapping[str, Any]) -> Facts:
            begin, end = (json_number(word.get(name)) for name in ("start", "end"))
            return Facts(begin, end) if np.isnan(start) else Facts(start + begin, start + end)

        timed = found.members({"pred_text": found.copy("text"), "timestamps_segment": segments,
                               "timestamps_word": found.each(found.text("word", facts))})
        bare = found.text("pred_text", lambda _: Facts(start, start + json_number(value.get("duration"))))
        return timed if value.get("timestamps_word") else bare

    return found.document("nemo", found.recording(found.either(line), "audio_filepath", part="offset"))
