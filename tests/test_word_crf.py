"""The word CRF has the same posteriors as CRFsuite (if installed), and the same features and triggers as slow loops."""

import shutil
import sys
from collections import Counter
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.datadir import Utterance, write_data_dir
from punc.decoding.decode import log_posteriors
from punc.models import base
from punc.models.word_crf import features
from punc.models.word_crf import model as word_crf
from punc.models.word_crf.features import LM_STEPS, Template, Text, read_clusters, shape_table, suffix_table
from punc.tokens.store import Store, make_store
from punc.tokens.tokenizers.form import forms, word_shape
from punc.training.epochs import evaluate
from punc.training.options import TrainingOptions
from punc.training.train import train

needs_crfsuite = pytest.mark.skipif(not find_spec("pycrfsuite"), reason="no python-crfsuite: the extra 'crf'")
FEW = {"window": 2, "ngram": 2, "triggers": 5, "iterations": 20}


def fitted(store, directory, task, **options):
    train(store, directory, "word_crf", {**FEW, **options},
          TrainingOptions(train_set=f"train_{task}", dev_set=f"dev_{task}"))
    return base.load(directory)


@needs_crfsuite
@pytest.mark.parametrize("task", ["after", "before", "short"])
def test_word_crf_learns_and_loads_without_crfsuite(task, toy_store, tmp_path, monkeypatch):
    fitted(toy_store, tmp_path, task)
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    model, data = base.load(tmp_path), Store(toy_store).set(f"dev_{task}")
    log_probs = log_posteriors(model, data)
    assert log_probs.dtype == np.float32
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=1), 1, atol=1e-5)
    assert np.mean(log_probs.argmax(axis=1) == data.labels) > 0.99


@pytest.fixture
def suite(monkeypatch, toy_store, tmp_path):
    """Return a model of the toy texts, the data given to CRFsuite's trainer, and CRFsuite's tagger for this model."""
    given = []

    class Trainer(pytest.importorskip("pycrfsuite", reason="no python-crfsuite: the extra 'crf'").Trainer):
        def append(self, items, labels):
            given.append((items, labels))
            super().append(items, labels)

        def train(self, path):
            super().train(path)
            shutil.copy(path, tmp_path / "crf")

    import pycrfsuite
    monkeypatch.setattr(pycrfsuite, "Trainer", Trainer)
    model = fitted(toy_store, tmp_path / "exp", "short", c1=0.02)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "crf"))
    return model, given, tagger


@needs_crfsuite
def test_log_posteriors_match_crfsuite(suite, toy_store):
    model, given, tagger = suite
    data = Store(toy_store).set("train_short")
    assert [len(items) for items, _ in given] == np.diff(data.offsets).tolist()
    assert [int(label) for _, labels in given for label in labels] == data.labels.tolist()
    probs = np.exp(log_posteriors(model, data))
    for number, (items, _) in enumerate(given[:40]):
        tagger.set(items)
        expected = [[tagger.marginal(str(label), slot) for label in range(3)] for slot in range(len(items))]
        begin = data.offsets[number]
        np.testing.assert_allclose(probs[begin:begin + len(items)], expected, atol=2e-5)


@needs_crfsuite
def test_training_chunks_give_nearly_same_labels(toy_store, tmp_path, monkeypatch):
    data = Store(toy_store).set("dev_before")
    whole = log_posteriors(fitted(toy_store, tmp_path / "whole", "before"), data)
    monkeypatch.setattr(word_crf, "TRAINING_CHUNK", 64)
    monkeypatch.setattr(word_crf, "BATCH_SLOTS", 128)
    model = fitted(toy_store, tmp_path / "cut", "before")
    cut = log_posteriors(model, data)
    assert np.mean(cut.argmax(axis=1) == whole.argmax(axis=1)) > 0.99
    monkeypatch.setattr(word_crf, "BATCH_SLOTS", 1 << 15)
    np.testing.assert_allclose(log_posteriors(model, data), cut, atol=1e-5)


@needs_crfsuite
def test_fit_twice_gives_same_arrays(toy_store, tmp_path):
    one, two = (fitted(toy_store, tmp_path / name, "short") for name in "ab")
    assert all(np.array_equal(one.arrays[name], two.arrays[name]) for name in one.arrays | two.arrays)


