"""Pauses from word times: exact values, words without times, channels, quartiles by label, and `punc pauses`."""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.timing import pauses as pauses_module
from punc.timing.pauses import Channels, TimedWord, Timing, read_channels, slot_pauses, stream_pauses, write_pauses
from punc.transcripts.read import word_times

NAN = np.nan


def timing(words: str, times: str, end: float | None = None) -> Timing:
    rows = []
    for word, time in zip(words.split(), times.split(), strict=True):
        begin, stop = map(float, time.split("-"))
        rows.append(TimedWord("id", "1", begin, stop - begin, word))
    return Timing(rows, end, "ctm", 7)


def sources(**timings):
    return {id.replace("_", "-"): (lambda one=one, **options: one) for id, one in timings.items()}


def pauses_of(utterances, of, channels=(), counts=None) -> list[np.ndarray]:
    return stream_pauses(utterances, of, Channels(channels), Counter() if counts is None else counts)


def one_stream(words: str, of: Timing, **options) -> np.ndarray:
    return pauses_of([Utterance("u", "s", words.split())], sources(s=of), **options)[0]


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 3000)), min_size=1, max_size=50))
def test_slot_pauses_closed_form(gaps_and_durations):
    rows, time = [], 0
    for gap, duration in gaps_and_durations:
        rows.append(((time + gap) / 1000, (time + gap + duration) / 1000))
        time += gap + duration
    pauses = slot_pauses(np.array(rows), np.arange(len(rows)), end=(time + 500) / 1000)
    expected = [gap / 1000 for gap, _ in gaps_and_durations[1:]] + [0.5]
    assert_array_equal(pauses, np.float32(expected))


def test_slot_pauses_no_words():
    assert len(slot_pauses(np.zeros((0, 2)), np.zeros(0, int))) == 0
    assert len(slot_pauses(np.zeros((0, 2)), np.zeros(0, int), end=1.0)) == 0


def test_stream_pauses_last_word_needs_an_end():
    of = timing("a b", "0-1 1.25-2")
    assert_array_equal(one_stream("a b", of), np.float32([0.25, NAN]))
    assert_array_equal(one_stream("a b", of._replace(end=2.5)), np.float32([0.25, 0.5]))


def test_stream_pauses_floor_and_exact_zero():
    pauses = one_stream("a b c d", timing("a b c d", "0-0.5 0.4-1 0.9-1.2 1.2-2"))
    assert_array_equal(pauses, np.float32([0, 0, 0, NAN]))
    assert one_stream("a b", timing("a b", "0.1-0.30000000000000004 0.3-1"))[0] == 0


def test_stream_pauses_match_by_alignment():
    of = timing("uh so we go", "0-1 1.5-2 2.25-3 4-5")
    assert_array_equal(one_stream("so we go", of), np.float32([0.25, 1, NAN]))


def test_stream_pauses_ignore_case_and_composition():
    counts = Counter()
    found = one_stream("So É go", timing("SO e\u0301 Go", "0-1 2-3 5-6"), counts=counts)
    assert_array_equal(found, np.float32([1, 2, NAN]))
    assert counts["errors"] == 0


def test_stream_pauses_untimed_word_hides_two_slots():
    pauses = one_stream("we really do go", timing("we do go", "0-1 2-3 3.5-4"))
    assert_array_equal(pauses, np.float32([NAN, NAN, 0.5, NAN]))


def test_stream_pauses_subtract_extra_words():
    """Of the 1.75 s between `we` and `go`, `um` takes 1 s, so only 0.75 s are silence."""
    assert_array_equal(one_stream("we go", timing("we um go", "0-1 1.5-2.5 2.75-3")), np.float32([0.75, NAN]))


def test_stream_pauses_substituted_words():
    of = timing("we <unk> home", "0-1 1.5-2 3-4")
    assert_array_equal(one_stream("we went home", of), np.float32([0.5, 1, NAN]))


def segments(utterances, *times):
    return [utterance._replace(stream="rec", times=one) for utterance, one in zip(utterances, times)]


