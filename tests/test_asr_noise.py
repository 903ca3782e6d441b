"""Training with ASR noise: the errors of each epoch, a resumed run, options that do not fit, files that change."""

from collections import Counter
from itertools import pairwise

import pytest
import torch

from punc.base.errors import InputError
from punc.models.base import read_checkpoint
from punc.noise.confusions import Confusions
from punc.tokens.store import Store
from punc.training.asr_noise import AsrNoise
from punc.training.options import TrainingOptions
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


def test_asr_noise_is_drawn_anew_each_reading(toy_store, noise):
    store = Store(toy_store)
    data = store.set("train_before")
    drawn = AsrNoise(data, store, TrainingOptions(**SETTINGS | noise, parts=2, batching="chunks"))
    sets = [drawn.of_epoch(epoch) for epoch in range(4)]
    assert [found is None for found in sets] == [False, True, False, True]
    assert sets[0].ids.tobytes() != sets[2].ids.tobytes()
    again = AsrNoise(data, store, TrainingOptions(**SETTINGS | noise, parts=2, batching="chunks")).of_epoch(3)
    assert again.ids.tobytes() == sets[2].ids.tobytes()


@pytest.mark.parametrize("changes", [{}, {"schedule": "linear", "learning_rate": 0.2},
                                     {"batching": "chunks", "chunk_size": 16, "context": 4, "parts": 2}])
def test_train_resumed_with_noise_gives_the_same_model(toy_store, tmp_path, noise, changes, monkeypatch):
    whole = weights(toy_store, tmp_path / "whole", **noise, **changes)
    assert not same(whole, weights(toy_store, tmp_path / "clean", **changes))
    of_epoch = AsrNoise.of_epoch

    def stopped(self, epoch):
        if epoch == 1:
            raise KeyboardInterrupt
        return of_epoch(self, epoch)

    monkeypatch.setattr(AsrNoise, "of_epoch", stopped)
    with pytest.raises(KeyboardInterrupt):
        weights(toy_store, tmp_path / "stopped", **noise, **changes)
    monkeypatch.setattr(AsrNoise, "of_epoch", of_epoch)
    assert (tmp_path / "stopped" / "progress.pt").exists()
    assert same(whole, weights(toy_store, tmp_path / "stopped", **noise, **changes))


def test_train_resumed_with_other_confusions_raises(toy_store, tmp_path, noise, monkeypatch):
    monkeypatch.setattr(AsrNoise, "of_epoch", lambda self, epoch: 1 / (1 - epoch) and None)
    with pytest.raises(ZeroDivisionError):
        weights(toy_store, tmp_path / "stopped", **noise)
    with open(noise["confusions"], "a") as file:
        file.write("heard\t1\tother\n")
    with pytest.raises(InputError, match="c: changed since the training"):
        weights(toy_store, tmp_path / "stopped", **noise)


@pytest.mark.parametrize("options", [{"asr_noise": 0.1}, {"confusions": "c"}])
def test_training_options_noise_needs_both(options):
    with pytest.raises(InputError, match="give both"):
        TrainingOptions(**options)


def test_training_options_noise_with_teacher():
    with pytest.raises(InputError, match="--asr-noise with --teacher"):
        TrainingOptions(asr_noise=0.1, confusions="c", teacher="targets")


def test_training_options_noise_out_of_range():
    for share, rate in ((0, 0.1), (1.5, 0.1), (float("nan"), 0.1), (0.5, 0)):
        with pytest.raises(InputError, match="--asr-noise-share="):
            TrainingOptions(asr_noise=rate, confusions="c" if rate else "", asr_noise_share=share)
    with pytest.raises(InputError, match=r"--asr-noise=1\.5"):
        TrainingOptions(asr_noise=1.5, confusions="c")
