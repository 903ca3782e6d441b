"""The slots of a set, from what was scored; recognised words against spoken ones."""

import shutil

import kaldiio
import numpy as np
import pytest
from experiment import NAMES

from punc.bin.score import main as score
from punc.data.datadir import DataDir
from punc.data.kaldi_io import read_archive
from punc.results.collect import collect_scores
from punc.results.slot_table import SlotTable, nearest, read_slot_table, recognise


def scores_of(exp, name):
    return [score for score in collect_scores(exp) if score.set == name]


@pytest.fixture
def copied(experiment, tmp_path):
    shutil.copytree(experiment.parent, tmp_path / "copy")
    return tmp_path / "copy/exp"


def test_read_slot_table_columns(experiment):
    table = read_slot_table(scores_of(experiment, "test_ref"), experiment.parent / "data")
    utterances = list(DataDir(experiment.parent / "data/test_ref").utterances())
    assert table.words == [word for one in utterances for word in one.words]
    assert [NAMES[label] for label in table.reference] == [label for one in utterances for label in one.labels]
    np.testing.assert_array_equal(table.pauses, np.concatenate([one.pauses for one in utterances]))
    assert (table.streams, table.begins.tolist()) == (["rec00", "rec01", "rec02"], [0, 80, 160, 240])
    assert table.hypotheses["A"].posteriors is None
    posteriors = table.hypotheses["B"].posteriors
    np.testing.assert_allclose(posteriors.sum(1), 1, rtol=1e-5)
    assert (posteriors.argmax(1) == table.hypotheses["B"].labels).all()
    assert table.recognition is None
    assert table.left_out == {}


def test_read_slot_table_spoken_words(experiment):
    table = read_slot_table(scores_of(experiment, "test_asr"), experiment.parent / "data", "test_ref")
    assert sorted(set(table.recognition.missing)) == [38, 77, 116, 155, 194, 233]
    assert {table.words[i] for i in table.recognition.spoken} == {"wrong"}
    assert table.recognition.wer == pytest.approx(100 * 12 / 240)


def test_read_slot_table_reference_with_other_words(copied):
    # The reference is the spoken text: the score aligns, and so does the table.
    decoded = copied / "B/decode_test_asr"
    score(["--labels", str(copied / "B/labels.txt"), "--replicates", "2", str(copied.parent / "data/test_ref"),
           str(decoded), str(decoded / "score")])
    log = copied / "B/log/score_test_asr.log"
    log.write_text("# punc score --labels exp/B/labels.txt data/test_ref exp/B/decode_test_asr X/score\n")
    table = read_slot_table(scores_of(copied, "test_asr"), copied.parent / "data")
    assert table.words[5] == "wrong"
    assert table.recognition.missing[38]


def test_read_slot_table_merged_labels(copied):
    labels = "O w\nCAP W\nCOMMA w, ,\nPERIOD w. .\n"
    decoded = copied / "B/decode_test_ref"
    (copied / "B/labels.txt").write_text(labels)
    (decoded / "post.ark").unlink()
    (decoded / "punct").write_text((decoded / "punct").read_text().replace(" O ", " CAP "))
    score(["--labels", str(copied / "B/labels.txt"), "--merge", "O=O+CAP", "--replicates", "2",
           str(copied.parent / "data/test_ref"), str(decoded), str(decoded / "score")])
    table = read_slot_table([one for one in scores_of(copied, "test_ref") if one.system == "B"], copied.parent / "data")
    assert isinstance(table, SlotTable)
    assert table.labels.names == NAMES


def test_read_slot_table_last_slot(copied):
    decoded = copied / "B/decode_test_ref"
    score(["--labels", str(copied / "B/labels.txt"), "--last-slot", "false", "--replicates", "2",
           str(copied.parent / "data/test_ref"), str(decoded), str(decoded / "score")])
    table = read_slot_table([one for one in scores_of(copied, "test_ref") if one.system == "B"], copied.parent / "data")
    assert np.flatnonzero(~table.counted).tolist() == [79, 159, 239]
    assert table.confusion("B").sum() == 237


def test_read_slot_table_leaves_out_posteriors_that_are_none(copied):
    archive = copied / "B/decode_test_ref/post.ark"
    found = dict(read_archive(archive))
    next(iter(found.values()))[0, 0] = np.nan
    kaldiio.save_ark(str(archive), found)
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert "numbers that are no posteriors" in table.left_out["B"]
    assert list(table.hypotheses) == ["A"]


def test_read_slot_table_leaves_out_posteriors_of_other_labels(copied):
    labels = copied / "B/labels.txt"
    labels.write_text(labels.read_text().replace("PERIOD w.", "POINT w#"))
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert list(table.hypotheses) == ["A"]
    assert "label 'POINT' is not one of the score's" in table.left_out["B"]


def test_read_slot_table_leaves_out_a_broken_signature(copied):
    signature = copied / "A/decode_test_ref/score/signature"
    signature.write_text(signature.read_text().replace("last-slot:true", "last-slot:treu"))
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert table.left_out["A"].startswith("'last-slot:treu' in its signature (score again")


def test_read_slot_table_leaves_out_what_was_not_scored(copied):
    punct = copied / "A/decode_test_ref/punct"
    lines = punct.read_text().splitlines()
    lines[0] = lines[0].replace(" COMMA", " PERIOD") if " COMMA" in lines[0] else lines[0].replace(" O", " COMMA", 1)
    punct.write_text("\n".join([*lines, ""]))
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert list(table.hypotheses) == ["B"]
    assert "not those of the score" in table.left_out["A"]


def test_read_slot_table_without_data(copied):
    shutil.rmtree(copied.parent / "data/test_ref")
    assert "no such data directory" in read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")


def test_recognise_substituted_inserted_missing():
    spoken = [[*"abcdef"], [*"gh"]]
    words = ["a", "X", "c", "e", "f", "more", "g", "h"]  # b heard as X, d left out, more inserted
    found = recognise(spoken, words, np.array([0, 6, 8]))
    assert found.wrong.tolist() == [False, True, False, False, False, True, False, False]
    assert found.spoken == {1: "b"}
    assert found.missing == {2: "d"}
    assert found.wer == pytest.approx(100 * 3 / 8)
    # Slots 0 and 1 are next to X, 2 is where d is missing, 4 and 5 are next to "more".
    assert found.distance.tolist() == [0, 0, 0, 1, 0, 0, -1, -1]


def test_recognise_missing_before_first_word():
    found = recognise([[*"abc"]], ["c"], np.array([0, 1]))
    assert found.missing == {0: "a b"}
    assert not found.wrong.any()


def test_nearest_is_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(50):
        marked = rng.random(rng.integers(1, 30)) < 0.2
        places = np.flatnonzero(marked)
        wanted = [min((abs(i - place) for place in places), default=-1) for i in range(len(marked))]
        assert nearest(marked).tolist() == wanted
