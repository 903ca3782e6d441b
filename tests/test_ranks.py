"""Training in several ranks has the same losses as in one process, can be continued, and ends if one rank fails.

The fixture `pair` starts two processes as ranks with gloo. The ranks perform all runs in RUNS and REFUSED, and the
tests check the files that the ranks write.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import punc.models.blstm_crf
from punc.base import log
from punc.base.errors import InputError
from punc.models.base import NeuralModel, read_checkpoint
from punc.training import state
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.ranks import Ranks, find_ranks
from punc.training.train import train

torch.set_num_threads(1)
torch.sparse.check_sparse_tensor_invariants.disable()  # PyTorch warns if this default is not set explicitly
LSTM = {"embedding_dim": 6, "hidden_dim": 8, "init_range": 0.1}
CRF = {"embedding_dim": 6, "hidden_dim": 6, "characters": False, "layers": 1, "dropout": 0.0, "unknown": 0.0}
TASK = {"train_set": "train_short", "dev_set": "dev_short", "threads": 1, "min_improvement": 0.0, "epochs": 1}
# Runs by name: the model, its options, and training options. In "chunks", the last batch has only one chunk, so one
# rank has no row.
RUNS = {
    "stateful": ("t_lstm", LSTM, {"batch_size": 11, "bptt": 20, "epochs": 2}),
    "linear": ("t_lstm", LSTM, {"batch_size": 15, "bptt": 20, "optimizer": "adam", "schedule": "linear",
                                "max_grad_norm": 0.1}),
    "chunks": ("t_lstm", LSTM, {"batching": "chunks", "chunk_size": 4, "context": 2, "batch_size": 82,
                                "weight_decay": 0.01}),
    "crf": ("blstm_crf", CRF, {"batch_size": 53, "optimizer": "adam", "max_grad_norm": 0.5}),
}
SAME = "; start all ranks with the same options, on the same store"
NONE = r"\S+/store: no set 'none' in the store"
# Runs that fail, by name: what each of the two ranks changes in the run "stateful", and each rank's message.
REFUSED = {
    "options": ({}, {"learning_rate": 0.2}, "rank 1 has --learning-rate=0.2, rank 0 has 0.1" + SAME, "exit 1"),
    "store": ({}, {"store": "other"}, r"rank 1 has dev_short/labels.npy \(CRC-32\)=\d+, rank 0 has \d+" + SAME,
              "exit 1"),
    "rows": ({"batch_size": 1}, {"batch_size": 1}, "2 ranks, but a batch has 1 rows; start at most 1, or raise "
             "--batch-size if the training set is large enough", "exit 1"),
    "both": ({"train_set": "none"}, {"train_set": "none"}, NONE + "; it has .*", "exit 1"),
    "second": ({}, {"train_set": "none"}, "exit 1", NONE + r" \(rank 1, on \S+\); it has .*"),
}


class Killed(BaseException):
    pass


@pytest.mark.parametrize("error", [InputError("bad", "mend it"), RuntimeError("no memory"), None])
def test_join_ends_the_group_also_after_an_error(error, monkeypatch):
    """If the process group is not destroyed, gloo's threads can abort a process that ends while other ranks wait."""
    called = []
    for name in ("init_process_group", "destroy_process_group"):
        monkeypatch.setattr(torch.distributed, name, lambda *_, name=name, **__: called.append(name))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with contextlib.suppress(InputError, RuntimeError), Ranks(0, 2).join():
        if error:
            raise error
    assert called == ["init_process_group", "destroy_process_group"]


@contextlib.contextmanager
def killed_after_an_epoch():
    end_epoch = state.Run.end_epoch

    def ended(*arguments):
        end_epoch(*arguments)
        raise Killed

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(state.Run, "end_epoch", ended)
        yield


@contextlib.contextmanager
def recorded(steps):
    """Append (loss, slots) to the last list in `steps` when this rank computes a training loss, and append a new list
    after each training step. So the last list belongs to no step."""
    def record(function):
        def loss(model, logits, labels):
            value = function(model, logits, labels)
            if value.requires_grad:
                steps[-1].append((value.item(), int((labels >= 0).sum())))
            return value
        return loss

    def step(updates, function=Optimizer.step):
        function(updates)
        steps.append([])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Optimizer, "step", step)
        patch.setattr(NeuralModel, "loss", record(NeuralModel.loss))
        patch.setattr(punc.models.blstm_crf.Model, "loss", record(punc.models.blstm_crf.Model.loss))
        yield


@contextlib.contextmanager
def killed_within_an_epoch():
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(state, "SECONDS", 0.0)
        patch.setattr(state, "BATCHES", 2)
        after = state.Run.after_batch

        def killed(self, batches, *rest):
            after(self, batches, *rest)
            if batches == 2:
                raise Killed

        patch.setattr(state.Run, "after_batch", killed)
        yield


def run(place, exp, name, store="store", **changes):
    model, options, settings = RUNS[name]
    steps = [[]]
    with recorded(steps):
        train(place / store, place / exp, model, options, TrainingOptions(**TASK | settings | changes))
    return steps[:-1]


