"""Texts anywhere in a recogniser's JSON: formats that are read by handlers, by their documentations' examples."""

import json

import numpy as np
import pytest
from test_asr_formats import document, written

from punc.asr.document import Source
from punc.asr.json_texts import JsonTexts, plain_facts
from punc.base.errors import InputError


def again(found, *texts):
    return json.loads(written(found, list(texts)))


def source(value):
    return Source("file", json.dumps(value).encode(), "utf-8", False)


def test_handlers_skip_what_they_do_not_look_for():
    value = {"a": [{"w": "x", "start": 1, "end": 2, "confidence": 0.5}, {"w": 3}, 4, [], {"w": "y"}], "b": {"a": "no"},
             "c": ["first", "second"], "d": 5}
    found = JsonTexts(source(value))
    handler = found.members({"a": found.each(found.text("w", plain_facts)), "c": found.first(found.copy("c")),
                             "d": found.members({"e": found.text("w")}), "b": found.each(found.text("w"))})
    read = found.document("test", found.one_or_each(handler))
    assert (read.pieces, read.format, read.recordings) == (["x", "y"], "test", [""])
    np.testing.assert_array_equal(read.begins, [1, np.nan])
    np.testing.assert_array_equal(read.confidences, [0.5, np.nan])


def test_recordings_with_and_without_names():
    value = [{"id": "a b", "w": "x y"}, {"w": "z"}, "no object"]
    found = JsonTexts(source(value))
    read = found.document("test", found.each(found.recording(found.text("w"), "id")))
    assert read.recordings == ["a_b", "2", "3"]
    assert read.recording.tolist() == read.streams.tolist() == [0, 0, 1]


@pytest.mark.parametrize("text", ['{"text": "a", "chunks": [{"text": "a"', '{"pred_text": "a"',
                                  '{"transcription": [1,], "offsets": 1}', '{"channels": [}, "alternatives": 1}'])
def test_broken_json_is_refused(text):
    with pytest.raises(InputError, match=r"file:1: (the JSON is cut short|not JSON) at byte"):
        document(text)


def test_transformers_words_of_whisper_and_the_last_without_an_end():
    chunks = [{"text": " Jen", "timestamp": [0.0, 0.4]}, {"text": "ny", "timestamp": [0.4, 0.5]},
              {"text": " said", "timestamp": [0.9, None]}]
    found = document(json.dumps({"text": " Jenny said", "chunks": chunks}))
    assert found.joined.tolist() == [False, True, False]
    np.testing.assert_array_equal(found.ends, [0.4, 0.5, np.nan])
    made = again(found, "Jen", "ny,", "said.")
    assert (made["text"], [chunk["text"] for chunk in made["chunks"]]) == (" Jenny, said.", [" Jen", "ny,", " said."])


def test_transformers_without_chunks_has_its_text():
    assert document('{"text": "a b", "chunks": []}').pieces == ["a", "b"]
    found = document('[{"text": "a b", "chunks": [{"text": "a b", "timestamp": [0, 1]}]}, {"text": "c", "chunks": []}]')
    assert (found.pieces, found.recordings, found.recording.tolist()) == (["a", "b", "c"], ["1", "2"], [0, 0, 1])


def test_whisper_cpp_words_and_tokens():
    """As with `--max-len 1 --output-json-full`: milliseconds; tokens stay as they are."""
    made = [{"offsets": {"from": 0, "to": 320}, "text": " And", "tokens": [{"text": " And", "offsets": {"from": 0}}]},
            {"offsets": {"from": 320, "to": 370}, "text": " Jen"}, {"offsets": {"from": 370, "to": 500}, "text": "ny"},
            {"offsets": {"from": 500, "to": 900}, "text": "(laughs)"}, {"offsets": [], "text": " so", "speaker": "1"}]
    found = document(json.dumps({"result": {"language": "en"}, "transcription": made}))
    assert found.joined.tolist() == [False, False, True, False, False]
    np.testing.assert_array_equal(found.begins, [0, 0.32, 0.37, 0.5, np.nan])
    assert (found.speakers, found.speaker.tolist()) == (["1"], [-1, -1, -1, -1, 0])
    one = again(found, "And", "Jen", "ny,", "(laughs)", "so.")["transcription"]
    assert [segment["text"] for segment in one] == [" And", " Jen", "ny,", "(laughs)", " so."]
    assert one[0]["tokens"] == made[0]["tokens"]


