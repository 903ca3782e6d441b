"""Scores against hand-counted examples, sets of (slot, label) pairs, an alignment of marks, and the papers."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.metrics import Counts, confusion, count, figures, parse_collapse, read_counts, write_counts

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


def slots(text):
    return np.array([list(NAMES).index(mark) for mark in text])


def table(ref, hyp):
    return confusion(slots(ref), slots(hyp), np.zeros(len(ref), int), 1, 4)[0]


NO = np.nan
#  reference, hypothesis, figures counted by hand
EXAMPLES = [
    ("O,O.OO?", "O,O.OO?", {"COMMA.P": 100, "COMMA.R": 100, "COMMA.F1": 100, "overall.F1": 100, "Err": 0, "SER": 0,
                            "macro.F1": 100, "2-class.F1": 100, "3-class.F1": 100, "O.F1": 100}),
    # One comma right, one deleted; the period is taken for a comma; one mark inserted.
    (",O.,OO", ",O,O.O", {"COMMA.P": 50, "COMMA.R": 50, "COMMA.F1": 50, "PERIOD.P": 0, "PERIOD.R": 0, "PERIOD.F1": 0,
                          "QUESTION.P": NO, "QUESTION.R": NO, "QUESTION.F1": NO, "macro.F1": 25,
                          "overall.P": 100 / 3, "overall.R": 100 / 3, "overall.F1": 100 / 3,
                          "2-class.P": 200 / 3, "2-class.R": 200 / 3, "Err": 50, "SER": 100,
                          "O.P": 200 / 3, "O.R": 200 / 3}),
    # A question taken for a period: right in 3 classes and in 2.
    ("O?O.", "O.O.", {"PERIOD.P": 50, "PERIOD.R": 100, "QUESTION.P": NO, "QUESTION.R": 0, "QUESTION.F1": 0,
                      "overall.P": 50, "overall.R": 50, "3-class.F1": 100, "3-class.FULLSTOP.F1": 100,
                      "2-class.F1": 100, "Err": 25, "SER": 50}),
    ("OO.,", "OOOO", {"overall.P": NO, "overall.R": 0, "overall.F1": 0, "SER": 100, "Err": 50, "2-class.P": NO}),
    ("OO", "O.", {"overall.P": 0, "overall.R": NO, "overall.F1": 0, "SER": NO, "Err": 50, "PERIOD.R": NO}),
    ("OOO", "OOO", {"overall.P": NO, "overall.R": NO, "overall.F1": NO, "macro.F1": NO, "SER": NO, "Err": 0}),
]


@pytest.mark.parametrize(("ref", "hyp", "expected"), EXAMPLES)
def test_hand_counted(labels, ref, hyp, expected):
    collapses = [parse_collapse(text, labels) for text in ("2-class", "3-class:FULLSTOP=PERIOD+QUESTION")]
    found = figures(table(ref, hyp), labels, collapses)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, nan_ok=True), name


texts = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.text("O,.?", min_size=n, max_size=n)] * 2))


@given(texts)
def test_sets_of_slot_and_label(labels, pair):
    ref, hyp = ({(i, mark) for i, mark in enumerate(text) if mark != "O"} for text in pair)
    found = figures(table(*pair), labels, [parse_collapse("2-class", labels)])
    for name, mark in [("overall", None), *((NAMES[mark], mark) for mark in ",.?")]:
        theirs, ours = ({pair for pair in side if mark in (None, pair[1])} for side in (ref, hyp))
        assert_prf(found, name, len(theirs & ours), len(ours), len(theirs))
    positions, guessed = {i for i, _ in ref}, {i for i, _ in hyp}
    assert_prf(found, "2-class", len(positions & guessed), len(guessed), len(positions))


def assert_prf(found, name, right, predicted, expected):
    precision = right / predicted if predicted else np.nan
    recall = right / expected if expected else np.nan
    assert found[f"{name}.P"] == pytest.approx(100 * precision, nan_ok=True)
    assert found[f"{name}.R"] == pytest.approx(100 * recall, nan_ok=True)
    if right:
        assert found[f"{name}.F1"] == pytest.approx(200 * precision * recall / (precision + recall))


@given(texts)
def test_slot_errors_counted_one_by_one(labels, pair):
    substitutions = deletions = insertions = 0
    for ref, hyp in zip(*pair):
        if ref != "O" and hyp != "O" and ref != hyp:
            substitutions += 1
        elif ref != "O" and hyp == "O":
            deletions += 1
        elif ref == "O" and hyp != "O":
            insertions += 1
    wrong, marks = substitutions + deletions + insertions, len(pair[0].replace("O", ""))
    found = figures(table(*pair), labels)
    assert found["SER"] == pytest.approx(100 * wrong / marks if marks else np.nan, nan_ok=True)
    assert found["Err"] == pytest.approx(100 * wrong / len(pair[0]))


def test_published_overall_is_micro_averaged(labels):
    """Che et al. 2016: overall P and R (table 2) follow from each label's (table 3) and the test set (table 1)."""
    expected = np.array([830, 808, 46])
    right = np.round(expected * [0.357, 0.648, 0])
    predicted = np.array([right[0] / 0.582, right[1] / 0.616, 0]).round()
    counts = np.zeros((4, 4))
    counts[[1, 2, 3], [1, 2, 3]] = right
    counts[1:, 0] = expected - right  # P and R do not ask what a wrong mark was taken for
    counts[0, 1:] = predicted - right
    found = figures(counts, labels)
    assert [found[f"overall.{part}"] for part in ("P", "R", "F1")] == pytest.approx([60.3, 48.6, 53.8], abs=0.1)


