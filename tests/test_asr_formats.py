"""Formats of recognisers: examples of their documentation, and random documents in and out of each."""

import io
import json
import textwrap
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.asr.document import Source, write_document
from punc.asr.read import format_modules
from punc.base.errors import InputError

ROWS = st.lists(st.lists(st.tuples(st.text("abcéßIŁ'&\"", min_size=1, max_size=4), st.integers(0, 40),
                                   st.integers(1, 40)), min_size=1, max_size=4), min_size=1, max_size=4)
# Words as (text, begin, end) in hundredths of a second; SEGMENTS of them follow one another in time.


def timed(rows):
    """Segments of (word, begin, end) in seconds."""
    at, segments = 0, []
    for row in rows:
        segments.append([])
        for word, silence, length in row:
            segments[-1].append((word, (at + silence) / 100, (at + silence + length) / 100))
            at += silence + length
    return segments


def clock(seconds, comma):
    ms = round(1000 * seconds)
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}{comma}{ms % 1000:03}"


def whisper(segments, blank=" ", conf="probability", **more):
    made = [{"id": n, "start": row[0][1], "end": row[-1][2], "text": "".join(" " + word for word, _, _ in row),
             "tokens": [1, 2], "words": [{"word": blank + w, "start": b, "end": e, conf: 0.5} for w, b, e in row]}
            for n, row in enumerate(segments)]
    return {"text": "".join(one["text"] for one in made), "segments": made, "language": "en", **more}


def make_whisper(segments):
    return json.dumps(whisper(segments))


def make_whisperx(segments):
    made = whisper(segments, "", "score")
    return json.dumps({**made, "word_segments": [word for one in made["segments"] for word in one["words"]],
                       "language": "español"}, ensure_ascii=False, indent=1)


def make_vosk(segments):
    return "".join(json.dumps({"result": [{"conf": 1.0, "end": e, "start": b, "word": w} for w, b, e in row],
                               "text": " ".join(word for word, _, _ in row)}, indent=2) + "\n" for row in segments)


def make_transformers(segments):
    said = [word for row in segments for word in row]
    return json.dumps({"text": " ".join(word for word, _, _ in said),
                       "chunks": [{"text": word, "timestamp": [begin, end]} for word, begin, end in said]})


def make_whisper_cpp(segments):
    made = [{"timestamps": {"from": clock(row[0][1], ","), "to": clock(row[-1][2], ",")},
             "offsets": {"from": round(1000 * row[0][1]), "to": round(1000 * row[-1][2])},
             "text": "".join(" " + word for word, _, _ in row)} for row in segments]
    return json.dumps({"systeminfo": "AVX = 1", "result": {"language": "español"}, "transcription": made}, indent="\t",
                      ensure_ascii=False)


def make_nemo(segments):
    return "".join(json.dumps({
        "audio_filepath": f"wav/{number}.wav", "duration": 9.5, "text": "what was said",
        "pred_text": " ".join(word for word, _, _ in row),
        "timestamps_word": [{"word": w, "start_offset": 1, "end_offset": 2, "start": b, "end": e} for w, b, e in row],
        "timestamps_segment": [{"segment": " ".join(word for word, _, _ in row), "start": row[0][1]}]}) + "\n"
        for number, row in enumerate(segments))


def make_google_speech(segments):
    return json.dumps({"results": [{"alternatives": [{
        "transcript": " " * (number > 0) + " ".join(word for word, _, _ in row), "confidence": 0.9,
        "words": [{"startTime": f"{b:.3f}s", "endTime": f"{e:.3f}s", "word": w, "confidence": 0.7} for w, b, e in row]},
        {"transcript": "something else"}]} for number, row in enumerate(segments)]}, indent=2)


