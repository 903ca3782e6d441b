"""A CTM and a Kaldi data directory: streams, recordings, speakers, pauses, and errors if they do not fit together."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.decoding.asr_input import ALL, read_ctm, read_text
from punc.timing.fast_ctm import CtmFile

SEGMENTS = "a-1 r1 0.5 2\na-2 r1 4 6\nb-1 r1 2 4\nb-2 r2 0 3\n"
SPEAKERS = "a-1 a\na-2 a\nb-1 b\nb-2 b\n"


def make(tmp_path, ctm, segments=SEGMENTS, speakers=SPEAKERS, **files):
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
    with CtmFile(tmp_path / "ctm") as file:
        return list(read_ctm(data, file, share))


def one(tmp_path, ctm, **files):
    groups = read(tmp_path, ctm, **files)
    assert len(groups) == 1
    return groups[0]


def pauses(output):
    return [None if np.isnan(pause) else round(float(pause), 4) for pause in output.pauses]


UTTERANCES = "a-1 1 0 0.5 one\na-1 1 1 0.25 two\na-2 1 0.1 0.2 five\nb-1 1 0.5 1 three\nb-1 1 1.5 0.5 four\n"


def test_read_ctm_utterances_of_segments(tmp_path):
    output = one(tmp_path, UTTERANCES)
    assert output.words == ["one", "two", "three", "four", "five"]
    assert output.timed.begins.tolist() == [0.5, 1.5, 2.5, 3.5, 4.1]
    assert pauses(output) == [0.5, 0.75, 0.0, 0.1, None]
    assert (output.streams, output.recordings) == ([5, 5], [("r1", 5), ("r2", 5)])
    assert output.lines == [("a-1", 2), ("b-1", 4), ("a-2", 5), ("b-2", 5)]
    assert output.turns.tolist() == [False, True, False, True, False]


def test_read_ctm_recordings_get_speakers_from_segments(tmp_path):
    ctm = "r1 1 0.6 0.5 one\nr1 1 1.9 0.4 two\nr1 1 5 1 three\nr1 1 6 0.5 <sil>\nr2 1 0 1 four\n"
    output = one(tmp_path, ctm)
    assert pauses(output) == [0.8, 2.7, 0.5, None]
    assert output.turns.tolist() == [True, True, True, False]
    assert (output.lines, output.recordings) == ([("r1", 3), ("r2", 4)], [("r1", 3), ("r2", 4)])
    assert output.streams == [3, 4]


def test_read_ctm_files_and_channels(tmp_path):
    ctm = "call A 0 1 one\ncall B 0.5 1 two\ncall A 1 1 three\n"
    output = one(tmp_path, ctm, reco2file_and_channel="r1 call A\nr2 call B\n")
    assert (output.words, output.recordings) == (["one", "three", "two"], [("r1", 2), ("r2", 3)])


def test_read_ctm_without_segments(tmp_path):
    output = one(tmp_path, UTTERANCES, segments="")
    assert output.words == ["one", "two", "five", "three", "four"]
    assert pauses(output) == [0.5, None, None, 0.0, None]
    assert output.streams == [3, 5]
    assert output.recordings == [("a-1", 2), ("a-2", 3), ("b-1", 5), ("b-2", 5)]
    output = one(tmp_path, "a 1 0 1 one\na 1 1 1 <eps>\n", segments="", reco2file_and_channel="a-1 a-1 1\n")
    assert (pauses(output), output.lines) == ([1.0], [("a", 1), ("b", 1)])


def test_read_ctm_each_stream_falls_to_one_job(tmp_path):
    speakers = "".join(f"s{i:02} s{i:02}\n" for i in range(20))
    ctm = "".join(f"s{i:02} 1 {j} 1 w{i}\n" for i in range(0, 20, 2) for j in range(1 + 7 * i))
    for nj in (1, 2, 3, 20, 50):
        lines, sizes = [], []
        for job in range(1, nj + 1):
            groups = read(tmp_path, ctm, Share(job, nj), segments="", speakers=speakers)
            lines += [id for group in groups for id, _ in group.lines]
            sizes.append(sum(len(group.words) for group in groups))
        assert lines == speakers.split()[::2], nj
        assert sum(sizes) == ctm.count("\n")
        if nj == 2:
            assert max(sizes) < 1.4 * min(sizes)


def test_read_text_of_a_data_directory(tmp_path):
    data = make(tmp_path, "", text="a-1 one two\na-2 five\nb-1 three\nb-2\n")
    [output] = read_text(data)
    assert output.words == ["one", "two", "three", "five"]
    assert output.lines == [("a-1", 2), ("b-1", 3), ("a-2", 4), ("b-2", 4)]
    assert (output.recordings, output.streams) == ([("r1", 4), ("r2", 4)], [4, 4])
    assert output.turns.tolist() == [False, True, True, True]
    assert output.pauses is None
    assert [group.lines for job in (1, 2) for group in read_text(data, Share(job, 2))] == [
        [("a-1", 2), ("b-1", 3), ("a-2", 4)], [("b-2", 0)]]


@pytest.mark.parametrize(("ctm", "files", "said"), [
    ("a-1 1 0 1 x\nc 1 0 1 x\n", {}, "ctm:2: 'c' is neither recording nor utterance of "),
    ("c 1 0 1 x\n", {"segments": ""}, "ctm:1: 'c' is neither utterance nor speaker of "),
    ("a-1 1 0 1 x\nr1 1 0 1 x\n", {}, "ctm:2: 'r1' is a recording, but the ids above are utterances; give all ids of"),
    ("r1 1 0 1 x\nr1 2 0 1 x\n", {}, "ctm:2: 'r1' has channels 1 and 2; name the recording of each in reco2file"),
    ("b-1 1 0 1 x\na-1 1 0 0.5 x\na-1 1 1.5 1.1 x\n", {},
     "ctm:2: 'a-1' has a word that ends at 2.60 s, but is 1.50 s long; count times from the start of the utterance"),
    ("a-1 1 0 1 x\n", {"speakers": "a-1 a\n"}, "utt2spk: no line for 'a-2', which segments has; run "),
    ("a-1 1 0 1 x\n", {"segments": "a-1 r1 0 2\n"}, "segments: no line for 'a-2', which utt2spk has; run "),
    ("a-1 1 0 1 x\n", {"segments": "a-1 r1 3 2\n"}, "segments:1: not a segment; "),
    ("a-1 1 0 1 x\n", {"reco2file_and_channel": "r1 r1\n"}, "reco2file_and_channel:1: 'r1' does not have a file"),
])
def test_read_ctm_files_that_do_not_fit_together(tmp_path, ctm, files, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, ctm, **files)
    assert said in str(error.value)


def test_read_ctm_no_data_directory(tmp_path):
    (tmp_path / "ctm").write_text("a 1 0 1 x\n")
    with CtmFile(tmp_path / "ctm") as ctm, pytest.raises(InputError, match="no such data directory; name the one"):
        next(read_ctm(tmp_path / "none", ctm))


def test_two_recordings_with_the_same_files(tmp_path):
    """The subtitles of `a/b` and of `a_b` would have one name."""
    said = r"recordings 'a/b' and 'a_b' would have the same files: a_b\.txt; rename one of them"
    with pytest.raises(InputError, match=said):
        read(tmp_path, "a/b 1 0 1 x\n", segments="", speakers="a/b a/b\na_b a_b\n")
    (tmp_path / "data/text").write_text("a/b x\na_b y\n")
    with pytest.raises(InputError, match=said):
        list(read_text(tmp_path / "data"))
    with pytest.raises(InputError, match=said):
        read(tmp_path, "u-1 1 0 1 x\n", segments="u-1 a/b 0 1\nu-2 a_b 0 1\n", speakers="u-1 u\nu-2 u\n")


def test_two_recordings_with_one_file_and_channel(tmp_path):
    with pytest.raises(InputError, match="channel:2: 'r1' and 'r2' have the same file and channel; give each its own"):
        read(tmp_path, "f A 0 1 x\n", reco2file_and_channel="r1 f A\nr2 f A\n")


def test_speaker_in_two_places(tmp_path):
    """Without segments a speaker is one stream: its words would be there twice."""
    with pytest.raises(InputError, match="utt2spk:3: speaker 'x' comes after 'y'; make speaker ids prefixes of"):
        read(tmp_path, "x 1 0 1 w\n", segments="", speakers="a x\nb y\nc x\n")
