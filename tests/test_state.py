"""The state of a training run on disk: schedules for given losses, files of epochs, and changes of data and options.

test_train.py and test_ranks.py test training runs that are stopped.
"""

import math
import shutil
import signal

import pytest
import torch

from punc.base.errors import InputError
from punc.base.stop import Stopped
from punc.bin import main as command
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.models.base import create, load, read_checkpoint
from punc.tokens.vocabulary import Vocabulary
from punc.training import state
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.ranks import Ranks
from punc.training.state import Place, Progress, Run, advance
from punc.training.train import finish, finished

torch.set_num_threads(1)
CONF = {"model": "t_lstm", "seed": 1, "max_grad_norm": 0.5, "pauses": False, "store": "data/store"}
STORE = {"vocab": 1, "train/ids.npy": 2}
FIRST = advance(Progress(0.1), 2.0, 0.003)


@pytest.mark.parametrize(("losses", "rates", "ended"), [
    # The loss falls by at least a tenth each time, so the rate does not change.
    ([10, 9, 8, 7], [1, 1, 1, 1], False),
    # After the first fall of less than a tenth, the rate is halved after every epoch, even after larger falls.
    ([10, 8, 7.5, 6, 5], [1, 1, 1 / 2, 1 / 4, 1 / 8], False),
    # After the second fall of less than a tenth, training ends.
    ([10, 8, 7.5, 6, 5.5], [1, 1, 1 / 2, 1 / 4, 1 / 8], True),
    ([10, 9.5, 9.4], [1, 1 / 2, 1 / 4], True),
    # A rise counts as a fall of less than a tenth. The next loss is compared with the best one, not with the last one.
    ([10, 12, 9.5], [1, 1 / 2, 1 / 4], True),
    ([10, 12, 8.9], [1, 1 / 2, 1 / 4], False),
])
def test_advance_halving(losses, rates, ended):
    progress = Progress(1.0)
    for number, (loss, rate) in enumerate(zip(losses, rates), 1):
        assert not progress.ended
        progress = advance(progress, loss, 0.1)
        assert (progress.epoch, progress.learning_rate, progress.last_loss) == (number, rate, loss)
        assert progress.best_loss == min(losses[:number]) == losses[progress.best_epoch - 1]
    assert progress.ended == ended


def test_advance_linear():
    progress = Progress(0.9)
    for rate, loss in ((0.6, 5.0), (0.3, 7.0), (0.0, 4.0)):
        progress = advance(progress, loss, 0.1, fall=0.3)
        assert progress.learning_rate == pytest.approx(rate)
        assert (progress.last_loss, progress.ended) == (loss, False)
    assert (progress.epoch, progress.best_loss) == (3, 4.0)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_advance_loss_not_finite_is_an_error(loss):
    message = (f"^epoch 2: the development loss is {loss}; lower --learning-rate, or set --max-grad-norm, and give "
               r"another directory; epoch 1 is kept$")
    with pytest.raises(InputError, match=message):
        advance(Progress(0.1, 1, False, 1.0, 1.0), loss, 0.003)


def make(words=("a",)):
    torch.manual_seed(1)
    labels = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",))))
    model = create("t_lstm", Vocabulary(["<unk>", "</s>", *words]), labels, {"embedding_dim": 2, "hidden_dim": 2})
    return model, Optimizer(model, "adagrad", 0.1)


def run_of(directory, made=None, conf=CONF, store=STORE, ranks=None):
    return Run(directory, *(made or make()), conf, store, ranks or Ranks())


def step(model, updates):
    updates.zero_grad()
    model(torch.tensor([[2, 0, 1]]), None, model.initial_state(1))[0].square().sum().backward()
    updates.step()


def weights(model):
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def assert_learn_alike(one, other):
    for _ in range(2):
        assert same(weights(one[0]), weights(other[0]))
        step(*one)
        step(*other)


def test_resume_restores_what_was_kept(tmp_path):
    made, other = make(), make()
    assert run_of(tmp_path, made).resume() is None
    step(*made)
    run_of(tmp_path, made).end_epoch(FIRST)
    assert run_of(tmp_path, other).resume() == FIRST
    assert_learn_alike(made, other)


