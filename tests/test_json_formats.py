"""JSON of recognisers: examples of each format, the values that new words change, invalid JSON, and linear time."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.transcripts.json_formats import FORMATS, TEXT, read_json
from punc.transcripts.source import Source, encoded, read_source
from punc.transcripts.transcript import words_of, write


def timed(key, *said, unit=1.0, begin="start", end="end", length=False, **more):
    """Return words of half a second that begin one second apart: `{key: "a", "start": 0, "end": 0.5}`."""
    return [{key: word, begin: n * unit, end: (0 if length else n * unit) + unit / 2, **more}
            for n, word in enumerate(said)]


def item(word, begin=None, end=None, **more):
    """Return an item of Amazon Transcribe: a word, or a mark if there are no times."""
    times = {"start_time": str(begin), "end_time": str(end)} if begin is not None else {}
    return {**times, "type": "pronunciation" if times else "punctuation",
            "alternatives": [{"confidence": "0.9", "content": word}], **more}


def result(word, begin, end, kind="word"):
    return {"type": kind, "start_time": begin, "end_time": end,
            "alternatives": [{"content": word, "confidence": 0.9, "speaker": "S1"}]}


AT = {"offsetInTicks": 0, "durationInTicks": 5000000}
CHANNELS = [[item("hi", 0.1, 0.3), item("you", 0.4, 0.6)], [item("yes", 0.2, 0.4), item("."), item("no", 0.5, 0.7)]]
SEGMENT = {"id": 0, "start": 0, "end": 1.5, "text": " hi you", "words": timed("word", " hi", " you")}
HI_YOU = "hi 0 .5, you 1 1.5"

# Each row consists of a format, a file, and the file's words as `word begin end speaker`, with - for unknown values.
EXAMPLES = [
    ("whisper.cpp", {"systeminfo": "AVX = 1", "result": {"language": "en"}, "transcription": [
        {"timestamps": {"from": "00:00:00,000"}, "offsets": {"from": 0, "to": 500}, "text": " Jen", "tokens": [
            {"text": " Jen"}]}, {"offsets": {"from": 500, "to": 900}, "text": "ny"},
        {"offsets": {"from": 1000, "to": 2000}, "text": " is here"}]}, "Jenny 0 .9, is 1 -, here - 2"),
    ("NeMo", [{"audio_filepath": "a b.wav", "text": "the reference", "pred_text": "hi you", "duration": 2,
               "timestamps_word": timed("word", "hi", "you"), "timestamps_segment": [{"segment": "hi you"}]},
              {"audio_filepath": "c.wav", "offset": 10, "duration": 2, "pred_text": "so"}], f"{HI_YOU}, so 10 12"),
    ("NeMo", {"audio_filepath": "a.wav", "offset": 5, "pred_text": "hi you", "timestamp": {
        "word": timed("word", "hi", "you", start_offset=1), "segment": [{"segment": "hi you", "start": 0}]}},
     "hi 5 5.5, you 6 6.5"),
    ("NeMo", {"audio_filepath": "a.wav", "offset": 5, "pred_text": "hi you so", "timestamp": {"segment": [
        {"segment": "hi you", "start": 0, "end": 1}, {"segment": "so", "start": 2, "end": 3}]}},
     "hi 5 -, you - 6, so 7 8"),
    ("Vosk", {"result": timed("word", "hi", "you", conf=0.5), "text": "hi you"}, HI_YOU),
    ("Vosk", [{"partial": "hi you"}, {"alternatives": [{"result": timed("word", "hi", "you"), "text": "hi you"},
                                                       {"text": "high you"}]}, {"text": ""}], HI_YOU),
    ("sherpa-onnx", {"lang": "", "text": " ab c", "tokens": [" a", "b", " c"], "timestamps": [0.0, 0.2, 1.0],
                     "durations": [0.1, 0.3, 0.5], "words": []}, "ab 0 .5, c 1 1.5"),
    ("sherpa-onnx, files", [{"text": f" {word}", "tokens": [f" {word}"], "timestamps": [0.5], "segment": 0,
                             "start_time": 0, "is_final": False} for word in ("hi", "you")], "hi .5 -, you .5 -"),
    ("sherpa-onnx", {"text": "<|en|><|NEUTRAL|><|Speech|>hi you", "tokens": ["hi", " you"], "timestamps": [0.0, 1.0],
                     "lang": "<|en|>"}, "hi 0 -, you 1 -"),
    ("FunASR", [{"key": "a", "text": "hi you so", "sentence_info": [
        {"text": "hi you", "start": 0, "end": 1500, "timestamp": [[0, 500], [1000, 1500]], "spk": 0},
        {"sentence": "so", "start": 2000, "end": 2500, "timestamp": [[2000, 2500]], "spk": 1}]}],
     "hi 0 .5 0, you 1 1.5 0, so 2 2.5 1"),
    ("FunASR", [{"key": "a", "text": "hi you", "timestamp": [[0, 500], [1000, 1500]]}], HI_YOU),
    ("parakeet-mlx", {"text": " ab c", "sentences": [{"text": " ab c", "start": 0, "end": 1.5, "tokens": [
        {"text": " a", "start": 0, "end": 0.2}, {"text": "b", "start": 0.2, "end": 0.5},
        {"text": " c", "start": 1, "end": 1.5}]}]}, "ab 0 .5, c 1 1.5"),
    ("transformers", {"text": " Jenny said", "chunks": [
        {"text": " Jen", "timestamp": [0.0, 0.4]}, {"text": "ny", "timestamp": [0.4, 0.5]},
        {"text": " said", "timestamp": [0.9, None]}]}, "Jenny 0 .5, said .9 -"),
    ("Amazon Transcribe, channels", {"results": {
        "transcripts": [{"transcript": "hi yes. you no"}], "channel_labels": {"channels": [
            {"channel_label": f"ch_{n}", "items": items} for n, items in enumerate(CHANNELS)]},
        "items": [CHANNELS[0][0], *CHANNELS[1][:2], CHANNELS[0][1], CHANNELS[1][2]]}},
     "hi .1 .3 ch_0, you .4 .6 ch_0, yes. .2 .4 ch_1, no .5 .7 ch_1"),
    ("Amazon Transcribe", {"jobName": "my job", "results": {
        "transcripts": [{"transcript": "Good, day."}], "audio_segments": [{"id": 0, "transcript": "Good, day."}],
        "items": [item("Good", 0.0, 0.5, speaker_label="spk_0"), item(","), item("day", 1.0, 1.5), item(".")],
        "speaker_labels": {"segments": [{"start_time": "0.9", "speaker_label": "spk_1"}]}}},
     "Good. 0 .5 spk_0, day. 1 1.5 spk_1".replace("Good.", "Good,", 1)),
    ("Amazon Transcribe Call Analytics", {"LanguageCode": "en-US", "Transcript": [
        {"Content": "hi you.", "ParticipantRole": "AGENT", "Items": [
            *timed("Content", "hi", "you", unit=1000, begin="BeginOffsetMillis", end="EndOffsetMillis", Type="word"),
            {"Content": ".", "Type": "punctuation"}]}]}, "hi 0 .5 AGENT, you. 1 1.5 AGENT"),
    ("Azure, batch", {"combinedRecognizedPhrases": [{"display": "hi you"}], "recognizedPhrases": [
        {"speaker": 1, **AT, "nBest": [{"lexical": "hi you", "display": "hi you", "words": timed(
            "word", "hi", "you", unit=1e7, begin="offsetInTicks", end="durationInTicks", length=True)},
            {"display": "high you"}]}, {"speaker": 2, **AT, "nBest": [{"display": "Oh"}]}]},
     "hi 0 .5 1, you 1 1.5 1, Oh 0 .5 2"),
    ("Azure, fast", {"combinedPhrases": [{"text": "hi you"}], "phrases": [{"speaker": 1, "offsetMilliseconds": 0,
        "text": "hi you", "words": timed("text", "hi", "you", unit=1000, begin="offsetMilliseconds",
                                         end="durationMilliseconds", length=True)}]}, "hi 0 .5 1, you 1 1.5 1"),
    ("Azure, real time", {"RecognitionStatus": "Success", "Offset": 0, "Duration": 15000000, "NBest": [
        {"Lexical": "hi you", "ITN": "hi you", "MaskedITN": "hi you", "Display": "hi you", "Words": timed(
            "Word", "hi", "you", unit=1e7, begin="Offset", end="Duration", length=True)}]}, HI_YOU),
    ("Azure, real time", {"RecognitionStatus": "Success", "DisplayText": "hi", "Offset": 0, "Duration": 5000000},
     "hi 0 .5"),
    ("Deepgram", {"metadata": {"channels": 2}, "results": {"channels": [{"alternatives": [
        {"transcript": "hi you", "words": timed("word", "hi", "you", speaker=0), "paragraphs": {
            "transcript": "hi you", "paragraphs": [{"sentences": [{"text": "hi"}, {"text": "you"}]}]}},
        {"transcript": "high you"}]}, {"alternatives": [{"transcript": "So", "words": [
            {"word": "so", "start": 0, "end": 0.5, "punctuated_word": "So"}]}]}],
        "utterances": [{"transcript": "hi you", "words": [{"word": "hi"}, {"word": "you"}]}, {"transcript": "So"}]}},
     "hi 0 .5 0, you 1 1.5 0, So 0 .5"),
    ("Deepgram, live", [{"type": "Results", "is_final": final, "channel": {"alternatives": [
        {"transcript": "hi you", "words": timed("word", "hi", "you")}]}} for final in (False, True)], HI_YOU),
    ("AssemblyAI", {"id": "x", "audio_url": "u", "language_code": "en", "text": "hi you",
                    "words": timed("text", "hi", "you", unit=1000, speaker="A"), "utterances": [
                        {"text": "hi you", "speaker": "A", "words": timed("text", "hi", "you", unit=1000)}]},
     "hi 0 .5 A, you 1 1.5 A"),
    ("Speechmatics", {"format": "2.9", "metadata": {"type": "transcription"}, "results": [
        result("Hi", 0, 0.5), result(".", 0.5, 0.5, "punctuation"), result("You", 1, 1.5)]},
     "Hi. 0 .5 S1, You 1 1.5 S1"),
    ("Speechmatics, v1", {"format": "1.0", "speakers": [{"name": "M1", "time": "0.0"}], "words": [
        {"name": "hi", "time": "0.0", "duration": "0.5"}, {"name": ".", "time": "0.5", "duration": "0.0"},
        {"name": "you", "time": "1.0", "duration": "0.5"}]}, "hi. 0 .5 M1, you 1 1.5 M1"),
    ("Rev.ai", {"monologues": [{"speaker": 0, "elements": [
        {"type": "text", "value": "hi", "ts": 0, "end_ts": 0.5}, {"type": "punct", "value": "."},
        {"type": "punct", "value": " "}, {"type": "text", "value": "you", "ts": 1, "end_ts": 1.5}]}]},
     "hi. 0 .5 0, you 1 1.5 0"),
    ("ElevenLabs", {"language_code": "en", "text": "hi you", "words": [
        {"text": "hi", "start": 0, "end": 0.5, "type": "word", "speaker_id": "speaker_0"},
        {"text": " ", "start": 0.5, "end": 1, "type": "spacing", "speaker_id": None},
        {"text": "you", "start": 1, "end": 1.5, "type": "word", "speaker_id": None}]}, "hi 0 .5 speaker_0, you 1 1.5"),
    ("ElevenLabs", {"transcripts": [{"text": word, "words": [
        {"text": word, "start": 0, "end": 0.5, "type": "word"}]} for word in ("hi", "you")]}, "hi 0 .5, you 0 .5"),
    ("Gladia", {"id": "x", "result": {"transcription": {
        "full_transcript": "hi you", "languages": ["en"], "utterances": [
            {"text": "hi you", "speaker": 0, "words": timed("word", " hi", " you")}]}}}, "hi 0 .5 0, you 1 1.5 0"),
    ("IBM Watson", {"results": [{"final": True, "alternatives": [
        {"transcript": "hi you ", "timestamps": [["hi", 0, 0.5], ["you", 1, 1.5]],
         "word_confidence": [["hi", 0.9], ["you", 0.8]]}]}],
        "speaker_labels": [{"from": 0, "to": 0.5, "speaker": 2}, {"from": 1, "to": 1.5, "speaker": 1}]},
     "hi 0 .5 2, you 1 1.5 1"),
    ("Google", {"response": {"results": [{"alternatives": [{"transcript": "hi you", "confidence": 0.9, "words": [
        {"startTime": "0s", "endTime": "0.500s", "word": "hi"},
        {"startOffset": {"seconds": "1"}, "endOffset": {"seconds": 1, "nanos": 500000000}, "word": "you"}]}]}]}},
     HI_YOU),
    ("Google", {"results": [{"alternatives": [{"transcript": "hi"}]}, {"alternatives": [{"transcript": " you"}]}, {
        "alternatives": [{"words": timed("word", "hi", "you", begin="startTime", end="endTime", speakerTag=1)}]}]},
     "hi 0 .5 1, you 1 1.5 1"),
    ("Google", {"results": [{"alternatives": [{"transcript": "hi you ", "words": [  # Nvidia Riva: milliseconds
        {"startTime": 0, "endTime": 500, "word": "hi"}, {"startTime": 1000, "endTime": 1500, "word": "you"}]}]}]},
     HI_YOU),
    ("Google", {"results": {"gs://a/b.wav": {"transcript": {"results": [{"alternatives": [{"transcript": "hi"}]}]}}}},
     "hi - -"),
    ("Google", [{"results": [{"alternatives": [{"transcript": "hi yo"}], "isFinal": False, "stability": 0.9}]},
                {"results": [{"alternatives": [{"transcript": "hi you"}], "isFinal": True}]}], "hi - -, you - -"),
    ("Coqui", {"transcripts": [{"confidence": -9.5, "words": timed("word", "hi", "you", begin="start_time",
                                                                   end="duration", length=True)},
                               {"words": [{"word": "high", "start_time": 0}]}]}, HI_YOU),
    ("Kaldi GStreamer server", {"status": 0, "segment-start": 2.0, "result": {"final": True, "hypotheses": [
        {"transcript": "hi you", "word-alignment": timed("word", "hi", "you", end="length", length=True)}]}},
     "hi 2 2.5, you 3 3.5"),
    ("Gentle", {"transcript": "Hi, you.", "words": [
        {"alignedWord": "hi", "case": "success", "start": 0, "end": 0.5, "word": "Hi"},
        {"case": "not-found-in-audio", "word": "you"}]}, "Hi, 0 .5, you. - -"),
    ("MFA", {"start": 0, "end": 2, "tiers": {
        "Bo - words": {"type": "interval", "entries": [[0, 0.5, "hi"], [0.5, 1, ""], [1, 1.5, "you"]]},
        "Bo - phones": {"type": "interval", "entries": [[0, 0.2, "HH"], [0.2, 0.5, "AY"]]},
        "Al - words": {"type": "interval", "entries": [[0, 0.5, "so"]]}}}, "hi 0 .5 Bo, you 1 1.5 Bo, so 0 .5 Al"),
    ("aeneas", {"fragments": [{"begin": "0.000", "end": "1.500", "language": "eng", "lines": ["hi", "you"]},
                              {"begin": "1.500", "end": "2.000", "lines": ["so"]}]}, "hi 0 -, you - 1.5, so 1.5 2"),
    ("Podcasting 2.0", {"version": "1.0.0", "segments": [
        {"speaker": "Ann", "startTime": 0, "endTime": 0.5, "body": "hi"},
        {"startTime": 1, "endTime": 2, "body": "you two"}]}, "hi 0 .5 Ann, you 1 -, two - 2"),
    ("YouTube json3", {"wireMagic": "pb3", "events": [
        {"tStartMs": 0, "dDurationMs": 4000, "segs": [{"utf8": "hi"}, {"utf8": " you", "tOffsetMs": 500}]},
        {"tStartMs": 1500, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 1500, "dDurationMs": 1000, "segs": [{"utf8": "so"}]}]}, "hi 0 -, you .5 1.5, so 1.5 2.5"),
    ("Whisper", {"text": " hi you", "segments": [SEGMENT], "language": "en"}, HI_YOU),
    ("Whisper", {"segments": [{**SEGMENT, "words": timed("word", "hi", "you", speaker="A")}],
                 "word_segments": timed("word", "hi", "you", speaker="A")}, "hi 0 .5 A, you 1 1.5 A"),
    ("Whisper", {"segments": [{**SEGMENT, "words": timed("text", "hi", "you", confidence=0.5)}]}, HI_YOU),
    ("Whisper", {"task": "transcribe", "text": "Hi, you.", "words": timed("word", "Hi", "you"), "segments": [
        {"start": 0, "end": 2, "text": " Hi, you."}]}, "Hi, 0 .5, you. 1 1.5"),
    ("Whisper", {"text": "hi you", "segments": [{"type": "transcript.text.segment", "id": "seg_001", "start": 0,
                                                 "end": 1, "text": " hi you", "speaker": "A"}]}, "hi 0 - A, you - 1 A"),
    ("Whisper", {"id": "x", "input": {"prompt": "some words"}, "output": {"segments": [SEGMENT]}}, HI_YOU),
    ("Whisper, segments", [SEGMENT, {"start": 2, "end": 3, "text": " so", "words": None}], f"{HI_YOU}, so 2 3"),
    ("Whisper, segments", {"text": "Hi, you.", "words": timed("word", "Hi", "you")}, "Hi, 0 .5, you. 1 1.5"),
    ("captions", [{"text": "hi you", "start": 0.5, "duration": 1.0}, {"text": "so", "start": 2.0, "duration": 0.5}],
     "hi .5 -, you - 1.5, so 2 2.5"),
    ("captions", [{"text": "hi you", "offset": 500, "duration": 1000, "lang": "en"},
                  {"text": "so", "offset": 2000, "duration": 500}], "hi .5 -, you - 1.5, so 2 2.5"),
    ("text", {"text": "hi you"}, "hi - -, you - -"),
    ("unknown JSON", {"lines": [{"utterance": "hi you", "start_ms": 500, "end_ms": 1500, "spk": "x"},
                                {"utterance": "so", "start_ms": 2000, "end_ms": 2500, "spk": None}]},
     "hi .5 - x, you - 1.5 x, so 2 2.5"),
    ("unknown JSON", {"data": {"whole": "hi you", "parts": [{"t0": 0, "t1": 2, "sentence": "hi you", "tokens": timed(
        "w", "hi", "you", begin="t0", end="t1")}]}}, HI_YOU),
    ("unknown JSON", {"text": "hi you?", "tokens": [  # pieces of words, as in Soniox's JSON
        {"text": text, "start_ms": 500 * n, "end_ms": 500 * n + 500, "speaker": "1"}
        for n, text in enumerate(("h", "i", " you", "?"))]}, "hi 0 1 1, you? 1 2 1"),
    ("unknown JSON", [{"participant": {"id": 1, "name": "Ann Lee"}, "words": timed("text", "hi", "you")},
                      {"participant": {"id": 2, "name": "Bob"}, "words": timed("text", "so")}],
     "hi 0 .5 Ann Lee, you 1 1.5 Ann Lee, so 0 .5 Bob"),
    ("unknown JSON", {"entries": [{"speakerId": "x", "speakerDisplayName": "Ann Lee", "text": "hi", "startOffset": 0,
                                   "endOffset": 1}]}, "hi 0 1 Ann Lee"),
]
NAMES = [f"{name}-{n}" for n, (name, _, _) in enumerate(EXAMPLES)]


def read(value):
    text = value if isinstance(value, str) else json.dumps(value)
    found = read_json(Source("file", text, "utf-8"))
    return found, words_of(found.texts)


def rewritten(value, *new):
    found, words = read(value)
    return json.loads(write(found, words, new))


def described(words):
    rows = []
    for word, begin, end, speaker in zip(words.texts, words.begins.tolist(), words.ends.tolist(), words.speaker):
        times = [f"{round(at, 3):g}".replace("0.", ".") if at == at else "-" for at in (begin, end)]
        rows.append(" ".join([word, *times, *([words.speakers[speaker]] if speaker >= 0 else [])]))
    return ", ".join(rows)


@pytest.mark.parametrize(("name", "value", "said"), EXAMPLES, ids=NAMES)
def test_words_times_and_speakers(name, value, said):
    found, words = read(value)
    assert (found.format, described(words)) == (name, said)
    assert not found.messages or name == "unknown JSON"
    assert json.loads(write(found, words, words.texts)) == value


def test_names_of_speakers_are_not_texts_that_stay():
    assert len(read(EXAMPLES[-1][1])[0].messages) == 1


def test_each_row_has_an_example():
    assert {name for name, _, _ in EXAMPLES} == {row.name for row in [*FORMATS, TEXT]} | {"unknown JSON"}


def changes(old, new, spots):
    """Assert that `new` differs from `old` only in the texts at `spots` and in added label probabilities."""
    if isinstance(old, dict):
        assert [key for key in new if key != "label_probability"] == list(old)
    assert type(old) is type(new)
    assert isinstance(old, dict) or len(old) == len(new)
    for key in old if isinstance(old, dict) else range(len(old)):
        if isinstance(old[key], (dict, list)):
            changes(old[key], new[key], spots)
        else:
            assert old[key] == new[key] or (id(new), key) in spots


@pytest.mark.parametrize(("name", "value", "said"), EXAMPLES, ids=NAMES)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_new_words_are_read_again_and_nothing_else_changes(name, value, said, data):
    found, words = read(value)
    count = len(words.texts)
    form = st.tuples(st.sampled_from([str.upper, str.lower, str.title]), st.sampled_from(["", ".", ",", "?"]))
    new = [change(word.strip(".,")) + mark for word, (change, mark) in zip(
        words.texts, data.draw(st.lists(form, min_size=count, max_size=count)))]
    spots = {(id(holder), key) for holder, key in found.document.spots}
    chances = np.full(count, 0.5)
    chances[:1] = np.nan
    text = write(found, words, new, chances)
    changes(value if isinstance(value, list) else [value], [value for one in found.document.values for value in (
        one if isinstance(one, list) else [one])], spots)
    again, same = read(text)
    assert (again.format, same.texts) == (name, new)
    for column in ("begins", "ends", "speaker", "recording", "segments", "streams", "confidences"):
        np.testing.assert_array_equal(getattr(same, column), getattr(words, column), column)


def error(text):
    with pytest.raises(InputError) as found:
        read(text)
    return str(found.value)


@pytest.mark.parametrize(("text", "said"), [
    ('{"text": "a", "segments": [', "file:1: the JSON is cut short: "), ('{"a": "b', "file:1: the JSON is cut short: "),
    ('{"a":\n 1 "b": 2}', "file:2: not JSON: "), ('{"text": "\\u00e+1 a"}', "file:1: not JSON: "),
    ('{"a": ' + "[" * 100_000, "file:1: values nested too deeply; "),
    ("3", "file:1: text before the JSON: '3'; "), ('> run\n{"text": "a"}', "file:1: text before the JSON: '> run"),
    ('{"text": "a"}\nbye', "file:2: text after the JSON: 'bye'; "),
    ('{"text": "a", "text": "b"}', "file:1: an object has the member 'text' twice; keep one"),
    ('{"text": "a", "start": 1e999}', "file:1: a number that is too large"),
    ('{"text": "a", "start": ' + "9" * 5000 + "}", "file:1: a number that is too large"),
    ('{"foo": 1}', "file:1: no text where the known JSON"), ("[[1]]", "file:1: no text where the known JSON"),
    ('{"notes": ["hi you all"]}', "file:1: no text where the known JSON formats have it; there are texts in"),
    ('{"text": "", "said": [{"phrase": "hi you"}]}', "file:1: no text where the known JSON formats"),
    ('{"text": "<p><span class=\\"timestamp\\">0:12</span>&nbsp;hi you</p>", "media": "a.mp3"}',
     'file: a text is HTML: <span class="timestamp">; export it as plain text or subtitles'),
    ('{"is_final": false, "channel": {"alternatives": [{"transcript": "hi"}]}}',
     "file:1: only results that are not final")])
def test_errors(text, said):
    assert error(text).startswith(said)


def test_a_transcript_without_words_is_none_of_its_errors():
    for text in ('{"text": "", "segments": [], "language": "en"}', '{"text": ""}', "[]", "{}\n"):
        found, words = read(text)
        assert (words.texts, write(found, words, [])) == ([], text)


@pytest.mark.parametrize(("interim", "final", "member"), [
    ({"message_type": "PartialTranscript"}, {"message_type": "FinalTranscript"}, "text"),
    ({"type": "Turn", "end_of_turn": False}, {"type": "Turn", "end_of_turn": True}, "transcript")])
def test_interim_results_of_services_are_not_read(interim, final, member):
    words = [{"text": "hi", "start": 100, "end": 300}, {"text": "you", "start": 300, "end": 500}]
    values = [interim | {member: "hi", "words": words[:1]}, final | {member: "hi you", "words": words}]
    assert read(values)[1].texts == ["hi", "you"]
    results = [{"Transcript": {"Results": [{"IsPartial": partial, "Alternatives": [{"Items": [
        {"Content": "hi", "StartTime": 1, "EndTime": 2}]}]}]}} for partial in (True, False)]
    assert read(results)[1].texts == ["hi"]
    gladia = [{"type": "transcript", "data": {"is_final": text != "hi", "utterance": {"text": text, "words": [
        {"word": word, "start": 1, "end": 2} for word in text.split()]}}} for text in ("hi", "hi you")]
    assert read(gladia)[1].texts == ["hi", "you"]


@pytest.mark.parametrize(("value", "said"), [
    ({"text": "hi you", "segments": [{"text": "hi you"}], "summary": "two people meet", "tags": [{"a": "b c"}] * 2},
     "3 texts of several words stay unchanged: a (2), summary (1)"),
    ({"text": "hi you", "cues": [{"begin": 1}]}, "no times were read: text does not have them in `begin`"),
    ({"segments": [{"text": "hi you", "start": "soon", "end": [1]}]}, "times that are not numbers were not read: 2"),
    ({"text": "hi you", "segments": [{"text": "hi you", "from": "00:01", "to": "00:02"}]}, "not a known format: "
     "words were read from segments[].text, times from from and to"),
    ([{"line": "hi you", "from": 1, "to": 2}], "not a known format: words were read from line, "
     "times from from and to")])
def test_messages(value, said):
    assert read(value)[0].messages == [said]


def test_bytes_that_are_not_utf8_stay_where_no_word_is_read(tmp_path):
    """whisper.cpp can split a character between `tokens`, which are then not valid UTF-8."""
    raw = (b'{"transcription": [{"offsets": {"from": 0, "to": 1000}, "text": " caf\xc3\xa9 so", "tokens": ['
           b'{"text": "\xc3"}, {"text": "\xa9 \\udcc3\\ud83d\\ude00"}]}]}\n')
    (tmp_path / "a.json").write_bytes(raw)
    source = read_source(tmp_path / "a.json")
    found = read_json(source)
    words = words_of(found.texts)
    new = raw.replace(b"so", b"so.").replace(b"\\ud83d\\ude00", "😀".encode())
    assert encoded(write(found, words, ["café", "so."]), source.encoding) == new
    (tmp_path / "a.json").write_bytes(raw.replace(b"\xc3\xa9 so", b"\xc3 so"))
    with pytest.raises(InputError, match=r"a\.json:1: not UTF-8"):
        read_json(read_source(tmp_path / "a.json"))


@pytest.mark.parametrize(("text", "said", "new", "written"), [
    ("isn&#39;t it &amp; so", "isn't it & so", "Isn't it & so.", "Isn&#39;t it &amp; so."),
    ("isn&amp;#39;t &amp;amp; x", "isn't & x", "Isn't & x.", "Isn&amp;#39;t &amp;amp; x."),
    ("it's &#39;so&#39;&nbsp;x", "it's 'so' x", "It's 'so', x", "It's &#39;so&#39;,&nbsp;x"),
    ("&nonsense; &lt;b&gt; R&D", "&nonsense; <b> R&D", "&nonsense; <b>. R&D", "&nonsense; &lt;b&gt;. R&D"),
    ("<|en|><|HAPPY|>hi <|sad|>you", "hi you", "Hi. You", "<|en|><|HAPPY|>Hi. <|sad|>You"),
    ("a\ud800 b\0 c\ufffd", "a\ufffd b\ufffd c\ufffd", "A\ufffd b\ufffd, c\ufffd", "A\ud800 b\0, c\ufffd"),
    ("a\nb  c\u200bd", "a b c d", "A b, c d", "A\nb,  c\u200bd"),
    ("--> <ALT_BEGIN>", "--> <ALT_BEGIN>", "-->. <ALT_BEGIN>", "-->. <ALT_BEGIN>")])
def test_tags_entities_and_halves_of_characters(text, said, new, written):
    assert read({"text": text})[1].texts == said.split()
    assert rewritten({"text": text}, *new.split()) == {"text": written}


def test_style_of_a_file_stays():
    value = {"text": "é a", "x": [1, 2.50, 1e-7, None]}
    for style in ({"indent": 1}, {"indent": "\t", "ensure_ascii": False}, {"separators": (",", ":")}, {}):
        text = json.dumps(value, **style)
        found, words = read(text + "\n")
        assert write(found, words, words.texts) == text + "\n"


def test_probabilities_stand_next_to_the_words():
    found, words = read({"segments": [SEGMENT]})
    made = json.loads(write(found, words, ["Hi", "you"], np.array([0.25, np.nan])))["segments"][0]["words"]
    assert made == [{"word": " Hi", "start": 0, "end": 0.5, "label_probability": 0.25}, SEGMENT["words"][1]]


def test_whisper_words_that_continue_the_word_before():
    """Whisper large-v3 splits `state-of-the-art.` into ` state`, `-of`, `-the` and `-art.`. `Well,` is in no segment
    and is not changed."""
    made = {"text": " Well, a state-of-the-art.", "segments": [{
        "text": " a state-of-the-art.", "words": timed("word", " a", " state", "-of", "-the", "-art.")}]}
    assert read(made)[1].texts == ["a", "state-of-the-art."]
    again = rewritten(made, "A", "State-of-the-art,")
    assert (again["text"], again["segments"][0]["text"]) == (" Well, A State-of-the-art,", " A State-of-the-art,")
    assert [word["word"] for word in again["segments"][0]["words"]] == [" A", " State", "-of", "-the", "-art,"]


def test_removed_mark_leaves_an_empty_item():
    value = next(value for name, value, _ in EXAMPLES if name == "Amazon Transcribe")
    again = rewritten(value, "Good", "day!")["results"]
    assert [one["alternatives"][0]["content"] for one in again["items"]] == ["Good", "", "day", "!"]
    assert again["transcripts"] == [{"transcript": "Good day!"}]


def test_a_text_with_marks_is_read_before_words_without():
    """Azure's text has the numeral `10` where its list of words has `ten`. The numeral gets the times of `ten`. The
    words in the list also get new marks, but `ten` does not."""
    words = timed("word", "at", "ten", "yes", unit=1e7, begin="offsetInTicks", end="durationInTicks", length=True)
    value = {"recognizedPhrases": [{"nBest": [{"lexical": "at ten yes", "display": "At 10, yes.", "words": words}]}]}
    assert described(read(value)[1]) == "At 0 .5, 10, 1 1.5, yes. 2 2.5"
    best = rewritten(value, "At", "10,", "yes!")["recognizedPhrases"][0]["nBest"][0]
    assert (best["display"], best["lexical"]) == ("At 10, yes!", "At ten yes!")
    assert [word["word"] for word in best["words"]] == ["At", "ten", "yes!"]


def test_recordings():
    """Documents without names are recordings 1, 2, …. Parts of the same audio file or of the same stream are one
    recording."""
    chunks = [{"text": "a b", "chunks": []}, {"text": "c", "chunks": []}]
    words = read(chunks)[1]
    assert (words.recordings, words.recording.tolist(), words.streams.tolist()) == (["1", "2"], [0, 0, 1], [0, 0, 1])
    parts = [{"audio_filepath": name, "offset": at, "duration": 2, "pred_text": "so"} for name, at in
             (("a.wav", 10), ("a.wav", 14.5), ("b.wav", 0))]
    words = read("\n".join(map(json.dumps, parts)))[1]
    assert (words.recordings, words.streams.tolist()) == (["a.wav", "b.wav"], [0, 0, 1])
    assert words.begins.tolist() == [10, 14.5, 0]
    parts = [{"text": " so", "tokens": [" so"], "timestamps": [0.5], "segment": n, "start_time": 2 * n, "is_final": end}
             for n in (0, 1) for end in (False, True)]
    words = read("\n".join(map(json.dumps, parts)))[1]
    assert (words.recordings, words.begins.tolist()) == ([""], [0.5, 2.5])


def test_turns_of_insanely_fast_whisper_name_the_speakers_of_its_chunks():
    chunks = [(0, 1, " so it"), (1, 2, " begins"), (2, 3, " yes")]
    words = read({"speakers": [{"speaker": "S0", "timestamp": [0, 2], "text": " so it begins"},
                               {"speaker": "S1", "timestamp": [2, 3], "text": " yes"}],
                  "chunks": [{"timestamp": [begin, end], "text": text} for begin, end, text in chunks],
                  "text": " so it begins yes"})[1]
    assert words.texts == ["so", "it", "begins", "yes"]
    assert [words.speakers[i] for i in words.speaker.tolist()] == ["S0", "S0", "S0", "S1"]


def test_speakers_that_are_not_names():
    names = [{"id": 1}, 2, "", None, {"name": "Ann\nB\ud800"}]
    words = read({"segments": [{"speaker": "S", "words": [{"word": "a", "speaker": name} for name in names]}]})[1]
    found = [words.speakers[i] if i >= 0 else None for i in words.speaker.tolist()]
    assert found == ["1", "2", None, "S", "Ann B\ufffd"]


N = 8_000
HOSTILE = {
    "lists": "[" * 900 + "]" * 900, "documents": '{"text": "a"}\n' * N, "objects in a list": [{"text": "a"}] * N,
    "speakers": {"segments": [{"text": "a", "speaker": f"s{n}"} for n in range(N)]},
    "streams": {"tiers": {f"{n} - words": {"entries": [[n, n + 1, "a"]]} for n in range(N)}},
    "recordings": [{"text": "a", "chunks": [], "id": n} for n in range(N)],
    "channels": {"results": {"channels": [{"alternatives": [{"transcript": "a"}]}] * N}},
    "repeats": {"text": " ".join(f"a{n}" for n in range(N)), "segments": [{"text": f"b{n}"} for n in range(N)]},
    "repeats in segments": {"segments": [{"text": "a. b", "words": [{"word": "a"}, {"word": "c"}]}] * 2000},
    "again": {"results": [{"alternatives": [{"words": [{"word": "a", "speakerTag": 1}]}]}] * N},
    "again and again": {"results": [{"alternatives": [{"words": timed("word", *"ab" * (n % 3), speakerTag=1)}]}
                                    for n in range(N)]},
    "again after much": {"results": [{"alternatives": [{"transcript": "a " * N}]}, *(
        {"alternatives": [{"words": [{"word": "a", "speakerTag": 1}]}]} for n in range(N))]},
    "entities": {"text": "&amp;" * N + " &" * N}, "tags": {"text": "<|" * N + "<|a|>" * N},
    "blanks": {"text": " \n" * N + "a"},
    "members": {f"m{n}": {"text": "a b", "start": n} for n in range(N)},
    "long names": {"n" * 100_000: [{"text": "a", "start": 1}] * N},
    "twice": "{" + "".join(f'"m{n}": 1, ' for n in range(N)) + '"m0": 1}', "quotes": '{"' * N,
    "backslashes": '"\\' * N,
    "numbers": "[" + "1e1" * N, "digits": '{"text": "a", "start": "' + "1" * N + '"}', "clocks": {"segments": [
        {"text": "a", "start": "1:" * 14 + "x"}] * N},
    "speaker labels": {"results": {"items": [item("a", n, n + 1) for n in range(N)], "speaker_labels": {"segments": [
        {"start_time": n, "speaker_label": n} for n in range(N)]}}},
    "marks": {"monologues": [{"elements": [{"type": "punct", "value": "."}] * N}]},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name):
    begin = time.process_time()
    try:
        found, words = read(HOSTILE[name])
    except InputError:
        pass
    else:
        write(found, words, [f"{word}." for word in words.texts])
    assert time.process_time() - begin < 5
