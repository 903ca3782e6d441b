"""The JSON that recognisers, aligners and services write, a row each. The most particular come first."""

from typing import Any

from punc.transcripts.json_file import JsonDocument
from punc.transcripts.json_reader import JsonFormat, matches, read_documents
from punc.transcripts.source import Source
from punc.transcripts.transcript import Transcript

FORMATS = [
    JsonFormat("whisper.cpp", "transcription[].offsets", "transcription[]", "text", begin="offsets.from",
               end="offsets.to", unit=1000, language="result.language", pieces=True),
    JsonFormat("Vosk", "result[].word", text="text", words="result[]", confidence="conf"),
    JsonFormat("Whisper", "segments[].text", "segments[]", "text", "words[]", "word|text",
               confidence="probability|score", repeats="text word_segments[].word words[].word"),
    JsonFormat("faster-whisper", "text start end", text="text", words="words[]", confidence="probability|score"),
]


def read_json(source: Source) -> Transcript:
    """Read a file of JSON. Raises InputError for broken JSON and for what has no words that can be found."""
    document = JsonDocument(source)
    documents = list[Any]()
    for value in document.values:
        documents += value if isinstance(value, list) else [value]
    for row in FORMATS:
        if own := [one for one in documents if matches(row, one)]:
            return read_documents(source, row, document, own)
    raise source.error("not a format of JSON that punc reads", "give a format that docs/after-asr.md names")
