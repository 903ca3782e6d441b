"""Transcripts in the form of subtitles, columns, markup or text are written back with marks added to their words."""

import re
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript_files import BY_WORD, MAKERS, ONLY_BEGINS, UNTIMED

from punc.base.errors import InputError
from punc.transcripts.read import read_transcript
from punc.transcripts.speakers import find_label
from punc.transcripts.transcript import words_of, write

WORDS = st.text("abcéßIŁ'’&-", min_size=1, max_size=5).filter(lambda word: word[0].isalpha())
ROWS = st.lists(st.lists(st.tuples(WORDS, st.integers(1, 40), st.integers(1, 40)), min_size=2, max_size=4),
                min_size=3, max_size=5)


def timed(rows):
    at, segments = 10, []
    for row in rows:
        segments.append([])
        for word, silence, length in row:
            segments[-1].append((word, (at + silence) / 10, (at + silence + length) / 10))
            at += silence + length
    return segments


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    file = tmp_path_factory.mktemp("transcripts") / "file"

    def read(text, **options):
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        transcript = read_transcript(file, **options)
        return transcript, words_of(transcript.texts)

    return read


def loud(read, text, **options):
    transcript, words = read(text, **options)
    return write(transcript, words, [word.upper() for word in words.texts])


ASS = "[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Text\n"


@pytest.mark.parametrize("name", MAKERS)
@given(rows=ROWS)
@settings(max_examples=25)
def test_random_files_words_and_times_come_back(read, name, rows):
    segments = timed(rows)
    text = MAKERS[name](segments)
    transcript, words = read(text)
    said = [word for row in segments for word in row]
    assert transcript.format == name
    assert words.texts == [word for word, _, _ in said]
    assert write(transcript, words, words.texts) == text
    marked = write(transcript, words, [f"{word}," for word in words.texts])
    again = words_of(read(marked)[0].texts)
    assert again.texts == [f"{word}," for word in words.texts]
    assert np.array_equal(again.begins, words.begins, equal_nan=True)
    if name in UNTIMED:
        assert np.isnan(words.begins).all()
        return
    rows = [[word] for word in said] if name in BY_WORD else segments
    starts = np.cumsum([0, *map(len, rows)])
    near = {"atol": 0.03 if name == "MicroDVD" else 0.006}
    np.testing.assert_allclose(words.begins[starts[:-1]], [row[0][1] for row in rows], **near)
    if name not in ONLY_BEGINS:
        np.testing.assert_allclose(words.ends[starts[1:] - 1], [row[-1][2] for row in rows], **near)


