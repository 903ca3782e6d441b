"""Rolling captions: a line is read where it is said, and written wherever it is shown."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.asr.document import Source, write_document
from punc.asr.formats import srt, webvtt

# The lines of a real track, as YouTube's automatic captions have them: said with times of words, held, and shown again.
SAID = ["so<00:00:00.480><c> it</c><00:00:00.640><c> begins</c>",
        "as<00:00:02.480><c> it</c><00:00:02.800><c> must</c>",
        "does<00:00:04.880><c> it</c><00:00:05.000><c> end</c>"]
WORDS = st.sampled_from(["no", "so", "it's", "R&B", "<b", "["])
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=2, max_size=8)


def clock(seconds, comma):
    return f"00:{seconds // 60:02.0f}:{seconds % 60:06.3f}".replace(".", comma)


def cues(texts, module, gap=0.0):
    """A file of cues, three seconds each."""
    comma = "," if module is srt else "."
    return ("" if module is srt else "WEBVTT\nKind: captions\n\n") + "".join(
        f"{number}\n{clock(3 * number, comma)} --> {clock(3 * number + 3 - gap, comma)}\n{text}\n\n"
        for number, text in enumerate(texts))


def youtube(said, shown):
    """Each line as it is said, held, and above the next one; a line of a blank is where nothing is shown."""
    texts = [f" \n{said[0]}"]
    for before, line in zip(shown, said[1:]):
        texts += [f"{before}\n ", f"{before}\n{line}"]
    return [*texts, f"{shown[-1]}\n "]


def television(lines):
    """Three lines at a time, with the newest below."""
    return ["\n".join(lines[max(0, i - 2):i + 1]) for i in range(len(lines))]


def read(text, module):
    return module.read(Source("file", text.encode(), "utf-8", False))


def written(document, texts):
    file = io.BytesIO()
    write_document(file, document, texts)
    return file.getvalue().decode()


def test_youtube_words_are_read_once_and_written_everywhere(caplog):
    caplog.set_level("INFO")
    shown = ["so it begins", "as it must", "does it end"]
    text = cues(youtube(SAID, shown), webvtt)
    document = read(text, webvtt)
    assert document.pieces == " ".join(shown).split()
    assert [record.getMessage() for record in caplog.records] == [
        "file: rolling captions: 5 lines that are shown again are read once"]
    assert document.begins[[0, 1, 2, 3, 4]].tolist() == [0, 0.48, 0.64, 6, 2.48]  # a cue's begin, or a word's own
    assert document.ends[[2, 5, 8]].tolist() == [3, 9, 15]
    expected = text.replace("so", "So").replace("must", "must.").replace("does", "Does").replace("end", "end?")
    assert written(document, ["So", "it", "begins", "as", "it", "must.", "Does", "it", "end?"]) == expected
    assert written(document, document.pieces) == text


@pytest.mark.parametrize("module", [srt, webvtt])
@pytest.mark.parametrize("shape", [television, lambda lines: youtube(lines, lines)])
@given(LINES)
def test_rolling_lines_are_those_said(module, shape, lines):
    """Words that differ in each line, so that no line is said twice."""
    lines = [" ".join(f"{word}{number}" for word in line.split()) for number, line in enumerate(lines)]
    shown = [line.replace("&", "&amp;").replace("<", "&lt;") if module is webvtt else line for line in lines]
    text = cues(shape(shown), module)
    document = read(text, module)
    said = " ".join(lines).split()
    repeating = sum(cue.split("\n")[0].strip() in shown for cue in shape(shown)[1:])
    if repeating < 3:
        assert len(document.copies.starts) == 0
        return
    assert document.pieces == said
    new = [f"{word}," for word in said]
    everywhere = text
    for line in shown:
        everywhere = everywhere.replace(line, " ".join(f"{word}," for word in line.split()))
    assert written(document, new) == everywhere
    assert np.array_equal(document.starts, np.sort(document.starts))


@pytest.mark.parametrize("texts", [
    ["no", "no", "no", "yes", "so it is", "well", "if you say so"],  # people say it again
    ["no", "no", "no"], ["a", "b", "c", "d"], ["a\nb", "a\nc", "a\nd", "a\ne"], ["", "", "", ""]])
@pytest.mark.parametrize("module", [srt, webvtt])
def test_captions_that_do_not_roll(module, texts):
    document = read(cues(texts, module), module)
    assert document.pieces == " ".join(texts).split()
    assert len(document.copies.starts) == 0


def test_lines_said_again_after_a_silence_are_words():
    texts = television(["a b", "c d", "e f", "g h"])
    assert read(cues(texts, srt), srt).pieces == list("abcdefgh")
    assert read(cues(texts, srt, gap=0.2), srt).pieces == " ".join(texts).split()


def test_a_line_whose_word_is_divided_stays_as_it_is():
    texts = television(["so it", "<i>be</i>gins", "as it", "must end"])
    document = read(cues(texts, srt), srt)
    assert document.pieces == ["so", "it", "be", "gins", "as", "it", "must", "end"]
    out = written(document, ["So", "it", "be", "gins,", "as", "it", "must", "end."])
    assert out == cues(television(["So it", "<i>be</i>gins", "as it", "must end."]), srt).replace(
        "<i>be</i>gins", "<i>be</i>gins,", 1)


def test_speakers_names_are_no_words():
    document = read(cues(television(["JOHN: so it is", "ANN: it is", "why", "no"]), srt), srt)
    assert document.pieces == ["so", "it", "is", "it", "is", "why", "no"]
    assert written(document, [word.upper() for word in document.pieces]) == cues(
        television(["JOHN: SO IT IS", "ANN: IT IS", "WHY", "NO"]), srt)
