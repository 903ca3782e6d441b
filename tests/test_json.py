"""JSON of recognisers: members, words, texts and numbers, by examples of their pages; errors with their place."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_asr_formats import document, written

from punc.asr import json_words
from punc.asr.document import Source, texts_at, write_document
from punc.asr.json_texts import JsonTexts
from punc.asr.json_words import JsonWords, Keys
from punc.base.errors import InputError

KEYS = Keys("words", ("word_segments",), "score")
WORDS = st.fixed_dictionaries({"word": st.text('ab"\\é ', max_size=4)}, optional={
    "start": st.floats(0, 9), "end": st.floats(0, 9), "score": st.none() | st.floats(0, 1), "speaker": st.just("A")})


def read(value):
    data = json.dumps(value).encode()
    return data, JsonWords(Source("file", data, "utf-8", False), KEYS)


@pytest.mark.parametrize("block", [1, 60, 1 << 20])
@given(segments=st.lists(st.tuples(st.lists(WORDS, max_size=3), st.booleans(), st.booleans()), max_size=4))
def test_words_with_and_without_other_members_of_the_name(block, segments):
    """Segments are read many at once, in blocks of bytes; those with other members of these names are read alone."""
    said = [word for words, _, _ in segments for word in words]
    hot = {"hot": [{"word": "x", "text": "y"}]}
    whole = [(hot if more else {}) | {"words": words} | ({"text": "t"} if text else {})
             for words, more, text in segments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_words, "BLOCK", block)
        data, found = read({"segments": whole, "word_segments": said})
    for one in (found.words, found.copied):
        raw = texts_at(data, *one.spans())
        assert [json.loads(b'"%b"' % text) for text in raw] == [word["word"] for word in said]
        values = [[word.get(key) for word in said] for key in ("start", "end", "score")]
        np.testing.assert_array_equal(one.numbers(), np.array(values, float).reshape(3, -1))
        assert one.speakers == [word.get("speaker") for word in said] or (not one.speakers and b"speaker" not in data)
    assert found.words.segments().tolist() == [n for n, (words, _, _) in enumerate(segments) for _ in words]
    assert [segment.text and data[slice(*segment.text)] for segment in found.segments] == [
        b"t" if text else None for _, _, text in segments]


def test_a_number_that_no_float_holds_is_no_time():
    _, found = read({"segments": [{"words": [{"word": "a", "start": 10 ** 400, "end": None, "score": 1}]}]})
    np.testing.assert_array_equal(found.words.numbers(), [[np.nan], [np.nan], [1]])


def test_segments_of_several_documents():
    """The words of lists beside the segments of one document are not those of the segments of the one before."""
    documents = [[{"words": [{"word": "a"}]}], {"word_segments": [{"word": "b"}], "segments": [{"words": []}]}]
    data = "\n".join(map(json.dumps, documents)).encode()
    found = JsonWords(Source("file", data, "utf-8", False), KEYS)
    assert [texts_at(data, *one.spans()) for one in (found.words, found.copied)] == [[b"a"], [b"b"]]


@pytest.mark.parametrize(("value", "said"), [
    ({"segments": [1]}, "file:1: not a segment"),
    ({"segments": [{"words": [1]}]}, 'file:1: not a word: no member "word"'),
    ({"segments": [{"words": [{"start": 1}]}]}, 'file:1: not a word: no member "word"'), (3, "file:1: neither a list")])
def test_words_that_are_none(value, said):
    with pytest.raises(InputError) as error:
        read(value)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize("value", ["x", [1]])
def test_times_that_are_no_numbers(value):
    made = json.dumps({"segments": [{"words": [{"word": "a", "start": 1}]}, {"words": [{"word": "b", "end": value}]}]},
                      indent=1)
    with pytest.raises(InputError, match=r"file:1\d: .* is not a number of seconds"):
        document(made)


def test_times_of_a_segment_stand_in_for_those_of_its_ends():
    found = document('{"segments": [{"start": 1, "end": 3, "words": [{"word": "a"}, {"word": "b", "start": NaN},'
                     '{"word": "c", "start": 2.5, "end": -Infinity}]}]}')
    np.testing.assert_array_equal(found.begins, [1, np.nan, 2.5])
    np.testing.assert_array_equal(found.ends, [np.nan, np.nan, 3])


def test_a_text_with_other_words_keeps_them():
    made = {"text": " Well, a b", "segments": [{"text": " well a c b", "words": [{"word": " a"}, {"word": " b"}]}]}
    again = json.loads(written(document(json.dumps(made)), ["A,", "b."]))
    assert (again["text"], again["segments"][0]["text"]) == (" Well, A, b.", " well A, c b.")


def test_words_beside_segments_without_words():
    """As a server's `timestamp_granularities=["word"]` gives them; the texts have marks, the words none."""
    made = {"text": "Hi, you.", "segments": [{"id": 0, "start": 0, "end": 1, "text": " Hi, you."}],
            "words": [{"word": "Hi", "start": 0, "end": 0.5}, {"word": "you", "start": 0.5, "end": 1}]}
    found = document(json.dumps(made))
    assert (found.pieces, found.ends.tolist()) == (["Hi", "you"], [0.5, 1])
    assert json.loads(written(found, ["Hi", "you!"]))["segments"][0]["text"] == " Hi you!"


