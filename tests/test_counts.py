"""Confusion counts: what is counted in which unit, projected words, wrong directories, tables read back."""

import itertools
import random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import Label, LabelSet
from punc.scoring import counts as counts_module
from punc.scoring.counts import (
    Counts,
    add_up,
    count,
    join_blocks,
    read_counts,
    side_of,
    without_words,
    write_counts,
)
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


def test_count_block_is_100_words_if_not_said(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 " + "a " * 60, "s-2 " + "b " * 40 + "c .", "t-1 " + "d " * 100)
    counts = count(ref, ref, labels)
    assert (counts.units, counts.block) == (["s:000000", "s:000001", "t:000000"], 100)
    assert counts.confusion.sum((1, 2)).tolist() == [100, 1, 100]


def test_count_streams_in_batches_is_all_at_once(tmp_path, labels, monkeypatch):
    lines = [f"{name}-1 " + " a ," * size for name, size in zip("abcdefgh", [2, 2, 1, 9, 2, 2, 1, 1])]
    ref, hyp = make_dir(tmp_path / "ref", *lines), make_dir(tmp_path / "hyp", *lines[:3], "d-1 a", *lines[4:])
    whole, posteriors = count(ref, hyp, labels, last_slot="false"), mock.Mock()
    monkeypatch.setattr(counts_module, "BATCH", 5)
    with mock.patch.object(counts_module, "count_streams", wraps=counts_module.count_streams) as counter:
        parts = count(ref, hyp, labels, last_slot="false", posteriors=posteriors)
    assert [len(call.args[0]) for call in counter.call_args_list] == [3, 1, 3, 1]
    assert (parts.units, parts.streams, parts.aligned, parts.block) == (whole.units, 8, 1, 100)
    np.testing.assert_array_equal(parts.flat, whole.flat)
    found = [([u.id for u in us], slots.tolist(), counted.tolist())
             for us, slots, counted in (call.args for call in posteriors.add.call_args_list)]
    assert found[0] == (["a-1", "b-1", "c-1"], [1] * 5, [True, False, True, False, False])
    assert found[1] == (["d-1"], [1], [False])


def test_counts_flat_is_all_numbers_of_each_unit():
    confusion, words = np.arange(8).reshape(2, 2, 2), np.arange(24).reshape(2, 3, 4)
    counts = Counts(["a", "b"], confusion, words=words)
    assert counts.flat.tolist() == [[*range(4), *range(12)], [*range(4, 8), *range(12, 24)]]
    assert counts._replace(words=None).flat.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_side_of_capitals(tmp_path):
    cased = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", (".",)), Label("CAP_PERIOD", "W.")))
    utterances = [Utterance("s-1", "s", ["ann", "has"], ["CAP", "O"]), Utterance("s-2", "s", ["it"], ["CAP_PERIOD"])]
    side = side_of(utterances, cased, tmp_path)
    assert (side.plain, side.slots.tolist(), side.cased) == (["ann", "has", "it"], [1, 0, 3], ["Ann", "has", "It"])
    plain = LabelSet((Label("O", "w"), Label("COMMA", "w,")))
    assert side_of([Utterance("s-1", "s", ["ann"], ["O"])], plain, tmp_path).cased is None


def test_join_blocks_of_one_stream():
    counts = Counts(["s:1:000000", "s:1:000001"], np.ones((2, 4, 4), int), streams=1, block=100)
    joined = join_blocks(counts, "streams")
    assert (joined.units, joined.confusion.tolist(), joined.words) == (["s:1"], [[[2] * 4] * 4], None)
    assert join_blocks(counts._replace(streams=10), "blocks").units == counts.units
    assert join_blocks(counts, "auto") is counts


def test_add_up_has_words_if_all_have():
    one = Counts(["a"], np.ones((1, 2, 2), int), 1, 0, np.ones((1, 3, 4), int), 7)
    two = Counts(["b", "c"], np.zeros((2, 2, 2), int), 2, 1, np.zeros((2, 3, 4), int), 7)
    both = add_up([one, two])
    assert (both.units, both.streams, both.aligned, both.block) == (["a", "b", "c"], 3, 1, 7)
    assert (both.confusion.sum((1, 2)).tolist(), both.words.sum((1, 2)).tolist()) == ([4, 0, 0], [12, 0, 0])
    assert add_up([one, two._replace(words=None)]).words is None
    assert without_words(one).words is None
    assert without_words(two) is two


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


def test_count_different_ids_says_what_to_do(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 a .", "t-1 b")
    remedy = "score the output of the same data directory"
    for lines, what in ((["s-1 a ."], f"nothing where {ref.path} has stream 't'; {remedy}"),
                        (["s-1 a .", "s-2 a", "t-1 b"], f"utterance 's-2' where {ref.path} has nothing; {remedy}, ")):
        hyp = make_dir(tmp_path / "hyp", *lines)
        with pytest.raises(InputError) as error:
            count(ref, hyp, labels)
        assert str(error.value).startswith(f"{hyp.path}: {what}")


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
    counts.confusion[0, 0, 0] = 0
    labels.write(tmp_path / "labels.txt")
    write_counts(tmp_path / "counts.tsv", counts, labels)
    again, set_again = read_counts(tmp_path)
    assert again.units == counts.units
    assert set_again == labels
    np.testing.assert_array_equal(again.confusion, counts.confusion)
    np.testing.assert_array_equal(again.flat, counts.flat)
    assert (again.words is None) == (words is None)
    assert (again.streams, again.aligned, again.block) == (0, 0, 0)  # nobody knows
    header = (tmp_path / "counts.tsv").read_text().splitlines()[0].split("\t")
    assert header[:3] == ["unit", "O>O", "O>COMMA"]
    assert header[17:] == ([f"{form}:{outcome}" for form in ("WER", "WER_C", "WER_PC") for outcome in "CSDI"]
                           if words else [])


HEADER = "unit" + "\tx" * 16


@pytest.mark.parametrize(("text", "place"), [
    ("", "counts.tsv: no counts"), (f"{HEADER}\n", "counts.tsv: no counts"), ("unit\ta\n", "counts.tsv:1: "),
    (HEADER + "\nu" + "\tx" * 16 + "\n", "counts.tsv:2: "), (HEADER + "\nu" + "\t1" * 28 + "\n", "counts.tsv:2: "),
    (HEADER + "\nu" + "\t1" * 16 + "\nv\n", "counts.tsv:3: ")])
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
