"""`punc project`: labels are projected stream by stream and cut into utterances again; copied files; invalid input."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.project import Projection, project, project_stream

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
NAMES = {"": "O", ",": "COMMA", ".": "PERIOD", "?": "QUESTION"}


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    return LabelSet.read(tmp_path / "labels.txt")


def utterance(name, text, labelled=True):
    words = [word.rstrip(",.?") for word in text.split()]
    marks = [NAMES[word[len(bare):]] for word, bare in zip(text.split(), words)]
    return Utterance(name, name.split("-")[0], words, marks if labelled else None)


@pytest.fixture
def directories(tmp_path):
    write_data_dir(tmp_path / "ref", [
        utterance("a-1", "so we went home."), utterance("a-2", "why, um. then? yes, he did."),
        utterance("b-1", "um, no.")])
    write_data_dir(tmp_path / "hyp", [
        utterance("a-1", "so we", False), utterance("a-2", "went the home why then yes", False),
        utterance("a-3", "he", False), utterance("b-1", "no", False)])
    return tmp_path / "ref", tmp_path / "hyp", tmp_path / "out"


def punct(path):
    return {u.id: " ".join(u.labels) for u in DataDir(path).utterances()}


def test_project_aligns_streams_and_cuts_back(directories, labels):
    done = project(*directories, labels)
    # In a, "the" is inserted, and "um" and "did" are deleted. The marks of a are `. , . ? , .`; those of b are `, .`.
    assert punct(directories[2]) == {"a-1": "O O", "a-2": "O O PERIOD PERIOD QUESTION COMMA",
                                     "a-3": "PERIOD", "b-1": "PERIOD"}
    assert done == Projection(streams=2, words=12, errors=4, marks=8, moved=2, merged=1, lost=1)
    assert done.wer == pytest.approx(4 / 12)


def test_project_ignores_case_and_how_letters_are_composed(directories, labels):
    ref, hyp, out = directories
    write_data_dir(ref, [utterance("a-1", "so, naïve is it? yes.")])
    write_data_dir(hyp, [utterance("a-1", "SO NAI\u0308VE IS IT YES", False)])
    assert project(ref, hyp, out, labels).errors == 0
    assert punct(out) == {"a-1": "COMMA O O QUESTION PERIOD"}
    assert (out / "text").read_bytes() == (hyp / "text").read_bytes()


def test_project_copies_files_except_those_of_other_labels(directories, labels):
    ref, hyp, out = directories
    words = [Utterance(u.id, u.stream, u.words, ["COMMA"] * len(u.words), np.full(len(u.words), 0.5, np.float32))
             for u in DataDir(hyp).utterances()]
    write_data_dir(hyp, words)
    (hyp / "wav.scp").write_text("a a.wav\nb b.wav\n")
    (hyp / "text_punct").write_text("a-1 so, we,\n")
    (hyp / ".hidden").write_text("of another program\n")
    (hyp / "split2").mkdir()
    project(ref, hyp, out, labels)
    assert (out / "wav.scp").read_bytes() == (hyp / "wav.scp").read_bytes()
    assert (out / "text").read_bytes() == (hyp / "text").read_bytes()
    assert sorted(file.name for file in out.iterdir()) == [
        "pauses.scp", "punct", "punct.labels", "spk2utt", "text", "utt2spk", "wav.scp"]
    result = list(DataDir(out).utterances())
    assert result[0].labels == ["O", "O"]
    assert result[0].pauses.tolist() == [0.5, 0.5]


def test_project_does_not_read_the_labels_before(directories, labels):
    ref, hyp, out = directories
    (hyp / "punct").write_text("a-1 NONE\n")  # too few labels; NONE is not in the label set
    project(ref, hyp, out, labels)
    assert punct(out)["b-1"] == "PERIOD"


@pytest.mark.parametrize(("ref", "hyp", "projected", "counts"), [
    ("so um, went.", "so went", [1, 2], (1, 3, 1, 2, 1, 0, 0)),  # the comma of `um` moves to the first slot
    ("um, so went.", "so went", [0, 2], (1, 3, 1, 2, 0, 0, 1)),
    ("so, um. went", "so went", [2, 0], (1, 3, 1, 2, 1, 1, 0)),
    ("so? went.", "", [], (1, 2, 2, 2, 0, 0, 2)),
    ("", "so went", [0, 0], (1, 0, 2, 0, 0, 0, 0)),
])
def test_project_stream_counts_each_mark(labels, ref, hyp, projected, counts):
    found = project_stream([utterance("a-1", ref)], [utterance("a-1", hyp, False)], labels, "ref")
    assert (found[0].tolist(), found[1]) == (projected, counts)


def test_project_labels_of_another_set_raises(directories, labels):
    ref, _, out = directories
    (ref / "punct.labels").write_text(LABELS.replace("w? ?", "w! !"))
    with pytest.raises(InputError, match=r"punct\.labels: label 'QUESTION' is written w! here"):
        project(*directories, labels)
    assert not out.exists()


def test_project_recordings_in_time_order(tmp_path, labels):
    write_data_dir(tmp_path / "ref", [utterance("a-1", "one, two. three? four.")])
    write_data_dir(tmp_path / "hyp", [utterance("x-1", "three four", False), utterance("x-2", "one two", False)])
    (tmp_path / "hyp" / "segments").write_text("x-1 a 5.0 9.0\nx-2 a 0.0 5.0\n")
    done = project(tmp_path / "ref", tmp_path / "hyp", tmp_path / "out", labels)
    assert (tmp_path / "out" / "punct").read_text() == "x-1 QUESTION PERIOD\nx-2 COMMA PERIOD\n"
    assert done.errors == 0


@pytest.mark.parametrize(("side", "lacking"), [("ref", "hyp"), ("hyp", "ref")])
def test_project_missing_stream_raises(tmp_path, directories, labels, side, lacking):
    for name in ("0-1", "aa-1", "z-1"):
        utterances = [u for u in DataDir(tmp_path / side).utterances() if u.id in ("a-1", "a-2", "a-3", "b-1")]
        more = utterance(name, "well.", side == "ref")
        write_data_dir(tmp_path / side, sorted([*utterances, more], key=lambda u: u.id))
        with pytest.raises(InputError) as error:
            project(*directories, labels)
        assert f"/{lacking}: no stream '{name.split('-')[0]}', which {tmp_path / side} has" in str(error.value)
        assert "\n" not in str(error.value)
        assert not directories[2].exists()


def test_project_bad_input_keeps_output(tmp_path, directories, labels, capsys):
    ref, hyp, out = directories
    project(ref, hyp, out, labels)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    arguments = ["project", "--labels", f"{tmp_path / 'labels.txt'}", f"{ref}", f"{hyp}", f"{out}"]
    good = (ref / "punct").read_text()
    for bad, message in ((good.replace("QUESTION", "COLON"), "ref/punct: utterance 'a-2' has label 'COLON'"),
                         (good.replace(" QUESTION", ""), "ref/punct:2: 'a-2' has 6 words"),
                         (None, "ref/punct: no such file")):
        if bad is None:
            (ref / "punct").unlink()
        else:
            (ref / "punct").write_text(bad)
        assert main(arguments) == 1
        printed = capsys.readouterr().err
        assert printed.startswith("punc project: ")
        assert message in printed
        assert printed.count("\n") == 1
        assert {file.name: file.read_bytes() for file in out.iterdir()} == before
        assert not list(tmp_path.glob(".*"))


def test_project_command_prints_one_line(tmp_path, directories, labels, capsys):
    ref, hyp, out = directories
    assert main(["project", f"--labels={tmp_path / 'labels.txt'}", f"{ref}", f"{hyp}", f"{out}"]) == 0
    assert capsys.readouterr().err == ("punc project: 2 streams, 12 reference words, WER 33.33 %; "
                                       "8 marks: 2 moved, 1 merged, 1 lost\n")


def test_project_removes_files_about_the_labels_before(directories, labels):
    out = directories[2]
    out.mkdir()
    for name in ("text_punct", "ctm_punct", "post.scp"):
        (out / name).write_text("of other labels\n")
    project(*directories, labels)
    assert sorted(file.name for file in out.iterdir()) == ["punct", "punct.labels", "spk2utt", "text", "utt2spk"]