def test_speakers_that_no_text_file_can_hold():
    """As words: half a surrogate pair, NUL and line ends; a name as UTF-8, and with escapes."""
    names = ["a\ud800", "b\0", "c\nd", "é"]
    for ascii_only in (True, False):
        text = json.dumps({"words": [{"word": "x", "speaker": name} for name in names]}, ensure_ascii=ascii_only)
        found = document(text.encode("utf-8", "replace").decode())
        assert found.speakers[1:] == ["b\ufffd", "c d", "é"]
        found.speakers[0].encode()


def test_speakers_that_are_no_names():
    found = document('{"segments": [{"speaker": {"id": 1}, "words": [{"word": "a"}, {"word": "b", "speaker": 2},'
                     '{"word": "c", "speaker": ""}]}]}')
    assert [found.speakers[i] if i >= 0 else None for i in found.speaker.tolist()] == ["{'id': 1}", "2", None]


def test_escapes_and_blanks_in_texts():
    found = document(r'{"text": "a\nb \u00e9\"", "segments": [{"text": "a\nb \u00e9\""}]}')
    assert found.pieces == ["a", "b", 'é"']
    assert written(found, ["A", "b", 'é."']).decode() == \
        r'{"text": "A\nb \u00e9.\"", "segments": [{"text": "A\nb \u00e9.\""}]}'


def test_segments_without_words_are_read_by_their_texts():
    """As whisperX writes a segment that it cannot align: among others with words, its text alone has them."""
    made = {"segments": [{"start": 0, "end": 1, "text": "a b", "speaker": "X", "words": [
        {"word": "a", "start": 0.5, "end": 0.6, "score": 0.5}, {"word": "b"}]},
        {"start": 2, "end": 3, "text": "10 %", "speaker": "Y", "words": []},
        {"start": 4, "end": 5, "text": "c", "speaker": "X", "words": [{"word": "c", "score": 0.5}]}]}
    found = document(json.dumps(made))
    assert found.pieces == ["a", "b", "10", "%", "c"]
    np.testing.assert_array_equal(found.begins, [0.5, np.nan, 2, np.nan, 4])
    np.testing.assert_array_equal(found.ends, [0.6, 1, np.nan, 3, 5])
    assert [found.speakers[i] for i in found.speaker.tolist()] == ["X", "X", "Y", "Y", "X"]
    file = io.BytesIO()
    write_document(file, found, ["A", "b,", "10", "%.", "C"], np.full(5, 0.5))
    again = json.loads(file.getvalue())["segments"]
    assert [one["text"] for one in again] == ["A b,", "10 %.", "C"]
    assert [["label_probability" in word for word in one["words"]] for one in again] == [[True] * 2, [], [True]]


def test_a_list_beside_the_segments_that_lacks_words_is_not_read_for_them():
    found = document('{"text": "a b c", "segments": [{"text": "a b"}, {"text": "c"}], "words": [{"word": "a"}]}')
    assert found.pieces == ["a", "b", "c"]


def test_words_that_no_text_file_can_hold():
    """Half a surrogate pair, NUL and line ends in a word; a backslash before an n is neither."""
    found = document(json.dumps({"words": [{"word": "a\ud800"}, {"word": "b\0"}, {"word": "c\nd"}, {"word": " \n"}]}))
    assert found.pieces == ["a\ufffd", "b\ufffd", "c d", ""]
    assert json.loads(written(found, ["a\ufffd.", "b\ufffd", "c d.", ""]))["words"][2] == {"word": "c d."}
    found = document(json.dumps({"text": "C:\\new it\\s"}))
    assert found.pieces == ["C:\\new", "it\\s"]


def test_number_of_thousands_of_digits():
    with pytest.raises(InputError, match=r"^file: a number of thousands of digits; "):
        document('{"segments": [{"start": ' + "9" * 5000 + ', "text": "a"}]}')


def test_broken_escape_in_a_text_beside_segments():
    with pytest.raises(InputError, match=r"^file:1: not JSON at byte "):
        document(r'{"text": "\u00e+1 a", "segments": [{"text": "\u00e9 a"}]}')


def again(found, *texts):
    return json.loads(written(found, list(texts)))


def source(value):
    return Source("file", json.dumps(value).encode(), "utf-8", False)


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