def test_nemo_lines_are_recordings():
    """With times of words, and without; the reference stays."""
    words = [{"word": "hello", "start": 0.08, "end": 0.4}, {"word": "there", "start": 0.4, "end": 0.72}]
    lines = [{"audio_filepath": "/data/a 1.wav", "text": "hello there", "pred_text": "hello there",
              "timestamps_word": words, "timestamps_segment": [{"segment": "hello there"}]},
             {"audio_filepath": "b.wav", "pred_text": "how are you"}]
    found = document("\n".join(map(json.dumps, lines)))
    assert found.recordings == ["/data/a_1.wav", "b.wav"]
    assert found.streams.tolist() == [0, 0, 1, 1, 1]
    np.testing.assert_array_equal(found.begins, [0.08, 0.4, np.nan, np.nan, np.nan])
    first, second = map(json.loads, written(found, ["Hello", "there.", "How", "are", "you?"]).splitlines())
    assert (first["text"], first["pred_text"]) == ("hello there", "Hello there.")
    assert first["timestamps_segment"] == [{"segment": "Hello there."}]
    assert [word["word"] for word in first["timestamps_word"]] == ["Hello", "there."]
    assert second["pred_text"] == "How are you?"


def test_nemo_parts_of_a_recording_count_from_their_offsets():
    """As after a voice activity detector; without times of words, a part has those of its line."""
    word = {"word": "so", "start": 0.5, "end": 1}
    lines = [{"audio_filepath": "a.wav", "offset": 10, "duration": 2, "pred_text": "so", "timestamps_word": [word]},
             {"audio_filepath": "a.wav", "offset": 14.5, "duration": 2, "pred_text": "it is"},
             {"audio_filepath": "b.wav", "offset": 0, "duration": 2, "pred_text": "so", "timestamps_word": [word]},
             {"audio_filepath": "b.wav", "pred_text": "so"}]
    found = document("\n".join(map(json.dumps, lines)))
    assert (found.recordings, found.streams.tolist()) == (["a.wav", "b.wav", "b.wav"], [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(found.begins, [10.5, 14.5, np.nan, 0.5, np.nan])
    np.testing.assert_array_equal(found.ends, [11, np.nan, 16.5, 1, np.nan])


def test_google_speech_times_transcripts_and_the_result_with_speakers():
    words = [{"startTime": "0.100s", "endTime": "1s", "word": "hello", "confidence": 0.5},
             {"endOffset": "2.5s", "word": "you"}, {"startTime": "x", "endTime": 3, "word": "there"}]
    spoken = [{**word, "speakerTag": 1} for word in words]
    results = [{"alternatives": [{"transcript": "hello you there", "words": words}, {"transcript": "yellow"}]},
               {"alternatives": [{"transcript": " and so"}]}, {"alternatives": [{"words": spoken}]}, {}]
    found = document(json.dumps({"response": {"results": results}, "done": True}))
    assert found.pieces == ["hello", "you", "there", "and", "so"]
    np.testing.assert_array_equal(found.begins, [0.1] + [np.nan] * 4)
    np.testing.assert_array_equal(found.ends, [1, 2.5] + [np.nan] * 3)
    np.testing.assert_array_equal(found.confidences, [0.5] + [np.nan] * 4)
    made = again(found, "Hello", "you", "there.", "And", "so")["response"]["results"]
    best = [result["alternatives"][0] for result in made[:3]]
    assert [one.get("transcript") for one in best] == ["Hello you there.", " And so", None]
    assert [word["word"] for word in best[2]["words"]] == ["Hello", "you", "there."]
    assert made[0]["alternatives"][1]["transcript"] == "yellow"
    spoken = json.dumps({"results": [{"alternatives": [{"words": words}]}]})
    assert document(spoken).pieces == ["hello", "you", "there"], "no speakers: it repeats nothing"


def test_deepgram_channels_are_recordings_and_utterances_repeat():
    def channel(*texts):
        return {"alternatives": [{"transcript": " ".join(texts), "words": [
            {"word": text, "start": n, "end": n + 0.5, "confidence": 0.25, "punctuated_word": text.title(),
             "speaker": n} for n, text in enumerate(texts)]}, {"transcript": "other"}]}

    value = {"results": {"channels": [channel("good", "day"), channel("hi")],
                         "utterances": [{"transcript": "good day", "words": [{"word": "good"}, {"word": "day"}]}]}}
    found = document(json.dumps(value))
    assert (found.pieces, found.recordings, found.streams.tolist()) == (["good", "day", "hi"], ["1", "2"], [0, 0, 1])
    assert (found.ends.tolist(), found.speakers, found.speaker.tolist()) == ([0.5, 1.5, 0.5], ["0", "1"], [0, 1, 0])
    made = again(found, "Good", "day.", "Hi!")["results"]
    first, second = (channel["alternatives"] for channel in made["channels"])
    assert (first[0]["transcript"], second[0]["transcript"], first[1]["transcript"]) == ("Good day.", "Hi!", "other")
    assert [word["punctuated_word"] for word in first[0]["words"]] == ["Good", "day."]
    assert made["utterances"] == [{"transcript": "Good day.", "words": [{"word": "Good"}, {"word": "day."}]}]


def test_sherpa_onnx_words_begin_where_their_first_token_does():
    """An offline result, tokens of characters without blanks, and a stream's second segment, as they are printed."""
    offline = {"lang": "", "text": "AFTER EARLY", "timestamps": [0.0, 0.36, 0.52], "tokens": [" AFTER", " E", "ARLY"],
               "durations": [0.2, 0.1, 0.3], "words": []}
    found = document(json.dumps(offline))
    np.testing.assert_allclose((found.begins, found.ends), [[0, 0.36], [0.2, 0.82]])
    found = document(json.dumps({**offline, "durations": []}))
    np.testing.assert_array_equal(found.ends, [np.nan, np.nan])
    found = document(json.dumps({**offline, "tokens": ["A", "F", "T"]}))
    np.testing.assert_array_equal(found.begins, [0, np.nan])
    found = document(json.dumps({**offline, "timestamps": [0, 1]}))
    assert np.isnan(found.begins).all()
    streamed = [{"text": " so", "tokens": [" so"], "timestamps": [0.5], "segment": n, "start_time": 2 * n}
                for n in (0, 1)]
    found = document("\n".join(map(json.dumps, streamed)))
    assert (found.begins.tolist(), found.recordings) == ([0.5, 2.5], [""])
    found = document("\n".join(json.dumps(offline) for _ in "ab"))
    assert found.recordings == ["1", "2"]


def test_amazon_marks_are_items():
    """A mark that goes leaves its item empty; a new one stands at its word. Pauses are those between words."""
    items = [("Good", "0.0", "0.5"), (",", None, None), ("day", "1.0", "1.5"), (".", None, None), ("so", "2.0", "x")]
    made = [{"type": "pronunciation" if begin else "punctuation", "speaker_label": "spk_0",
             **({"start_time": begin, "end_time": end} if begin else {}),
             "alternatives": [{"confidence": "0.75", "content": text}, {"content": "other"}]}
            for text, begin, end in items]
    found = document(json.dumps({"results": {"transcripts": [{"transcript": "Good, day. so"}], "items": made}}))
    assert found.joined.tolist() == [False, True, False, True, False]
    np.testing.assert_array_equal(found.begins, [0, 0.5, 1, 1.5, 2])
    np.testing.assert_array_equal(found.ends, [0.5, 0.5, 1.5, 1.5, np.nan])
    np.testing.assert_array_equal(found.confidences, [0.75, np.nan, 0.75, np.nan, 0.75])
    results = again(found, "Good", "", "day", "!", "So.")["results"]
    assert [item["alternatives"][0]["content"] for item in results["items"]] == ["Good", "", "day", "!", "So."]
    assert results["transcripts"] == [{"transcript": "Good day! So."}]


def test_speechmatics_marks_are_results():
    def result(text, begin, end, kind="word"):
        return {"type": kind, "start_time": begin, "end_time": end,
                "alternatives": [{"content": text, "confidence": 0.5, "speaker": "S1"}, {"content": "other"}]}

    made = [result("Hello", 0.5, 1), result(".", 1, 1, "punctuation"), result("so", 1.5, 2)]
    found = document(json.dumps({"format": "2.9", "results": made}))
    assert (found.pieces, found.joined.tolist(), found.speakers) == (["Hello", ".", "so"], [False, True, False], ["S1"])
    assert (found.begins.tolist(), found.ends.tolist()) == ([0.5, 1, 1.5], [1, 1, 2])


def test_azure_words_and_the_texts_that_repeat_them():
    words = [{"word": "at", "offsetInTicks": 1e7, "durationInTicks": 5e6}, {"word": "ten", "offsetInTicks": 2e7},
             {"word": "yes", "offsetInTicks": 3e7, "durationInTicks": 1e7}]
    best = {"lexical": "at ten yes", "display": "At 10, yes.", "words": words}
    phrases = [{"speaker": 1, "nBest": [best, {"display": "no"}]},
               {"speaker": 2, "offsetInTicks": 5e7, "durationInTicks": 1e7, "nBest": [{"display": "Oh well"}]}]
    found = document(json.dumps({"combinedRecognizedPhrases": [{"display": "At 10, yes. Oh well"}],
                                 "recognizedPhrases": phrases}))
    assert (found.pieces, found.speakers) == (["at", "ten", "yes", "Oh", "well"], ["1", "2"])
    np.testing.assert_array_equal(found.begins, [1, 2, 3, 5, np.nan])
    np.testing.assert_array_equal(found.ends, [1.5, np.nan, 4, np.nan, 6])
    made = again(found, "At", "ten,", "yes!", "Oh,", "well.")
    assert made["recognizedPhrases"][0]["nBest"][0]["lexical"] == "At ten, yes!"
    assert made["recognizedPhrases"][0]["nBest"][0]["display"] == "At 10, yes!"
    assert made["combinedRecognizedPhrases"] == [{"display": "At 10, yes! Oh, well."}]