def test_published_slot_error_rate(labels):
    """CNN-2A: SER 68.0 follows from Che et al.'s 4-class and 2-class figures (table 2) and their 1,684 marks."""
    right, positions = round(1684 * 0.550), round(1684 * 0.799)
    predicted = round(positions / 0.776)
    counts = np.zeros((4, 4))
    counts[1, 1], counts[1, 2] = right, positions - right
    counts[1, 0], counts[0, 1] = 1684 - positions, predicted - positions
    found = figures(counts, labels, [parse_collapse("2-class", labels)])
    assert found["overall.P"] == pytest.approx(53.4, abs=0.1)
    assert found["2-class.F1"] == pytest.approx(78.8, abs=0.1)
    assert found["SER"] == pytest.approx(68.0, abs=0.15)


def test_figures_of_many_sums_at_once(labels):
    counts = np.random.default_rng(1).integers(0, 9, (3, 5, 4, 4))
    collapse = [parse_collapse("2-class", labels)]
    for name, values in figures(counts, labels, collapse).items():
        assert values.shape == (3, 5), name
        assert values[1, 2] == pytest.approx(figures(counts[1, 2], labels, collapse)[name])


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(0, 3)), max_size=30))
def test_confusion_counts_pairs(rows):
    expected = np.zeros((4, 3, 3), int)
    for ref, hyp, unit in rows:
        expected[unit, ref, hyp] += 1
    ref, hyp, unit = (np.array([row[i] for row in rows], int) for i in range(3))
    np.testing.assert_array_equal(confusion(ref, hyp, unit, 4, 3), expected)


@pytest.mark.parametrize(("text", "classes", "numbers"), [
    ("2-class", ("O", "PUNCTUATED"), [0, 1, 1, 1]),
    ("3-class:FULLSTOP=PERIOD+QUESTION", ("O", "COMMA", "FULLSTOP"), [0, 1, 2, 2]),
    ("period:NOT=O+COMMA+QUESTION", ("NOT", "PERIOD"), [0, 0, 1, 0]),
    ("x:A=COMMA+QUESTION,B=PERIOD", ("O", "A", "B"), [0, 1, 2, 1]),
])
def test_collapse(labels, text, classes, numbers):
    collapse = parse_collapse(text, labels)
    assert (collapse.classes, collapse.number.tolist()) == (classes, numbers)


