"""JSON of sherpa-onnx: `text`, and `tokens[]`, pieces of its words, with the `timestamps[]` at which they begin.

Source: github.com/k2-fsa/sherpa-onnx, `sherpa-onnx/csrc/offline-stream.cc` and `online-recognizer.cc` (AsJsonString).
The times of a segment count from its `start_time`. With `durations[]`, which TDT models have, words have an end too.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from punc.asr.document import Document, Source
from punc.asr.json_document import json_number
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_words import has_list, is_object_with

AFTER = ("whisper_cpp",)
TOKENS = re.compile(rb'"tokens"\s*:\s*\[\s*["\]]')
BLANKS = " ", "▁"


def recognises(data: bytes) -> bool:
    """Whether it is objects with a text, tokens and their times."""
    return is_object_with(data, "text") and has_list(data, "timestamps") and TOKENS.search(data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found, timed = JsonTexts(source), list[tuple[list[float], list[float]]]()

    def facts(value: Mapping[str, Any]) -> Facts:
        timed.append(_word_times(value))
        return Facts(timed[-1][0][0], timed[-1][1][-1])

    text = found.text("text", facts)
    one = found.either(lambda value: text if "segment" in value else found.recording(text))
    document = found.document("sherpa_onnx", one)
    counts = np.bincount(document.segments, minlength=len(timed)).tolist()
    for (begins, ends), count, at in zip(timed, counts, np.cumsum([0, *counts]).tolist()):
        if len(begins) == count:
            document.begins[at:at + count], document.ends[at:at + count] = begins, ends
    return document


def _word_times(value: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Begins and ends of the words of a text, NaN where they are not known; at least one of each."""
    tokens = value.get("tokens")
    begins, lengths = (_seconds(value.get(name)) for name in ("timestamps", "durations"))
    if not isinstance(tokens, list) or not len(tokens) == len(begins) > 0:
        return [np.nan], [np.nan]
    if len(lengths) != len(tokens):
        lengths = [np.nan] * len(tokens)
    start = json_number(value.get("start_time", 0))
    first = [i for i, token in enumerate(tokens) if i == 0 or str(token).startswith(BLANKS)]
    return ([start + begins[i] for i in first],
            [start + begins[end - 1] + lengths[end - 1] for _, end in pairwise([*first, len(tokens)])])


def _seconds(values: Any) -> list[float]:
    return list(map(json_number, values)) if isinstance(values, list) else []
