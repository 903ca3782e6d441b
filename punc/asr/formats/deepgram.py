"""JSON of Deepgram: `results.channels[].alternatives[]` with `transcript` and `words[]`; a channel is a recording.

Source: developers.deepgram.com/reference, Transcribe Pre-recorded: `word`, `start`, `end`, `confidence`, and
`punctuated_word` and `speaker` if they were asked for. The first alternative is read; `utterances` and `paragraphs`
repeat its words.
"""

from punc.asr.document import Document, Source
from punc.asr.json_texts import JsonTexts, plain_facts
from punc.asr.json_words import is_object_with

AFTER = ()


def recognises(data: bytes) -> bool:
    """Whether it is an object with channels that have alternatives."""
    return is_object_with(data, "channels", "alternatives")


def read(source: Source) -> Document:
    """Read a file. Raises InputError for broken JSON."""
    found = JsonTexts(source)
    punctuated = found.members({"punctuated_word": found.copy("punctuated")})
    sentence = found.members({"text": found.copy("sentences")})
    paragraphs = found.members({
        "transcript": found.copy("paragraphs"),
        "paragraphs": found.each(found.members({"sentences": found.each(sentence)}))})
    alternative = found.listed("words", found.members({
        "transcript": found.copy("transcript"),
        "words": found.each(found.both(found.text("word", plain_facts), punctuated)),
        "paragraphs": paragraphs}), "transcript")
    channel = found.recording(found.members({"alternatives": found.first(alternative)}))
    utterance = found.members({"transcript": found.copy("utterances"),
                               "words": found.each(found.members({"word": found.copy("words")}))})
    results = found.members({"channels": found.each(channel), "utterances": found.each(utterance)})
    return found.document("deepgram", found.members({"results": results}))