def gloo_threads():
    """Wait up to 5 s until gloo's threads have disappeared from /proc. Return the names of those that remain."""
    threads = ""
    for _ in range(50):
        names = []
        for path in Path("/proc/self/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                names.append(path.read_text())
        threads = "".join(name for name in names if "gloo" in name)
        if not threads:
            break
        time.sleep(0.1)
    return threads


def in_rank(place, rank, ports):
    """Do the work of one of the two ranks. Each run uses a different port."""
    log.configure()

    @contextlib.contextmanager
    def ranks():
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                          MASTER_ADDR="127.0.0.1", MASTER_PORT=ports.pop())
        try:
            yield
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()

    for name in RUNS:
        with ranks():
            torch.save(run(place, f"two/{name}", name), place / f"losses-{name}.{rank}")
        (place / f"threads-{name}.{rank}").write_text(gloo_threads())
    with ranks():
        run(place, "one-two", "stateful")  # one process trained the first epoch
    for name, (*changes, _, _) in REFUSED.items():
        try:
            with ranks():
                run(place, f"refused/{name}", "stateful", **changes[rank])
        except InputError as error:
            (place / f"said-{name}.{rank}").write_text(str(error))
        except SystemExit as end:
            (place / f"said-{name}.{rank}").write_text(f"exit {end.code}")
    with ranks(), killed_within_an_epoch():
        run(place, "two-two", "linear")
    with ranks():
        torch.save(run(place, "two-two", "linear"), place / f"losses-two-two.{rank}")
    with ranks(), killed_within_an_epoch():
        run(place, "two-begun-one", "linear")
    with ranks(), contextlib.suppress(InputError), killed_after_an_epoch():
        run(place, "two-one", "stateful")


def free_ports(number):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [str(one.getsockname()[1]) for one in sockets]


@pytest.fixture(scope="module")
def pair(toy_store, tmp_path_factory):
    """Run both ranks. Return a directory with the ranks' files and with the stores `store` and `other`."""
    place = tmp_path_factory.mktemp("pair")
    (place / "store").symlink_to(toy_store)
    shutil.copytree(toy_store, place / "other")
    labels = (toy_store / "dev_short/labels.npy").read_bytes()
    (place / "other/dev_short/labels.npy").write_bytes(labels[:-1] + bytes([labels[-1] ^ 1]))
    with killed_after_an_epoch():
        run(place, "one-two", "stateful")
    code = (f"import sys, pathlib; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_ranks; "
            "test_ranks.in_rank(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])")
    ports = free_ports(len(RUNS) + len(REFUSED) + 5)
    processes = [subprocess.Popen([sys.executable, "-c", code, str(place), str(rank), *ports], stderr=subprocess.PIPE,
                                  text=True) for rank in range(2)]
    try:
        said = [process.communicate(timeout=120)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], said
    (place / "said-all.0").write_text(said[0])
    (place / "said-all.1").write_text(said[1])
    return place


def weights(exp, name="final.pt"):
    return read_checkpoint(exp / name)["weights"]