UTTERANCES = [Utterance("s-1", "s", ["a", "b"]), Utterance("s-2", "s", ["c", "d"])]


def test_stream_pauses_across_utterances():
    of = timing("a b c d", "0-1 1.5-2 5-6 6-7", end=7.5)
    pauses = pauses_of(UTTERANCES, sources(s=of))
    assert_array_equal(pauses, np.float32([[0.5, 3], [0, 0.5]]))


def test_stream_pauses_of_utterances_with_segments():
    of = sources(s_1=timing("a b", "0-1 1.5-2"), s_2=timing("c d", "0.25-1 1-2"))
    pauses = pauses_of(segments(UTTERANCES, (10, 12), (15, 17)), of)
    assert_array_equal(pauses, np.float32([[0.5, 3.25], [0, NAN]]))  # 15 + 0.25 - 12


def test_stream_pauses_of_utterances_without_segments():
    of = sources(s_1=timing("a b", "0-1 1.5-2", end=2.5), s_2=timing("c d", "0.25-1 1-2"))
    assert_array_equal(pauses_of(UTTERANCES, of), np.float32([[0.5, NAN], [0, NAN]]))
    assert_array_equal(pauses_of(UTTERANCES[:1], of), np.float32([[0.5, 0.5]]))  # a stream of one utterance


def test_stream_pauses_overlapping_utterances():
    of = sources(s_1=timing("a b", "0-1 1.5-2"), s_2=timing("c d", "0-1 1-2"))
    pauses = pauses_of(segments(UTTERANCES, (10, 12), (11, 13)), of)
    assert_array_equal(pauses, np.float32([[0.5, 0], [0, NAN]]))


def test_stream_pauses_utterance_without_times():
    counts = Counter()
    pauses = pauses_of(segments(UTTERANCES, (10, 12), (15, 17)), sources(s_1=timing("a b", "0-1 1.5-2")), counts=counts)
    assert_array_equal(pauses, np.float32([[0.5, NAN], [NAN, NAN]]))
    assert counts == {"slots": 4, "known": 1, "next_to_untimed": 3, "untimed": 2, "ends": 0, "extra": 0, "missing": 1,
                      "errors": 2}


def test_stream_pauses_counts():
    counts = Counter()
    one_stream("we really do go", timing("uh we do go", "0-0.5 0.5-1 2-3 3.5-4"), counts=counts)
    assert counts == {"slots": 4, "known": 1, "next_to_untimed": 2, "untimed": 1, "ends": 1, "extra": 1, "errors": 2}


def test_stream_pauses_absolute_times_under_utterance_ids():
    of = sources(s_1=timing("a b", "10-11 11-12"))
    with pytest.raises(InputError, match=r"ctm:7: the times of 's-1' go up to 12.00 s, but it is 2.00 s long; give"):
        pauses_of(segments(UTTERANCES, (10, 12)), of)


def test_stream_pauses_file_and_channel(tmp_path):
    (tmp_path / "ctm").write_text("call A 0 1 a\ncall A 2 1 b\ncall B 0 1 a\ncall B 5 1 b\n")
    (tmp_path / "reco2file_and_channel").write_text("call-l call A\ncall-r call B\n")
    channels, times = read_channels(tmp_path / "reco2file_and_channel"), word_times(tmp_path / "ctm")
    for recording, pause in (("call-l", 1), ("call-r", 4)):
        pauses = pauses_of([Utterance("u", recording, ["a", "b"])], times, channels)
        assert_array_equal(pauses, np.float32([[pause, NAN]]))


