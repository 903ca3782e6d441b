"""JSON of recognisers: an example of each format, what changes when words do, unknown JSON, errors, linear time."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.transcripts.json_formats import FORMATS, json_rows, read_json
from punc.transcripts.source import Source, encoded, read_source
from punc.transcripts.transcript import words_of, write


def timed(key, *said, unit=1.0, begin="start", end="end", length=False, **more):
    """Words of half a second each, one a second: `{key: "a", "start": 0, "end": 0.5}`."""
    return [{key: word, begin: n * unit, end: (0 if length else n * unit) + unit / 2, **more}
            for n, word in enumerate(said)]


def item(word, begin=None, end=None, **more):
    """An item of Amazon Transcribe; without times, a mark."""
    times = {"start_time": str(begin), "end_time": str(end)} if begin is not None else {}
    return {**times, "type": "pronunciation" if times else "punctuation",
            "alternatives": [{"confidence": "0.9", "content": word}], **more}


def result(word, begin, end, kind="word"):
    """A result of Speechmatics."""
    return {"type": kind, "start_time": begin, "end_time": end,
            "alternatives": [{"content": word, "confidence": 0.9, "speaker": "S1"}]}


AT = {"offsetInTicks": 0, "durationInTicks": 5000000}
CHANNELS = [[item("hi", 0.1, 0.3), item("you", 0.4, 0.6)], [item("yes", 0.2, 0.4), item("."), item("no", 0.5, 0.7)]]
SEGMENT = {"id": 0, "start": 0, "end": 1.5, "text": " hi you", "words": timed("word", " hi", " you")}
HI_YOU = "hi 0 .5, you 1 1.5"

# Of each row: a file, and its words as `word begin end speaker`, with blanks in place of what is not known.
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
    ("Vosk", {"result": timed("word", "hi", "you", conf=0.5), "text": "hi you"}, HI_YOU),
    ("Vosk", [{"partial": "hi you"}, {"alternatives": [{"result": timed("word", "hi", "you"), "text": "hi you"},
                                                       {"text": "high you"}]}, {"text": ""}], HI_YOU),
    ("sherpa-onnx", {"lang": "", "text": " ab c", "tokens": [" a", "b", " c"], "timestamps": [0.0, 0.2, 1.0],
                     "durations": [0.1, 0.3, 0.5], "words": []}, "ab 0 .5, c 1 1.5"),
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
    ("Google", {"results": {"gs://a/b.wav": {"transcript": {"results": [{"alternatives": [{"transcript": "hi"}]}]}}}},
     "hi - -"),
    ("Coqui", {"transcripts": [{"confidence": -9.5, "words": timed("word", "hi", "you", begin="start_time",
                                                                   end="duration", length=True)},
                               {"words": [{"word": "high", "start_time": 0}]}]}, HI_YOU),
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
    """Words as in EXAMPLES."""
    rows = []
    for word, begin, end, speaker in zip(words.texts, words.begins.tolist(), words.ends.tolist(), words.speaker):
        times = [f"{round(time, 3):g}".replace("0.", ".") if time == time else "-" for time in (begin, end)]
        rows.append(" ".join([word, *times, *([words.speakers[speaker]] if speaker >= 0 else [])]))
    return ", ".join(rows)


@pytest.mark.parametrize(("name", "value", "said"), EXAMPLES, ids=NAMES)
def test_words_times_and_speakers(name, value, said):
    found, words = read(value)
    assert (found.format, described(words)) == (name, said)
    assert not found.messages or name == "unknown JSON"
    assert json.loads(write(found, words, words.texts)) == value


def test_each_row_has_an_example():
    assert {row.name for row in FORMATS} <= {name for name, _, _ in EXAMPLES}
    assert {name for name, _, _ in EXAMPLES} == {*dict(json_rows()), "unknown JSON"}


def changes(old, new, spots):
    """Assert that values differ only in texts at some places, and in probabilities of labels."""
    if isinstance(old, dict):
        assert [key for key in new if key != "label_probability"] == list(old)
    assert type(old) is type(new) and isinstance(old, list) <= (len(old) == len(new) if isinstance(old, list) else True)
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
    spots = {(id(holder), key) for holder, key in found.document.spots()}
    chances = np.full(count, 0.5)
    chances[:1] = np.nan
    text = write(found, words, new, chances)
    changes(value if isinstance(value, list) else [value], [value for one in found.document.values for value in (
        one if isinstance(one, list) else [one])], spots)
    again, same = read(text)
    assert (again.format, same.texts) == (name, new)
    for column in ("begins", "ends", "speaker", "recording", "segments", "streams", "confidences"):
        np.testing.assert_array_equal(getattr(same, column), getattr(words, column), column)
