"""TrainingOptions: what is allowed, what `--help` says, and what is saved."""

import re
from dataclasses import FrozenInstanceError, fields

import pytest

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.training.options import TrainingOptions, check_non_gradient, parse_weights, run_conf

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",)), Label("PERIOD", "w.", (".",))))


@pytest.mark.parametrize("field", fields(TrainingOptions), ids=lambda field: field.name)
def test_training_options_each_is_documented(field):
    assert re.search(rf"^    {field.name} {{2,}}\S", TrainingOptions.__doc__, re.MULTILINE)


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


def test_parse_weights():
    assert parse_weights("", LABELS) is None
    assert parse_weights("PERIOD=2.5,O=0.5", LABELS).tolist() == [0.5, 1.0, 2.5]
    for text in ("X=1", "O", "O=", "O=x", "O=1,", "=1", "O=nan", "O=-1", "O=inf"):
        with pytest.raises(InputError, match=r"^--class-weights: '.*' is not LABEL=WEIGHT; labels are O COMMA PERIOD$"):
            parse_weights(text, LABELS)
