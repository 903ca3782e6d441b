"""The models of a server, and functions that punctuate the texts in requests."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from punc.base.errors import InputError
from punc.base.options import nearest
from punc.decoding.marked_transcript import MarkedTranscript, Marker
from punc.decoding.options import DecodingOptions, parse_scale
from punc.decoding.shipped import CASING, find_model, is_packed, language_of
from punc.decoding.transcript_file import punctuated
from punc.decoding.transcript_formats import WRITERS
from punc.live.input import LiveWord, parse_json, word_of
from punc.live.words import LiveWriter, WordStream, open_stream
from punc.text.casing import Casing
from punc.transcripts.json_shape import speaker_name
from punc.transcripts.read import transcript_of
from punc.transcripts.source import source_of
from punc.transcripts.transcript import BLANKS_BETWEEN, Script, Text, Transcript, Words, split, words_of, write

MOST_WORDS = 100_000  # the maximum number of words in a request; about eleven hours of speech
REQUEST = "request"  # the name of the input in errors
TO_PUNC = "cut it, or use punc transcript"
EXAMPLE = 'send {"text": "how are you"}, or {"words": ["how", {"word": "are", "start": 0.3, "end": 0.5}]}'


class UnknownModelError(InputError):
    """Raised if a request names a model that the server does not have."""


def status_of(error: InputError) -> int:
    """Return the HTTP status of an invalid request."""
    return 404 if isinstance(error, UnknownModelError) else 400


def check_parameters(query: Iterable[str], known: Sequence[str]) -> None:
    """Raise InputError if a URL's query has a parameter that is not in `known`."""
    for name in query:
        if name not in known:
            raise InputError(f"unknown parameter '{name}'", nearest(name, known))


class ServedModel:
    """A model that a server offers, loaded from `directory`. `scale` is as in `DecodingOptions`."""

    def __init__(self, directory: Path, scale: str):
        self.name = directory.resolve().name
        self.marker = Marker(directory, DecodingOptions(scale, device="cpu"))
        model = self.marker.model
        # An unused stream, of which each client gets a copy; None: the model reads whole streams.
        self.fresh: WordStream | None = None
        if model.lookahead is not None:
            casing = Casing.read(model.labels, directory / CASING, is_packed(directory))
            self.fresh = open_stream(model, LiveWriter(model, casing), parse_scale(scale, model.labels))

    def facts(self) -> dict[str, Any]:
        """Return the description of the model for clients."""
        return {"name": self.name, "language": language_of(self.marker.directory), "live": self.fresh is not None,
                "labels": list(self.marker.label_set.names)}


class Models:
    """The models of a server by name. Raises InputError if two models have the same name."""

    def __init__(self, names: Sequence[str], scale: str):
        directories = [find_model(name) for name in names]
        known = {directory.resolve().name for directory in directories}
        if len(known) < len(names):
            raise InputError(f"{len(names)} models with {len(known)} names", "name each of them once")
        self.all = {model.name: model for model in (ServedModel(directory, scale) for directory in directories)}

    def find(self, name: str, live: bool = False) -> ServedModel:
        """Return the model called `name`, or the first model if `name` is empty. Raises InputError if there is none.

        live   consider only models that read left to right
        """
        known = [model for model in self.all.values() if model.fresh or not live]
        if not known:
            raise InputError("none of the models reads left to right",
                             "start punc serve with one that does, such as en-live")
        if not name:
            return known[0]
        if found := next((model for model in known if model.name == name), None):
            return found
        if name in self.all:
            raise InputError(f"model {name} reads whole streams", f"use {known[0].name}")
        raise UnknownModelError(f"this server has no model '{name}'", nearest(name, self.all))


def marked_text(model: ServedModel, raw: bytes) -> tuple[str, Words, MarkedTranscript]:
    """Return the punctuated text, its words and their labels. Raises InputError if `raw` is not text, or has more than
    MOST_WORDS words."""
    if not raw.strip():
        raise InputError("no text", "send words", REQUEST)
    transcript = transcript_of(source_of(raw, REQUEST), "text")
    words = _few_words(transcript.texts, model.marker.script)
    marked = model.marker.mark(words)
    return write(transcript, words, marked.texts), words, marked