@pytest.mark.parametrize("channel", ["A", "B"])
def test_stream_pauses_channel_without_words(tmp_path, channel):
    """A recording whose channel has no words does not get the times of the other channel."""
    (tmp_path / "ctm").write_text(f"call {channel} 0 1 a\ncall {channel} 2 1 b\n")
    (tmp_path / "reco2file_and_channel").write_text("call-l call A\ncall-r call B\n")
    channels, times = read_channels(tmp_path / "reco2file_and_channel"), word_times(tmp_path / "ctm")
    found = [pauses_of([Utterance("u", recording, ["a", "b"])], times, channels) for recording in ("call-l", "call-r")]
    timed = channel == "B"
    assert_array_equal(found[timed], np.float32([[1, NAN]]))
    assert_array_equal(found[not timed], np.float32([[NAN, NAN]]))
    (tmp_path / "ctm").write_text("call 1 0 1 a\ncall 1 2 1 b\n")
    with pytest.raises(InputError, match=r"ctm:1: 'call' has channels 1 under one id; name the channel"):
        pauses_of([Utterance("u", "call-l", ["a", "b"])], word_times(tmp_path / "ctm"), channels)


def test_stream_pauses_channel_without_words_in_a_textgrid(tmp_path):
    tier = '"IntervalTier"\n"{} - words"\n0\n3\n3\n0\n1\n"a"\n1\n2\n""\n2\n3\n"b"\n'
    head = 'File type = "ooTextFile"\n"TextGrid"\n\n0\n3\n<exists>\n2\n'
    (tmp_path / "call.TextGrid").write_text(head + tier.format("A") + tier.format("C"))
    (tmp_path / "reco2file_and_channel").write_text("call-l call A\ncall-r call B\n")
    channels, times = read_channels(tmp_path / "reco2file_and_channel"), word_times(tmp_path)
    for recording, pauses in (("call-l", [1, 0]), ("call-r", [NAN, NAN])):
        assert_array_equal(pauses_of([Utterance("u", recording, ["a", "b"])], times, channels), np.float32([pauses]))


def test_stream_pauses_words_may_end_a_second_after_their_utterance():
    of = sources(s_1=timing("a b c", "0-1 1.5-2 2.5-3"))
    three = [Utterance("s-1", "rec", ["a", "b", "c"], times=(10, 12))]
    assert_array_equal(pauses_of(three, of)[0], np.float32([0.5, 0.5, NAN]))
    of = sources(s_1=timing("a b c", "0-1 1.5-2 2.5-3.01"))
    with pytest.raises(InputError, match=r"ctm:7: the times of 's-1' go up to 3.01 s, but it is 2.00 s long; give"):
        pauses_of(three, of)


def test_slot_pauses_have_microseconds():
    found = slot_pauses(np.array([[0, 1], [1.1234567, 2], [2, 3]]), np.arange(3))
    assert_array_equal(found, np.float32([0.123457, 0, NAN]))


def test_read_channels_of_two_recordings_in_one_channel(tmp_path):
    (tmp_path / "r").write_text("a file A\nb file B\nc file A\n")
    with pytest.raises(InputError, match=r"r:3: 'a' and 'c' have the same file and channel; give each its own file"):
        read_channels(tmp_path / "r")


def test_read_channels_bad_line(tmp_path):
    (tmp_path / "r").write_text("a a A\nb b\n")
    with pytest.raises(InputError, match="r:2: 'b' does not have a file and a channel; write: RECORDING FILE CHANNEL"):
        read_channels(tmp_path / "r")


floats = st.floats(0, 1000, width=32) | st.just(NAN)


def test_write_pauses_archive_before_index(tmp_path, monkeypatch):
    """A run that is killed between writing pauses.ark and pauses.scp must not look finished."""
    (tmp_path / "text").write_text("utt a b\n")
    replace, placed = os.replace, []
    monkeypatch.setattr(os, "replace", lambda source, target: (placed.append(target.name), replace(source, target)))
    write_pauses(tmp_path, [("utt", np.array([0.5, NAN]))])
    assert placed[-2:] == ["pauses.ark", "pauses.scp"]


