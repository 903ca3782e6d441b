"""Confusion counts: what is counted in which unit, projected words, wrong directories, tables read back."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.counts import Counts, count, join_blocks, read_counts, write_counts
from punc.scoring.stream_counts import confusion

NAMES = {"O": "O", ",": "COMMA", ".": "PERIOD", "?": "QUESTION"}


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "labels.txt"
    path.write_text("O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n", encoding="utf-8")
    return LabelSet.read(path)


def make_dir(path, *texts):
    """A data directory of texts like `s-1 i am . are you ?`: the stream's id, the rest of the utterance's, words."""
    utterances = []
    for text in texts:
        key, *tokens = text.split()
        words, names = [], []
        for token in tokens:
            if token in NAMES:
                names[-1] = NAMES[token]
            else:
                words.append(token)
                names.append("O")
        utterances.append(Utterance(key, key.partition("-")[0], words, names, None))
    write_data_dir(path, utterances)
    return DataDir(path)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(0, 3)), max_size=30))
def test_confusion_random_pairs(rows):
    expected = np.zeros((4, 3, 3), int)
    for ref, hyp, unit in rows:
        expected[unit, ref, hyp] += 1
    ref, hyp, unit = (np.array([row[i] for row in rows], int) for i in range(3))
    np.testing.assert_array_equal(confusion(ref, hyp, unit, 4, 3), expected)


#  reference, hypothesis, options, units, marks right, slots, streams aligned
COUNTED = [
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {}, ["s:000000", "t:000000"], 2, 3, 0),
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {"last_slot": "false"}, ["s:000000", "t:000000"], 1, 1, 0),
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {"last_slot": "only"}, ["s:000000", "t:000000"], 1, 2, 0),
    # The last slot is the stream's, not the utterance's.
    (["s-1 a . b ,", "s-2 c ?"], ["s-1 a . b ,", "s-2 c ?"], {"last_slot": "false"}, ["s:000000"], 2, 2, 0),
    # Blocks go over utterances, not over streams.
    (["s-1 a . b ,", "s-2 c ?", "t-1 d ."], ["s-1 a . b ,", "s-2 c ?", "t-1 d ."], {"block": 2},
     ["s:000000", "s:000001", "t:000000"], 4, 4, 0),
    # Other words in one stream: the reference is projected there. Its slots are the hypothesis's.
    (["s-1 a b . c", "t-1 d ?"], ["s-1 a x b . c", "t-1 d ?"], {}, ["s:000000", "t:000000"], 2, 5, 1),
    (["s-1 a b . c", "t-1 d ?"], ["s-1 a . c", "t-1 d ?"], {}, ["s:000000", "t:000000"], 2, 3, 1),
    # Other cuts.
    (["s-1 a . b ,", "s-2 c ?"], ["s-1 a .", "s-2 b ,", "s-3 c ?"], {"match": "streams"},
     ["s:000000"], 3, 3, 0),
    # Blocks are of the reference's words: an inserted word is in the block of the word before it.
    (["s-1 a b . c d ?"], ["s-1 a b . x y c d ?"], {"block": 2}, ["s:000000", "s:000001"], 2, 6, 1),
]


@pytest.mark.parametrize(("ref", "hyp", "options", "units", "right", "number", "aligned"), COUNTED)
def test_count_examples(tmp_path, labels, ref, hyp, options, units, right, number, aligned):
    counts = count(make_dir(tmp_path / "ref", *ref), make_dir(tmp_path / "hyp", *hyp), labels, **options)
    assert counts.units == units
    assert counts.confusion.shape == (len(units), 4, 4)
    assert (np.trace(counts.confusion.sum(0)[1:, 1:]), counts.confusion.sum()) == (right, number)
    assert (counts.streams, counts.aligned) == (len({unit[0] for unit in units}), aligned)


def test_count_aligns_streams_in_blocks(tmp_path, labels):
    """A word lost at the border of two blocks moves no mark of other blocks."""
    ref = make_dir(tmp_path / "ref", "s-1 a b c . d", "s-2 e f , g .")
    hyp = make_dir(tmp_path / "hyp", "s-1 a b c .", "s-2 e f , g .")
    counts = count(ref, hyp, labels, block=4)
    assert (counts.streams, counts.aligned) == (1, 1)
    np.testing.assert_array_equal(counts.confusion[0], np.diag([2, 0, 1, 0]))
    np.testing.assert_array_equal(counts.confusion[1], np.diag([1, 1, 1, 0]))
    assert counts.words[:, 0].tolist() == [[3, 0, 1, 0], [3, 0, 0, 0]]  # correct, substituted, deleted, inserted


@pytest.mark.parametrize("block", [1, 3, 7, 1000])
def test_count_blocks_sum_to_streams(tmp_path, labels, block):
    rng = random.Random(block)
    sides = [[" ".join([f"{stream}-{i}", *itertools.chain.from_iterable((f"w{k}", rng.choice("O,.?"))
              for k in range(rng.randrange(1, 9)))]) for stream in "abc" for i in range(3)] for _ in range(2)]
    words = [[w for w in line.split()[1:] if w not in NAMES] for line in sides[0]]
    hyp = [" ".join([line.split()[0], *itertools.chain.from_iterable((w, rng.choice("O,.?")) for w in ws)])
           for line, ws in zip(sides[0], words)]
    ref, hyp = make_dir(tmp_path / "ref", *sides[0]), make_dir(tmp_path / "hyp", *hyp)
    by_block = count(ref, hyp, labels, block=block)
    by_stream, whole = join_blocks(by_block, "streams"), count(ref, hyp, labels, block=10_000)
    assert by_stream.units == list("abc")
    assert by_stream.block == 0
    np.testing.assert_array_equal(by_stream.confusion, whole.confusion)
    np.testing.assert_array_equal(by_stream.words, whole.words)
    assert join_blocks(by_block) is by_block  # three streams are too few
    assert join_blocks(by_block._replace(streams=10)).units == list("abc")
    assert by_block.confusion.sum((1, 2)).max() <= block
    assert len(by_block.units) == sum(-(-sum(map(len, words[i:i + 3])) // block) for i in (0, 3, 6))


@pytest.mark.parametrize(("ref", "hyp", "names"), [
    (["s-1 a .", "s-2 b"], ["s-1 a ."], ["'s-2'", "nothing", "hyp", "--match streams"]),
    (["s-1 a .", "s-3 b"], ["s-1 a .", "s-2 b"], ["'s-2'", "'s-3'"]),
    (["s-1 a ."], ["s-1 a .", "t-1 a ."], ["'t'", "nothing"]),
    (["s-1 a .", "u-1 b"], ["s-1 a .", "t-1 b"], ["'t'", "'u'"]),
])
def test_count_different_ids_raises(tmp_path, labels, ref, hyp, names):
    with pytest.raises(InputError) as error:
        count(make_dir(tmp_path / "ref", *ref), make_dir(tmp_path / "hyp", *hyp), labels)
    assert all(name in str(error.value) for name in names)
    assert "\n" not in str(error.value)


def test_count_unknown_label_raises(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 a . b")
    write_data_dir(tmp_path / "hyp", [Utterance("s-1", "s", ["a", "b"], ["O", "DASH"], None)])
    with pytest.raises(InputError, match=r"hyp/punct: utterance 's-1' has label 'DASH'.*--labels"):
        count(ref, DataDir(tmp_path / "hyp"), labels)


def test_count_no_labels_or_slots_raises(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 a .")
    write_data_dir(tmp_path / "hyp", [Utterance("s-1", "s", ["a"], None, None)])
    with pytest.raises(InputError, match=r"hyp: no labels to score.*punct"):
        count(ref, DataDir(tmp_path / "hyp"), labels)
    with pytest.raises(InputError, match="no slot to score"):
        count(ref, ref, labels, last_slot="false")


@pytest.mark.parametrize("words", [None, True])
def test_read_counts_reads_what_was_written(tmp_path, labels, words):
    rng = np.random.default_rng(1)
    counts = Counts(["a-1", "a-2"], rng.integers(0, 99, (2, 4, 4)), words=words and rng.integers(0, 99, (2, 3, 4)))
    labels.write(tmp_path / "labels.txt")
    write_counts(tmp_path / "counts.tsv", counts, labels)
    again, set_again = read_counts(tmp_path)
    assert again.units == counts.units
    assert set_again == labels
    np.testing.assert_array_equal(again.confusion, counts.confusion)
    np.testing.assert_array_equal(again.flat, counts.flat)
    assert (again.words is None) == (words is None)
    assert (tmp_path / "counts.tsv").read_text().splitlines()[0].split("\t")[:3] == ["unit", "O>O", "O>COMMA"]


@pytest.mark.parametrize(("text", "place"), [("", "counts.tsv: no counts"), ("unit\ta\n", "counts.tsv:1: "),
                                             ("unit" + "\tx" * 16 + "\nu" + "\tx" * 16 + "\n", "counts.tsv:2: ")])
def test_read_counts_broken_table_raises(tmp_path, labels, text, place):
    labels.write(tmp_path / "labels.txt")
    (tmp_path / "counts.tsv").write_text(text)
    with pytest.raises(InputError, match=place):
        read_counts(tmp_path)


@pytest.mark.parametrize("jobs", [1, 2, 3, 20])
@pytest.mark.parametrize("options", [[], ["--block=3", "--last-slot=false", "--match=streams"]])
def test_score_in_jobs_is_one_job(tmp_path, capsys, jobs, options):
    rng = np.random.default_rng(1)
    for name, words in (("ref", "abc"), ("hyp", "abd"), ("other", "abd")):
        write_data_dir(tmp_path / name, [
            Utterance(f"s{i // 3}-{i:02}", f"s{i // 3}", [*words] * (i % 5), [*rng.choice(["O", "COMMA"], 3 * (i % 5))])
            for i in range(21)])
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    score = ["score", f"--labels={tmp_path / 'labels.txt'}", "--replicates=50", *options]
    assert main([*score, *(str(tmp_path / name) for name in ("ref", "other", "against"))]) == 0
    score.append(f"--against={tmp_path / 'against'}")
    dirs = [str(tmp_path / name) for name in ("ref", "hyp")]
    capsys.readouterr()
    assert main([*score, *dirs, str(tmp_path / "one")]) == 0
    said = capsys.readouterr().out
    parts = [str(tmp_path / f"part{job}") for job in range(1, jobs + 1)]
    for job, part in enumerate(parts, 1):
        assert main([*score, f"--jobs={jobs}", f"--job={job}", *dirs, part]) == 0
    assert main(["join", str(tmp_path / "many"), *parts]) == 0
    assert capsys.readouterr().out == said
    one, many = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "many"))
    assert many == one
    assert {"counts.tsv", "metrics.tsv", "against.tsv", "signature", "labels.txt"} == set(one)


def test_score_in_jobs_without_a_slot(tmp_path, capsys):
    write_data_dir(tmp_path / "ref", [Utterance("a", "a", [], [])])
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    ref, part = str(tmp_path / "ref"), str(tmp_path / "part")
    assert main(["score", f"--labels={tmp_path / 'labels.txt'}", "--jobs=1", ref, ref, part]) == 0
    assert main(["join", str(tmp_path / "score"), part]) == 1
    assert "ref: no slot to score; " in capsys.readouterr().err


@pytest.mark.parametrize("number", ["9" * 30, "-1", "1.5"])
def test_read_counts_that_are_none(tmp_path, number):
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    (tmp_path / "counts.tsv").write_text(f"unit\ta\tb\tc\td\nu\t1\t2\t3\t{number}\n")
    with pytest.raises(InputError, match=r"counts\.tsv:2: not the counts of a unit; score again"):
        read_counts(tmp_path)