def make_deepgram(segments):
    said, text = [word for row in segments for word in row], " ".join(w for row in segments for w, _, _ in row)
    return json.dumps({"metadata": {"channels": 1}, "results": {
        "channels": [{"alternatives": [{
            "transcript": text, "confidence": 0.9,
            "words": [{"word": w, "start": b, "end": e, "confidence": 0.5, "punctuated_word": w} for w, b, e in said],
            "paragraphs": {"transcript": text, "paragraphs": [{"sentences": [{"text": text}]}]}}]}],
        "utterances": [{"transcript": text, "words": [{"word": w} for w, _, _ in said]}]}})


def make_amazon(segments):
    said, text = [word for row in segments for word in row], " ".join(w for row in segments for w, _, _ in row)
    items = [{"id": n, "type": "pronunciation", "alternatives": [{"confidence": "0.998", "content": w}],
              "start_time": f"{b:.2f}", "end_time": f"{e:.2f}"} for n, (w, b, e) in enumerate(said)]
    return json.dumps({"jobName": "j", "accountId": "1", "status": "COMPLETED", "results": {
        "transcripts": [{"transcript": text}], "items": items, "audio_segments": [{"id": 0, "transcript": text}]}})


def make_speechmatics(segments):
    return json.dumps({"format": "2.9", "metadata": {"type": "transcription"}, "results": [
        {"type": "word", "start_time": b, "end_time": e, "alternatives": [{"confidence": 0.5, "content": w}]}
        for row in segments for w, b, e in row]})


def make_azure(segments):
    def phrase(row):
        text = " ".join(word for word, _, _ in row)
        words = [{"word": w, "offsetInTicks": round(b * 10**7), "durationInTicks": (e - b) * 10**7, "confidence": 0.5}
                 for w, b, e in row]
        return {"channel": 0, "nBest": [{"lexical": text, "itn": text, "display": text, "words": words}, {"words": 1}]}

    text = " ".join(word for row in segments for word, _, _ in row)
    return json.dumps({"source": "https://", "combinedRecognizedPhrases": [{"lexical": text, "display": text}],
                       "recognizedPhrases": list(map(phrase, segments))})


def make_sherpa_onnx(segments):
    """With tokens of one or two characters; TDT models have durations."""
    lines = []
    for number, row in enumerate(segments):
        cut = [((" " + w)[i:i + 2], (b + e) / 2 if i else b, e) for w, b, e in row for i in range(0, len(w) + 1, 2)]
        lines.append(json.dumps({"text": "".join(" " + w for w, _, _ in row), "tokens": [t for t, _, _ in cut],
                                 "timestamps": [b for _, b, _ in cut], "durations": [e - b for _, b, e in cut],
                                 "segment": number, "start_time": 0, "words": []}) + "\n")
    return "".join(lines)


def make_ctm(segments):
    return ";; a comment\n" + "".join(f"r1 1 {b:.2f} {e - b:.2f} {w} 0.50\n" for row in segments for w, b, e in row)


def make_stm(segments):
    return "".join(f"r1 1 spk {row[0][1]:.2f} {row[-1][2]:.2f} <o,f0> {' '.join(word for word, _, _ in row)}\n"
                   for row in segments)


def make_textgrid(segments):
    words = [word for row in segments for word in row]
    end = words[-1][2]
    lines = [f'"IntervalTier"\n"words"\n0\n{end}\n{len(words)}']
    for word, begin, stop in words:
        quoted = word.replace('"', '""')
        lines.append(f'{begin}\n{stop}\n"{quoted}"')
    return f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n{end}\n<exists>\n1\n' + "\n".join(lines) + "\n"


def make_srt(segments):
    return "".join(f"{n}\r\n{clock(row[0][1], ',')} --> {clock(row[-1][2], ',')}\r\n<i>"
                   f"{' '.join(word for word, _, _ in row)}</i>\r\n\r\n" for n, row in enumerate(segments, 1))


def make_webvtt(segments):
    def text(word):
        return word.replace("&", "&amp;")

    return "WEBVTT\n\nNOTE a b\n" + "".join(
        f"\n{clock(row[0][1], '.')} --> {clock(row[-1][2], '.')} align:left\n<v Zoë>"
        f"{' '.join(text(word) for word, _, _ in row)}</v>\n" for row in segments)