@pytest.mark.parametrize(("text", "expected"), [
    # SRT and WebVTT in variants that players accept
    ("1\n00:00:20 --> 00:00:24\na b\n\n2\n00:00:24 --> 00:00:27\nc\n", None),  # no milliseconds
    ("00:00:01,000 --> 00:00:03,000\na b\n\n00:00:03,000 --> 00:00:05,000\nc\n", None),  # no numbers
    ("1 00:00:01,000 --> 00:00:03,000\na b\n\n2 00:00:03,000 --> 00:00:05,000\nc\n", None),  # numbers next to times
    ("1\n00:00:01.000 --> 00:00:03.000 X1:100 Y1:10\na b\n\n2\n00:00:03,000 -> 00:00:05,000\nc\n", None),
    ("[INFORMATION]\n[SUBTITLE]\n00:00:01.00,00:00:03.00\na b\n\n00:00:03.00,00:00:05.00\nc\n", None),  # SubViewer
    ("1\n00:00:01:12 --> 00:00:03:00\na b\n\n2\n00:00:03:05 --> 00:00:05:00\nc\n", None),  # times with frames
    ("Some line by a tool\n\n1\n00:00:01,000 --> 00:00:03,000\na b\n\n2\n00:00:03,000 --> 00:00:05,000\nc\n", None),
    ("1\r00:00:01,000 --> 00:00:03,000\ra b\r\r2\r00:00:03,000 --> 00:00:05,000\rc\r", None),  # only CR
    ("1\r\n00:00:01,000 --> 00:00:03,000\r\na b\r\n\r\n2\r\n00:00:03,000 --> 00:00:05,000\r\nc\r\n", None),
    ("1\n-00:00:01,000 --> 00:00:03,000\na b\n2\n00:00:03, 000 --> 00:00:05 ,000\nc", None),  # negative time, spaces
    ("1\n0:0:1,0 --> 0:0:3,0\na b\n \n\t\n2\n\n0:0:3,0 --> 0:0:5,0\nc\n", None),
    ("WEBVTT\n\n1\n00:01.000 --> 00:03.000 line:91%\n\na b\n\nNOTE x\nhere\n\nid x\n00:03.000 --> 00:05.000\nc\n",
     "WEBVTT\n\n1\n00:01.000 --> 00:03.000 line:91%\n\nA B\n\nNOTE x\nhere\n\nid x\n00:03.000 --> 00:05.000\nC\n"),
    ("webvtt - talk\nKind: captions\n\nSTYLE\n::cue { color: x }\n\nREGION\n\n00:01.000 --> 00:03.000\na b\nc\n",
     "webvtt - talk\nKind: captions\n\nSTYLE\n::cue { color: x }\n\nREGION\n\n00:01.000 --> 00:03.000\nA B\nC\n"),
    ("WEBVTT\n\n00:01.000 --> 00:03.000\na --> b\n\n00:03.000 --> 00:05.000\nc\n", None),  # text with an arrow
    ("WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ann>a <i.x>b</i></v>\n\n00:03.000 --> 00:05.000\n<c>c</c>\n",
     "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ann>A <i.x>B</i></v>\n\n00:03.000 --> 00:05.000\n<c>C</c>\n"),
])
def test_cues(read, text, expected):
    words = read(text)[1]
    assert [word for word in words.texts if word != "-->"] == ["a", "b", "c"]
    expected = expected or text.replace("a b", "A B").replace("a -->", "A -->").replace("> b", "> B")[:-3] + \
        text[-3:].replace("c", "C")
    assert loud(read, text) == expected


