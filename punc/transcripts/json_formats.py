"""Reads the JSON of recognisers, aligners and services. FORMATS describes their formats, the most specific first."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from punc.transcripts.json_file import JsonDocument
from punc.transcripts.json_reader import JsonReader
from punc.transcripts.json_shape import JsonFormat, Shape, steps
from punc.transcripts.json_unknown import INTERIM, guessed_format, has_times, said_of, unread
from punc.transcripts.source import Source
from punc.transcripts.transcript import Transcript

NAMED = 3  # the maximum number of members that a message lists
WRAPPERS = 3  # the maximum number of nested objects around a document
WRAPPER = Shape(JsonFormat("", "", "", skip="is_final=false"))  # Gladia's live results: a later one replaces them
AMAZON = "results.transcripts[].transcript results.audio_segments[].transcript"
ITEMS = JsonFormat("", "", "", word="alternatives.0.content", begin="start_time", end="end_time",
                   confidence="alternatives.0.confidence", mark="type")
SHERPA = JsonFormat("sherpa-onnx", "sherpa-onnx", "text tokens[] timestamps", text="text", words="tokens[]", word="",
                    lists="timestamps durations", start="start_time", recordings=".", part="segment", language="lang",
                    skip="is_final=false")
FORMATS = [
    JsonFormat("whisper.cpp", "whisper.cpp `--output-json`", "transcription[].offsets", "transcription[]", "text",
               begin="offsets.from", end="offsets.to", unit=1000, language="result.language", pieces=True,
               stays="tokens"),
    JsonFormat("NeMo", "NVIDIA NeMo, a manifest", "pred_text ; timestamps_word[].word ; timestamp.word[].word",
               text="pred_text", words="timestamps_word[] timestamp.word[]", segment_times="offset +duration",
               word="word|segment", start="offset", recordings=".", recording="audio_filepath", part="offset",
               stays="text", timed="timestamps_segment[] timestamp.segment[]"),
    JsonFormat("Vosk", "Vosk", "result[].word ; alternatives[].text !results", "alternatives.0 .", "text", "result[]",
               confidence="conf", skip="partial partial_result"),
    SHERPA,
    SHERPA._replace(name="sherpa-onnx, files", skip="", part=""),  # its commands call no result of a file final
    JsonFormat("FunASR", "FunASR", "sentence_info[].start ; text timestamp[][]", "sentence_info[] .", "text|sentence",
               lists="timestamp", unit=1000, speaker="spk", repeats="text", recordings=".", recording="key"),
    JsonFormat("parakeet-mlx", "parakeet-mlx", "sentences[].tokens[].text", "sentences[]", "text", "tokens[]", "text",
               repeats="text"),
    JsonFormat("transformers", "a `transformers` pipeline", "chunks text", text="text", words="chunks[]", word="text",
               begin="timestamp.0", end="timestamp.1", speaker="speaker", timed="speakers[]", recordings="."),
    ITEMS._replace(name="Amazon Transcribe, channels", writers="Amazon Transcribe", words="items[]",
                   has="results.channel_labels.channels[].items[].type", speaker="channel_label", repeats=AMAZON,
                   streams="results.channel_labels.channels[]", timed="results.items[]"),
    ITEMS._replace(name="Amazon Transcribe", writers="Amazon Transcribe", words="results.items[]",
                   has="results.items[].alternatives[].content ; results.transcripts[].transcript",
                   speaker="speaker_label", speakers="results.speaker_labels.segments[]",
                   language="results.language_code", repeats=AMAZON),
    JsonFormat("Amazon Transcribe Call Analytics", "Amazon Transcribe Call Analytics, Contact Lens",
               "Transcript[].Content", "Transcript[]", "Content", "Items[]", "Content", "BeginOffsetMillis",
               "EndOffsetMillis", unit=1000, speaker="ParticipantRole|ParticipantId", confidence="Confidence",
               language="LanguageCode", mark="Type"),
    JsonFormat("Azure, batch", "Azure Speech, batch transcription", "recognizedPhrases[].nBest", "recognizedPhrases[]",
               "nBest.0.display nBest.0.lexical nBest.0.itn nBest.0.maskedITN",
               "nBest.0.displayWords[] nBest.0.words[]", "displayText|word", "offsetInTicks", "+durationInTicks",
               unit=1e7, repeats=" ".join(f"combinedRecognizedPhrases[].{name}" for name in
                                          ("display", "lexical", "itn", "maskedITN"))),
    JsonFormat("Azure, fast", "Azure Speech, fast transcription", "phrases[].offsetMilliseconds", "phrases[]", "text",
               "words[]", "text", "offsetMilliseconds", "+durationMilliseconds", unit=1000,
               repeats="combinedPhrases[].text"),
    JsonFormat("Azure, real time", "Azure Speech, real time", "NBest[].Display ; RecognitionStatus",
               text="NBest.0.Display DisplayText NBest.0.Lexical NBest.0.ITN NBest.0.MaskedITN",
               words="NBest.0.Words[]", word="Word", begin="Offset", end="+Duration", unit=1e7, speaker="SpeakerId"),
    JsonFormat("Deepgram", "Deepgram", "results.channels[].alternatives", "alternatives.0",
               "transcript paragraphs.transcript paragraphs.paragraphs[].sentences[].text", "words[]",
               "punctuated_word|word", recordings="results.channels[]", language="results.channels.0.detected_language",
               repeats="results.utterances[].transcript results.utterances[].words[].punctuated_word|word"),
    JsonFormat("Deepgram, live", "Deepgram, live", "channel.alternatives[].transcript", "channel.alternatives.0",
               "transcript", "words[]", "punctuated_word|word", skip="is_final=false"),
    JsonFormat("AssemblyAI", "AssemblyAI", "words[].text utterances|audio_url|acoustic_model|speech_model",
               text="text", words="words[]", word="text", unit=0, language="language_code",
               repeats="utterances[].text utterances[].words[].text sentiment_analysis_results[].text"),
    ITEMS._replace(name="Speechmatics", writers="Speechmatics", words="results[]",
                   has="results[].alternatives[].content results[].start_time", speaker="alternatives.0.speaker",
                   language="metadata.transcription_config.language", repeats="metadata.transcript",
                   skip="message=addpartialtranscript"),
    JsonFormat("Speechmatics, v1", "Speechmatics, version 1", "words[].name words[].time", words="words[]",
               word="name", begin="time", end="+duration", mark="name", speakers="speakers[]"),
    JsonFormat("Rev.ai", "Rev.ai", "monologues[].elements", "monologues[]", words="elements[]", word="value",
               begin="ts", end="end_ts", mark="type"),
    JsonFormat("ElevenLabs", "ElevenLabs Scribe", "words[].text words[].type ; transcripts[].words[].type",
               "transcripts[] .", "text", "words[]", "text", speaker="speaker_id", language="language_code"),
    JsonFormat("Gladia", "Gladia", "transcription.utterances", "transcription.utterances[]", "text", "words[]",
               language="transcription.languages.0",
               repeats="transcription.full_transcript transcription.sentences[].sentence"),
    JsonFormat("IBM Watson", "IBM Watson",
               "results[].alternatives[].timestamps ; results[].alternatives[].transcript results[].final", "results[]",
               "alternatives.0.transcript", "alternatives.0.timestamps[]", "0", "1", "2", speakers="speaker_labels[]",
               repeats="results[].alternatives.0.word_confidence[].0", skip="final=false"),
    JsonFormat("Google", "Google Cloud Speech-to-Text", "results[].alternatives", "results[]",
               "alternatives.0.transcript", "alternatives.0.words[]", "word",
               "startTime|startOffset|start_time|start_offset", "endTime|endOffset|end_time|end_offset",
               speaker="speakerLabel|speakerTag|speaker_label|speaker_tag", language="results.0.languageCode",
               again=True, skip="isFinal=false is_final=false", unit=0),
    JsonFormat("Coqui", "Coqui STT, DeepSpeech", "transcripts[].words[].start_time", "transcripts.0", words="words[]",
               begin="start_time", end="+duration"),
    JsonFormat("Kaldi GStreamer server", "Kaldi GStreamer server",
               "result.hypotheses[].transcript ; hypotheses[].utterance", skip="result.final=false",
               text="result.hypotheses.0.transcript hypotheses.0.utterance", start="segment-start",
               words="result.hypotheses.0.word-alignment[]", end="+length"),
    JsonFormat("Gentle", "Gentle", "transcript words[].case", text="transcript", words="words[]"),
    JsonFormat("MFA", "Montreal Forced Aligner `--output_format json`", "tiers.*words.entries", words="entries[]",
               word="2", begin="0", end="1", streams="tiers.*words"),
    JsonFormat("aeneas", "aeneas", "fragments[].lines", "fragments[]", "lines[]", begin="begin", end="end",
               language="fragments.0.language"),
    JsonFormat("Podcasting 2.0", "Podcasting 2.0 transcripts", "segments[].body", "segments[]", "body",
               begin="startTime", end="endTime"),
    JsonFormat("YouTube json3", "YouTube, `json3`", "events[].segs", "events[]", words="segs[]", word="utf8",
               begin="tOffsetMs", end="", segment_times="tStartMs +dDurationMs", start="tStartMs", unit=1000),
    JsonFormat("Whisper", "openai-whisper, faster-whisper, whisperX, whisper-timestamped, stable-ts, WhisperKit, "
               "OpenAI's `verbose_json` and `diarized_json`", "segments[].text|words", "segments[]", "text", "words[]",
               "word|text", confidence="probability|score|confidence", recordings=".",
               timed="word_segments[] words[]", stays="prompt",
               repeats="text transcription ori_dict.text "
               "ori_dict.segments[].text ori_dict.segments[].words[].word|text"),
    JsonFormat("Whisper, segments", "faster-whisper, one segment per line or in a list",
               "text start end ; words[].word ; word_segments[].word", text="text transcript",
               words="words[] word_segments[]", word="punctuated_word|word", confidence="probability|score|confidence"),
    JsonFormat("captions", "youtube-transcript-api and others: `text`, `start` or `offset`, `duration`",
               "text duration start|offset !segments", text="text", begin="start|offset", end="+duration", unit=0,
               language="lang"),
]
TEXT = JsonFormat("text", "a service's shortest answer: `text`", "text ; transcript", text="text transcript",
                  skip=INTERIM)


def read_json(source: Source, timed: bool = False) -> Transcript:
    """Read a JSON file. For `timed`, see `read.transcript_of`. Raises InputError for a broken file, and for a file
    without words, unless it is an empty result in a known format."""
    document, documents = JsonDocument(source), list[Any]()
    for value in document.values:
        documents += value if isinstance(value, list) else [value]
    documents = [value for value in documents if isinstance(value, dict)]
    if not any(document.values):
        return Transcript("JSON", [], document, encoding=source.encoding)
    found = list[tuple[JsonReader, list[Any]]]()
    # Use the first candidate that finds at least as many words as each one before it, and times if the file has any.
    for row, own in _candidates(documents):
        reader = _reader(row, document, own, timed)
        most = reader.words >= max((other.words for other, _ in found), default=1)
        if most and (reader.has_times or not has_times(document.values)):
            return _transcript(source, reader, document)
        found.append((reader, own))
    for reader, own in found:
        if reader.words:  # the first candidate with words, although it finds no times in a file with times
            return _transcript(source, _reader(reader.shape.row, document, own, timed), document)
    stay = unread(document.values, [])
    partial = any(reader.skipped for reader, _ in found)
    if found and not stay and not partial:
        return Transcript(found[0][0].shape.row.name, [], document, encoding=source.encoding)
    what = "only results that are not final" if partial else "no text where the known JSON formats have it"
    raise source.error(what + (f"; there are texts in {_named(stay)}" if stay else ""),
                       "give a format that docs/formats.md lists")


def _reader(row: JsonFormat, document: JsonDocument, own: list[Any], timed: bool) -> JsonReader:
    document.spots = []
    reader = JsonReader(row, document, timed)
    reader.read(own)
    return reader


def _candidates(documents: list[Any]) -> Iterator[tuple[JsonFormat, list[Any]]]:
    inner = documents
    for _ in range(1 + WRAPPERS):
        names = set[str]().union(*inner)
        for row in FORMATS:
            own = list(filter(Shape(row).matches, inner)) if _may_match(row, names) else []
            if own:
                yield row, own if row.recordings == "." else inner
        inner = [value for document in filter(WRAPPER.is_final, inner) for value in document.values()
                 if isinstance(value, dict)]
    if {"text", "transcript"} & set[str]().union(*documents):
        yield TEXT, documents
    if guessed := guessed_format(documents):
        yield guessed, documents


def _may_match(row: JsonFormat, names: set[str]) -> bool:
    def has(path: str) -> bool:
        return path.startswith("!") or not names.isdisjoint(steps(path)[0].split("|"))

    return any(all(map(has, paths.split())) for paths in row.has.split(";"))


def _transcript(source: Source, reader: JsonReader, document: JsonDocument) -> Transcript:
    row, messages = reader.shape.row, []
    if not row.has:
        messages.append(said_of(row))
    known = reader.shape.word_lists.union(map(id, reader.skipped))
    if stay := unread(document.values, document.spots, row.stays, known):
        messages.append(f"{sum(stay.values())} texts of several words stay unchanged: {_named(stay)}")
    if reader.shape.odd_times:
        messages.append(f"times that are not numbers were not read: {reader.shape.odd_times}")
    elif not reader.has_times and (name := has_times(document.values)):
        messages.append(f"no times were read: {row.name} does not have them in `{name}`")
    return Transcript(row.name, reader.texts, document, reader.repeats, reader.language, messages=messages,
                      encoding=source.encoding)


def _named(counts: Counter[str]) -> str:
    return ", ".join(f"{name or 'a list'} ({count})" for name, count in counts.most_common(NAMED))