def make_text(segments):
    return "\n".join(" ".join(word for word, _, _ in row) for row in segments) + "\n"


MAKERS = {name[5:]: make for name, make in list(globals().items()) if name.startswith("make_")}
EACH_WORD = {"whisper", "whisperx", "vosk", "transformers", "nemo", "google_speech", "deepgram", "sherpa_onnx",
             "amazon", "speechmatics", "azure", "ctm", "textgrid"}  # formats with a time for each word


def document(text):
    data = text.encode()
    module = next(module for module in format_modules().values() if module.recognises(data))
    found = module.read(Source("file", data, "utf-8", False))
    assert found.format == module.__name__.rpartition(".")[2]
    return found


def written(found, texts, probabilities=None):
    file = io.BytesIO()
    write_document(file, found, texts, probabilities)
    return file.getvalue()


def test_makers_are_those_of_all_formats():
    assert set(MAKERS) == set(format_modules())


@pytest.mark.parametrize("unit", ["1", "1.", " ", "\n", "\r\n", '"', '""', "<", "{} ", "[", ";;\n", ";; x\r\n",
                                  "0:00:00,000 --> ", ">> ", "A "])
def test_repeated_text_takes_no_format_long(unit):
    """What a regular expression tries again from each place would take 10 s; this takes 0.1 s."""
    for name, make in MAKERS.items():
        text = make([[("a", 0, 1), ("b", 1, 2)]])
        for at in (0, len(text) // 2, len(text)):
            source = Source("file", (text[:at] + 30_000 * unit + text[at:]).encode(), "utf-8", False)
            for module in format_modules().values():
                begin = time.process_time()
                with suppress(InputError):
                    if module.recognises(source.data):
                        module.read(source)
                assert time.process_time() - begin < 3, (name, module.__name__)


def test_carriage_return_alone_ends_no_line_of_columns():
    assert document("r 1 ann 0 1 a b\rc 1 ann 3 3\n").pieces == ["a", "b", "c", "1", "ann", "3", "3"]
    with pytest.raises(InputError, match="file:3: "):
        document("r 1 0 1 a\nr 1 1 1 b\r0.5\nr 1 -1 1 b\n")


def test_classes_of_a_webvtt_voice_take_not_long():
    cue, begin = "WEBVTT\n\n00:00.000 --> 00:01.000\n<v.loud.{}{}a\n", time.process_time()
    assert document(cue.format("a." * 30_000, "b Ann>")).speakers == ["Ann"]
    assert document(cue.format("a." * 30_000, "b>")).speakers == []
    assert time.process_time() - begin < 2


def test_time_of_30000_digits_takes_no_format_long():
    data, begin = b"r1 1 " + 30_000 * b"1" + b"x 1 a\n", time.process_time()
    assert [name for name, module in format_modules().items() if module.recognises(data)] == ["text"]
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("name", MAKERS)
@given(rows=ROWS, data=st.data())
@settings(max_examples=40, deadline=None)
def test_random_documents_words_and_times_come_back(name, rows, data):
    segments = timed(rows)
    text = MAKERS[name](segments)
    found = document(text)
    assert found.format == name
    said = [word for row in segments for word in row]
    assert found.pieces == [word for word, _, _ in said]
    assert written(found, found.pieces) == text.encode()
    if name in EACH_WORD:
        np.testing.assert_allclose(found.begins, [begin for _, begin, _ in said], atol=1e-6)
        np.testing.assert_allclose(found.ends, [end for _, _, end in said], atol=1e-6)
    elif name != "text":
        first = np.cumsum([0, *map(len, segments)])
        np.testing.assert_allclose(found.begins[first[:-1]], [row[0][1] for row in segments], atol=1e-6)
        np.testing.assert_allclose(found.ends[first[1:] - 1], [row[-1][2] for row in segments], atol=1e-6)
    new = data.draw(st.lists(st.text("xÉ.,?&'\"", min_size=1, max_size=5), min_size=len(said), max_size=len(said)))
    again = document(written(found, new).decode())
    assert again.pieces == new
    for column in ("begins", "ends", "segments", "streams", "speaker", "confidences"):
        np.testing.assert_array_equal(getattr(again, column), getattr(found, column))
    assert len(again.copies.starts) == len(found.copies.starts), "texts that repeat the words say the same"
    assert written(again, found.pieces) == text.encode()


def test_whisper_words_that_go_on_the_word_before():
    """`tests/test_timing.py` and the output of large-v3: ` state`, `-of`, `-the`, `-art.`"""
    said = " A", " state", "-of", "-the", "-art."
    words = [{"word": word, "start": n, "end": n + 1} for n, word in enumerate(said)]
    found = document(json.dumps({"text": " A state-of-the-art.", "segments": [
        {"id": 0, "start": 0, "end": 5, "text": " A state-of-the-art.", "words": words}]}))
    assert found.pieces == ["A", "state", "-of", "-the", "-art."]
    assert found.joined.tolist() == [False, False, True, True, True]
    again = json.loads(written(found, ["A", "State", "-of", "-the", "-art,"]))
    assert again["text"] == again["segments"][0]["text"] == " A State-of-the-art,"
    assert [word["word"] for word in again["segments"][0]["words"]] == [" A", " State", "-of", "-the", "-art,"]


def test_whisper_without_word_timestamps_reads_the_texts_of_segments():
    made = {"text": " Hi there. You", "segments": [{"id": 0, "start": 0.5, "end": 2.0, "text": " Hi there."},
                                                   {"id": 1, "start": 2.5, "end": 3.0, "text": " You"}]}
    found = document(json.dumps(made))
    assert found.pieces == ["Hi", "there.", "You"]
    np.testing.assert_array_equal(found.begins, [0.5, np.nan, 2.5])
    np.testing.assert_array_equal(found.ends, [np.nan, 2.0, 3.0])
    again = json.loads(written(found, ["hi", "there", "you!"]))
    assert (again["text"], again["segments"][1]["text"]) == (" hi there you!", " you!")


def test_whisper_probabilities_stand_next_to_the_words():
    found = document(make_whisper([[("a", 0.0, 0.5), ("b", 0.5, 1.0)]]))
    again = json.loads(written(found, ["A", "b"], np.array([0.25, np.nan])))
    assert again["segments"][0]["words"] == [
        {"word": " A", "label_probability": 0.25, "start": 0.0, "end": 0.5, "probability": 0.5},
        {"word": " b", "start": 0.5, "end": 1.0, "probability": 0.5}]


def test_whisperx_words_without_times_and_speakers():
    """The form of whisperX's schema.py: a number has no times; `word_segments` repeats all words."""
    words = [{"word": "Yeah,", "start": 1.238, "end": 1.478, "score": 0.719, "speaker": "SPEAKER_04"},
             {"word": "2014."}, {"word": "it’s", "start": 1.6, "end": 1.8, "score": 0.5, "speaker": "SPEAKER_01"}]
    made = {"segments": [{"start": 1.2, "end": 2.0, "text": " Yeah, 2014. it’s", "words": words,
                          "speaker": "SPEAKER_04"}], "word_segments": words, "language": "en"}
    found = document(json.dumps(made, ensure_ascii=False))
    assert found.format == "whisperx"
    np.testing.assert_array_equal(found.begins, [1.238, np.nan, 1.6])
    np.testing.assert_array_equal(found.confidences, [0.719, np.nan, 0.5])
    assert [found.speakers[i] for i in found.speaker.tolist()] == ["SPEAKER_04", "SPEAKER_04", "SPEAKER_01"]
    again = json.loads(written(found, ["Yeah.", "2014.", "It’s"]))
    assert again["segments"][0]["text"] == " Yeah. 2014. It’s"
    assert [word["word"] for word in again["word_segments"]] == ["Yeah.", "2014.", "It’s"]


def test_faster_whisper_list_and_one_segment_a_line():
    segments = whisper([[("a", 0.0, 0.5), ("b", 0.5, 1.0)], [("c", 1.0, 1.5)]])["segments"]
    for text in (json.dumps(segments), "\n".join(map(json.dumps, segments))):
        found = document(text)
        assert (found.format, found.pieces, found.confidences.tolist()) == ("whisperx", ["a", "b", "c"], [0.5] * 3)
        assert "B," in written(found, ["a", "B,", "c"]).decode()


@pytest.mark.parametrize("name", ["whisper", "whisperx", "vosk"])
@pytest.mark.parametrize("word", ["segments", "score", "speaker", "words", "text", "word", "result", "partial"])
def test_words_that_are_names_of_members(name, word):
    """Who says "segments" has no file of another recogniser: its times and confidences are read."""
    rows = [[(word, 0.0, 0.5), ("a", 1.0, 1.5)]]
    found, other = document(MAKERS[name](rows)), document(MAKERS[name]([[("b", 0.0, 0.5), ("a", 1.0, 1.5)]]))
    assert (found.format, found.pieces) == (name, [word, "a"])
    np.testing.assert_array_equal(found.begins, [0, 1])
    np.testing.assert_array_equal(found.confidences, other.confidences)


@pytest.mark.parametrize("text", ['[{}, %s]', '{}\n{ }\n%s\n', ' [ %s, {}]'])
def test_vosk_results_without_a_member(text):
    """They hide neither the format nor the words of others."""
    found = document(text % '{"result": [{"conf": 1.0, "end": 6.7, "start": 6.2, "word": "so"}], "text": "x"}')
    assert (found.format, found.pieces, found.begins.tolist()) == ("vosk", ["so"], [6.2])


def test_vosk_results_partials_and_alternatives():
    """As python/example/test_simple.py prints them."""
    text = textwrap.dedent('''\
        {
          "partial" : "one zero"
        }
        {
          "result" : [{
              "conf" : 1.000000,
              "end" : 1.020000,
              "start" : 0.510000,
              "word" : "one"
            }, {
              "conf" : 0.5,
              "end" : 1.3,
              "start" : 1.1,
              "word" : "zero"
            }],
          "text" : "one zero"
        }
        {"alternatives" : [{"result" : [{"end" : 2.0, "start" : 1.5, "word" : "nine"}], "text" : "nine"},
                           {"confidence" : 8.5, "text" : "mine"}]}
        {
          "text" : ""
        }
        ''')
    found = document(text)
    assert (found.pieces, found.begins.tolist()) == (["one", "zero", "nine"], [0.51, 1.1, 1.5])
    assert written(found, ["One", "zero.", "Nine."]).decode() == text.replace(': "one"', ': "One"').replace(
        ': "zero"', ': "zero."').replace('"text" : "one zero"', '"text" : "One zero."').replace('"nine"', '"Nine."')


def test_ctm_comments_silences_alternatives_order_and_line_ends():
    """Lines of NIST's and Kaldi's CTMs; words are read in time order, and stay where they are."""
    text = (";; made by hand\nr1 A 1.5 0.5 two 0.9\r\nr1\tA 0.5  0.5 one NA\nr1 A 2.1 0.4 <eps>\n"
            "r1 A * * <ALT_BEGIN>\nr1 A 3.0 .5 three\nr1 A * * <ALT>\nr1 A 3.0 .5 tree\nr1 A * * <ALT_END>\n"
            "r1 B 0.1 0.3 four 0.5 lex spk7")
    found = document(text)
    assert found.pieces == ["one", "two", "<eps>", "three", "four"]
    assert (found.streams.tolist(), found.recordings) == ([0, 0, 0, 0, 1], ["r1"])
    assert [found.speakers[i] for i in found.speaker.tolist()] == ["A", "A", "A", "A", "spk7"]
    assert written(found, ["One", "two,", "<eps>", "three.", "Four."]).decode() == text.replace("one", "One").replace(
        "two", "two,").replace("three", "three.").replace("four", "Four.")


def test_stm_labels_comments_and_segments_not_to_be_scored():
    text = (";; CATEGORY\nf B spk2 3.0 4.0 <o,f0,male> three four\nf A spk1 0.0 2.0 <unk> one\n"
            "f A spk1 2.0 3.0 ignore_time_segment_in_scoring\nf A inter_segment_gap 5.0 6.0\n")
    found = document(text)
    assert (found.pieces, found.streams.tolist()) == (["three", "four", "<unk>", "one"], [0, 0, 1, 1])
    assert written(found, ["Three", "four.", "<unk>", "one"]).decode() == text.replace("three four", "Three four.")


def test_webvtt_tag_in_a_tag_is_an_error():
    """Written with a new mark, `b<s>` is `b&lt;s&gt;`, and what was two words is a tag."""
    head = "WEBVTT\n\n00:00.000 --> 00:01.000\n"
    with pytest.raises(InputError, match=r"^file:5: a tag that is not closed before the next one; close it, or write"):
        document(f"{head}one\n<v Ann b<s>two\n")
    assert document(f"{head}1 < 2 <s> <b>two</b> x<y\n").pieces == ["1", "<", "2", "<s>", "two", "x<y"]


@pytest.mark.parametrize("marks", [";", ".,", "…", "。"])
def test_stm_marks_do_not_make_a_segment_one_that_is_not_scored(marks):
    """With a new mark or none, the words of the first segment would be what tells readers to skip it."""
    skipped = "f A spk1 0.0 2.0 ignore_time_segment_in_scoring"
    assert document(f"{skipped}{marks}\nf A spk1 2.0 3.0 one\n").pieces == ["one"]
    assert document(f"{skipped} {marks} two\nf A spk1 2.0 3.0 one\n").pieces[-2:] == ["two", "one"]


@pytest.mark.parametrize(("size", "new"), [("1\n0", "²\n0"), ("words\"\n0", "words\"\n=0"),
                                          ("1\n0", "9" * 5000 + "\n0")])
def test_textgrid_broken_head_of_a_tier(size, new):
    """The words of the tier would be left out, and those of another one read."""
    one = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n2\n"IntervalTier"\n"phones"\n' \
        '0\n1\n1\n0\n1\n"p"\n"IntervalTier"\n"words"\n0\n1\n1\n0\n1\n"a"\n'
    assert document(one).pieces == ["a"]
    with pytest.raises(InputError, match=r"^file:1: a tier without a name, times or size; "):
        document(new.join(one.rsplit(size, 1)))
    with pytest.raises(InputError, match=r"^file:1: a tier without a name, times or size; "):
        document(one.replace('"IntervalTier"\n"words"\n0', ';; "IntervalTier"\n"words"\nx'))


@pytest.mark.parametrize("end", ["1.x", "1\n2"])
def test_textgrid_interval_without_times_is_refused(end):
    """The size counts as many intervals as have times, so their number says nothing."""
    broken = MAKERS["textgrid"]([[("a", 0, 1), ("b", 1, 2), ("c", 2, 3)]]).replace("1\n2\n", f"1\n{end}x\n")
    found = broken.replace("words\"\n0\n3\n3\n", "words\"\n0\n3\n2\n")
    assert found != broken
    with pytest.raises(InputError, match="a text whose interval has no times"):
        document(found)


def test_ctm_channel_of_a_blank_that_is_a_letter():
    """Blanks beyond ASCII separate no columns."""
    found = document("r1 \u3000 0 1 a\nr1\u3000 1 0 1 b\n")
    assert (found.recordings, found.pieces) == (["r1", "r1\u3000"], ["a", "b"])


def test_textgrid_long_form_of_several_speakers():
    """MFA writes tiers `speaker - words` and `speaker - phones`."""
    def tier(name, *intervals):
        rows = "".join(f"        intervals [{n}]:\n            xmin = {b}\n            xmax = {e}\n"
                       f'            text = "{text}"\n' for n, (b, e, text) in enumerate(intervals, 1))
        return (f'    item []:\n        class = "IntervalTier"\n        name = "{name}"\n        xmin = 0\n'
                f"        xmax = 2\n        intervals: size = {len(intervals)}\n{rows}")

    text = ('File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = 2\ntiers? <exists>\nsize = 3\n' +
            tier("Bo - words", (0, 1, "hello"), (1, 2, "sp")) + tier("Bo - phones", (0, 2, "HH")) +
            tier("Al - words", (0, 0.5, ""), (0.5, 2, 'say ""x""')))
    found = document(text)
    assert (found.pieces, found.speakers) == (["hello", "say", '"x"'], ["Bo", "Al"])
    assert found.streams.tolist() == [0, 1, 1]
    assert written(found, ["Hello.", "Say", '"x."']).decode() == text.replace("hello", "Hello.").replace(
        'say ""x""', 'Say ""x.""')


def test_srt_markup_speakers_and_dashes():
    text = ("1\n00:00:01,000 --> 00:00:02,500\n{\\an8}<font color=\"red\">hello</font>, you\nJOHN: i am\n\n\n"
            "2\n00:00:03,000 --> 00:00:04,000\n- and you 5 < 6\n")
    found = document(text)
    assert found.pieces == ["hello", ",", "you", "i", "am", "-", "and", "you", "5", "<", "6"]
    assert found.joined.tolist() == [False, True] + [False] * 9
    assert [found.speakers[i] if i >= 0 else "" for i in found.speaker.tolist()] == [""] * 3 + ["JOHN"] * 8
    np.testing.assert_array_equal(found.begins[[0, 2, 5]], [1.0, np.nan, 3.0])


def test_webvtt_tag_that_is_not_closed():
    """It would go on to the arrow of the next cue, and take all words with it."""
    found = document("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann yes\nno\n\n00:03.000 --> 00:04.000\n<v Ann>you\n")
    assert found.pieces == ["<v", "Ann", "yes", "no", "you"]


def test_webvtt_voices_timestamps_and_entities():
    """The examples of the standard, section 1.1 and 4.2.2."""
    text = ("WEBVTT - a title\n\nSTYLE\n::cue { color: red }\n\nintro\n00:16.500 --> 00:18.500\n"
            "<v.loud Roger Bingham>we are <00:17.250><c.x>in</c> R&amp;D</v>\n\n"
            "01:00:20.000 --> 01:00:21.000 line:0\n<v Neil>yes</v>\n\nNOTE not words\n")
    found = document(text)
    assert found.pieces == ["we", "are", "in", "R&D", "yes"]
    assert [found.speakers[i] for i in found.speaker.tolist()] == ["Roger Bingham"] * 4 + ["Neil"]
    np.testing.assert_array_equal(found.begins, [16.5, np.nan, 17.25, np.nan, 3620.0])
    assert written(found, ["We", "are", "in", "R&D.", "Yes."]).decode() == text.replace("we are", "We are").replace(
        "D</v>", "D.</v>").replace("yes", "Yes.")


def test_text_speakers_and_empty_lines():
    text = "so it begins\nas it must\n\n\nJohn Smith: yes\nSPEAKER_01: no\nhe said: no\n"
    found = document(text)
    assert found.pieces == ["so", "it", "begins", "as", "it", "must", "yes", "no", "he", "said:", "no"]
    assert found.streams.tolist() == [0] * 6 + [1] * 5
    assert found.speakers == ["John Smith", "SPEAKER_01"]


@pytest.mark.parametrize("text", ['{"foo": 1}', "[[1]]", "<?xml version='1.0'?><a/>", "%PDF-1.4 x"])
def test_recognises_no_other_format(text):
    assert not [name for name, module in format_modules().items() if module.recognises(text.encode())]


def test_whisper_members_inside_others_are_no_whisper():
    """An answer of another service would come back as it was, with no word read."""
    with pytest.raises(InputError, match="file:1: an object without segments, text, words, word_segm"):
        document('{"phrases": [{"best": [{"words": [{"word": "good"}], "text": "good"}]}]}')
    assert document('{"text": "", "segments": []}').pieces == []