@pytest.mark.parametrize("text", ["x:A=NONE", "x:A=COMMA,B=COMMA", "x:=COMMA", ":A=COMMA", "x:", "overall", "COMMA"])
def test_wrong_collapse(labels, text):
    with pytest.raises(InputError, match="NAME:CLASS=LABEL"):
        parse_collapse(text, labels)


#  reference, hypothesis, options, units, marks right, slots, streams aligned
COUNTED = [
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {}, ["s-1", "t-1"], 2, 3, 0),
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {"last_slot": "false"}, ["s-1", "t-1"], 1, 1, 0),
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {"last_slot": "only"}, ["s-1", "t-1"], 1, 2, 0),
    # The last slot is the stream's, not the utterance's.
    (["s-1 a . b ,", "s-2 c ?"], ["s-1 a . b ,", "s-2 c ?"], {"last_slot": "false"}, ["s-1", "s-2"], 2, 2, 0),
    # Blocks go over utterances, not over streams.
    (["s-1 a . b ,", "s-2 c ?", "t-1 d ."], ["s-1 a . b ,", "s-2 c ?", "t-1 d ."], {"block": 2},
     ["s:000000", "s:000001", "t:000000"], 4, 4, 0),
    # Other words in one stream: the reference is projected there. Its slots are the hypothesis's.
    (["s-1 a b . c", "t-1 d ?"], ["s-1 a x b . c", "t-1 d ?"], {}, ["s-1", "t-1"], 2, 5, 1),
    (["s-1 a b . c", "t-1 d ?"], ["s-1 a . c", "t-1 d ?"], {}, ["s-1", "t-1"], 2, 3, 1),
    # Other cuts.
    (["s-1 a . b ,", "s-2 c ?"], ["s-1 a .", "s-2 b ,", "s-3 c ?"], {"match": "streams"},
     ["s-1", "s-2", "s-3"], 3, 3, 0),
]


@pytest.mark.parametrize(("ref", "hyp", "options", "units", "right", "number", "aligned"), COUNTED)
def test_count(tmp_path, labels, ref, hyp, options, units, right, number, aligned):
    counts = count(make_dir(tmp_path / "ref", *ref), make_dir(tmp_path / "hyp", *hyp), labels, **options)
    assert counts.units == units
    assert counts.confusion.shape == (len(units), 4, 4)
    assert (np.trace(counts.confusion.sum(0)[1:, 1:]), counts.confusion.sum()) == (right, number)
    assert (counts.streams, counts.aligned) == (len({unit[0] for unit in units}), aligned)


def test_aligned_by_streams_and_counted_by_utterance(tmp_path, labels):
    """A word lost at the border of two utterances moves no mark of other utterances."""
    ref = make_dir(tmp_path / "ref", "s-1 a b c . d", "s-2 e f , g .")
    hyp = make_dir(tmp_path / "hyp", "s-1 a b c .", "s-2 e f , g .")
    counts = count(ref, hyp, labels)
    assert (counts.streams, counts.aligned) == (1, 1)
    np.testing.assert_array_equal(counts.confusion[0], np.diag([2, 0, 1, 0]))
    np.testing.assert_array_equal(counts.confusion[1], np.diag([1, 1, 1, 0]))


@given(st.data())
def test_order_of_utterances_changes_nothing(labels, data):
    texts_of = data.draw(st.lists(texts, min_size=1, max_size=6))
    order = data.draw(st.permutations(range(len(texts_of))))
    tables = np.stack([table(*pair) for pair in texts_of])
    one, two = figures(tables.sum(0), labels), figures(tables[order].sum(0), labels)
    whole = figures(table(*("".join(side) for side in zip(*[texts_of[i] for i in order]))), labels)
    for name in one:
        assert one[name] == pytest.approx(two[name], nan_ok=True)
        assert one[name] == pytest.approx(whole[name], nan_ok=True)


