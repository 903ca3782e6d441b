"""JSON of a `transformers` pipeline: `text`, and `chunks[]` with `text` and `timestamp`, which are words or longer.

Source: huggingface.co/docs/transformers, AutomaticSpeechRecognitionPipeline, `return_timestamps`; `@huggingface/tasks`,
automatic-speech-recognition/spec/output.json. Programs write an object, one a line, or a list of them: each is a
recording. Whisper's words begin with a blank, unless they go on the word before; those of CTC models have none.
"""

from collections.abc import Mapping
from typing import Any

from punc.asr.document import Document, Source
from punc.asr.json_texts import Facts, JsonTexts
from punc.asr.json_words import has_member

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is an object, or a list of objects, with chunks."""
    return data.lstrip()[:1] in (b"{", b"[") and has_member(data, "chunks")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    timed = found.members({"text": found.copy("text"), "chunks": found.each(found.text("text", _facts))})
    one = found.recording(found.listed("chunks", timed, "text"))
    return found.document("transformers", found.one_or_each(one), blanks=True)


def _facts(chunk: Mapping[str, Any]) -> Facts:
    times = chunk.get("timestamp")
    begin, end = times if isinstance(times, list) and len(times) == 2 else (None, None)
    return Facts(begin, end, speaker=chunk.get("speaker"))