@pytest.mark.parametrize(("text", "said"), [
    ("1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:03,000 --> 00:00:x\na\n",
     "file:6: not the times of a cue; write: 00:00:01,500 --> "),
    ("1\n00:00:01,000 --> 00:00:02,000\na\n\n2\nx1 --> 00:00:05,000\nb", "file:6: not the times of a cue"),
    (b"1\n00:00:01,000 --> 00:00:02,000\nit\x92s\n", "file:3: not UTF-8; convert it: iconv -f WINDOWS-1252 -t UTF-8"),
    (b"1\n00:00:01,000 --> 00:00:02,000\ncaf\xe9\n", "file:3: not UTF-8; convert it: iconv -f ISO-8859-1 -t UTF-8"),
    ("a\0b", "file:1: a NUL byte; "), ("", "file: the file is empty"), (b"\xff\xfea", "file:1: not UTF-16"),
    ("r 1 0 1 a\nr 1 x 1 b\n", "file:2: the begin 'x' is not a number"),
    ("r 1 0 1 a\nr 1 1_0 1 b\n", "file:2: the begin '1_0' is not a number"),
    ("r 1 0 1 a\nr 1 -1 1 b\n", "file:2: the begin -1 is negative"),
    ("r 1 0 1 a\nr 1 1e300 1 b\n", "file:2: the begin 1e300 is not a time of a recording"),
    ("r 1 0 1 a\nr 1 0\n", "file:2: 3 columns; write: id channel begin duration word"),
    ("a 1 s 0 1 x\na 1 s\n", "file:2: not a line of an STM"),
    ("start\tend\ttext\n0\t1\ta\nb\n", "file:3: not a line of TSV of Whisper"),
    (ASS + "Dialogue: 0,0:00:01.00,0:00:03.00,S,a\nDialogue: 0,x,0:00:03.00,S,b\n", "file:6: not a line of ASS"),
    ("7812 10610 she\n10610 14496 had\n", "it looks like a table of times"),
    ("3.76 5.54 A: a\n5.54 6 B: b\n", "it looks like a table of times"),
    ("a-1-1 /d/a.wav\na-1-2 /d/b.wav\n", "it looks like lines with ids"),
    ("a-1-1 a-1 0.00 3.20\na-1-2 a-1 3.20 4\n", "it looks like lines with ids"),
    ('#!MLF!#\n"*/a.lab"\n0 1 a\n 5 6 \n.\n', "file:4: not a line of an MLF"),
    ("<tt><body><p begin='1s'>a</body></tt>", "file:1: <p> is not closed"),
    ("@UTF8\n@Begin\n*CHI:\ti want xxx .\n@End\n", "file:1: it looks like CHAT, not like plain text; export it as SRT"),
    ("start,end,speaker,text\n0,3,A,a b\n3,6,B,c d\n", "it looks like a table with commas"),
    ("a\tb\tc\nd\te\tf\n", "it looks like a table with tabs"),
    ("<html><body>\n<b>a</b>\n</body></html>\n", "it looks like markup"),
    ('Result: {\n  "word" : "a",\n "end" : 1}\n', "file:1: JSON after other text; remove the text before it"),
    ("a|b|c\n1|2|d\n", "it looks like a table with bars"),
    ("0.00 - 3.20: a\n[3.20s -> 4.5s] b\n", "it looks like a table of times"),
    ("1 00:00:01.0 00:00:02.0 a\n2 00:00:02.0 00:00:03.0 b\n", "it looks like a table of times"),
    ("SPEAKER f 1 0.5 1.2 <NA> <NA> A <NA> <NA>\n", "file:1: this is an RTTM file, which has speakers and no words"),
    ("12:00:01 -> a\n12:00:05 -> b\n", "it looks like a log or a table of times"),
    ("Scenarist_SCC V1.0\n\n00:00:01:00\t9420 94ae c8e5\n", "it looks like Scenarist captions"),
    ("850STL25.01100000 \0a", "not text: EBU subtitles; save them as SRT"),
    ("#!/bin/bash\na b\n", "not text: a script"),
    ("[10][30]a b|c\n[35][50]/d\n", "it looks like MPL2 subtitles"),
    ("%PDF-1.4 a", "not text: a document or an archive"),
    ("ID3\x04\0 a", "not text: a recording; give what"), ("{\\rtf1 a}", "it looks like RTF"),
    ("a-1 b c\na-1 d\n", "it looks like lines with ids"),
])
def test_files_that_are_refused(read, text, said):
    with pytest.raises(InputError) as error:
        read(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", [
    "# Meeting\n\n**Ann:** A B\n---\n**Bob Lee:** C\n", "0:00\nA B\n0:05 - 0:09\nC\n",
    "[12/01/2024, 10:00:15] Ann: A B\nC\n", "00:01 Ann: A B\n[00:05] C\n",
    ASS + "Dialogue: 0,0:00:01.00,0:00:03.00,S,{\\an7\\p1}m 0 0 l 1 1{\\p0}A B\n"
          "Dialogue: 0,0:00:03.00,0:00:04.00,S,{\\p1}m 0 0\nDialogue: 0,0:00:04.00,0:00:05.00,S,{\\pos(1,1)} C\n",
    "t 1 inter_segment_gap 0 2 <o,,x> ignore_time_segment_in_scoring\nt 1 s 2 3 <o> A B C\n",
    "{1}{1}25.000\n{25}{50}A B\n{50}{75} C\n", "0.0\t1.5\tAnn\tA B\n1.5\t2\tBob\t C\n",
    "Detecting language using up to 30 s.\n[0.00s -> 2.50s] A B\n[2.50s -> 3.00s] C\n",
    "<tt><p begin='1s'><![CDATA[A B]]></p><p begin='2s'> C\n</p></tt>",
    "1\n00:00:01,000 --> 00:00:02,000\nA B C\n\n2\n", "1\n00:00:01,000 --> 00:00:02,000\nA[br]B| C\n",
    "[Ann Lee] 10:02:03\nA B\n\n[Bob] 10:02:05\nC\n", "WOMAN (on phone): A B\nJohn [low]: C\n",
    "Ann: A B\n\n00:05:00\n\nBob: C\n", "SPEAKER_00 0:00:01\nA B\n\nSPEAKER_01 1:02:03\nC\n",
    "Title: my talk\nDate: 2024-01-01\n\nA B\nC\n", "utt1 A B\nutt2 C\n", "x_1 A B\nx_2 C\n"])
