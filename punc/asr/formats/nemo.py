"""Manifests of NVIDIA NeMo: a recording a line, with `pred_text`, and `timestamps_word[]` if it was asked for times.

Source: github.com/NVIDIA/NeMo, `examples/asr/transcribe_speech.py` and `nemo/collections/asr/parts/utils/
transcribe_utils.py` (write_transcription). A reference in `text` stays as it is, and so do `timestamps_char`.
"""

from punc.asr.document import Document, Source
from punc.asr.json_texts import JsonTexts, plain_facts
from punc.asr.json_words import has_member

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is objects with a text or words that were recognised."""
    return data.lstrip()[:1] == b"{" and (has_member(data, "pred_text") or has_member(data, "timestamps_word"))


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    timed = found.members({"pred_text": found.copy("text"),
                           "timestamps_word": found.each(found.text("word", plain_facts)),
                           "timestamps_segment": found.each(found.members({"segment": found.copy("segment")}))})
    line = found.listed("timestamps_word", timed, "pred_text")
    return found.document("nemo", found.recording(line, "audio_filepath"))