@needs_crfsuite
def test_fit_has_every_kind_of_feature(toy_store, tmp_path):
    path = tmp_path / "paths"
    path.write_text("".join(f"{number:04b}\t{word}\t1\n" for number, word in enumerate("abcdefgh")))
    model = fitted(toy_store, tmp_path / "exp", "before", clusters=str(path), ngram=0)
    path.unlink()
    kinds = {template.kind: len(keys) for template, keys in zip(model.templates, model.keys)}
    assert set(kinds) == {"shape", "suffix1", "suffix2", "suffix3", "cluster4", "cluster6", "cluster10", "cluster20",
                          "trigger"}
    loaded, data = base.load(tmp_path / "exp"), Store(toy_store).set("dev_before")
    assert evaluate(loaded, data)[1] > 99  # high, because each letter has its own cluster


class Oracle(base.NonGradientModel):
    """Stands in for an n-gram model: after "a", it is almost certain of label 1; after other words, all labels are
    equally likely."""

    n_labels = 3

    def log_posteriors_of(self, data):
        sure = (np.asarray(data.ids) == 2)[:, None] * np.array([-9, 0, -9])
        return (sure - np.log(np.exp(sure).sum(axis=1, keepdims=True))).astype(np.float32)


@needs_crfsuite
def test_text_model_is_saved_with_the_model(toy_store, tmp_path, monkeypatch):
    lm = Oracle()
    lm.spec = {"model": "ngram", "options": {}, "vocabulary": 10, "labels": 3}
    lm.vocabulary = Store(toy_store).vocabulary
    monkeypatch.setattr(word_crf, "submodel", lambda option, spec, architecture: lm)
    model = fitted(toy_store, tmp_path / "exp", "before", text_model="exp/ngram", ngram=0, triggers=0)
    assert model.spec["options"]["text_model"] == lm.spec
    data = Store(toy_store).set("dev_before")
    log_probs = log_posteriors(model, data)
    after_a = np.asarray(data.ids) == 2
    assert (log_probs[after_a].argmax(axis=1) == 1).all()
    assert not (log_probs[~after_a].argmax(axis=1) == 1).any()


@needs_crfsuite
def test_log_posteriors_of_unseen_label_are_finite(toy_store, tmp_path):
    rng, sets = np.random.default_rng(0), []
    for name in ("train", "dev"):
        words = rng.choice([*"abc"], 200).tolist()
        labels = ["PERIOD" if word == "a" else "O" for word in words]
        sets.append(tmp_path / name)
        write_data_dir(sets[-1], [Utterance("s-1", "s", words, labels, None)])
    shutil.copy(toy_store / "labels.txt", tmp_path)
    make_store(tmp_path / "store", sets, tmp_path / "labels.txt", nj=1)
    train(tmp_path / "store", tmp_path / "exp", "word_crf", FEW, TrainingOptions())
    probs = np.exp(log_posteriors(base.load(tmp_path / "exp"), Store(tmp_path / "store").set("dev")))
    assert probs[:, 1].max() < 1e-6
    assert np.isfinite(np.log(probs[:, 1])).all()



@pytest.mark.parametrize(("options", "message"), [
    ({"window": 0}, "window=0 is out of range; give 1 or more"),
    ({"window": 33}, "window=33 is out of range; give 32 or less"),
    ({"c1": float("nan")}, "c1=nan is out of range; give 0 or more"),
    ({"ngram": 3, "window": 1}, "ngram=3, in a window of 2 words and with a vocabulary of 10; "
                                 "choose shorter n-grams")])
def test_word_crf_invalid_options(options, message, toy_store):
    store = Store(toy_store)
    with pytest.raises(InputError) as error:
        base.create("word_crf", store.vocabulary, store.labels, options)
    assert str(error.value) == message


@needs_crfsuite
def test_fit_clusters_of_other_words(toy_store, tmp_path):
    path = tmp_path / "paths"
    path.write_text("0\tzzz\t1\n")
    with pytest.raises(InputError, match="the file has no word of the vocabulary"):
        fitted(toy_store, tmp_path / "exp", "short", clusters=str(path))


WORDS = ["<unk>", "</s>", "what", "is", "mp3", "n't", "McDonald", "1990s"]
V = len(WORDS)
WHAT, IS, MP3 = 2, 3, 4
# Two streams: "what is mp3 <unk>" and "is".
TEXT = Text(np.array([WHAT, IS, MP3, 0, IS], np.int32), np.array([0, 4, 5]), None)