@pytest.mark.parametrize("block", [1, 3, 7, 1000])
def test_units_sum_to_the_same(tmp_path, labels, block):
    rng = random.Random(block)
    sides = [[" ".join([f"{stream}-{i}", *itertools.chain.from_iterable((f"w{k}", rng.choice("O,.?"))
              for k in range(rng.randrange(1, 9)))]) for stream in "abc" for i in range(3)] for _ in range(2)]
    words = [[w for w in line.split()[1:] if w not in NAMES] for line in sides[0]]
    hyp = [" ".join([line.split()[0], *itertools.chain.from_iterable((w, rng.choice("O,.?")) for w in ws)])
           for line, ws in zip(sides[0], words)]
    ref, hyp = make_dir(tmp_path / "ref", *sides[0]), make_dir(tmp_path / "hyp", *hyp)
    by_block, by_utterance = count(ref, hyp, labels, block=block), count(ref, hyp, labels)
    np.testing.assert_array_equal(by_block.confusion.sum(0), by_utterance.confusion.sum(0))
    assert by_block.confusion.sum((1, 2)).max() <= block
    assert len(by_block.units) == sum(-(-sum(map(len, words[i:i + 3])) // block) for i in (0, 3, 6))


@pytest.mark.parametrize(("ref", "hyp", "names"), [
    (["s-1 a .", "s-2 b"], ["s-1 a ."], ["'s-2'", "nothing", "hyp", "--match streams"]),
    (["s-1 a .", "s-3 b"], ["s-1 a .", "s-2 b"], ["'s-2'", "'s-3'"]),
    (["s-1 a ."], ["s-1 a .", "t-1 a ."], ["'t'", "nothing"]),
    (["s-1 a .", "u-1 b"], ["s-1 a .", "t-1 b"], ["'t'", "'u'"]),
])
def test_other_ids(tmp_path, labels, ref, hyp, names):
    with pytest.raises(InputError) as error:
        count(make_dir(tmp_path / "ref", *ref), make_dir(tmp_path / "hyp", *hyp), labels)
    assert all(name in str(error.value) for name in names)
    assert "\n" not in str(error.value)


def test_label_not_in_the_set(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 a . b")
    write_data_dir(tmp_path / "hyp", [Utterance("s-1", "s", ["a", "b"], ["O", "DASH"], None)])
    with pytest.raises(InputError, match=r"hyp/punct: utterance 's-1' has label 'DASH'.*--labels"):
        count(ref, DataDir(tmp_path / "hyp"), labels)


def test_no_labels_and_no_slots(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 a .")
    write_data_dir(tmp_path / "hyp", [Utterance("s-1", "s", ["a"], None, None)])
    with pytest.raises(InputError, match=r"hyp: no labels to score.*punct"):
        count(ref, DataDir(tmp_path / "hyp"), labels)
    with pytest.raises(InputError, match="no slot to score"):
        count(ref, ref, labels, last_slot="false")


def test_counts_are_read_back(tmp_path, labels):
    counts = Counts(["a-1", "a-2"], np.random.default_rng(1).integers(0, 99, (2, 4, 4)))
    labels.write(tmp_path / "labels.txt")
    write_counts(tmp_path / "counts.tsv", counts, labels)
    again, set_again = read_counts(tmp_path)
    assert again.units == counts.units
    assert set_again == labels
    np.testing.assert_array_equal(again.confusion, counts.confusion)
    assert (tmp_path / "counts.tsv").read_text().splitlines()[0].split("\t")[:3] == ["unit", "O>O", "O>COMMA"]


@pytest.mark.parametrize(("text", "place"), [("", "counts.tsv: no counts"), ("unit\ta\n", "counts.tsv:1: "),
                                             ("unit" + "\tx" * 16 + "\nu" + "\tx" * 16 + "\n", "counts.tsv:2: ")])
def test_counts_that_are_none(tmp_path, labels, text, place):
    labels.write(tmp_path / "labels.txt")
    (tmp_path / "counts.tsv").write_text(text)
    with pytest.raises(InputError, match=place):
        read_counts(tmp_path)
