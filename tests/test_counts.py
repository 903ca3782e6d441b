"""The counts of each unit (a stream or block) equal those of a loop over words. Directories that do not match are
refused. Written tables can be read again."""

import itertools
import random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.scoring import counts as counts_module
from punc.scoring import texts as texts_module
from punc.scoring.counts import Counts, Words, add_up, count_streams, join_blocks, read_counts, write_counts
from punc.scoring.texts import count, side_of
from punc.timing.align import align_words, project_labels

NAMES = {"O": "O", ",": "COMMA", ".": "PERIOD", "?": "QUESTION"}


@pytest.fixture(scope="module")
def labels():
    return LabelSet((Label("O", "w"), *(Label(name, f"w{mark}", (mark,)) for mark, name in list(NAMES.items())[1:])))


def make_dir(path, *texts):
    """Write texts such as `s-1 i am . are you ?` (an id in stream `s`, words and marks) as a data directory."""
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


# The columns: reference, hypothesis, options, units, correct marks, slots, aligned streams.
COUNTED = [
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {}, ["s:000000", "t:000000"], 2, 3, 0),
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {"last_slot": "false"}, ["s:000000", "t:000000"], 1, 1, 0),
    (["s-1 a . b ,", "t-1 c ?"], ["s-1 a . b", "t-1 c ?"], {"last_slot": "only"}, ["s:000000", "t:000000"], 1, 2, 0),
    # The last slot is that of the stream, not of the utterance.
    (["s-1 a . b ,", "s-2 c ?"], ["s-1 a . b ,", "s-2 c ?"], {"last_slot": "false"}, ["s:000000"], 2, 2, 0),
    # Blocks may continue across the end of an utterance, but not of a stream.
    (["s-1 a . b ,", "s-2 c ?", "t-1 d ."], ["s-1 a . b ,", "s-2 c ?", "t-1 d ."], {"block": 2},
     ["s:000000", "s:000001", "t:000000"], 4, 4, 0),
    # The hypothesis of one stream has other words, so the reference labels are projected onto it.
    (["s-1 a b . c", "t-1 d ?"], ["s-1 a x b . c", "t-1 d ?"], {}, ["s:000000", "t:000000"], 2, 5, 1),
    (["s-1 a b . c", "t-1 d ?"], ["s-1 a . c", "t-1 d ?"], {}, ["s:000000", "t:000000"], 2, 3, 1),
    # The hypothesis and the reference are cut into different utterances.
    (["s-1 a . b ,", "s-2 c ?"], ["s-1 a .", "s-2 b ,", "s-3 c ?"], {"match": "streams"},
     ["s:000000"], 3, 3, 0),
    # Blocks consist of reference words. An inserted word belongs to the block of the word before it.
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
    """A word that is deleted at the end of a block does not move marks into other blocks."""
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
    by_stream, whole = join_blocks(by_block._replace(streams=10)), count(ref, hyp, labels, block=10_000)
    assert (by_stream.units, by_stream.block) == (list("abc"), 0)
    np.testing.assert_array_equal(by_stream.confusion, whole.confusion)
    np.testing.assert_array_equal(by_stream.words, whole.words)
    assert join_blocks(by_block) is by_block  # three streams are too few units, so blocks remain the units
    assert by_block.confusion.sum((1, 2)).max() <= block
    assert len(by_block.units) == sum(-(-sum(map(len, words[i:i + 3])) // block) for i in (0, 3, 6))


def test_count_streams_in_batches_is_all_at_once(tmp_path, labels, monkeypatch):
    lines = [f"{name}-1 " + " a ," * size for name, size in zip("abcdefgh", [2, 2, 1, 9, 2, 2, 1, 1])]
    ref, hyp = make_dir(tmp_path / "ref", *lines), make_dir(tmp_path / "hyp", *lines[:3], "d-1 a", *lines[4:])
    whole, posteriors = count(ref, hyp, labels, last_slot="false"), mock.Mock()
    monkeypatch.setattr(texts_module, "BATCH", 5)
    parts = count(ref, hyp, labels, last_slot="false", posteriors=posteriors)
    assert (parts.units, parts.streams, parts.aligned, parts.block) == (whole.units, 8, 1, 100)
    np.testing.assert_array_equal(parts.flat, whole.flat)
    found = [([u.id for u in us], slots.tolist(), counted.tolist())
             for us, slots, counted in (call.args for call in posteriors.add.call_args_list)]
    assert found[0] == (["a-1", "b-1", "c-1"], [1] * 5, [True, False, True, False, False])
    assert found[1] == (["d-1"], [1], [False])


def test_add_up():
    one = Counts(["a"], np.ones((1, 2, 2), int), 1, 0, np.ones((1, 3, 4), int), 7)
    two = Counts(["b", "c"], np.zeros((2, 2, 2), int), 2, 1, np.zeros((2, 3, 4), int), 7)
    both = add_up([one, two], "ref")
    assert (both.units, both.streams, both.aligned, both.block) == (["a", "b", "c"], 3, 1, 7)
    assert (both.confusion.sum((1, 2)).tolist(), both.words.sum((1, 2)).tolist()) == ([4, 0, 0], [12, 0, 0])
    for nothing in ([two], []):
        with pytest.raises(InputError, match="ref: there are no slots to score"):
            add_up(nothing, "ref")


@pytest.mark.parametrize(("ref", "hyp", "names"), [
    (["s-1 a .", "s-2 b"], ["s-1 a ."],
     ["hyp: it has nothing where", "ref has utterance 's-2'; score the output for the same data directory, or"]),
    (["s-1 a .", "s-3 b"], ["s-1 a .", "s-2 b"], ["'s-2'", "'s-3'"]),
    (["s-1 a ."], ["s-1 a .", "t-1 a ."], ["ref: no stream 't', which", "hyp has"]),
    (["s-1 a .", "u-1 b"], ["s-1 a .", "t-1 b"], ["ref: no stream 't', which", "hyp has"]),
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


def test_count_no_slots_raises(tmp_path, labels):
    ref = make_dir(tmp_path / "ref", "s-1 a .")
    with pytest.raises(InputError, match="there are no slots to score"):
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
    assert (again.streams, again.aligned, again.block) == (0, 0, 0)  # counts.tsv does not contain these three numbers
    header = (tmp_path / "counts.tsv").read_text().splitlines()[0].split("\t")
    assert header[:3] == ["unit", "O>O", "O>COMMA"]
    assert header[17:] == ([f"{form}:{outcome}" for form in ("WER", "WER_C", "WER_PC") for outcome in "CSDI"]
                           if words else [])


HEADER = "unit" + "\tx" * 16


@pytest.mark.parametrize(("text", "place"), [
    ("", "counts.tsv: the file has no counts"),
                           (f"{HEADER}\n", "counts.tsv: the file has no counts"), ("unit\ta\n", "counts.tsv:1: "),
    (HEADER + "\nu" + "\tx" * 16 + "\n", "counts.tsv:2: "), (HEADER + "\nu" + "\t1" * 28 + "\n", "counts.tsv:2: "),
    (HEADER + "\nu" + "\t1" * 16 + "\nv\n", "counts.tsv:3: "),
    *((HEADER + "\nu" + "\t1" * 15 + f"\t{number}\n", "counts.tsv:2: the line is not the counts of a unit; score again")
      for number in ("9" * 30, "-1", "1.5"))])
def test_read_counts_broken_table_raises(tmp_path, labels, text, place):
    labels.write(tmp_path / "labels.txt")
    (tmp_path / "counts.tsv").write_text(text)
    with pytest.raises(InputError, match=place):
        read_counts(tmp_path)


side = st.lists(st.tuples(st.sampled_from("abcA"), st.integers(0, 2)), max_size=8)


def words(pairs):
    return Words([word for word, _ in pairs], np.array([slot for _, slot in pairs], np.int64))


def counts_by_hand(ref, hyp, marks, block, last_slot):
    """Count a stream as `count_streams` does, but with a loop over words. Return the confusions of each block, the word
    errors of each block, and the projected labels."""
    size = block or max(len(ref.plain), 1)
    blocks = max(1, -(-len(ref.plain) // size))
    tables, errors = np.zeros((blocks, 3, 3), int), np.zeros((blocks, 3, 4), int)

    def block_of(pairs, hyp_word):
        before = [i for i, j in enumerate(pairs) if 0 <= j <= hyp_word]
        return before[-1] // size if before else 0

    def count_errors(form, ref_words, hyp_words):
        pairs = align_words(ref_words, hyp_words).ref_to_hyp.tolist()
        for i, j in enumerate(pairs):
            errors[i // size, form, 2 if j < 0 else int(ref_words[i] != hyp_words[j])] += 1
        for j in set(range(len(hyp_words))) - set(pairs):
            errors[block_of(pairs, j), form, 3] += 1
        return pairs

    pairs = count_errors(0, ref.plain, hyp.plain)
    if ref.cased is not None and hyp.cased is not None:
        count_errors(1, ref.cased, hyp.cased)
    else:
        ref, hyp = ref._replace(cased=ref.plain), hyp._replace(cased=hyp.plain)
    count_errors(2, *([(word, marks[slot]) for word, slot in zip(side.cased, side.slots)] for side in (ref, hyp)))
    expected = project_labels(align_words(ref.plain, hyp.plain), ref.slots)
    for j, label in enumerate(expected):
        is_last = j == len(expected) - 1
        if {"true": True, "false": not is_last, "only": is_last}[last_slot]:
            tables[block_of(pairs, j), label, hyp.slots[j]] += 1
    return tables, errors, expected


LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
SAME_MARK = LabelSet((Label("O", "w"), Label("STOP", "w."), Label("PERIOD", "w.")))


def counted(streams, labels=LABELS, block=0, last_slot="true"):
    return count_streams([f"s{i}" for i in range(len(streams))], streams, labels, block, last_slot)


@settings(max_examples=100)
@given(st.lists(st.tuples(side, side), min_size=1, max_size=3), st.integers(0, 4),
       st.sampled_from(["true", "false", "only"]), st.tuples(st.booleans(), st.booleans()),
       st.sampled_from([LABELS, SAME_MARK]))
def test_count_streams_word_by_word(streams, block, last_slot, cased, labels):
    def words_of(pairs, cased):
        side = words([(word.lower(), slot) for word, slot in pairs])
        return side._replace(cased=[word for word, _ in pairs] if cased else None)

    pairs = [(words_of(ref, cased[0]), words_of(hyp, cased[1])) for ref, hyp in streams]
    found, slots = counted(pairs, labels, block, last_slot)
    longest = max((len(ref.plain) for ref, _ in pairs), default=0)
    marks = [label.mark for label in labels]
    expected = [counts_by_hand(ref, hyp, marks, block or longest, last_slot) for ref, hyp in pairs]
    assert found.units == [f"s{i}:{j:06}" for i, (_, errors, _) in enumerate(expected) for j in range(len(errors))]
    np.testing.assert_array_equal(found.confusion, np.concatenate([*(one[0] for one in expected), np.zeros((0, 3, 3))]))
    np.testing.assert_array_equal(found.words, np.concatenate([*(one[1] for one in expected), np.zeros((0, 3, 4))]))
    assert slots.tolist() == [label for one in expected for label in one[2]]
    assert found.aligned == sum(ref.plain != hyp.plain for ref, hyp in pairs)


def test_count_streams_mark_without_a_slot_is_lost_and_not_given_to_the_stream_before():
    first = words([("a", 0), ("b", 0)])
    found, slots = counted([(first, first), (words([("x", 2), ("c", 1)]), words([("c", 1)]))])
    assert slots.tolist() == [0, 0, 1]
    assert found.aligned == 1


def test_count_streams_forms():
    ref = Words(["a", "b", "c"], np.array([0, 1, 2]), ["A", "b", "C"])
    hyp = Words(["a", "b", "c"], np.array([0, 2, 2]), ["A", "B", "C"])
    assert counted([(ref, hyp)])[0].words[0].tolist() == [[3, 0, 0, 0], [2, 1, 0, 0], [2, 1, 0, 0]]
    assert counted([(ref._replace(cased=None), hyp)])[0].words[0].tolist() == [[3, 0, 0, 0], [0, 0, 0, 0], [2, 1, 0, 0]]


def test_count_streams_long_ones_are_cut_without_cost():
    rng = np.random.default_rng(1)

    def side(words):
        cased = [word.upper() if rng.random() < 0.1 else word for word in words]
        return Words(words, rng.integers(0, 3, len(words)), cased)

    pairs = []
    for _ in range(2):
        ref = [f"w{i}" for i in rng.zipf(1.3, 3000) % 500]
        hyp = [word for word in ref for _ in range(int(rng.choice(3, p=[0.05, 0.9, 0.05])))]
        pairs.append((side(ref), side(hyp)))
    parts, _ = counted(pairs, block=100)
    with mock.patch.object(counts_module, "CUT", 10**6):
        whole, _ = counted(pairs, block=100)
    assert parts.words[:, :, 1:].sum() > 1000
    np.testing.assert_array_equal(*(found.words[:, :, 1:].sum((0, 2)) for found in (parts, whole)))


def test_side_of_capitals(tmp_path):
    cased = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", (".",)), Label("CAP_PERIOD", "W.")))
    utterances = [Utterance("s-1", "s", ["ann", "has"], ["CAP", "O"]), Utterance("s-2", "s", ["it"], ["CAP_PERIOD"])]
    side = side_of(utterances, cased, tmp_path)
    assert (side.plain, side.slots.tolist(), side.cased) == (["ann", "has", "it"], [1, 0, 3], ["Ann", "has", "It"])
    plain = LabelSet((Label("O", "w"), Label("COMMA", "w,")))
    assert side_of([Utterance("s-1", "s", ["ann"], ["O"])], plain, tmp_path).cased is None