def keys(template, text=TEXT, start=0, stop=5, tables=None, triggers=(), before=2, after=1):
    finder = features.Finder(V, tables or {}, triggers, before, after)
    slots, found = next(finder.keys([template], text, start, stop))
    return [found[slots == slot].tolist() for slot in range(stop - start)]


def number(*words):
    return sum(word * V ** place for place, word in enumerate(reversed(words)))


def test_word_shape_by_hand():
    assert [word_shape(word) for word in WORDS[2:]] == ["a", "a", "a0", "a'a", "AaAa", "0a"]
    assert word_shape("don't--") == "a'a-"
    table = shape_table(WORDS)
    assert table[:2].tolist() == [-1, -1]
    assert table[2] == table[3]
    assert len(set(table[3:].tolist())) == 5


@pytest.mark.parametrize("word", ["blogging", "10:30", "a", "ok", "abc", "Abcd", "x:y", "n't"])
def test_tables_of_a_form_are_those_of_its_words(word):
    for table in (shape_table, lambda words: suffix_table(words, 1), lambda words: suffix_table(words, 3)):
        own, form = table(["<unk>", "</s>", word, next(forms(word))])[2:]
        assert own == form
    assert suffix_table(["<unk>", "</s>", word, "<form:0:a:>"], 1)[3] == -1


def test_cluster_table_by_prefixes():
    clusters = {"what": "0010", "is": "0011", "mp3": "01", "other": "1"}
    assert features.cluster_table(WORDS, clusters, 3).tolist() == [-1, -1, 0, 0, 1, -1, -1, -1]
    assert features.cluster_table(WORDS, clusters, 4).tolist() == [-1, -1, 0, 1, 2, -1, -1, -1]


def test_keys_word_ngrams_stop_at_stream_ends():
    assert keys(Template("word", 0)) == [[WHAT], [IS], [MP3], [0], [IS]]
    assert keys(Template("word", 1)) == [[IS], [MP3], [0], [1], [1]]
    assert keys(Template("word", -1, 3)) == [[number(1, WHAT, IS)], [number(WHAT, IS, MP3)], [number(IS, MP3, 0)],
                                             [number(MP3, 0, 1)], [number(1, IS, 1)]]


@pytest.mark.parametrize(("start", "stop"), [(0, 100), (0, 40), (37, 41), (99, 100)])
def test_keys_same_for_part_of_text(start, stop):
    rng = np.random.default_rng(0)
    text = Text(rng.integers(0, V, 100).astype(np.int32), np.array([0, 39, 40, 100]), None)
    for template in features.templates(4, 3, [], 0, 0):
        assert keys(template, text, start, stop) == keys(template, text, 0, 100)[start:stop]


def test_odds_step_by_hand():
    log_probs = np.log([[0.5, 0.5], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))], [1.0, 1e-30]])
    assert [keys(Template("lm", label), TEXT._replace(log_probs=log_probs), 0, 3) for label in (0, 1)] == \
        [[[LM_STEPS], [LM_STEPS + 2], [2 * LM_STEPS]], [[LM_STEPS], [LM_STEPS - 2], [0]]]
    assert features.odds_step(np.zeros(1, np.float32)).tolist() == [2 * LM_STEPS]


def test_keys_triggers_in_window():
    """A window has two words before the slot and one after it. So "what is" is in the windows of slots 0 and 1, and
    "is" in those of slots 0, 1, 2 and 4."""
    triggers = [np.array([IS]), np.array([number(WHAT, IS)])]
    assert keys(Template("trigger", 0, 1), triggers=triggers) == [[IS], [IS], [IS], [], [IS]]
    assert keys(Template("trigger", 0, 2), triggers=triggers) == [[number(WHAT, IS)]] * 2 + [[]] * 3


SIZE = 7