def test_what_is_not_speech_in_a_text_stays(read, text):
    low = text.replace("A B", "a b").replace("A[br]B", "a[br]b").replace(" C\n", " c\n").replace("\nC", "\nc")
    assert read(low)[1].texts == ["a", "b", "c"]
    assert loud(read, low) == text


def test_words_of_highlighted_cues_last_until_the_last_copy(read):
    cues = [(0.5, "<u>a</u> b"), (1, "a <u>b</u>"), (3, "<u>c</u> d"), (3.5, "c <u>d</u>"), (6, "<u>e</u> f"),
            (6.5, "e <u>f</u>")]
    text = "".join(f"{i}\n00:00:0{at:.3f} --> 00:00:0{at + 0.5:.3f}\n{line}\n\n" for i, (at, line) in enumerate(cues))
    words = read(text)[1]
    assert words.texts == [*"abcdef"]
    assert words.begins[::2].tolist() == [0.5, 3, 6]
    assert words.ends[1::2].tolist() == [1.5, 4, 7]


@pytest.mark.parametrize("text", [
    "covid-19 a b", "20-year-old a", "a b\n10:30 c\nd\n11:45\ne", "at\n3:30 a\nb\n", "a, b, c\nd", "Paris (France)\na"])
def test_all_words_of_a_text_are_read(read, text):
    assert read(text)[1].texts == text.split()


def test_frame_rates_of_files(read):
    assert read("{1}{1}25.000\n{25}{75}a\n{1500}{1625}b\n")[1].begins.tolist() == [1, 60]
    words = read("<tt ttp:frameRate='30' ttp:frameRateMultiplier='1000 1001'>"
                 "<p begin='00:00:01:15' end='150f'>a</p></tt>")[1]
    np.testing.assert_allclose([words.begins[0], words.ends[0]], [1 + 15 * 1.001 / 30, 150 * 1.001 / 30])


def test_fields_of_ass_are_those_that_it_names(read):
    words = read(ASS + "Dialogue: 0,0:00:01.00,0:00:03.00,S,a, b,c,d, e, f\n")[1]
    assert words.texts == ["a,", "b,c,d,", "e,", "f"]
    assert (words.begins[0], words.ends[-1]) == (1, 3)


def test_text_is_read_where_the_user_insists(read):
    assert loud(read, "a\tb\nc\td\n", form="text") == "A\tB\nC\tD\n"
    with pytest.raises(InputError, match="--format srt"):
        read("a", form="srt")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_encodings_come_back(read, encoding):
    from punc.transcripts.source import encoded
    raw = (b"\xfe\xff" if encoding == "utf-16-be" else b"") + "é a\r\nb".encode(encoding)
    transcript, words = read(raw)
    assert words.texts == ["é", "a", "b"]
    assert encoded(write(transcript, words, words.texts), transcript.encoding) == raw