def test_worse_epoch_restores_the_best(tmp_path):
    made, other = make(), make()
    run_of(tmp_path, made).end_epoch(FIRST)
    best = weights(made[0])
    step(*made)
    assert not same(weights(made[0]), best)
    worse = advance(FIRST, 3.0, 0.003)
    run_of(tmp_path, made).end_epoch(worse)
    assert same(weights(made[0]), best)
    assert same(read_checkpoint(tmp_path / "best.pt")["weights"], best)
    assert run_of(tmp_path, other).resume() == worse
    assert same(weights(other[0]), best)


def test_finish_writes_model_and_conf(tmp_path):
    model, updates = make()
    assert not finished(tmp_path, CONF, TrainingOptions())
    run_of(tmp_path, (model, updates)).end_epoch(FIRST)
    assert not finished(tmp_path, CONF, TrainingOptions())
    finish(tmp_path, model, CONF)
    # An option that did not exist when the model was trained counts as having its default. Threads and device change
    # at most the last bits of the weights.
    for conf in (CONF, CONF | {"biases": False}, CONF | {"threads": 4, "device": "cuda"}):
        assert finished(tmp_path, conf, TrainingOptions())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conf", "final.pt", "labels.txt", "vocab"]
    head, *lines = (tmp_path / "conf").read_text().splitlines()
    assert head.startswith("# punc ")
    assert "torch" in head
    assert lines == ["--model=t_lstm", "--seed=1", "--max-grad-norm=0.5", "--pauses=false"]
    loaded = load(tmp_path)
    assert same(weights(loaded), weights(model))
    assert loaded.vocabulary.tokens == model.vocabulary.tokens
    assert loaded.labels == model.labels


def test_resume_with_other_threads_or_device_or_an_option_that_went(tmp_path):
    run_of(tmp_path, conf=CONF | {"threads": 1, "device": "cuda:1", "gone": 3}).end_epoch(FIRST)
    assert run_of(tmp_path, conf=CONF | {"threads": 2, "device": "cpu"}).resume() == FIRST
    assert run_of(tmp_path).resume() == FIRST


@pytest.mark.parametrize("change", [{"seed": 2}, {"pauses": True}, {"new": 1}, {"model": "ta_lstm"}])
def test_other_conf_is_an_error(tmp_path, change):
    model, updates = make()
    run_of(tmp_path, (model, updates)).end_epoch(FIRST)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    name, value = next(iter(change.items()))
    message = f"{tmp_path}: this directory has a model with --{name}={CONF.get(name)}, not {value}; " \
        "remove the directory, or give another one"
    with pytest.raises(InputError) as error:
        run_of(tmp_path, conf=CONF | change).resume()
    assert str(error.value) == message
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    finish(tmp_path, model, CONF)
    with pytest.raises(InputError) as error:
        finished(tmp_path, CONF | change, TrainingOptions())
    assert str(error.value) == message


def in_third_epoch(directory, made=None, **given):
    run = run_of(directory, made, **given)
    run.begin_epoch(Progress(0.1, 2))
    return run


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(state, "SECONDS", 0.0)


def written(directory):
    """Write the state after batch 100 of the third epoch. Return the model and the optimiser."""
    made = make()
    run = in_third_epoch(directory, made)
    assert run.place == Place()
    step(*made)
    run.after_batch(100, 99, torch.tensor(5.0), (torch.ones(1, 2),))
    return made


def test_begin_epoch_restores_what_was_written(tmp_path, always):
    made, other = written(tmp_path), make()
    after = torch.rand(3)
    run = in_third_epoch(tmp_path, other)
    assert (run.place.batches, run.place.steps, float(run.place.loss)) == (100, 99, 5.0)
    assert torch.equal(run.place.state[0], torch.ones(1, 2))
    assert run.seconds() >= run.place.seconds > 0
    assert torch.equal(torch.rand(3), after)
    assert_learn_alike(made, other)


def test_state_is_not_written_before_it_is_time(tmp_path):
    in_third_epoch(tmp_path).after_batch(1, 1, torch.tensor(1.0), ())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("ranks", "batches"), [(1, 7), (2, 0)])