def assert_close(these, those):
    for name, weight in these.items():
        torch.testing.assert_close(weight, those[name], rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", RUNS)
def test_ranks_have_the_losses_of_one_process(pair, name):
    """At each step, the mean loss of both ranks, weighted by slots, equals the loss of the complete batch."""
    whole = run(pair, f"one/{name}", name)
    shares = zip(*(torch.load(pair / f"losses-{name}.{rank}") for rank in range(2)), strict=True)
    steps = [[loss for rank in ranks for loss in rank] for ranks in shares]
    assert min(map(len, steps)) == (1 if name == "chunks" else 2)  # in "chunks", one rank had no row in one step
    means = [sum(loss * weight for loss, weight in step) / sum(weight for _, weight in step) for step in steps]
    assert means == pytest.approx([loss for (loss, _), in whole], abs=1e-5)
    assert_close(weights(pair / f"two/{name}"), weights(pair / f"one/{name}"))


def texts_and_losses(lines):
    """Return the lines of a log, and the losses in them. In the lines, each loss is replaced by LOSS, and dev F1 and
    all that follows it are left out."""
    lines = [re.sub(r"dev F1.*", "", line) for line in lines]
    loss = r"\d+\.\d{5}"
    found = [float(number) for line in lines for number in re.findall(loss, line)]
    return [re.sub(loss, "LOSS", line) for line in lines], found


def test_ranks_write_and_log_once(pair, capsys):
    run(pair, "once", "stateful")
    said, losses = texts_and_losses(capsys.readouterr().err.splitlines())
    texts, of_ranks = texts_and_losses((pair / "said-all.0").read_text().splitlines()[:3])
    assert texts == said
    assert of_ranks == pytest.approx(losses, abs=2e-5)  # the ranks add up the losses in a different order
    assert (pair / "said-all.1").read_text() == ""
    assert sorted(os.listdir(pair / "two/stateful")) == sorted(os.listdir(pair / "once"))
    assert (pair / "two/stateful/conf").read_text() == (pair / "once/conf").read_text()


@pytest.mark.parametrize("name", RUNS)
def test_ranks_leave_no_thread_that_could_abort_the_process_as_it_ends(pair, name):
    assert [(pair / f"threads-{name}.{rank}").read_text() for rank in range(2)] == ["", ""]


def test_run_continues_with_more_and_with_fewer_ranks(pair):
    whole = weights(pair / "two/stateful")
    assert_close(weights(pair / "one-two"), whole)
    assert len(run(pair, "two-one", "stateful")) == len(torch.load(pair / "losses-stateful.0")) / 2  # one epoch
    assert_close(weights(pair / "two-one"), whole)


def test_run_continues_within_an_epoch_with_as_many_ranks(pair):
    for rank in range(2):
        whole, rest = (torch.load(pair / f"losses-{name}.{rank}") for name in ("linear", "two-two"))
        assert rest == whole[2:]
    for name, weight in weights(pair / "two-two").items():
        assert torch.equal(weight, weights(pair / "two/linear")[name])


def test_run_with_another_number_of_ranks_begins_the_epoch_again(pair):
    assert (pair / "two-begun-one/epoch.pt").exists()
    assert run(pair, "two-begun-one", "linear") == run(pair, "one-anew", "linear")


@pytest.mark.parametrize("name", REFUSED)
def test_rank_error_is_reported_once_and_nothing_is_written(pair, name):
    *_, first, second = REFUSED[name]
    for rank, message in enumerate((first, second)):
        assert re.fullmatch(message, (pair / f"said-{name}.{rank}").read_text())
    assert not (pair / "refused").exists()


def test_ranks_are_those_of_the_environment(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert find_ranks().size == 1
    monkeypatch.setenv("WORLD_SIZE", "1")  # as torchrun --nproc-per-node 1 sets it
    assert find_ranks().size == 1
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(InputError, match=r"^WORLD_SIZE=4 is set, but no RANK; start all ranks by torchrun, or unset"):
        find_ranks()
    for name, value in (("RANK", "4"), ("LOCAL_RANK", "1"), ("LOCAL_WORLD_SIZE", "2"), ("MASTER_ADDR", "localhost"),
                        ("MASTER_PORT", "1")):
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=r"impossible ranks \(RANK=4 WORLD_SIZE=4\); "):
        find_ranks()
    monkeypatch.setenv("RANK", "3")
    ranks = find_ranks()
    assert (ranks.rank, ranks.size, ranks.local_rank, ranks.local_size, ranks.first) == (3, 4, 1, 2, False)


@pytest.mark.parametrize(("name", "local", "gpus", "device"), [
    ("cpu", (0, 2), 2, "cpu"), ("auto", (1, 2), 0, "cpu"), ("auto", (1, 2), 2, "cuda:1"), ("cuda", (0, 2), 4, "cuda:0"),
    ("cuda:1", (0, 1), 2, "cuda:1"), ("auto", (2, 4), 2, "4 ranks on one machine, but PyTorch sees 2 GPUs; start one"),
    ("cuda:1", (0, 2), 2, "--device cuda:1, but 2 ranks on one machine; give --device cuda: each"),
    ("cuda", (0, 2), 0, "--device cuda: PyTorch sees no GPU; "),
])
def test_each_rank_of_a_machine_has_its_own_gpu(name, local, gpus, device, monkeypatch):
    monkeypatch.setattr("punc.base.processor.built_for_cpu", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    taken = []
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    ranks = Ranks(local[0], 4, *local)
    if ";" in device:
        with pytest.raises(InputError, match=device):
            ranks.device(name)
    else:
        assert ranks.device(name) == device
        assert taken == [device] * (device != "cpu")


def test_ranks_share_the_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert [Ranks(0, 4, 0, local).threads() for local in (1, 3, 16)] == [8, 2, 1]


def below(process):
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_rank_that_dies_ends_the_job(toy_store, tmp_path):
    options = [f"--{name.replace('_', '-')}={value}" for name, value in
               {**LSTM, **TASK, **RUNS["stateful"][2], "epochs": 1000, "schedule": "linear"}.items()]
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    (tmp_path / "punc").write_text(code)
    command = ["torch.distributed.run", "--standalone", "--nproc-per-node=2", str(tmp_path / "punc"), "train",
               "--model=t_lstm", *options, str(toy_store), str(tmp_path / "exp")]
    with subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as job:
        try:
            said = ""
            for line in job.stderr:
                said += line
                if line.startswith("epoch 1:"):
                    os.kill(below(job.pid)[1], signal.SIGKILL)
                    begin = time.monotonic()
            job.wait(60)
            assert time.monotonic() - begin < 30, said
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode == 1
    assert "Signal 9 (SIGKILL) received by PID" in said
    assert not re.search("^Traceback.*\n.*punc/training", said, re.M)
    assert {"best.pt", "progress.pt"} <= set(os.listdir(tmp_path / "exp"))