def punctuated_text(model: ServedModel, raw: bytes) -> str:
    """Return the punctuated text. Raises InputError like `marked_text`, and if the text looks like a JSON object."""
    if raw.lstrip()[:1] == b"{" and raw.rstrip()[-1:] == b"}":
        raise InputError("JSON was sent as text", "send it with content-type: application/json", REQUEST)
    return marked_text(model, raw)[0]


def punctuated_file(model: ServedModel, raw: bytes, name: str, to: str) -> tuple[bytes, str, list[str]]:
    """Return a punctuated transcript, its format, and warnings. `to`: as `form` in `punctuated`."""
    if to not in ("", *WRITERS):
        raise InputError(f"unknown format to={to}", nearest(to, WRITERS))
    transcript: Transcript = transcript_of(source_of(raw, name))
    rated = to == "json" or (not to and transcript.document.rated)
    content, messages = punctuated(transcript, _few_words(transcript.texts, model.marker.script), model.marker, to,
                                   Path(name), rated)
    return content, to or transcript.format, messages


def punctuated_json(models: Models, raw: bytes, name: str) -> dict[str, Any]:
    """Answer a JSON request that contains `text` or `words`. Return the punctuated text, and each word with its label.
    `name`: the model to use if the request names no model. Raises InputError for an invalid request."""
    try:
        request = parse_json(raw)
    except (ValueError, RecursionError):
        raise InputError("not JSON", EXAMPLE, REQUEST) from None
    if not isinstance(request, dict) or not isinstance(request.get("model", ""), str):
        raise InputError("not an object", EXAMPLE, REQUEST)
    model = models.find(request.get("model", name))
    if isinstance(request.get("text"), str):
        text, words, marked = marked_text(model, request["text"].encode("utf-8", "replace"))
        return {"model": model.name, "text": text, "words": _members(marked, map(LiveWord, words.texts))}
    if not isinstance(request.get("words"), list):
        raise InputError("neither 'text' nor 'words'", EXAMPLE, REQUEST)
    came = [_word(word, number) for number, word in enumerate(request["words"])]
    texts = [Text(number, word.word, word.begin, word.end, speaker_name(word.fields.get("speaker")))
             for number, word in enumerate(came)]
    marked = model.marker.mark(_few_words(texts))
    text = model.marker.script.close(" ".join(marked.texts))
    return {"model": model.name, "text": text, "words": _members(marked, came)}


def _word(word: Any, number: int) -> LiveWord:
    try:
        found = word_of({"word": word} if isinstance(word, str) else word)
    except ValueError as error:
        raise InputError(f"words[{number}]: {error}", EXAMPLE, REQUEST) from None
    if split(found.word) != [found.word]:
        raise InputError(f"words[{number}]: '{found.word}' contains a space", "give one word per item", REQUEST)
    return found


def _few_words(texts: Sequence[Text], script: Script = BLANKS_BETWEEN) -> Words:
    words = words_of(texts, script)
    if len(words.texts) > MOST_WORDS:
        raise InputError(f"{len(words.texts):,d} words, but a request has {MOST_WORDS:,d} at most", TO_PUNC, REQUEST)
    return words


def _members(marked: MarkedTranscript, came: Iterable[LiveWord]) -> list[dict[str, Any]]:
    names = marked.label_set.names
    members = []
    for word, text, label, probability in zip(came, marked.texts, marked.labels.tolist(),
                                              marked.probabilities.tolist()):
        member = {**word.fields, "word": word.word, "text": text}
        if probability == probability:  # not NaN: the model reads this word
            member |= {"label": names[label], "probability": round(probability, 4)}
        times = {"start": word.begin, "end": word.end}
        members.append(member | {key: time for key, time in times.items() if time == time})
    return members