def test_signal_in_a_batch_writes_the_state_after_it(tmp_path, monkeypatch, ranks, batches):
    """If there are several ranks, nothing is written, because they may be at different batches."""
    run = in_third_epoch(tmp_path)
    run.ranks.size = ranks
    monkeypatch.setattr(state, "received", lambda: Stopped(signal.SIGTERM))
    with pytest.raises(Stopped, match="terminated"), run.written_if_stopped():
        run.after_batch(7, 6, torch.tensor(5.0), ())
    assert in_third_epoch(tmp_path).place.batches == batches


@pytest.mark.parametrize("name", ["progress.pt", "epoch.pt"])
@pytest.mark.parametrize(("damage", "message"), [
    (lambda content: content[:0], "not a model file, or a truncated one; train the model again"),
    (lambda content: content[:100], "not a model file, or a truncated one; train the model again"),
    (lambda content: content[:-1], "not a model file, or a truncated one; train the model again"),
    (None, "not a model file of punc; give a directory that punc train wrote")])
def test_broken_state_is_an_error(tmp_path, always, name, damage, message):
    written(tmp_path)
    run_of(tmp_path).end_epoch(FIRST)
    written(tmp_path)
    path = tmp_path / name
    path.write_bytes(damage(path.read_bytes()) if damage else (tmp_path / "best.pt").read_bytes())
    with pytest.raises(InputError) as error:
        run_of(tmp_path).resume() if name == "progress.pt" else in_third_epoch(tmp_path)
    assert str(error.value) == f"{path}: {message}"


def test_begin_of_another_epoch_or_store(tmp_path, always):
    written(tmp_path)
    model, updates = make()
    run = run_of(tmp_path, (model, updates))
    run.begin_epoch(Progress(0.1, 3))
    assert run.place == Place()
    assert same(weights(model), weights(make()[0]))
    with pytest.raises(InputError, match="the file has changed since the training in"):
        in_third_epoch(tmp_path, store={**STORE, "vocab": 0})


def make_store(place, last="b"):
    (place / "labels.txt").write_text("O w\nPERIOD w. .\n")
    (place / "vocab").write_text("<unk>\n</s>\na\nb\n")
    for name in ("train", "dev", "other"):
        words = ["a", "b", "a", last if name != "dev" else "a"]
        write_data_dir(place / name, [Utterance("s-1", "s", words, ["O", "PERIOD", "O", "O"])])
    assert command.main(["make-store", "--labels", str(place / "labels.txt"), "--vocab", str(place / "vocab"),
                         str(place / "store"), *(str(place / name) for name in ("train", "dev", "other"))]) == 0


TRAIN = {"t_lstm": ["--embedding-dim", "2", "--hidden-dim", "2", "--epochs", "1"], "word_crf": []}


def train(place, model="t_lstm"):
    return command.main(["train", "--model", model, *TRAIN[model], str(place / "store"), str(place / "model")])


@pytest.mark.parametrize("model", TRAIN)
def test_finished_model_of_a_store_that_changed_is_refused(tmp_path, capsys, model):
    if model == "word_crf":
        pytest.importorskip("pycrfsuite")
    make_store(tmp_path)
    assert train(tmp_path, model) == 0
    make_store(tmp_path, "a")
    capsys.readouterr()
    assert train(tmp_path, model) == 1
    assert capsys.readouterr().err == (
        f"punc train: {tmp_path}/model: {tmp_path}/store/train/ids.npy has changed since this model was trained"
        "; remove the directory to train again, give another one, or restore the store\n")


def test_finished_model_of_a_store_made_again_or_gone_is_finished(tmp_path, capsys):
    make_store(tmp_path)
    assert train(tmp_path) == 0
    shutil.rmtree(tmp_path / "store")
    assert train(tmp_path) == 0
    make_store(tmp_path)
    assert train(tmp_path) == 0
    assert capsys.readouterr().err.count("model/final.pt is finished\n") == 2


def test_store_with_more_words_is_an_error(tmp_path):
    run_of(tmp_path).end_epoch(FIRST)
    with pytest.raises(InputError, match="the saved state does not fit this model or store; remove the directory"):
        run_of(tmp_path, make(["a", "b"])).resume()