def text(lengths, seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return rng.integers(0, SIZE, offsets[-1]).astype(np.int32), rng.integers(0, 3, offsets[-1]).astype(np.int8), offsets


def held(ids, offsets, n, before, after):
    result = []
    for begin, end in pairwise(offsets.tolist()):
        for slot in range(begin, end):
            window = ids[max(slot - before + 1, begin):min(slot + after + 1, end)].tolist()
            result.append({tuple(window[i:i + n]) for i in range(len(window) - n + 1)})
    return result


def key(ngram):
    return sum(word * SIZE ** place for place, word in enumerate(reversed(ngram)))


@pytest.mark.parametrize(("before", "after"), [(1, 0), (3, 0), (2, 2), (1, 4), (30, 30)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_runs_match_loop_over_windows(n, before, after):
    ids, _, offsets = text([12, 1, 2, 25, 3])
    expected = {(key(ngram), slot) for slot, ngrams in enumerate(held(ids, offsets, n, before, after))
                for ngram in ngrams}
    runs = zip(*(a.tolist() for a in features.runs(ids, offsets, n, SIZE, before, after)))
    found = [(k, slot) for k, first, last in runs for slot in range(first, last + 1)]
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize(("before", "after", "min_count"), [(3, 1, 1), (4, 4, 3), (2, 0, 6)])
def test_select_has_largest_mutual_information(before, after, min_count):
    ids, labels, offsets = text([60, 1, 80, 5], seed=3)
    slots, joint = Counter(), Counter()
    for n in (1, 2, 3):
        for label, ngrams in zip(labels.tolist(), held(ids, offsets, n, before, after)):
            slots.update(ngrams)
            joint.update((ngram, label) for ngram in ngrams)
    marks, total = Counter(labels.tolist()), len(ids)

    def information(ngram, mark):
        return (joint[ngram, mark] / total) / (slots[ngram] / total * (marks[mark] / total))

    expected = set()
    for mark in (1, 2):
        enough = [ngram for ngram in slots if joint[ngram, mark] >= min_count]
        assert len(enough) > 5
        # Rounded to nine decimals, so that floating-point errors do not break ties.
        order = sorted(enough, key=lambda g: (-round(information(g, mark), 9), -joint[g, mark], len(g), key(g)))
        expected |= set(order[:5])
    found = features.select(ids, labels, offsets, SIZE, 3, 5, before, after, min_count)
    assert [keys.tolist() for keys in found] == \
        [sorted(key(ngram) for ngram in expected if len(ngram) == n) for n in (1, 2, 3)]


@pytest.mark.parametrize(("start", "stop"), [(0, 43), (0, 7), (5, 30), (12, 13), (40, 43)])
def test_firing_in_part_of_text(start, stop):
    ids, _, offsets = text([12, 1, 2, 25, 3])
    for n in (1, 2, 3):
        wanted = np.unique(features.ngram_keys(ids, n, SIZE))[::2]
        expected = {(slot - start, key(ngram)) for slot, ngrams in enumerate(held(ids, offsets, n, 4, 2))
                    for ngram in ngrams if start <= slot < stop and key(ngram) in wanted}
        slots, keys = features.firing(ids, offsets, start, stop, n, SIZE, 4, 2, wanted)
        assert len(slots) == len(expected)
        assert set(zip(slots.tolist(), keys.tolist())) == expected


def test_read_clusters_liang_format(tmp_path):
    (tmp_path / "paths").write_text("00\tthe\t12\n010\tcafé\t3\n1\t.\t7\n", encoding="utf-8")
    assert read_clusters(tmp_path / "paths") == {"the": "00", "café": "010", ".": "1"}


@pytest.mark.parametrize(("text", "message"), [
    ("00\tthe\t12\n0 a 3\n", "FILE:2: the line is not BITS<TAB>WORD<TAB>COUNT; use the file `paths` "
     "that Liang's wcluster writes"),
    ("02\tthe\t12\n", "FILE:1: the line is not BITS<TAB>WORD<TAB>COUNT; use the file `paths` "
     "that Liang's wcluster writes"),
    ("00\tthe\tx\n", "FILE:1: the line is not BITS<TAB>WORD<TAB>COUNT; use the file `paths` "
     "that Liang's wcluster writes"),
    ("00\t\t1\n", "FILE:1: the line is not BITS<TAB>WORD<TAB>COUNT; use the file `paths` "
     "that Liang's wcluster writes"),
    ("00\ta\t1\n01\ta\t1\n", "FILE:2: 'a' occurs twice; remove one of its lines"),
    ("", "FILE: the file is empty; make it again, or give another one")])
def test_read_clusters_invalid_files(text, message, tmp_path):
    path = tmp_path / "paths"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_clusters(path)
    assert str(error.value).replace(str(path), "FILE") == message
