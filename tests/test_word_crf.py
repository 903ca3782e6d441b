"""The word CRF, trained by CRFsuite if that is installed, and compared with it."""

import shutil
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.decoding.decode import log_posteriors
from punc.models import base
from punc.models.word_crf import features as crf_features
from punc.models.word_crf import model as word_crf
from punc.tokens.store import Store, make_store
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
    """A model of the toy texts, what CRFsuite was given (without the bias), and the model file that it wrote."""
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
    """Cut in training or not, in chunks or not: nearly the same labels."""
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


def test_triggers_of_several_sets_keep_streams_apart(toy_store, monkeypatch):
    store = Store(toy_store)
    sets = [store.set(name) for name in ("train_short", "dev_short", "dev_after")]
    model = base.create("word_crf", store.vocabulary, store.labels, FEW)
    monkeypatch.setattr(word_crf, "select", lambda *arguments: arguments)
    ids, labels, offsets, *_ = model._triggers(sets)
    streams = [(data, k) for data in sets for k in range(len(data.offsets) - 1)]
    assert len(offsets) == len(streams) + 1
    for (data, k), begin, end in zip(streams, offsets[:-1], offsets[1:]):
        own = slice(data.offsets[k], data.offsets[k + 1])
        assert np.array_equal(ids[begin:end], data.ids[own])
        assert np.array_equal(labels[begin:end], data.labels[own])


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
    assert evaluate(loaded, data)[1] > 99  # a letter is its cluster


class Oracle(base.NonGradientModel):
    """Stands in for an n-gram model: sure of the label after "a", no idea elsewhere."""

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


# What a user can do wrong.

@pytest.mark.parametrize(("options", "message"), [
    ({"window": 0}, "window=0; it is 1 or more"),
    ({"c1": float("nan")}, "c1=nan; it is 0 or more"),
    ({"ngram": 3, "window": 1}, "ngram=3, in a window of 2 words and with a vocabulary of 10; "
                                 "choose shorter n-grams")])
def test_word_crf_invalid_options(options, message, toy_store):
    store = Store(toy_store)
    with pytest.raises(InputError) as error:
        base.create("word_crf", store.vocabulary, store.labels, options)
    assert str(error.value) == message


def test_fit_without_crfsuite_says_what_to_install(toy_store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(InputError) as error:
        fitted(toy_store, tmp_path / "exp", "short")
    assert str(error.value) == ("python-crfsuite is not installed; it trains the CRF; "
                                "install it: pip install --constraint constraints.txt -e '.[crf]'")
    assert not (tmp_path / "exp").exists()


@needs_crfsuite
def test_fit_clusters_of_other_words(toy_store, tmp_path):
    path = tmp_path / "paths"
    path.write_text("0\tzzz\t1\n")
    with pytest.raises(InputError, match="no word of the vocabulary is here"):
        fitted(toy_store, tmp_path / "exp", "short", clusters=str(path))


def test_load_state_dict_arrays_of_another_model(toy_store):
    store = Store(toy_store)
    model = base.create("word_crf", store.vocabulary, store.labels, FEW)
    with pytest.raises(KeyError):
        model.load_state_dict({})
    assert crf_features.templates(2, 2, [], 0, 0)