@pytest.mark.parametrize(("text", "speakers"), [
    ("MAN 1: a b\nMAN 2: c", ["MAN 1", "MAN 1", "MAN 2"]),
    ("Speaker 1: a\nSPEAKER_00: b\n[SPEAKER_01]: c", ["Speaker 1", "SPEAKER_00", "SPEAKER_01"]),
    ("(speaker 0) a\n(speaker 0)b\n(speaker 1) c", ["speaker 0", "speaker 0", "speaker 1"]),
    ("SPEAKER_01\na b\n\nAnna Smith  1:02:10\nc", ["SPEAKER_01", "SPEAKER_01", "Anna Smith"]),
    ("Dr. Anna-Maria O'Neil (she/her): a\nJosé da Silva (00:03): b\n+1 555-010-0199: c",
     ["Dr. Anna-Maria O'Neil", "José da Silva", "+1 555-010-0199"]),
    ("ANN: a\njdoe: b\n>> BOB: c", ["ANN", "jdoe", "BOB"]),
    ("**Ann**: a\n**Bob:** b\n[Ann Lee]: c", ["Ann", "Bob", "Ann Lee"]),
    (">> a\n>> b\n>>> c", ["", "", ""]),
    ("話者1: a\n田中さん：b\nスピーカー 2：c", ["話者1", "田中さん", "スピーカー 2"]),
    ("話者 1 00:00\na b\n\n鈴木 一郎 00:07\nc", ["話者 1", "話者 1", "鈴木 一郎"]),
    ("[00:03.120] - Speaker 1\na b\n\n[00:06.500] - Anna Müller\nc", ["Speaker 1", "Speaker 1", "Anna Müller"]),
    ("Speaker 0    00:00:01    a    \nAnn Lee    00:00:06    b c", ["Speaker 0", "Ann Lee", "Ann Lee"]),
    ("Speaker 1 | 00:03\na\nAnna, 0:05\nb\n00:09 | Bob\nc", ["Speaker 1", "Anna", "Bob"]),
    ("[Speaker:0] a\nSpeaker B\nb\nSprecher 2\nc", ["Speaker:0", "Speaker B", "Sprecher 2"]),
])
def test_labels_of_speakers_are_not_words(read, text, speakers):
    words = read(text)[1]
    assert words.texts == ["a", "b", "c"]
    assert [words.speakers[i] if i >= 0 else "" for i in words.speaker] == speakers
    if "\n\n" not in text:  # an empty line would begin a new stream
        assert words.turns.tolist() == [False, *(a != b or not a for a, b in pairwise(speakers))]


@pytest.mark.parametrize("line", ["he said: yes", "at 10:30 a.m.", "note: this", "the time: now", "-- and then",
                                  "Paris 18:45", "(skydiving years) a", "[Music] a", "a b c d e f: g", "http://a.b: c",
                                  "彼は言った：行こう", "午後3時：開始", "2：1で勝ち"])
def test_lines_without_a_label(line):
    label = find_label(line, dashes=True)
    assert label is None or not label.sure


@pytest.mark.parametrize(("text", "turns"), [
    ("- a b\n- c", [0, 0, 1]), ("-a\n-b c", [0, 1, 0]), ("– a\n– b\nc", [0, 1, 0]), ("a\n- b\nc", [0, 1, 0]),
    ("a b -c", [0, 0, 0]), ("a\n-- b c", [0, 0, 0, 0]), ("<I>- a</I>\n- <I>b</I>", [0, 1]), ("a\n-", [0, 0])])
def test_dashes_of_cues_are_turns(read, text, turns):
    cue = f"1\n00:00:00,000 --> 00:00:01,000\n{text}\n"
    assert read(cue)[1].turns.tolist() == turns
    assert loud(read, cue) == cue.replace(text, text.upper())


def test_a_single_word_of_another_speaker_is_not_a_turn(read):
    lines = "".join(f"r 1 {n} 1 w 1 lex {who}\n" for n, who in enumerate("aaabaaabb"))
    words = read(lines)[1]
    assert words.turns.tolist() == [n == 7 for n in range(9)]


def test_entities_are_characters_and_come_back(read):
    text = "1\n00:00:00,000 --> 00:00:01,000\nit&#39;s R&amp;B &quot;no&quot; A&B\n"
    transcript, words = read(text)
    assert words.texts == ["it's", "R&B", '"no"', "A&B"]
    assert write(transcript, words, ["It's", "R&B,", '"No."', "A&B"]) == text.replace("it", "It").replace(
        "B &", "B, &").replace("no&", "No.&")


@pytest.mark.parametrize(("text", "words"), [
    ("a b\u200bc\ufeffd", ["a", "b", "c", "d"]), ("x \ufeffa\u2028b\u3000c", ["x", "a", "b", "c"]),
    ("\u202ax\u202c \u200ey z\u00a0é", ["x", "y", "z", "é"]),
    ("x\u2060y z\u00a0é", ["x", "y", "z", "é"]), ("e\u0301 na\u200dme", ["e\u0301", "na\u200dme"])])
