"""The epoch under way on disk. `test_train` and `test_ranks` stop trainings within an epoch."""

import signal

import pytest
import torch
from test_checkpoint import CONF, STORE, make, same, step, weights

from punc.base.errors import InputError
from punc.base.stop import Stopped
from punc.training import under_way
from punc.training.ranks import ALONE
from punc.training.under_way import Place, UnderWay, random_state, set_random_state

CPU = torch.device("cpu")


def written(directory, monkeypatch, seconds=0.0):
    """A training that is in its third epoch, with what `after` has written at batch 100, if it was time; its model."""
    monkeypatch.setattr(under_way, "SECONDS", seconds)
    model, updates = make()
    of = UnderWay(directory, model, updates, CONF, STORE, ALONE)
    of.begin(2)
    assert of.place == Place()
    step(model, updates)
    of.after(100, 99, torch.tensor(5.0), (torch.ones(1, 2),))
    return model, updates


def test_begin_restores_what_after_wrote(tmp_path, monkeypatch):
    model, updates = written(tmp_path, monkeypatch)
    after = torch.rand(3)
    other, others = make()
    of = UnderWay(tmp_path, other, others, CONF, STORE, ALONE)
    of.begin(2)
    place = of.place
    assert (place.batches, place.steps, float(place.loss)) == (100, 99, 5.0)
    assert torch.equal(place.state[0], torch.ones(1, 2))
    assert of.seconds() >= place.seconds > 0
    assert torch.equal(torch.rand(3), after)
    for _ in range(2):  # the optimiser is restored too
        assert same(weights(other), weights(model))
        step(model, updates)
        step(other, others)


@pytest.mark.parametrize(("seconds", "files"), [(0.0, ["epoch.pt"]), (60.0, [])])
def test_after_writes_when_it_is_time(seconds, files, tmp_path, monkeypatch):
    """A single process looks at the clock after each batch: one of a large encoder takes many seconds."""
    monkeypatch.setattr(under_way, "SECONDS", seconds)
    of = UnderWay(tmp_path, *make(), CONF, STORE, ALONE)
    of.begin(0)
    of.after(1, 1, torch.tensor(1.0), ())
    assert [path.name for path in tmp_path.iterdir()] == files


def test_a_signal_in_a_batch_writes_the_state_after_it(tmp_path, monkeypatch):
    of = UnderWay(tmp_path, *make(), CONF, STORE, ALONE)
    of.begin(2)
    monkeypatch.setattr(under_way, "received", lambda: Stopped(signal.SIGTERM))
    with pytest.raises(Stopped, match="terminated"), of.written_if_stopped():
        of.after(7, 6, torch.tensor(5.0), ())
    monkeypatch.undo()
    other = UnderWay(tmp_path, *make(), CONF, STORE, ALONE)
    other.begin(2)
    assert other.place.batches == 7


def test_stopped_before_the_first_batch_writes_nothing(tmp_path):
    of = UnderWay(tmp_path, *make(), CONF, STORE, ALONE)
    of.begin(2)
    with pytest.raises(Stopped), of.written_if_stopped():
        raise Stopped(signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


def test_after_a_signal_several_ranks_write_nothing(tmp_path, monkeypatch):
    """The others may be at another batch."""
    of = UnderWay(tmp_path, *make(), CONF, STORE, ALONE)
    of.begin(2)
    monkeypatch.setattr(under_way, "received", lambda: Stopped(signal.SIGTERM))
    monkeypatch.setattr(ALONE, "size", 2)
    with pytest.raises(Stopped), of.written_if_stopped():
        of.after(7, 6, torch.tensor(5.0), ())
    assert list(tmp_path.iterdir()) == []


def test_begin_of_another_epoch_restores_nothing(tmp_path, monkeypatch):
    written(tmp_path, monkeypatch)
    model, updates = make()
    before = weights(model)
    of = UnderWay(tmp_path, model, updates, CONF, STORE, ALONE)
    of.begin(3)
    assert of.place == Place()
    assert same(weights(model), before)


@pytest.mark.parametrize("length", [0, 100, -100])
def test_begin_truncated_file_is_an_error(length, tmp_path, monkeypatch):
    written(tmp_path, monkeypatch)
    path = tmp_path / "epoch.pt"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError, match=r"epoch.pt: not a model file, or a truncated one"):
        UnderWay(tmp_path, *make(), CONF, STORE, ALONE).begin(2)


def test_begin_changed_store_is_an_error(tmp_path, monkeypatch):
    written(tmp_path, monkeypatch)
    with pytest.raises(InputError, match="changed since the training in"):
        UnderWay(tmp_path, *make(), CONF, {**STORE, next(iter(STORE)): 0}, ALONE).begin(2)


def test_random_state_goes_on():
    torch.manual_seed(3)
    state = random_state(CPU)
    first = torch.rand(4)
    set_random_state(state, CPU)
    assert torch.equal(torch.rand(4), first)
