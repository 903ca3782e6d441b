"""`punc transcript` on files of recognisers, with the model that ships: the same file with marks, or another format."""

import json
import re

import pytest
from test_asr_formats import MAKERS, document

from punc.bin.main import main
from punc.decoding.document_output import WRITERS

WORDS = "how are you i am fine thank you".split()  # noqa: SIM905
TIMED = [[(word, 0.3 * n, 0.3 * n + 0.25) for n, word in enumerate(WORDS[:3])],
         [(word, 2 + 0.3 * n, 2.25 + 0.3 * n) for n, word in enumerate(WORDS[3:])]]
SAID = "How are you? I am fine. Thank you."


def run(tmp_path, text, *options, model="en", out="out", name="in"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    status = main(["transcript", *options, model, str(tmp_path / name), str(tmp_path / out)])
    return status or (tmp_path / out).read_bytes().decode()


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("model", ["en", "en-live"])
def test_same_format_only_marks_and_capitals_change(name, model, tmp_path):
    text = MAKERS[name](TIMED)
    found = run(tmp_path, text, "--probabilities=false", model=model)
    assert " ".join(document(found).pieces) == SAID
    assert re.sub("[,.?]", "", found).lower() == re.sub("[,.?]", "", text).lower()
    again = run(tmp_path, found, "--probabilities=false", model=model)
    assert again == found, "a file with marks gets the same ones"
    assert run(tmp_path, found, "--keep-marks=true", "--probabilities=false", model=model) == found


@pytest.mark.parametrize("name", ["whisper", "whisperx", "vosk"])
def test_json_has_the_probability_of_each_label(name, tmp_path):
    found = run(tmp_path, MAKERS[name](TIMED), name="talk.json")
    values = [float(value) for value in re.findall(r'"label_probability": ([\d.]+)', found)]
    assert len(values) == 8
    assert all(0.1 < value <= 1 for value in values)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("name", ["whisper", "ctm", "srt"])
def test_other_formats_have_all_words(name, form, tmp_path):
    found = run(tmp_path, MAKERS[name](TIMED), f"--to={form}")
    if form == "paragraphs":
        assert found == "How are you?\n\nI am fine. Thank you.\n" or found == f"{SAID}\n"
    elif form == "json":
        assert [word["word"] for one in json.loads(found)["segments"] for word in one["words"]] == [
            f" {word}" for word in SAID.split()]
    assert " ".join(document(found).pieces) == SAID


@pytest.mark.parametrize(("name", "out", "form"), [
    ("a.json", "b.srt", "srt"), ("a.json", "b.VTT", "webvtt"), ("a.json", "b.txt", "text"), ("a.json", "b.ctm", "ctm"),
    ("a.json", "b.json", "vosk"), ("a", "b.json", "vosk"), ("a.txt", "b.txt", "vosk"), ("a.json", "b", "vosk")])
def test_the_name_of_out_says_the_format(name, out, form, tmp_path):
    assert document(run(tmp_path, MAKERS["vosk"](TIMED), name=name, out=out)).format == form


def test_marks_that_are_there(tmp_path):
    said = "Hello,", "how", "are", "you?", "I'm", "fine,", "thanks."
    text = "".join(f"r 1 {0.4 * n:.1f} 0.3 {word}\n" for n, word in enumerate(said))
    found = run(tmp_path, text)
    assert not re.search("[,.?]{2}", found)
    assert re.sub("[,.?]", "", found).lower() == re.sub("[,.?]", "", text).lower()
    kept = run(tmp_path, text.replace("fine,", "fine!"), "--keep-marks=true")
    assert " ".join(line.split()[4] for line in kept.splitlines()) == "Hello, how are you? I'm fine! Thanks."


def test_order_of_lines_and_times_that_go_back(tmp_path, caplog):
    text = '{"segments": [{"words": [{"word": "how", "start": 3, "end": 2}, {"word": "are", "start": 1, "end": 1.5}]}]}'
    found = run(tmp_path, text, "--probabilities=false")
    assert re.sub("[,.?]", "", found).lower() == re.sub("[,.?]", "", text).lower()
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "1 words end before they begin; pauses there are 0, and the times stay" in said
    assert "1 words begin before the word before; " in said


@pytest.mark.parametrize("name", ["whisper", "srt", "webvtt", "textgrid"])
def test_no_words(name, tmp_path, caplog):
    text = {"whisper": '{"text": "", "segments": [], "language": "en"}', "webvtt": "WEBVTT\n",
            "srt": "1\n00:00:01,000 --> 00:00:02,000\n\n",
            "textgrid": MAKERS["textgrid"]([[("sil", 0, 1)]])}[name]
    assert run(tmp_path, text) == text
    assert f"{name} without words" in caplog.text
    assert run(tmp_path, text, "--to=vtt") == "WEBVTT\n"


@pytest.mark.parametrize(("text", "options", "said"), [
    ('{"segments": [{"words": [{"word": "a"', (), "in:1: the JSON is cut short at byte "),
    ("a\nb \xff".encode("latin-1"), (), "in:2: not UTF-8; convert it"),
    ("r 1 0 1 a\nr 1 x 1 b\n", (), "in:2: the begin 'x' is not a number; write one"),
    ("r 1 0 1 a\nr 1 nan 1 b\n", (), "in:2: the begin 'nan' is not a number; write one"),
    ("r 1 0 1 a\nr 1 0\n", (), "in:2: 3 columns; write: id channel begin duration word"),
    ("", (), "in: the file is empty; "),
    ("how are you", ("--to=srt",), "no times for --to srt; use --to text"),
    ("a 1 0 1 x\nb 1 0 1 y\n", ("--to=vtt",), "2 recordings, but --to vtt writes one; give a Kaldi data directory"),
    ("x", ("--to=sr",), "--to sr; did you mean srt?"), ("x", ("--nj=0",), "--nj=0 is too small"),
    ("x", ("--lowercase=true",), "--lowercase with a file; leave it out"),
    ("x", ("--ctm=x",), "--ctm with a file; leave it out")])
def test_errors_are_one_line_and_write_nothing(text, options, said, tmp_path, capsys):
    (tmp_path / "out").write_text("old")
    assert run(tmp_path, text, *options) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert (tmp_path / "out").read_text() == "old"


def test_out_is_in_and_options_of_files_with_a_directory(tmp_path, capsys):
    assert run(tmp_path, "how are you", out="in") == 1
    (tmp_path / "data").mkdir()
    assert main(["transcript", "--to=srt", "en", str(tmp_path / "data"), str(tmp_path / "out")]) == 1
    assert main(["transcript", "en", str(tmp_path / "none"), str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "OUT is IN; name another OUT" in error
    assert "--to with a data directory; leave it out" in error
    assert "none: no such file" in error


def test_a_long_word_and_many_words(tmp_path):
    text = f"how are {'x' * 1_000_000} you " + "yes " * 3000
    assert len(run(tmp_path, text).split()) == 3004


def test_jobs_of_one_file_give_the_same(tmp_path, monkeypatch):
    """The labels do not depend on how a long stream is cut for processes."""
    monkeypatch.setattr("punc.decoding.spans.GROUP", 500)
    text = " ".join(WORDS * 1500)
    cut = run(tmp_path, text, "--nj=1")
    monkeypatch.undo()
    assert run(tmp_path, text) == cut
