"""`punc transcript` on data directories, CTMs and files of recognisers, with one job and with several."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
import torch
from conftest import PUNC, random_model, save_model
from transcript_files import MAKERS

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.decoding.kaldi_groups import ALL, ctm_groups, text_groups
from punc.decoding.marked_ctm import write_marked_ctm
from punc.decoding.marked_transcript import word_pauses
from punc.decoding.options import DecodingOptions
from punc.decoding.transcript import join_transcripts, transcript
from punc.decoding.transcript_formats import WRITERS
from punc.models.base import create
from punc.text.characters import CLASSES
from punc.text.split_words import take_apart
from punc.text.word_parts import TokenReader
from punc.tokens.tokenizers.class_ import ClassTokenizer
from punc.tokens.vocabulary import Vocabulary
from punc.transcripts.ctm import CtmIndex
from punc.transcripts.read import read_transcript
from punc.transcripts.transcript import words_of, write

WORDS = [f"w{i}" for i in range(20)]
SEGMENTS = [("a-1", "r1", 0.0, 5.0), ("a-2", "r1", 10.0, 15.0), ("b-1", "r1", 5.0, 10.0), ("b-2", "r2", 2.0, 9.0),
            ("c-1", "r3", 0.0, 9.0)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_model(tmp_path_factory.mktemp("model"), "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n", WORDS,
                        options={"pauses": True})


def rows(in_recording):
    """Yield (id, begin, duration, word) for each word. The last utterance has no words."""
    for k, (utterance, recording, begin, _) in enumerate(SEGMENTS[:4]):
        for i in range(9):
            at = 0.2 + 0.5 * i + (0.15 if i % 4 == 3 else 0)
            yield recording if in_recording else utterance, at + begin * in_recording, 0.3, WORDS[(7 * k + 3 * i) % 20]


@pytest.fixture
def data(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "utt2spk").write_text("".join(f"{u} {u[0]}\n" for u, *_ in SEGMENTS))
    (data / "segments").write_text("".join(f"{u} {r} {b} {e}\n" for u, r, b, e in SEGMENTS))
    for name, whole in (("ctm_utt", False), ("ctm_rec", True)):
        lines = sorted(rows(whole))
        (tmp_path / name).write_text("".join(f"{u} 1 {b:.2f} {d:.2f} {w}\n" for u, b, d, w in lines))
    return data


def run(model, data, out, nj=1, scale="", **options):
    parts = [out.with_name(f"{out.name}.{job}") for job in range(1, nj + 1)]
    given = [f"--{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in options.items()]
    for job, part in enumerate(parts, 1):
        assert main(["transcript", f"--scale={scale}", *given, f"--jobs={nj}", f"--job={job}",
                     *map(str, (model, data, part))]) == 0
    assert main(["join", *map(str, (out, *parts))]) == 0
    return {str(file.relative_to(out)): file.read_text() for file in out.rglob("*")
            if file.is_file() and file.name != ".written"}


def test_transcript_labels_are_those_of_punc_punctuate(model, data, tmp_path):
    """`punc transcript` gives the same labels as three separate steps, which make a data directory of the CTM's
    words, add the pauses, and punctuate the directory. Only the last label of a text always ends a sentence."""

    def inner(lines):
        """Return the words of each line, without the marks at the ends of utterances, which have nine words."""
        return {line.split()[0]: [re.sub("[,.?]$", "", word) if i % 9 == 0 else word
                                  for i, word in enumerate(line.split()[1:], 1)] for line in lines}

    said = {u: [w for id, _, _, w in rows(False) if id == u] for u, *_ in SEGMENTS}
    write_data_dir(tmp_path / "long", [Utterance(u, u[0], words) for u, words in said.items()])
    shutil.copy(data / "segments", tmp_path / "long")
    for ctm in ("ctm_utt", "ctm_rec"):
        assert main(["pauses", str(tmp_path / "long"), str(tmp_path / ctm)]) == 0
        assert main(["punctuate", "--nj=1", str(model), str(tmp_path / "long"), str(tmp_path / "punctuated")]) == 0
        text = (tmp_path / "punctuated/text_punct").read_text()
        utterances = inner(text.splitlines())
        assert len({word[-1] for words in utterances.values() for word in words} & set(",.?")) > 1
        order = {"r1": ("a-1", "b-1", "a-2"), "r2": ("b-2",), "r3": ("c-1",)}
        expected = {r: [word for u in of for word in utterances[u]] for r, of in order.items()}
        found = run(model, data, tmp_path / ctm.replace("ctm", "out"), ctm=str(tmp_path / ctm))["text"]
        assert inner(found.splitlines()) == (utterances if ctm == "ctm_utt" else expected)
        assert all(word[-1] in ".?" for line in found.splitlines() for word in line.split()[9::9])
    found = run(model, tmp_path / "long", tmp_path / "text")["text"]
    assert inner(found.splitlines()) == inner(text.splitlines())


@pytest.mark.parametrize("ctm", ["ctm_utt", "ctm_rec", ""])
def test_transcript_any_number_of_jobs_gives_the_same(model, data, tmp_path, ctm):
    if not ctm:
        (data / "text").write_text("".join(f"{u} w1 w2 w3 w4\n" for u, *_ in SEGMENTS))
    options = {"ctm": str(tmp_path / ctm)} if ctm else {}
    alone = run(model, data, tmp_path / "alone", **options)
    assert len(alone) == (2 + 9 if ctm else 1 + 3)
    for nj in (2, 3, 7):
        assert run(model, data, tmp_path / f"out{nj}", nj, **options) == alone
    assert not list(tmp_path.glob("out*.*"))


def test_transcript_ids_of_recordings_and_utterances_give_the_same_subtitles(model, data, tmp_path):
    by_utterance, by_recording = (run(model, data, tmp_path / f"out{ctm}", ctm=str(tmp_path / ctm))
                                  for ctm in ("ctm_utt", "ctm_rec"))
    shown = [name for name in by_recording if name.startswith(("srt/", "vtt/", "txt/"))]
    assert len(shown) == 9
    for name in shown:
        assert by_utterance[name] == by_recording[name]
    assert by_recording["vtt/r3.vtt"] == "WEBVTT\n"
    # The speakers alternate (a, b, a), so there are at least three paragraphs, each with its speaker's name.
    assert by_recording["txt/r1.txt"].count("\n\n") >= 2
    assert by_recording["txt/r1.txt"].startswith("a: W")
    assert re.findall("^(.): W", by_recording["txt/r1.txt"], re.M) == ["a", "b", "a"]
    assert set(re.findall("<v (.)>W", by_recording["vtt/r1.vtt"])) == {"a", "b"}
    assert ":" not in by_recording["txt/r2.txt"]


def test_transcript_without_segments_utterances_or_speakers_are_recordings(model, data, tmp_path):
    (data / "segments").unlink()
    found = run(model, data, tmp_path / "out", ctm=str(tmp_path / "ctm_utt"))
    assert {name for name in found if name.startswith("srt")} == {f"srt/{u}.srt" for u, *_ in SEGMENTS}
    (tmp_path / "ctm").write_text("a 1 0 1 w1\nb 1 0 1 w2\n")
    found = run(model, data, tmp_path / "speakers", ctm=str(tmp_path / "ctm"))
    assert [line.split()[0] for line in found["text"].splitlines()] == ["a", "b", "c"]
    assert set(found) == {"text", "ctm", *(f"{kind}/{s}.{kind}" for kind in ("srt", "vtt", "txt") for s in "abc")}


def test_transcript_capitals_scale_and_warning(model, data, tmp_path, capsys):
    upper, other = tmp_path / "upper", tmp_path / "other"
    upper.write_text((tmp_path / "ctm_rec").read_text().replace("w", "W"))
    lower = run(model, data, tmp_path / "lower", ctm=str(tmp_path / "ctm_rec"))
    found = run(model, data, tmp_path / "out", ctm=str(upper))
    assert found["ctm"] == lower["ctm"].replace("w", "W"), "a lower-case model reads words in capitals"
    assert "warning" not in capsys.readouterr().err
    other.write_text((tmp_path / "ctm_rec").read_text().replace("w", "x"))
    found = run(model, data, tmp_path / "out", ctm=str(other), scale="QUESTION=1e30")
    assert {row.split()[4][-1] for row in found["ctm"].splitlines()} == {"?"}
    assert "36 of 36 words are unknown to the model" in capsys.readouterr().err


def test_files_of_others_in_the_directory_stay(model, data, tmp_path):
    assert "srt/r3.srt" in run(model, data, tmp_path / "out", ctm=str(tmp_path / "ctm_rec"))
    (tmp_path / "out/txt/mine.txt").write_text("mine")
    for name in ("utt2spk", "segments"):
        lines = (data / name).read_text().splitlines(keepends=True)
        (data / name).write_text("".join(line for line in lines if not line.startswith("c-1")))
    found = run(model, data, tmp_path / "out", ctm=str(tmp_path / "ctm_rec"))
    assert found["txt/mine.txt"] == "mine"
    assert "txt/r2.txt" in found
    assert "txt/r3.txt" not in found


def test_transcript_sentences_begin_with_capitals_whatever_the_labels(data, tmp_path):
    cased = random_model(tmp_path / "cased", "O w\nCAP W\nPERIOD w.\n", WORDS)
    found = run(cased, data, tmp_path / "out", ctm=str(tmp_path / "ctm_rec"), scale="PERIOD=1e30")
    assert found["text"].split()[1].islower(), "`text` follows the labels"
    assert found["txt/r2.txt"].split()[0][0] == "W"
    assert all(word[0] == "W" for word in found["txt/r2.txt"].split()), "a point after each word"


@pytest.mark.parametrize(("options", "said"), [
    ({"decoding": DecodingOptions(scale="X=1")}, "--scale: no label 'X'; "),
    ({"ctm": "none"}, "none: no such file; "),
])
def test_transcript_wrong_options(model, data, tmp_path, options, said):
    with pytest.raises(InputError) as error:
        transcript(model, data, tmp_path / "out", **{"ctm": str(tmp_path / "ctm_rec"), **options})
    assert said in str(error.value)
    assert not (tmp_path / "out").exists()


def test_join_transcripts_missing_part(tmp_path):
    with pytest.raises(InputError, match="parts/1/text: no such file; run its job again"):
        join_transcripts([tmp_path / "parts/1"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_transcript_recording_with_a_slash_stays_in_its_directory(model, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "utt2spk").write_text("../../x ../../x\n")
    (tmp_path / "ctm").write_text("../../x 1 0 1 w1\n")
    assert "srt/.._.._x.srt" in run(model, data, tmp_path / "out", ctm=str(tmp_path / "ctm"))


@pytest.mark.parametrize("options", [{}, {"marks": "keep"}, {"marks": "replace"}])
def test_transcript_existing_marks_are_not_doubled(tmp_path, options):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/utt2spk").write_text("r r\n")
    said = ["Hello,", "how", "are", "you?", "<noise>", "I'm", "fine,", "thanks!"]
    rows = (f"r 1 {0.4 * n + (n > 4):.1f} 0.3 {word} 0.9\n" for n, word in enumerate(said))
    (tmp_path / "ctm").write_text("".join(rows))
    found = run("en", tmp_path / "data", tmp_path / "out", ctm=str(tmp_path / "ctm"), **options)
    words = [line.split()[4] for line in found["ctm"].splitlines()]
    assert words[4] == "<noise>"
    assert [word.strip(".,?!").lower() for word in words] == [word.strip(".,?!").lower() for word in said]
    assert not any(word[-2] in ".,?!" for word in words)
    assert words == said or options.get("marks") == "replace"
    assert "<" not in found["srt/r.srt"] + found["txt/r.txt"]


TWO_SEGMENTS = "a-1 r1 0.5 2\na-2 r1 4 6\nb-1 r1 2 4\nb-2 r2 0 3\n"
SPEAKERS = "a-1 a\na-2 a\nb-1 b\nb-2 b\n"


def make(tmp_path, ctm, segments=TWO_SEGMENTS, speakers=SPEAKERS, **files):
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    tables = {"utt2spk": speakers, "segments": segments, **files}
    for name, text in tables.items():
        if text:
            (data / name).write_text(text)
    (tmp_path / "ctm").write_text(ctm)
    return data


def read(tmp_path, ctm, share=ALL, **files):
    data = make(tmp_path, ctm, **files)
    return list(ctm_groups(data, CtmIndex(tmp_path / "ctm"), share))


def one(tmp_path, ctm, **files):
    [group] = read(tmp_path, ctm, **files)
    return group, words_of(group.transcript.texts)


def pauses(words):
    split = take_apart(words.texts, TokenReader(), words.streams, words.turns, words.segments)
    return [None if np.isnan(pause) else round(float(pause), 4) for pause in word_pauses(words, split)]


UTTERANCES = "a-1 1 0 0.5 one\na-1 1 1 0.25 two\na-2 1 0.1 0.2 five\nb-1 1 0.5 1 three\nb-1 1 1.5 0.5 four\n"


def test_read_ctm_utterances_of_segments(tmp_path):
    group, words = one(tmp_path, UTTERANCES)
    assert words.texts == ["one", "two", "three", "four", "five"]
    assert words.begins.tolist() == [0.5, 1.5, 2.5, 3.5, 4.1]
    assert pauses(words) == [0.5, 0.75, 0.0, 0.1, None]
    assert group.recordings == ["r1", "r2"]
    assert group.lines == [("a-1", 2), ("b-1", 4), ("a-2", 5), ("b-2", 5)]
    assert words.turns.tolist() == [False, False, True, False, True]
    assert [words.speakers[i] for i in words.speaker] == ["a", "a", "b", "b", "a"]


def test_read_ctm_recordings_get_speakers_from_segments(tmp_path):
    ctm = "r1 1 0.6 0.5 one\nr1 1 1.9 0.4 two\nr1 1 5 1 three\nr1 1 6 0.5 <sil>\nr2 1 0 1 four\n"
    group, words = one(tmp_path, ctm)
    assert words.texts == ["one", "two", "three", "<sil>", "four"]
    assert pauses(words) == [0.8, 2.7, None, None, None]
    assert words.turns.tolist() == [False, True, True, False, False]
    assert group.lines == [("r1", 4), ("r2", 5)]
    assert words.streams.tolist() == [0, 0, 0, 0, 1]


def test_read_ctm_files_and_channels(tmp_path):
    ctm = "call A 0 1 one\ncall B 0.5 1 two\ncall A 1 1 three\n"
    group, words = one(tmp_path, ctm, reco2file_and_channel="r1 call A\nr2 call B\n")
    assert words.texts == ["one", "three", "two"]
    assert [words.recordings[i] for i in words.recording] == ["r1", "r1", "r2"]
    other = one(tmp_path, "call A 0 1 one\n", reco2file_and_channel="r1 call A\nr2 call B\n")
    assert other[1].texts == ["one"], "a channel without words stays empty"
    new = write(group.transcript, words, ["One,", "three.", "Two."])
    assert new == "call A 0 1 One,\ncall A 1 1 three.\ncall B 0.5 1 Two.\n"


def test_read_ctm_without_segments(tmp_path):
    group, words = one(tmp_path, UTTERANCES, segments="")
    assert words.texts == ["one", "two", "five", "three", "four"]
    assert pauses(words) == [0.5, None, None, 0.0, None]
    assert words.streams.tolist() == [0, 0, 0, 1, 1]
    assert group.recordings == ["a-1", "a-2", "b-1", "b-2"]
    group, words = one(tmp_path, "a 1 0 1 one\na 1 1 1 <eps>\n", segments="", reco2file_and_channel="a-1 a-1 1\n")
    assert group.lines == [("a", 2), ("b", 2)]


def test_read_text_of_a_data_directory(tmp_path):
    data = make(tmp_path, "", text="a-1 one two\na-2 five\nb-1 three\nb-2\n")
    [group] = text_groups(data)
    words = words_of(group.transcript.texts)
    assert words.texts == ["one", "two", "three", "five"]
    assert group.lines == [("a-1", 1), ("b-1", 2), ("a-2", 3), ("b-2", 4)]
    assert group.recordings == ["r1", "r2"]
    assert words.turns.tolist() == [False, False, True, True]
    assert group.pauses is None
    assert [group.lines for job in (1, 2) for group in text_groups(data, Share(job, 2))] == [
        [("a-1", 1), ("b-1", 2), ("a-2", 3)], [("b-2", 1)]]


@pytest.mark.parametrize(("ctm", "files", "said"), [
    ("a-1 1 0 1 x\nc 1 0 1 x\n", {}, "ctm:2: 'c' is neither recording nor utterance of "),
    ("c 1 0 1 x\n", {"segments": ""}, "ctm:1: 'c' is neither utterance nor speaker of "),
    ("a-1 1 0 1 x\nr1 1 0 1 x\n", {}, "ctm:2: 'r1' is a recording, but the ids before are utterances; give all ids of"),
    ("r1 1 0 1 x\nr1 2 0 1 x\n", {}, "ctm:1: 'r1' has channels 1 2 under one id; name the channel"),
    ("f A 0 1 x\nf C 0 1 x\n", {"reco2file_and_channel": "r1 f A\nr2 f B\n"},
     "ctm:1: 'f' has a channel C that is not a recording; name its recording in reco2file_and_channel"),
    ("b-1 1 0 1 x\na-1 1 0 0.5 x\na-1 1 1.5 1.1 x\n", {},
     "ctm:2: 'a-1' has a word that ends at 2.60 s, but is 1.50 s long; count times from the start of the utterance"),
    ("a-1 1 0 1 x\n", {"speakers": "a-1 a\n"}, "utt2spk: no line for 'a-2', which segments has; run "),
    ("a-1 1 0 1 x\n", {"segments": "a-1 r1 0 2\n"}, "segments: no line for 'a-2', which utt2spk has; run "),
    ("a-1 1 0 1 x\n", {"segments": "a-1 r1 3 2\n"}, "segments:1: the line is not a segment; "),
    ("a-1 1 0 1 x\n", {"reco2file_and_channel": "r1 r1\n"}, "reco2file_and_channel:1: 'r1' does not have a file"),
])
def test_read_ctm_files_that_do_not_fit_together(tmp_path, ctm, files, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, ctm, **files)
    assert said in str(error.value)


def test_read_ctm_no_data_directory(tmp_path):
    (tmp_path / "ctm").write_text("a 1 0 1 x\n")
    with pytest.raises(InputError, match="no such data directory; give the one"):
        next(ctm_groups(tmp_path / "none", CtmIndex(tmp_path / "ctm")))


def test_two_recordings_with_the_same_files(tmp_path):
    """The output files of both recordings would have the name a_b."""
    said = r"recordings 'a/b' and 'a_b' would have the same files: a_b\.txt; rename one of them"
    with pytest.raises(InputError, match=said):
        read(tmp_path, "a/b 1 0 1 x\n", segments="", speakers="a/b a/b\na_b a_b\n")
    (tmp_path / "data/text").write_text("a/b x\na_b y\n")
    with pytest.raises(InputError, match=said):
        list(text_groups(tmp_path / "data"))
    with pytest.raises(InputError, match=said):
        read(tmp_path, "u-1 1 0 1 x\n", segments="u-1 a/b 0 1\nu-2 a_b 0 1\n", speakers="u-1 u\nu-2 u\n")


def test_two_recordings_with_one_file_and_channel(tmp_path):
    with pytest.raises(InputError, match="channel:2: 'r1' and 'r2' have the same file and channel; give each its own"):
        read(tmp_path, "f A 0 1 x\n", reco2file_and_channel="r1 f A\nr2 f A\n")


def test_speaker_in_two_places(tmp_path):
    """Without segments, each speaker is one stream. If a speaker were accepted in two places of utt2spk, its words
    would be used twice."""
    with pytest.raises(InputError, match="utt2spk:3: speaker 'x' comes after 'y'; make speaker ids prefixes of"):
        read(tmp_path, "x 1 0 1 w\n", segments="", speakers="a x\nb y\nc x\n")


def marked(tmp_path, utterances, ctm, **files):
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    (tmp_path / "times").write_text(ctm)
    write_data_dir(tmp_path / "data", utterances)
    for name, text in files.items():
        (tmp_path / "data" / name).write_text(text)
    write_marked_ctm(tmp_path / "out", tmp_path / "times", DataDir(tmp_path / "data"),
                     LabelSet.read(tmp_path / "labels.txt"))
    return [line.split()[4] for line in (tmp_path / "out").read_text().splitlines()]


def test_marked_ctm_other_words_get_the_marks_of_their_slots(tmp_path):
    said = Utterance("a", "a", ["one", "two", "three", "four"], ["COMMA", "O", "PERIOD", "PERIOD"])
    ctm = "".join(f"a 1 {i} 0.5 {word}\n" for i, word in enumerate(["One", "uh", "2", "four", "five"]))
    assert marked(tmp_path, [said], ctm) == ["One,", "uh", "2.", "four.", "five"]


def test_marked_ctm_recordings_by_file_and_channel(tmp_path, capsys):
    calls = [Utterance("l-1", "l", ["a"], ["COMMA"]), Utterance("l-2", "l", ["b"], ["O"]),
             Utterance("r-1", "r", ["a"], ["PERIOD"]), Utterance("s-1", "s", ["c"], ["O"])]
    ctm = "call A 0 1 a\ncall A 2 1 b\ncall B 5 1 a\n"
    assert marked(tmp_path, calls, ctm, reco2file_and_channel="l call A\nr call B\n") == ["a,", "b", "a."]
    assert capsys.readouterr().err == f"{tmp_path / 'times'}: no times for 1 utterances\n"


SPOKEN_WORDS = "how are you i am fine thank you".split()  # noqa: SIM905
TIMED = [[(word, 0.3 * n, 0.3 * n + 0.25) for n, word in enumerate(SPOKEN_WORDS[:3])],
         [(word, 2 + 0.3 * n, 2.25 + 0.3 * n) for n, word in enumerate(SPOKEN_WORDS[3:])]]
SAID = "How are you? I am fine. Thank you."
WHISPER = json.dumps({"text": " ".join(SPOKEN_WORDS), "language": "en", "segments": [
    {"text": "".join(" " + word for word, *_ in row), "start": row[0][1], "end": row[-1][2],
     "words": [{"word": " " + word, "start": begin, "end": end} for word, begin, end in row]} for row in TIMED]})
ALL_MAKERS = {**MAKERS, "Whisper": lambda _: WHISPER}


def punctuated(tmp_path, text, *options, model="en", out="out", name="in"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    status = main(["transcript", *options, model, str(tmp_path / name), str(tmp_path / out)])
    return status or (tmp_path / out).read_bytes().decode()


def srt(text):
    return f"1\n00:00:00,000 --> 00:00:02,000\n{text}\n"


def words_in(tmp_path, text):
    (tmp_path / "again").write_text(text)
    return " ".join(words_of(read_transcript(tmp_path / "again").texts).texts)


def test_standard_input_is_a_file_too():
    cue = "1\n00:00:01,000 --> 00:00:02,000\n"
    done = subprocess.run([*PUNC, "transcript", "en", "-", "-"], input=cue + "how are you\n", text=True,
                          capture_output=True, check=True)
    assert done.stdout == cue + "How are you?\n"


def test_one_file_into_a_directory(tmp_path, capsys):
    (tmp_path / "talk.txt").write_text("how are you\n")
    (tmp_path / "more.txt").write_text("how are you\n")
    for _ in range(2):
        assert main(["transcript", "en", str(tmp_path / "talk.txt"), f"{tmp_path}/new/"]) == 0
        assert (tmp_path / "new/talk.txt").read_text() == "How are you?\n"
    assert main(["transcript", "en", str(tmp_path / "talk.txt"), str(tmp_path / "new")]) == 0
    capsys.readouterr()
    both = [str(tmp_path / name) for name in ("talk.txt", "more.txt")]
    assert main(["transcript", "en", *both, str(tmp_path / "two.srt")]) == 1
    assert capsys.readouterr().err.endswith("two.srt: not a directory; give a directory for 2 files\n")


def together(place, texts, *options, model="en"):
    (place / "in").mkdir(parents=True)
    for name, text in texts.items():
        (place / "in" / name).write_text(text)
    paths = [str(place / "in" / name) for name in texts]
    assert main(["transcript", "--probabilities=false", *options, model, *paths, str(place / "out")]) == 0
    return {path.name.partition(".")[0]: path.read_text() for path in (place / "out").iterdir()}


def test_spanish_question_at_the_end_of_a_text_has_both_marks(tmp_path):
    text = "de verdad crees que el presidente va a venir mañana a las 10:30 con 2.500 millones de euros"
    texts = {f"{n}.txt": " ".join(text.split()[:n]) for n in range(3, 19)}
    found = together(tmp_path, texts, model="es")
    assert found["3"] == "¿De verdad crees?"
    assert all(("¿" in text) == ("?" in text) for text in found.values())


@pytest.mark.parametrize(("model", "written"), [
    ("de", {"a": "Das ist 20 % mehr als im Jahr 2020.",
            "b": "Wir trafen Dr. Müller bzw. seine Frau in der Haupt Str. 7."}),
    ("en", {"a": "Approx. ten people came on Jan. 5.", "b": "We like it."})])
def test_no_mark_inside_abbreviations_and_numbers_with_units(model, written, tmp_path):
    texts = {f"{name}.txt": text.removesuffix(".").lower() for name, text in written.items()}
    assert together(tmp_path, texts, model=model) == written


@pytest.fixture(scope="module", params=["en", "en-live"])
def every_format(request, tmp_path_factory):
    """Return for each format a file, the punctuated file, and a list of the files that result if the punctuated file is
    punctuated again, once with each value of --marks."""
    model, place = request.param, tmp_path_factory.mktemp("formats")
    texts = {name.replace(" ", "-"): maker(TIMED) for name, maker in ALL_MAKERS.items()}
    found = together(place / "once", texts, model=model)
    again = [together(place / marks, found, f"--marks={marks}", model=model) for marks in ("auto", "keep", "replace")]
    return {name: (text, found[name], [one[name] for one in again]) for name, text in texts.items()}


@pytest.mark.parametrize("name", [name.replace(" ", "-") for name in ALL_MAKERS])
def test_same_format_only_marks_and_capitals_change(name, every_format, tmp_path):
    text, found, again = every_format[name]
    assert words_in(tmp_path, found) == SAID
    bare = re.compile(r"(?<![\d])[,.?](?!\d)")
    assert bare.sub("", found).lower() == bare.sub("", text).lower()
    assert again == [found] * 3, "a file that has marks gets the same marks again"


@pytest.fixture(scope="module")
def japanese(tmp_path_factory):
    """Make a character model that writes 。 after す, and 、 after は and after Latin words."""
    labels = LabelSet((Label("O", "w"), Label("COMMA", "w、", ("、",)), Label("PERIOD", "w。", ("。",))))
    vocabulary = Vocabulary(["<unk>", "</s>", *CLASSES, "は", "す", "で"])
    network = create("fc_lstm", vocabulary, labels, {"ahead": 0, "embedding_dim": 3, "hidden_dim": 3},
                     ClassTokenizer(vocabulary))
    # The label of each token, one-hot. All other weights only pass the label on.
    by_token = torch.eye(3)[[0, 0, 1, 0, 1, 2, 0]]
    none, gates = torch.zeros(3, 3), torch.tensor([20.0, -20, 0, 20]).repeat_interleave(3)
    weights = {"embedding.weight": by_token, "lstms.lstm.weight_ih_l0": torch.cat([none, none, 9 * torch.eye(3), none]),
               "lstms.lstm.weight_hh_l0": torch.zeros(12, 3), "lstms.lstm.bias_ih_l0": gates,
               "lstms.lstm.bias_hh_l0": torch.zeros(12), "output.weight": 9 * torch.eye(3),
               "output.bias": torch.zeros(3)}
    network.load_state_dict(weights)
    return save_model(network, tmp_path_factory.mktemp("japanese"))


QUOTED = json.dumps({"text": "「今日は」 です、", "segments": [
    {"start": 0, "end": 2, "text": "「今日は」 です、", "words": [
        {"word": "「今日", "start": 0, "end": 1}, {"word": "は」", "start": 1, "end": 1.5},
        {"word": " です、", "start": 1.5, "end": 2}]}]}, ensure_ascii=False)


@pytest.mark.parametrize(("text", "expected"), [
    (srt("今日はiPhoneです\nはい でも"), srt("今日は、iPhone、です。\nは、い でも。")),
    (srt("は10:30、2：1、No.5です。\n3、4–5。"), srt("は、10:30、2：1、No.5です。\n3、4–5。")),
    (QUOTED, QUOTED.replace("、", "").replace("」", "」、").replace("です", "です。"))])
def test_marks_between_the_characters_of_japanese(text, expected, japanese, tmp_path):
    options = "--marks=replace", "--probabilities=false"
    assert punctuated(tmp_path, text, *options, model=str(japanese)) == expected


def test_japanese_text_gets_no_spaces_inside_latin_words_numbers_and_urls(japanese, tmp_path):
    text = "5GはA4でR&Dに20%がC++を\"x\"のhttp://a.b/c?d=1です\n"
    found = punctuated(tmp_path, text, "--to=text", model=str(japanese))
    assert found == "5G、は、A4でR&D、に20%がC++を\"x\"、のhttp://a.b/c?d=1、です。\n"


def test_other_formats_and_data_of_japanese(japanese, tmp_path):
    text = srt("今日はThe Who です")
    assert punctuated(tmp_path, text, "--to=text", model=str(japanese)) == "今日は、The、Who、です。\n"
    assert punctuated(tmp_path, text, "--to=json", model=str(japanese))[:26] == '{"text": "今日は、The、Who、です。"'
    write_data_dir(tmp_path / "data", [Utterance("a", "a", ["今日は", "です", "。", "か"])])
    assert main(["punctuate", str(japanese), str(tmp_path / "data"), str(tmp_path / "made")]) == 0
    assert (tmp_path / "made/text_punct").read_text() == "a 今日は、 です。 。 か\n"


def test_json_has_the_probability_of_each_label(tmp_path):
    found = json.loads(punctuated(tmp_path, WHISPER, name="talk.json"))
    values = [word["label_probability"] for segment in found["segments"] for word in segment["words"]]
    assert len(values) == 8
    assert all(0.1 < value <= 1 for value in values)


@pytest.mark.parametrize("form", WRITERS)
def test_other_formats_have_all_words(form, tmp_path):
    texts = {name: ALL_MAKERS[name](TIMED) for name in ("Whisper", "CTM", "SRT", "TextGrid", "TTML")}
    written = together(tmp_path, texts, f"--to={form}")
    assert written.keys() == texts.keys()
    for name, found in written.items():
        if form == "paragraphs":
            assert found in ("How are you?\n\nI am fine. Thank you.\n", f"{SAID}\n"), name
        elif form == "json":
            assert [word["word"] for one in json.loads(found)["segments"] for word in one["words"]] == [
                f" {word}" for word in SAID.split()], name
        assert words_in(tmp_path, found) == SAID, name


@pytest.mark.parametrize(("name", "out", "form"), [
    ("a.json", "b.srt", "SRT"), ("a.json", "b.VTT", "WebVTT"), ("a.json", "b.txt", "text"), ("a.json", "b.ctm", "CTM"),
    ("a.json", "b.json", "Whisper"), ("a", "b.json", "Whisper"), ("a.txt", "b.txt", "Whisper"),
    ("a.json", "b", "Whisper")])
def test_the_name_of_out_says_the_format(name, out, form, tmp_path):
    punctuated(tmp_path, WHISPER, name=name, out=out)
    assert read_transcript(tmp_path / out).format == form


def test_a_name_of_out_that_no_writer_has_is_an_error(tmp_path, capsys):
    for ending in ("ass", "lrc", "sbv", "tsv", "ttml", "TextGrid"):
        assert punctuated(tmp_path, ALL_MAKERS["SRT"](TIMED), name="a.srt", out=f"b.{ending}") == 1
        assert f"b.{ending}: punc does not write" in capsys.readouterr().err
    assert punctuated(tmp_path, ALL_MAKERS["LRC"](TIMED), name="a.lrc", out="b.lrc")


def test_ends_of_turns_and_texts_have_marks_that_end_sentences(tmp_path):
    assert punctuated(tmp_path, "hey\n\nANN: so where are we\nBOB: on a boat\n") == \
        "Hey.\n\nANN: So where are we?\nBOB: On a boat?\n"
    cue = "1\n00:00:01,000 --> 00:00:03,000\n- well you know\n- i do not\n\n"
    found = punctuated(tmp_path, cue)
    assert re.search(r"now[.?]\n- I do not\.\n", found)


def test_existing_marks(tmp_path, caplog):
    said = "Hello,", "how", "are", "you?", "I'm", "fine,", "thanks."
    text = "".join(f"r 1 {0.4 * n:.1f} 0.3 {word}\n" for n, word in enumerate(said))
    for marks in ("auto", "keep"):
        assert punctuated(tmp_path, text, f"--marks={marks}") == text
    assert "it already has marks, which stay; --marks replace replaces them" in caplog.text
    found = punctuated(tmp_path, text.replace("you?", "you"), "--marks=replace")
    assert not re.search("[,.?]{2}", found)
    assert re.sub("[,.?]", "", found).lower() == re.sub("[,.?]", "", text).lower()


@pytest.mark.parametrize(("text", "said"), [
    ('{"language": "es", "text": "hola como estas", "segments": []}', "another language than the model: es, not en"),
    ("ich glaube dass wir das heute noch schaffen können\n", "are unknown to the model, perhaps because they are in "
     "another language"),
    ("xq/xq/xq/xq vw/vw/vw uz/uz/uz qx/qx we go\n", "4 of 6 words are unknown to the model, perhaps because they are "
     "in another language"),
    ("how are you\n", "")])
def test_a_file_in_another_language(tmp_path, caplog, text, said):
    punctuated(tmp_path, text)
    assert said in caplog.text
    assert ("language" in caplog.text) == bool(said)


def test_order_of_lines_and_times_that_go_back(tmp_path, caplog):
    text = '{"segments": [{"words": [{"word": "how", "start": 3, "end": 2}, {"word": "are", "start": 1, "end": 1.5}]}]}'
    found = punctuated(tmp_path, text, "--probabilities=false")
    assert re.sub("[,.?]", "", found).lower() == re.sub("[,.?]", "", text).lower()
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "1 words end before they begin; the pauses there count as 0, and the times stay" in said
    assert "1 words begin before the previous word; " in said


@pytest.mark.parametrize("text", [
    '{"segments": [{"start": 20, "end": 22, "text": "yes we do"}, {"start": 1, "end": 3, "text": "good morning"}, '
    '{"start": 4, "end": 6, "text": "how are you"}]}',
    "".join(f"{i}\n00:00:{at:02}.000 --> 00:00:{at + 2:02}.000\n{line}\n\n" for i, (at, line) in enumerate(
        [(20, "yes we do"), (1, "good morning"), (4, "how are you")]))])
def test_segments_that_are_not_in_time_order_keep_their_times(text, tmp_path):
    rows = [line.split() for line in punctuated(tmp_path, text, "--to=ctm").splitlines()]
    assert [row[4].lower().strip(",.?") for row in rows] == ["good", "morning", "how", "are", "you", "yes", "we", "do"]
    times = np.array([[float(row[2]), float(row[2]) + float(row[3])] for row in rows])
    np.testing.assert_allclose(times[[0, 2, 5], 0], [1, 4, 20])
    np.testing.assert_allclose(times[[1, 4, 7], 1], [3, 6, 22])
    assert (np.diff(times[:, 0]) > 0).all()


@pytest.mark.parametrize("text", [
    "1\n00:00:00,160 --> 00:00:04,560\nYes, we do that. Good morning.\n\n"
    "2\n00:00:02,400 --> 00:00:06,800\nHow are you? I am fine.\n",
    '<transcript><text start="0.16" dur="4.4">Yes, we do that. Good morning.</text>'
    '<text start="2.4" dur="4.4">How are you? I am fine.</text></transcript>'], ids=["SRT", "YouTube"])
def test_captions_that_stay_while_the_next_is_said_keep_the_order_of_words(text, tmp_path):
    assert punctuated(tmp_path, text, "--to=text") == "Yes, we do that. Good morning. How are you? I am fine.\n"
    rows = [line.split() for line in punctuated(tmp_path, text, "--to=ctm").splitlines()]
    begins, lengths = np.array([[float(row[2]), float(row[3])] for row in rows]).T
    np.testing.assert_allclose((begins + lengths)[[5, 11]], [2.4, 6.8])
    np.testing.assert_allclose(begins[[0, 6]], [0.16, 2.4])


def test_ctm_ids_have_no_blanks_of_file_names(tmp_path):
    assert punctuated(tmp_path, srt("yes"), "--to=ctm", name="my\ttalk\n1").startswith("my_talk_1 1 0.00 2.00 ")


def test_impossible_times_of_cues_make_valid_subtitles(tmp_path):
    text = "1\n-00:00:01,000 --> 00:00:03,000\nYes, we do.\n\n2\n00:00:09,000 --> 00:00:08,500\nWhy? I am fine.\n"
    first, second = punctuated(tmp_path, text, "--to=vtt").removeprefix("WEBVTT\n\n").split("\n\n")
    assert first == "00:00:00.000 --> 00:00:03.000\nYes, we do."
    assert second == "00:00:09.000 --> 00:00:10.000\nWhy? I am fine.\n"
    assert punctuated(tmp_path, text, "--to=ctm").startswith("in 1 0.00 ")


@pytest.mark.parametrize("name", ["Whisper", "SRT", "WebVTT", "TextGrid"])
def test_no_words(name, tmp_path, caplog):
    text = {"Whisper": '{"text": "", "segments": [], "language": "en"}', "WebVTT": "WEBVTT\n",
            "SRT": "1\n00:00:01,000 --> 00:00:02,000\n\n",
            "TextGrid": MAKERS["TextGrid"]([[("sil", 0, 1)]])}[name]
    assert punctuated(tmp_path, text) == text
    assert " without words" in caplog.text
    assert punctuated(tmp_path, text, "--to=vtt") == "WEBVTT\n"


@pytest.mark.parametrize(("text", "options", "said"), [
    ('{"segments": [{"words": [{"word": "a"', (), "in:1: the JSON is cut short: "),
    ("a\nb \xff".encode("latin-1"), (), "in:2: not UTF-8; convert it"),
    ("r 1 0 1 a\nr 1 x 1 b\n", (), "in:2: the begin 'x' is not a number; write a number, such as 1.25"),
    ("r 1 0 1 a\nr 1 nan 1 b\n", (), "in:2: the begin 'nan' is not a number; write a number, such as 1.25"),
    ("r 1 0 1 a\nr 1 0\n", (), "in:2: 3 columns; write: id channel begin duration word"),
    ("", (), "in: the file is empty; "),
    ("how are you", ("--to=srt",), "no times for --to srt; use --to text"),
    ("a 1 0 1 x\nb 1 0 1 y\n", ("--to=vtt",), "2 recordings, but --to vtt writes one; give a Kaldi data directory"),
    ("x", ("--marks=all",), "--marks all; choose from auto keep replace"), ("x", ("--format=srt",), "--format srt"),
    ("x", ("--to=sr",), "--to sr; did you mean srt?"), ("x", ("--nj=0",), "--nj=0 is out of range; give 1 or more"),
    ("x", ("--jobs=2",), "--jobs with a file; leave it out"),
    ("x", ("--ctm=x",), "--ctm with a file; leave it out")])
def test_errors_are_one_line_and_write_nothing(text, options, said, tmp_path, capsys):
    (tmp_path / "out").write_text("old")
    assert punctuated(tmp_path, text, *options) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert (tmp_path / "out").read_text() == "old"


def test_out_is_in_and_options_of_files_with_a_directory(tmp_path, capsys):
    assert punctuated(tmp_path, "how are you", out="in") == 1
    (tmp_path / "data").mkdir()
    assert main(["transcript", "--to=srt", "en", str(tmp_path / "data"), str(tmp_path / "out")]) == 1
    assert main(["transcript", "en", str(tmp_path / "none"), str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "the output file is also an input file; give another output" in error
    assert "--to with a data directory; leave it out" in error
    assert "none: no such file" in error


def test_several_files_go_into_a_directory_and_a_broken_one_stops_no_other(tmp_path, capsys):
    files = {"a.txt": "how are you", "b.srt": srt("how are you"), "c.json": '{"a":', "d.txt": "thank you"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "a.txt").write_text("other")
    paths = [str(tmp_path / name) for name in files]
    out = tmp_path / "marked" / "en"
    assert main(["transcript", "en", *paths[:2], str(out)]) == 0
    assert {path.name: path.read_text() for path in out.iterdir()} == {
        "a.txt": "How are you?", "b.srt": srt("How are you?")}
    capsys.readouterr()
    assert main(["transcript", "en", *paths, "--to=paragraphs", str(tmp_path / "text")]) == 1
    error = capsys.readouterr().err
    assert "c.json:1: the JSON is cut short" in error
    assert "text: 1 of 4 files were not punctuated" in error
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == ["a.txt", "b.txt", "d.txt"]
    for inputs, where, said in (
            ((*paths[:1], str(tmp_path / "same" / "a.txt")), "two", "two input files have this name"),
            (paths[:2], ".", "the output file is also an input file"),
            ((paths[0], str(tmp_path / "same")), "two", "give a directory alone"),
            (paths[:2], "d.txt", "not a directory")):
        assert main(["transcript", "en", *inputs, str(tmp_path / where)]) == 1
        assert said in capsys.readouterr().err
    assert not (tmp_path / "two").exists()
    assert {name: (tmp_path / name).read_text() for name in files} == files


def test_a_long_word_and_many_words(tmp_path):
    text = f"how are {'x' * 1_000_000} you " + "yes " * 3000
    assert len(punctuated(tmp_path, text).split()) == 3004


def test_jobs_of_one_file_give_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("punc.decoding.spans.GROUP", 500)
    text = " ".join(SPOKEN_WORDS * 1500)
    cut = punctuated(tmp_path, text, "--nj=1")
    monkeypatch.undo()
    assert punctuated(tmp_path, text) == cut
