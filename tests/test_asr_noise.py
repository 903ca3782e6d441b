"""Training with ASR noise: the errors of each epoch, a resumed run, options that do not fit, files that change."""

import contextlib
from collections import Counter
from itertools import pairwise

import pytest
import torch

from punc.base.errors import InputError
from punc.models.base import read_checkpoint
from punc.noise.confusions import Confusions
from punc.noise.store_noise import StoreNoise
from punc.tokens.store import Store
from punc.training.options import TrainingOptions
from punc.training.state import Run
from punc.training.train import train

torch.set_num_threads(1)
MODEL = {"embedding_dim": 6, "hidden_dim": 8, "init_range": 0.1}
SETTINGS = {"train_set": "train_before", "dev_set": "dev_before", "batch_size": 20, "bptt": 5, "epochs": 3,
            "threads": 1, "device": "cpu"}


@pytest.fixture
def noise(toy_store, tmp_path):
    """The options of noise among the words of the toy task."""
    words = Store(toy_store).vocabulary.tokens[2:]
    Confusions(90, Counter(none=900), Counter(dict.fromkeys(words, 100)), Counter(dict.fromkeys(words, 100)),
               Counter({(word, (other,)): 10 for word, other in pairwise(words)} | {(words[-1], ()): 10}),
               Counter({("none", (words[0],)): 30})).write(tmp_path / "c")
    return {"asr_noise": 0.1, "confusions": str(tmp_path / "c")}


def weights(toy_store, directory, **settings):
    train(toy_store, directory, "t_lstm", MODEL, TrainingOptions(**SETTINGS | settings))
    return read_checkpoint(directory / "final.pt")["weights"]


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


def test_errors_are_drawn_anew_for_each_reading(toy_store, tmp_path, noise, monkeypatch):
    """Two parts are one reading: they have the same errors."""
    draw, drawn = StoreNoise.draw, []

    def recorded(self, seed):
        drawn.append(draw(self, seed))
        return drawn[-1]

    monkeypatch.setattr(StoreNoise, "draw", recorded)
    weights(toy_store, tmp_path, **noise, parts=2, batching="chunks", chunk_size=16, epochs=4, schedule="linear")
    assert len({data.ids.tobytes() for data in drawn}) == len(drawn) == 2


@contextlib.contextmanager
def killed_in_second_epoch():
    """A training is killed after the first batch of its second epoch."""
    after_batch = Run.after_batch

    def killed(run, *rest):
        after_batch(run, *rest)
        if run.progress.epoch == 1:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(Run, "after_batch", killed)
        yield


@pytest.mark.parametrize("changes", [{}, {"schedule": "linear", "learning_rate": 0.2},
                                     {"batching": "chunks", "chunk_size": 16, "context": 4, "parts": 2}])
def test_train_resumed_with_noise_gives_the_same_model(toy_store, tmp_path, noise, changes):
    whole = weights(toy_store, tmp_path / "whole", **noise, **changes)
    assert not same(whole, weights(toy_store, tmp_path / "clean", **changes))
    with killed_in_second_epoch():
        weights(toy_store, tmp_path / "stopped", **noise, **changes)
    assert (tmp_path / "stopped" / "progress.pt").exists()
    assert same(whole, weights(toy_store, tmp_path / "stopped", **noise, **changes))


def test_train_resumed_with_other_confusions_raises(toy_store, tmp_path, noise):
    with killed_in_second_epoch():
        weights(toy_store, tmp_path / "stopped", **noise)
    with open(noise["confusions"], "a") as file:
        file.write("heard\t1\tother\n")
    with pytest.raises(InputError, match="c: changed since the training"):
        weights(toy_store, tmp_path / "stopped", **noise)