def test_spaces_of_any_kind_separate_words(read, text, words):
    assert read(text)[1].texts == words
    assert loud(read, text) == text.upper()


def test_enhanced_lrc_and_webvtt_have_times_of_words(read):
    assert read("[00:12.00]a b\n[00:15.30]<00:15.30>c <00:15.60>d\n")[1].begins[[0, 2, 3]].tolist() == [12, 15.3, 15.6]
    text = "WEBVTT\n\n00:01.000 --> 00:03.000\na<00:01.500><c> b</c><00:02.000>c\n"
    words = read(text)[1]
    assert words.texts == ["a", "bc"]
    assert words.begins.tolist() == [1, 1.5]
    assert loud(read, text) == text.replace("a<", "A<").replace(" b<", " B<").replace(">c\n", ">C\n")


def test_rolling_captions_are_read_once_and_written_everywhere(read):
    shown = ["so it begins", "as it must", "does it end"]
    said = ["so<00:00:00.480><c> it</c><00:00:00.640><c> begins</c>",
            "as<00:00:02.480><c> it</c><00:00:02.800><c> must</c>",
            "does<00:00:04.880><c> it</c><00:00:05.000><c> end</c>"]
    texts = [f" \n{said[0]}"]
    for before, line in zip(shown, said[1:]):
        texts += [f"{before}\n ", f"{before}\n{line}"]
    texts.append(f"{shown[-1]}\n ")
    text = "WEBVTT\nKind: captions\n\n" + "".join(
        f"00:00:{3 * n:02}.000 --> 00:00:{3 * n + 3:02}.000 align:start\n{one}\n\n" for n, one in enumerate(texts))
    transcript, words = read(text)
    assert words.texts == " ".join(shown).split()
    assert words.begins[[0, 1, 2, 4]].tolist() == [0, 0.48, 0.64, 2.48]
    assert transcript.notes == ["rolling captions: 5 repeated lines are read once"]
    expected = text.replace("so", "So").replace("must", "must.").replace("does", "Does").replace("end<", "end?<")
    expected = expected.replace("it end\n", "it end?\n")
    assert write(transcript, words, ["So", "it", "begins", "as", "it", "must.", "Does", "it", "end?"]) == expected


@pytest.mark.parametrize("texts", [["no", "no", "no", "yes", "so it is", "well", "if you say so"], ["no", "no", "no"],
                                   ["a", "b", "c", "d"], ["a\nb", "a\nc", "a\nd", "a\ne"]])
def test_captions_that_do_not_roll(read, texts):
    text = "".join(f"{n}\n00:00:{3 * n:02},000 --> 00:00:{3 * n + 3:02},000\n{one}\n\n" for n, one in enumerate(texts))
    transcript, words = read(text)
    assert words.texts == " ".join(texts).split()
    assert not transcript.repeats


def test_ctm_comments_alternatives_channels_and_order(read):
    text = (";; comment\nr 1 2.0 0.5 b 0.9\nr 1 1.0 0.5 a NA\nr * * * <ALT_BEGIN>\nr 1 3.0 0.1 c\nr * * * <ALT>\n"
            "r 1 3.0 0.1 x\nr * * * <ALT_END>\nr 2 0.5 0.5 d 0.5 lex ann\r\n\n")
    words = read(text)[1]
    assert words.texts == ["a", "b", "c", "d"]
    assert words.begins.tolist() == [1, 2, 3, 0.5]
    assert words.ends.tolist() == [1.5, 2.5, 3.1, 1]
    assert words.streams.tolist() == [0, 0, 0, 1]
    assert [words.speakers[i] for i in words.speaker] == ["1", "1", "1", "ann"]
    assert loud(read, text) == text.replace(" a ", " A ").replace(" b ", " B ").replace(" c\n", " C\n").replace(
        " d ", " D ")
    assert read("utt-1 0.0 0.3 good 0.99\nutt-1 0.4 0.2 day 0.9\n")[1].texts == ["good", "day"]  # no channels


