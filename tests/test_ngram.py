"""The hidden-event n-gram model, and the decision tree that uses it."""

import os
import shutil
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from conftest import piped

from punc.base.errors import InputError
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.decoding.decode import log_posteriors
from punc.live.streaming import punctuate_streaming
from punc.models import base, ngram_dt
from punc.models.ngram import model as ngram
from punc.tokens.store import Store, make_store
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import Vocabulary
from punc.training.options import TrainingOptions
from punc.training.train import train

needs_lmplz = pytest.mark.skipif(not shutil.which("lmplz"), reason="no lmplz: bash utils/install_lmplz.sh")


def write_bigram(path, data, tokens):
    first = len(tokens) - 1 - sum(token.startswith("<") and token.isupper() for token in tokens[2:])
    texts = [[len(tokens) - 1, *ngram.with_events(data.ids[b:e], data.labels[b:e], first).tolist(), 1]
             for b, e in pairwise(data.offsets.tolist())]
    ones, twos = Counter(x for t in texts for x in t), Counter(p for t in texts for p in pairwise(t))
    begun, types = Counter(p[0] for t in texts for p in pairwise(t)), Counter(a for a, _ in twos)
    total = ones.total()
    rows = [f"{np.log10(n / total):.7f}\t{tokens[a]}\t{np.log10(0.5 * types[a] / begun[a]) if a in begun else 0:.7f}"
            for a, n in ones.items()]
    more = [f"{np.log10((n - 0.5) / begun[a]):.7f}\t{tokens[a]} {tokens[b]}" for (a, b), n in twos.items()]
    path.write_text("\n".join(["\\data\\", f"ngram 1={len(rows) + 1}", f"ngram 2={len(more)}", "", "\\1-grams:",
                               "-3\t<unk>", *rows, "", "\\2-grams:", *more, "", "\\end\\", ""]))


@pytest.fixture(scope="module")
def arpa(tmp_path_factory, toy_store):
    place, store = tmp_path_factory.mktemp("arpa"), Store(toy_store)
    for task in ("after", "before", "pause"):
        write_bigram(place / task, store.set(f"train_{task}"), ngram.tokens_of(store.vocabulary, store.labels))
    return place


@pytest.fixture(scope="module")
def exp(tmp_path_factory, toy_store, arpa):
    directory = tmp_path_factory.mktemp("exp") / "ngram"
    train(toy_store, directory, "ngram", {"arpa": str(arpa / "pause")},
          TrainingOptions(train_set="train_pause", dev_set="dev_pause", device="cuda"))  # ignores the device
    return directory


@pytest.mark.parametrize("task", ["after", "before"])
def test_ngram_learns_and_loads(task, toy_store, arpa, tmp_path):
    options = {"arpa": str(arpa / task)}
    train(toy_store, tmp_path, "ngram", options, TrainingOptions(train_set=f"train_{task}", dev_set=f"dev_{task}"))
    model, data = base.load(tmp_path), Store(toy_store).set(f"dev_{task}")
    found = log_posteriors(model, data)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-5)
    assert np.mean(found.argmax(axis=1) == data.labels) > 0.95
    assert sorted(os.listdir(tmp_path)) == ["conf", "final.pt", "labels.txt", "vocab"]
    before = (tmp_path / "final.pt").read_bytes()
    train(toy_store, tmp_path, "ngram", options, TrainingOptions(train_set=f"train_{task}", dev_set=f"dev_{task}"))
    assert (tmp_path / "final.pt").read_bytes() == before  # a finished model is not trained again
    # Streams are decoded independently.
    alone = StoreSet(data.ids[200:400], None, None, ["1"], np.array([0, 200]))
    np.testing.assert_allclose(log_posteriors(model, alone), found[200:400], atol=1e-5)


@pytest.mark.parametrize(("files", "weights"), [(["after"], [1.0]), (["before", "after"], [0.0, 1.0])])
def test_ngram_weights_are_estimated_only_for_several_models(files, weights, toy_store, arpa, tmp_path, capsys):
    options = {"arpa": ",".join(str(arpa / name) for name in files)}
    train(toy_store, tmp_path, "ngram", options, TrainingOptions(train_set="train_after", dev_set="dev_after"))
    np.testing.assert_allclose(base.load(tmp_path).arrays["weights"], weights, atol=0.1)
    assert ("weights: " in capsys.readouterr().err) == (len(files) > 1)


