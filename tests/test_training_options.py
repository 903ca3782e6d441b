"""TrainingOptions: what is allowed, what `--help` says, and what is saved."""

import re
from dataclasses import FrozenInstanceError, fields

import pytest

from punc.base.errors import InputError
from punc.training.options import GROUPS, TrainingOptions, check_non_gradient, run_conf

NOISE = {"asr_noise": 0.1, "confusions": "c"}
SHARE = "; the share is above 0 and at most 1; give --asr-noise, too"


def test_training_options_each_is_documented_and_in_one_group():
    for field in fields(TrainingOptions):
        assert re.search(rf"^    {field.name} {{2,}}\S", TrainingOptions.__doc__, re.MULTILINE), field.name
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(field.name for field in fields(TrainingOptions))


def test_training_options_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        TrainingOptions().epochs = 3


@pytest.mark.parametrize(("change", "message"), [
    ({"batch_size": 0}, "--batch-size=0; it is 1 or more"), ({"context": -1}, "--context=-1; it is 0 or more"),
    ({"epsilon": float("nan")}, "--epsilon=nan; it is 0 or more"),
    ({"optimizer": "adam", "learning_rate": 0.0}, "--learning-rate=0 with --optimizer=adam; give a number above 0"),
    ({"optimizer": "adamw", "epsilon": 0.0}, "--epsilon=0 with --optimizer=adamw; give a number above 0"),
    ({"batching": "rows"}, "--batching=rows; choose from auto, stateful, chunks"),
    ({"schedule": "cosine"}, "--schedule=cosine; choose from halving, linear"),
    ({"loss_on": "words"}, "--loss-on=words; choose from slots, tokens"),
    ({"optimizer": "adagard"}, "--optimizer=adagard; choose from adagrad, adam, adamw, sgd"),
    ({"teacher_weight": 1.5}, "--teacher-weight=1.5; it is from 0 to 1"),
    ({"teacher_weight": float("nan")}, "--teacher-weight=nan; it is from 0 to 1"),
    ({"asr_noise": 0.1}, "--asr-noise=0.1 with --confusions=''; give both: a word error rate, and a file of punc "
     "confusions"),
    ({"confusions": "c"}, "--asr-noise=0 with --confusions='c'; give both: a word error rate, and a file of punc "
     "confusions"),
    (NOISE | {"asr_noise": 1.5}, "--asr-noise=1.5; it is at least 0 and less than 1"),
    (NOISE | {"asr_noise_share": 0}, "--asr-noise-share=0 with --asr-noise=0.1" + SHARE),
    (NOISE | {"asr_noise_share": 1.5}, "--asr-noise-share=1.5 with --asr-noise=0.1" + SHARE),
    ({"asr_noise_share": 0.5}, "--asr-noise-share=0.5 with --asr-noise=0" + SHARE),
    (NOISE | {"teacher": "t"}, "--asr-noise with --teacher; leave one out: a teacher has read the words without "
     "errors"),
    ({"device": "gpu"}, "--device=gpu; choose auto, cpu, cuda, or one of several GPUs: cuda:0, cuda:1, …")])
def test_training_options_wrong_value_is_an_error(change, message):
    with pytest.raises(InputError) as caught:
        TrainingOptions(**change)
    assert str(caught.value) == message


def test_check_non_gradient_only_some_options_may_be_set():
    check_non_gradient("ngram", TrainingOptions(train_set="a,b", dev_set="c", seed=2, threads=3, device="cuda"))
    with pytest.raises(InputError, match=r"^--epochs=3, but ngram is not trained by gradient; leave the option out$"):
        check_non_gradient("ngram", TrainingOptions(epochs=3))


def test_run_conf_has_all_options():
    conf = run_conf("t_lstm", {"hidden_dim": 8}, TrainingOptions(epochs=3), "data/store")
    assert list(conf) == ["model", "hidden_dim", *(field.name for field in fields(TrainingOptions)), "store"]
    assert (conf["model"], conf["hidden_dim"], conf["epochs"], conf["store"]) == ("t_lstm", 8, 3, "data/store")