@pytest.mark.parametrize(("names", "chosen"), [
    (("phone", "word"), 1), (("words", "phones"), 0), (("MAU", "ORT-MAU"), 1), (("Phones", "Words"), 1),
    (("Ann - words", "Ann - phones"), 0), (("phones", "ann"), 1)])
def test_textgrid_tiers(read, names, chosen):
    tiers = "".join(f'"IntervalTier"\n"{name}"\n0\n2\n2\n0\n1\n"{n}a"\n1\n2\n"{n}b ""c"""\n'
                    for n, name in enumerate(names))
    text = f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n2\n<exists>\n2\n{tiers}'
    words = read(text)[1]
    assert words.texts == [f"{chosen}a", f"{chosen}b", '"c"']
    assert loud(read, text) == text.replace(f"{chosen}a", f"{chosen}A").replace(f'{chosen}b ""c', f'{chosen}B ""C')
    assert read(text, tier=names[1 - chosen])[1].texts[0] == f"{1 - chosen}a"
    with pytest.raises(InputError, match="no tier 'x' of words; give one with --tier: '"):
        read(text, tier="x")


@pytest.mark.parametrize(("old", "new", "said"), [
    ("2\n0\n1\n", "3\n0\n1\n", "has 2 intervals, but its size is 3"), ('"b"', '"b', "a text without a closing quote"),
    ('1\n2\n"b"', '"b"', "a text whose interval has no times"), ("0\n1\n", "-1\n1\n", "the time -1 is negative"),
    ("0\n2\n2\n", "x\n2\n2\n", "a tier without a name, times or size")])
def test_textgrid_that_is_broken(read, old, new, said):
    text = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n2\n<exists>\n1\n"IntervalTier"\n"words"\n0\n2\n' \
           '2\n0\n1\n"a"\n1\n2\n"b"\n'
    assert read(text)[1].texts == ["a", "b"]
    with pytest.raises(InputError) as error:
        read(text.replace(old, new))
    assert said in str(error.value)


def test_speakers_of_ttml_and_eaf(read):
    text = ('<tt><head><metadata><ttm:agent xml:id="p1"><ttm:name>Ann</ttm:name></ttm:agent></metadata></head><body>'
            '<p begin="1.5s" dur="2s" ttm:agent="p1">a<br/>b &amp; c</p><p begin="90f" end="4000ms">d</p></body></tt>')
    words = read(text)[1]
    assert words.texts == ["a", "b", "&", "c", "d"]
    assert words.begins[[0, 4]].tolist() == [1.5, 3.6]
    assert words.ends[[3, 4]].tolist() == [3.5, 4]
    assert [words.speakers[i] for i in words.speaker[:4]] == ["Ann"] * 4
    assert loud(read, text) == text.replace(">a<", ">A<").replace(">b &amp; c<", ">B &amp; C<").replace(">d<", ">D<")


def test_spans_of_ttml_have_the_times_of_words(read):
    """Apple's transcripts of podcasts have spans for sentences and words, which need no spaces between them."""
    text = ('<tt><body><p begin="1" end="4"><span unit="sentence" begin="1" end="4"><span begin="1" end="1.5">a</span>'
            '<span begin="2" end="2.5">b<br/>c</span> <span begin="3" end="4">d</span></span></p><p begin="5">e '
            '<span style="x">f</span></p></body></tt>')
    words = read(text)[1]
    assert words.texts == ["a", "b", "c", "d", "e", "f"]
    np.testing.assert_array_equal(words.begins, [1, 2, np.nan, 3, 5, np.nan])
    np.testing.assert_array_equal(words.ends, [1.5, np.nan, 2.5, 4, np.nan, np.nan])
    assert words.segments.tolist() == [0, 0, 0, 0, 1, 1]
    assert loud(read, text) == re.sub(">[a-f]( ?)<", lambda found: found[0].upper(), text)