@needs_lmplz
def test_ngram_estimates_prunes_and_interpolates(toy_store, tmp_path, capfd):
    data, sizes = Store(toy_store).set("dev_after"), []
    for prune in ("0", "0,0,2"):
        directory = tmp_path / prune
        train(toy_store, directory, "ngram", {"order": 3, "prune": prune},
              TrainingOptions(train_set="train_before,train_after", dev_set="dev_after"))
        model = base.load(directory)
        assert np.mean(log_posteriors(model, data).argmax(axis=1) == data.labels) > 0.95
        sizes.append(len(model.models[0].orders[2].keys))
        before, after = model.arrays["weights"]
        assert after > 0.9
        assert before + after == pytest.approx(1)
    assert sizes[1] < sizes[0]
    assert "weights: train_before 0." in capfd.readouterr().err


def test_entropy_prune_leaves_out_ngrams(toy_store, arpa, tmp_path):
    data, sizes = Store(toy_store).set("dev_after"), []
    for share in (0.0, 1e-4):
        train(toy_store, tmp_path / str(share), "ngram", {"arpa": str(arpa / "after"), "entropy_prune": share},
              TrainingOptions(train_set="train_after", dev_set="dev_after"))
        model = base.load(tmp_path / str(share))
        assert np.mean(log_posteriors(model, data).argmax(axis=1) == data.labels) > 0.95
        sizes.append(len(model.models[0].orders[1].keys))
    assert 0 < sizes[1] < sizes[0]


@pytest.mark.parametrize("size", [2, 1 << 20])
def test_write_text_replaces_reserved_tokens(size, tmp_path, monkeypatch):
    vocabulary = Vocabulary(["<unk>", "</s>", "a", "<s>", "<COMMA>", "b"])
    labels = LabelSet.read(_labels(tmp_path))
    tokens = ngram.tokens_of(vocabulary, labels)
    assert tokens[-4:] == ["<O>", "<COMMA>", "<PERIOD>", "<s>"]
    assert len(set(tokens)) == len(tokens)
    data = StoreSet(np.array([2, 5, 0, 3, 4, 2]), np.array([0, 1, -1, 2, 0, 2]), None, ["x", "y"], np.array([0, 4, 6]))
    monkeypatch.setattr(ngram, "WRITE_SIZE", size)
    ngram.write_text(tmp_path / "text", data, tokens, len(vocabulary))
    assert (tmp_path / "text").read_text() == "a b <COMMA> <UNK> <UNK> <PERIOD>\n<UNK> a <PERIOD>\n"


def _labels(folder):
    (folder / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    return folder / "labels.txt"


def test_punctuate_live_writes_at_stream_end(exp):
    lines = piped(punctuate_streaming, base.load(exp), b"c a d\n\nb c").decode().split("\n")
    assert [[word.rstrip(",.") for word in line.split()] for line in lines] == [["c", "a", "d"], ["b", "c"], []]


# The decision tree

def test_leaves_match_scikit_learn():
    tree = pytest.importorskip("sklearn.tree", reason="no scikit-learn: the extra 'tree'")
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, (2000, 4)).astype(np.float32)
    labels = rng.choice([0, 2], 2000, p=[0.7, 0.3]) * (features[:, 0] > 0)  # label 1 never occurs
    for options in ({"max_depth": 1}, {"max_depth": 6}, {"min_samples_leaf": 1000}, {}):
        classifier = tree.DecisionTreeClassifier(random_state=0, **options).fit(features, labels)
        arrays = ngram_dt.arrays_of(classifier, 3)
        new = np.concatenate([rng.uniform(-1, 1, (500, 4)).astype(np.float32), features[:500]])
        found = arrays["counts"][ngram_dt.leaves(arrays, new)]
        np.testing.assert_allclose((found / found.sum(axis=1, keepdims=True))[:, [0, 2]],
                                   classifier.predict_proba(new), atol=1e-12)
        assert (found[:, 1] == 0).all()
        probs = ngram_dt.smoothed(arrays)
        np.testing.assert_allclose(probs.sum(axis=1), 1)
        assert (probs > 0).all()


