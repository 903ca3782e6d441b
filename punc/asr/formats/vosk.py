"""JSON of Vosk: `result[]` with `conf`, `start`, `end`, `word`; one object, a list, or one after another.

Source: github.com/alphacep/vosk-api, `src/recognizer.cc` (MbrResult, NbestResult) and `python/example`, which print the
results of all utterances. Partial results stay as they are; of `alternatives` the first is read.
"""

import re

from punc.asr.document import Document, Source
from punc.asr.json_document import read_json
from punc.asr.json_words import Keys, has_member

AFTER = ("nemo", "sherpa_onnx", "transformers")
KEYS = Keys("result", (), "conf")
ITS_OWN = "result", "partial", "alternatives"
MEMBERS = rb"result|partial|partial_result|alternatives|text|spk|spk_frames"
OBJECT = re.compile(rb'\s*(?:\[\s*)?(?:\{\s*\}[\s,]*)*\{\s*"(?:%b)"\s*:' % MEMBERS)  # empty ones may come first


def recognises(data: bytes) -> bool:
    """Whether it is an object, or a list of objects, with a result."""
    if not OBJECT.match(data) or has_member(data, "segments"):
        return False
    return any(has_member(data, name) for name in ITS_OWN) or b"\n{" in data


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    return read_json(source, "vosk", KEYS)