def test_pauses_by_label():
    found = pauses_module.pauses_by_label([
        Utterance("a-1", "a", [*"xyz"], ["O", "COMMA", "O"], np.float32([0, 0.25, NAN])),
        Utterance("a-2", "a", [*"xy"], ["O", "PERIOD"], np.float32([1, NAN]))])
    assert list(found) == ["O", "COMMA", "PERIOD"]
    assert_allclose(found["O"], [0, NAN, 1])
    assert_allclose(found["COMMA"], [0.25])
    assert_allclose(found["PERIOD"], [NAN])


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.mkdir()
    for name, content in {
        "text": "spk-1 so far\nspk-2 so good\n", "punct": "spk-1 O COMMA\nspk-2 O PERIOD\n",
        "utt2spk": "spk-1 spk\nspk-2 spk\n", "spk2utt": "spk spk-1 spk-2\n",
        "segments": "spk-1 rec 1.0 3.0\nspk-2 rec 4.0 6.0\n",
    }.items():
        (path / name).write_text(content)
    return path


def pauses_in(data):
    return np.concatenate([utterance.pauses for utterance in DataDir(data).utterances()])


UTTERANCE_CTM = ("spk-1 1 0.000 0.500 so \nspk-1 1 0.500 0.500 far \n"
                 "spk-2 1 0.000 0.500 so \nspk-2 1 0.750 0.500 good \n")
RECORDING_CTM = "rec 1 1.0 0.5 so\nrec 1 1.5 0.5 far 0.9\nrec 1 4.0 0.5 so\nrec 1 4.75 0.5 good\n"


@pytest.mark.parametrize("content", [UTTERANCE_CTM, RECORDING_CTM, ";; nist\n" + RECORDING_CTM])
def test_command_with_a_ctm(data, tmp_path, capsys, content):
    (tmp_path / "ctm").write_text(content)
    for _ in range(2):  # the second run replaces the pauses of the first
        assert main(["pauses", str(data), str(tmp_path / "ctm")]) == 0
        assert_array_equal(pauses_in(data), np.float32([0, 2, 0.25, NAN]))
        out, err = capsys.readouterr()
        assert out == ""
        assert err == ("punc pauses: 4 slots, 3 known, 1 unknown, 25.0% (0 next to the 0 words without a time, 1 at "
                       "ends); WER of the timed words 0.0%; 0 utterances without times; 0 timed words not in the text; "
                       "repairs: none\n")


def test_command_prints_wer_of_the_times(data, tmp_path, capsys):
    """Two of four words are substituted, and one word is inserted."""
    (tmp_path / "ctm").write_text("rec 1 1.0 0.5 so\nrec 1 1.5 0.5 for\nrec 1 2.5 0.2 uh\nrec 1 2.8 0.2 er\n"
                                  "rec 1 4.75 0.5 good\n")
    assert main(["pauses", str(data), str(tmp_path / "ctm")]) == 0
    err = capsys.readouterr().err
    assert "4 slots, 3 known" in err
    assert "WER of the timed words 75.0%; " in err


def test_command_replaces_pauses_that_do_not_fit_any_more(data, tmp_path):
    write_pauses(data, [("spk-1", np.zeros(7)), ("spk-2", np.zeros(7))])
    (tmp_path / "ctm").write_text(RECORDING_CTM)
    assert main(["pauses", str(data), str(tmp_path / "ctm")]) == 0
    assert_array_equal(pauses_in(data), np.float32([0, 2, 0.25, NAN]))


def test_command_with_textgrids(data, tmp_path, capsys):
    grids = tmp_path / "grids" / "spk"
    grids.mkdir(parents=True)
    rows = [(0, 1, ""), (1, 1.5, "so"), (1.5, 2, "far"), (2, 4, "sp"), (4, 4.5, "so"), (4.5, 4.75, ""),
            (4.75, 5.25, "good"), (5.25, 6, "sil")]
    (grids / "rec.TextGrid").write_text(
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n6\n<exists>\n1\n"IntervalTier"\n"words"\n0\n6\n8\n'
        + "".join(f'{begin}\n{end}\n"{word}"\n' for begin, end, word in rows))
    assert main(["pauses", str(data), str(grids.parent)]) == 0
    assert_allclose(pauses_in(data), [0, 2, 0.25, 0.75])
    assert main(["pauses", "--tier=phones", str(data), str(grids.parent)]) == 1
    assert "no tier 'phones' of words; give one with --tier: 'words'" in capsys.readouterr().err