def test_tree_learns_from_pauses_and_saves_language_model(exp, toy_store, tmp_path, capfd):
    pytest.importorskip("sklearn", reason="no scikit-learn: the extra 'tree'")
    lm = tmp_path / "lm"
    shutil.copytree(exp, lm)
    train(toy_store, tmp_path / "dt", "ngram_dt", {"lm_model": str(lm)},
          TrainingOptions(train_set="train_pause", dev_set="dev_pause"))
    assert "depth " in capfd.readouterr().err
    shutil.rmtree(lm)
    model, data = base.load(tmp_path / "dt"), Store(toy_store).set("dev_pause")
    found = log_posteriors(model, data)
    known = ~np.isnan(data.pauses)
    assert np.mean((found.argmax(axis=1) == data.labels)[known]) > 0.98
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-5)
    pauses = model.thresholds()[:, 0]
    assert any(0.1 < pause < 0.5 for pause in pauses)
    assert any(0.6 < pause < 0.9 for pause in pauses)
    assert list(pauses) == sorted(pauses)
    # The first feature is UNKNOWN if the pause is unknown. The other features are posteriors.
    assert ngram_dt.features(data._replace(pauses=None), model.lm)[:, 0].tolist() == [ngram_dt.UNKNOWN] * len(data.ids)
    lm_log_probs = log_posteriors(base.load(exp), data)
    np.testing.assert_allclose(ngram_dt.features(data, model.lm)[:, 1:], np.exp(lm_log_probs), atol=1e-6)


@needs_lmplz
def test_tree_with_folds_reads_posteriors_by_models_that_have_not_read_the_streams(toy_store, tmp_path, caplog):
    pytest.importorskip("sklearn", reason="no scikit-learn: the extra 'tree'")
    options = TrainingOptions(train_set="train_pause", dev_set="dev_pause")
    train(toy_store, tmp_path / "lm", "ngram", {}, options)
    caplog.clear()
    train(toy_store, tmp_path / "same", "ngram_dt", {"lm_model": str(tmp_path / "lm")}, options)
    assert "--lm-model was trained on 'train_pause', too" in caplog.text
    caplog.clear()
    train(toy_store, tmp_path / "dt", "ngram_dt", {"lm_model": str(tmp_path / "lm"), "folds": 2}, options)
    assert "was trained on" not in caplog.text
    counts = [base.load(tmp_path / name).arrays["counts"][0].sum() for name in ("same", "dt")]
    assert counts[0] == counts[1]  # each slot is one training example, also with folds
    store = Store(toy_store)
    data = store.set("train_pause")
    halves = [ngram_dt.Folds(store, ["train_pause"], 2, 1, inside).set("train_pause") for inside in (True, False)]
    assert list(data.streams)[1::2] == list(halves[0].streams)
    assert sorted([*halves[0].streams, *halves[1].streams]) == sorted(data.streams)
    for half in halves:
        for at, stream in enumerate(half.streams):
            begin, end = data.offsets[list(data.streams).index(stream):][:2]
            own = slice(*half.offsets[at:at + 2])
            for name in ("ids", "labels", "pauses"):
                np.testing.assert_array_equal(getattr(half, name)[own], getattr(data, name)[begin:end])



@pytest.mark.parametrize(("options", "message"), [
    ({"order": 0}, "order=0 is out of range; give 1 or more"),
    ({"entropy_prune": -1.0}, "entropy_prune=-1.0 is out of range; give 0 or more"),
    ({"prune": "1"}, "prune=1 does not fit; write counts that start with 0 and do not decrease: 0,0,1,1"),
    ({"prune": "0,2,1"}, "prune=0,2,1 does not fit; write counts that start with 0 and do not decrease: 0,0,1,1"),
    ({"prune": "0 0"}, "prune=0 0 does not fit; write counts that start with 0 and do not decrease: 0,0,1,1"),
    ({"arpa": "none.arpa"}, "none.arpa: no such file; make it, or give another one"),
    ({}, "no lmplz on PATH; build it: bash utils/install_lmplz.sh; or give --arpa"),
])
def test_ngram_invalid_options(options, message, toy_store, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as error:
        train(toy_store, tmp_path / "exp", "ngram", options,
              TrainingOptions(train_set="train_after", dev_set="dev_after"))
    assert str(error.value) == message
    assert not (tmp_path / "exp").exists()


def test_ngram_training_options_of_neural_models(toy_store, tmp_path):
    with pytest.raises(InputError) as error:
        train(toy_store, tmp_path / "exp", "ngram", {},
              TrainingOptions(train_set="train_after", dev_set="dev_after", epochs=3))
    assert str(error.value) == "--epochs=3, but ngram is not trained by gradient; leave the option out"


def test_lmplz_error_is_one_line(toy_store, tmp_path, monkeypatch):
    lmplz = tmp_path / "lmplz"
    lmplz.write_text("#!/bin/sh\necho reading >&2; echo 'not enough memory' >&2; exit 1\n")
    lmplz.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"^lmplz failed: not enough memory; check memory"):
        train(toy_store, tmp_path / "exp", "ngram", {}, TrainingOptions(train_set="train_after", dev_set="dev_after"))