HOSTILE = {
    "spans": "<span begin='1'>",
    "arrows": "a --> b\n", "blank lines": "\n", "stamps": "<00:00:01.000>", "tags": "<c ", "voices": "<v   ",
    "quotes": '"', "numbers": "1", "dots": "1.", "dashes": "- ", "speakers": "A: ", "brackets": "[a ", "braces": "{a ",
    "entities": "&amp;&", "tabs": "a\t", "commas": "a,", "ids": "a-1 ", "colons": "1:", "comments": "<!-- ",
    "stars": "*", "parentheses": "(A ", "elements": "<p begin='", "syncs": "<SYNC Start=1>", "intervals": '1\n2\n"a',
    "notes": "♪ a ", "columns": "r 1 0 1 a ", "long words": "x", "commented lines": ";;\n", "names": "Ann B "}
HEADS = {"text": "", "WebVTT": "WEBVTT\n\n00:01.000 --> 00:02.000\n", "SRT": "1\n00:00:01,000 --> 00:00:02,000\n",
         "TTML": "<tt><p begin='1s'>", "SAMI": "<SAMI><SYNC Start=1>", "CTM": "r 1 0 1 a\n",
         "ASS": ASS, "drawing": ASS + "Dialogue: 0,0:00:01.00,0:00:03.00,S,{\\p1}",
         "TextGrid": 'File type = "ooTextFile"\nObject class = "TextGrid"\n0\n2\n<exists>\n1\n"IntervalTier"\n"words"\n'
                     "0\n2\n9\n", "EAF": "<ANNOTATION_DOCUMENT><TIER TIER_ID='a'>", "MLF": '#!MLF!#\n"a.lab"\n'}


@pytest.mark.parametrize("head", HEADS)
def test_hostile_files_take_no_format_long(read, head):
    """A reader that takes quadratic time would need much longer for 10,000 characters that repeat a unit of HOSTILE."""
    for unit in HOSTILE.values():
        begin = time.process_time()
        for end in ("", "\n"):
            try:
                transcript, words = read(HEADS[head] + (unit + end) * (10_000 // len(unit + end)))
                write(transcript, words, words.texts)
            except InputError:
                pass
        assert time.process_time() - begin < 0.35, unit


def test_name_of_another_format_is_refused(tmp_path):
    (tmp_path / "talk.srt").write_text("how are you\n")
    with pytest.raises(InputError, match=r"talk.srt:1: called .srt, but not in that format; rename it to .txt; or"):
        read_transcript(tmp_path / "talk.srt")
    assert read_transcript(tmp_path / "talk.srt", form="text").texts[0].text == "how are you\n"
    (tmp_path / "talk.csv").write_text("Ann,how are you\n")
    with pytest.raises(InputError, match=r"talk.csv:1: a table in an unknown format; write TSV as Whisper does"):
        read_transcript(tmp_path / "talk.csv")


def test_mark_after_a_bare_bracket_begins_no_element(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text('<transcript><text start="0" dur="1">how<\tare</text></transcript>')
    transcript = read_transcript(path)
    words = words_of(transcript.texts)
    marked = [f"{word}?" for word in words.texts]
    path.write_text(write(transcript, words, marked))
    assert words_of(read_transcript(path).texts).texts == marked == ["how<?", "are?"]


def test_rolling_line_with_markup_has_its_marks_wherever_it_is_shown(tmp_path):
    lines = ["so <i>it</i> begins", "as it must", "does it end", "we see"]
    cues = [f"{i + 1}\n00:00:0{i},000 --> 00:00:0{i + 1},000\n" + "\n".join(lines[max(0, i - 1):i + 1]) + "\n"
            for i in range(4)]
    path = tmp_path / "a.srt"
    path.write_text("\n".join(cues))
    transcript = read_transcript(path)
    words = words_of(transcript.texts)
    assert words.texts == " ".join(lines).replace("<i>", "").replace("</i>", "").split()
    text = write(transcript, words, [word.upper() for word in words.texts])
    assert text.count("SO <i>IT</i> BEGINS\n") == 2
    assert text.count("DOES IT END\n") == 2