def test_command_prints_statistics(data, tmp_path, capsys):
    (tmp_path / "ctm").write_text(RECORDING_CTM)
    assert main(["pauses", "--by-label=true", str(data), str(tmp_path / "ctm")]) == 0
    assert capsys.readouterr().out == ("label slots unknown lower median upper\nCOMMA 1 0 2.000 2.000 2.000\n"
                                       "O 2 0 0.062 0.125 0.188\nPERIOD 1 1 nan nan nan\n")


def test_command_counts_repairs(data, tmp_path, capsys):
    (tmp_path / "ctm").write_text("rec 1 1.5 0.5 far\nrec 1 1.0 0.6 so\nrec 1 4.0 0.5 so\nrec 1 4.75 0.5 good\n")
    assert main(["pauses", str(data), str(tmp_path / "ctm")]) == 0
    assert "repairs: 1 lines that were not in time order, 1 overlapping words\n" in capsys.readouterr().err


@pytest.mark.parametrize(("content", "options", "message"), [
    ("rec 1 1 1 so\nrec 1 2 x far\n", [], "ctm:2: the duration 'x' is not a number; write a number, such as 1.25"),
    ("rec 1 -1 1 so\n", [], "ctm:1: the begin -1 is negative; count from the start of the recording"),
    ("rec 1 0 9 so\nrec 1 1 1 far\n", [], "ctm:2: at 1.00 s a word of 'rec' overlaps the one before by more than 1 s"),
    (UTTERANCE_CTM.replace("1 0.750", "1 5.750"), [], "ctm:3: the times of 'spk-2' go up to 6.25 s, but it is 2.00 s"),
    ("other 1 0 1 so\n", [], "ctm: no word of {data} has a time: it has utterance 'spk-1' of 'rec', but the times have "
                             "'other'; give the times the ids of the utterances or recordings"),
    ("", [], "ctm: the file has no timed words; make it again"),
    (RECORDING_CTM, ["--by-labels=true"], "unknown option --by-labels; did you mean --by-label?"),
])
def test_command_error_is_one_line_and_leaves_data(data, tmp_path, capsys, content, options, message):
    (tmp_path / "ctm").write_text(content)
    write_pauses(data, [("spk-1", np.zeros(2)), ("spk-2", np.ones(2))])
    before = {file.name: file.read_bytes() for file in data.iterdir()}
    assert main(["pauses", *options, str(data), str(tmp_path / "ctm")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("punc pauses: ")
    assert message.format(data=data) in error
    assert error.count("\n") == 1
    assert {file.name: file.read_bytes() for file in data.iterdir()} == before


def test_command_names_odd_cases_and_keeps_them(tmp_path, capsys):
    write_data_dir(tmp_path / "data", [Utterance("a-1", "a", ["so", "it", "is"]), Utterance("b-1", "b", ["no"] * 5)])
    (tmp_path / "ctm").write_text("a 1 0 1 so\na 1 3001 1 it\na 1 3003 1 is\nb 1 0 1 no\nb 1 1 1 no\n")
    assert main(["pauses", str(tmp_path / "data"), str(tmp_path / "ctm")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == ["punc pauses: 1 pauses of more than 60 s, kept: 3000.0 s after word 1 of 'a-1'",
                         "punc pauses: 1 streams with times for less than half of their words, kept with unknown "
                         "pauses: 'b'"]
    first = next(DataDir(tmp_path / "data").utterances())
    np.testing.assert_allclose(first.pauses, [3000, 1, np.nan])


def test_command_names_ids_that_the_data_does_not_have(data, tmp_path, capsys):
    (tmp_path / "ctm").write_text("lost 1 0 1 so\n" + RECORDING_CTM + "west 1 0 1 so\nwest 1 1 1 it\n")
    assert main(["pauses", str(data), str(tmp_path / "ctm")]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == [
        f"punc pauses: 2 ids of {tmp_path}/ctm that {data} does not have, left out: 'lost', 'west'"]


numbers = st.integers(0, 2**53).map(float)