@pytest.mark.parametrize(("options", "message"), [
    ({}, "lm_model=; give the directory of a trained ngram"),
    ({"lm_model": "none"}, "none/final.pt: no such file; train the model, or give another directory"),
    ({"lm_model": "EXP", "folds": 1}, "folds=1; give 2 or more, or 0"),
    ({"lm_model": "EXP", "folds": 2},
     "folds cannot be used with a language model from ARPA files; train one on the store's sets"),
])
def test_tree_invalid_options(options, message, exp, toy_store, tmp_path):
    options = {**options, **({"lm_model": str(exp)} if options.get("lm_model") == "EXP" else {})}
    with pytest.raises(InputError) as error:
        train(toy_store, tmp_path / "dt", "ngram_dt", options,
              TrainingOptions(train_set="train_pause", dev_set="dev_pause"))
    assert str(error.value) == message


def test_tree_vocabulary_differs_from_language_model(exp, tmp_path):
    words = ["a", "b"]
    write_data_dir(tmp_path / "train", [Utterance("u", "u", words, ["O", "COMMA"], np.zeros(2, np.float32))])
    make_store(tmp_path / "store", [tmp_path / "train"], exp / "labels.txt", nj=1)
    with pytest.raises(InputError, match=r"the vocabulary of lm_model=.* differs from that of the store"):
        train(tmp_path / "store", tmp_path / "dt", "ngram_dt", {"lm_model": str(exp)}, TrainingOptions(dev_set="train"))


TREE = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, -2, -2], "threshold": [0.5, -2, -2],
        "counts": [[2, 2, 0], [2, 0, 0], [0, 2, 0]]}


@pytest.mark.parametrize("change", [
    {"left": [0, -1, -1]}, {"right": [0, -1, -1]}, {"left": [3, -1, -1]}, {"left": [1, 0, -1], "right": [2, 0, -1]},
    {"feature": [4, -2, -2]}, {"feature": [-1, -2, -2]}, {"counts": [[-2, 2, 0], [2, 0, 0], [0, 2, 0]]},
    {name: values[:0] for name, values in TREE.items()}])
def test_tree_that_is_invalid_is_refused(change, exp):
    """A node that is its own child would cause an endless loop. A feature or node out of range would cause a
    traceback."""
    lm = {f"lm_model.{name}": array for name, array in base.load(exp).state_dict().items()}

    def load(tree):
        model = base.model_class("ngram_dt")(10, 3, lm_model=base.load(exp).spec)
        kinds = {"threshold": np.float64, "counts": np.float64}
        arrays = {name: np.array(values, kinds.get(name, np.int64)) for name, values in tree.items()}
        arrays["counts"] = arrays["counts"].reshape(-1, 3)
        model.load_state_dict(lm | {name: torch.from_numpy(array) for name, array in arrays.items()})

    load(TREE)
    with pytest.raises(ValueError, match=r"not a tree|features that do not exist|not counts"):
        load(TREE | change)


def test_load_more_orders_than_can_be_decoded(exp, tmp_path):
    """With n-grams of 40 tokens, the label histories would fill the memory."""
    shutil.copytree(exp, tmp_path / "exp")
    content = torch.load(exp / "final.pt", weights_only=True)
    for order in range(3, 41):
        content["weights"] |= {f"0.{order}.{field}": content["weights"][f"0.2.{field}"]
                               for field in ("keys", "log_probs", "backoffs")}
    torch.save(content, tmp_path / "exp" / "final.pt")
    with pytest.raises(InputError, match=r"final.pt: n-grams of 40 tokens: too long for 3 labels; lower --order"):
        base.load(tmp_path / "exp")
