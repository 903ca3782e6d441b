"""utils/slurm.pl: how it calls sbatch, how it waits, and jobs under a real Slurm, if one is installed.

The tests under a real Slurm need root and Debian's slurm-wlm and munge. Slurm runs in a temporary directory, on free
ports, with its own key, and is stopped at the end.
"""

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from conftest import run

ROOT = Path(__file__).parents[1]
SLURM_PL = ROOT / "utils/slurm.pl"
SEARCH = os.environ["PATH"] + ":/usr/sbin:/sbin"


# This stand-in for sbatch records its arguments and, if there is only one job, runs the script.

STAND_IN = """#!/bin/bash
printf '%s\\n' "$@" >asked
echo "Submitted batch job 7"
case $* in *--array*) ;; *) SLURM_JOB_ID=7 bash "${!#}" ;; esac >/dev/null
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sbatch").write_text(STAND_IN)
    (tmp_path / "bin/sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def slurm_pl(monkeypatch):
    monkeypatch.syspath_prepend(str(SLURM_PL.parent))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = SourceFileLoader("slurm_pl", str(SLURM_PL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("slurm_pl", loader))
    loader.exec_module(module)
    monkeypatch.setattr(module, "LOOK", (0.001, 0.001))
    monkeypatch.setattr(module, "ASK", (0, 0))
    return module


def test_remove_while_a_job_leaves_its_status(slurm_pl, tmp_path, monkeypatch):
    done, rmtree = tmp_path / "done.1", shutil.rmtree
    done.mkdir()
    (done / "1.new").touch()

    def late(path, **options):
        with pytest.raises(FileNotFoundError):
            (done / "2.new").touch()
        rmtree(path, **options)
    monkeypatch.setattr(shutil, "rmtree", late)
    for _ in range(2):  # again, as if a signal had interrupted the first call
        slurm_pl.remove(str(done))
        assert not os.listdir(tmp_path)


KALDI_CONF = """# Default configuration
command sbatch --export=PATH  --ntasks-per-node=1
option time=* --time $0
option mem=* --mem-per-cpu $0
option mem=0          # Do not add anything to qsub_opts
option num_threads=* --cpus-per-task $0 --ntasks-per-node=1
option num_threads=1 --cpus-per-task 1  --ntasks-per-node=1 # Do not add anything to qsub_opts
default gpu=0
option gpu=0 -p shared
option gpu=* -p gpu --gres=gpu:$0 --time 4:0:0  # this has to be figured out
"""


@pytest.mark.parametrize(("conf", "options", "asked"), [
    (None, "", ""),
    (None, "--mem 8G --num-threads 4 --gpu 2", "--gres=gpu:2 --mem-per-cpu 8G --cpus-per-task 4"),
    (None, "--mem 0 --time 1:00:00 -p big -V -sync y", "--time 1:00:00 -p big"),
    (None, "-pe smp 3", "--cpus-per-task 3"),
    (KALDI_CONF, "", "--export=PATH --ntasks-per-node=1 -p shared"),
    (KALDI_CONF, "--mem 0 --num-threads 1 --gpu 1",
     "--export=PATH --ntasks-per-node=1 -p gpu --gres=gpu:1 --time 4:0:0 --cpus-per-task 1 --ntasks-per-node=1"),
    ("command sbatch\noption name=* --comment='a $0 b' -J $0\ndefault name=x\n", "", "--comment='a x b' -J x"),
    ("command sbatch\noption name=* --comment=$0\ndefault name=x\n", "--name y", "--comment=y"),
])
def test_sbatch_resources(place, conf, options, asked):
    given = options.split()
    if conf:
        (place / "conf").mkdir()
        (place / "conf/slurm.conf").write_text(conf)
        shutil.copy("conf/slurm.conf", "other.conf")
    result = run(SLURM_PL, *given, "log/a.log", "echo", "two  blanks", cwd=place)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    rest = ["--open-mode=append", "--job-name=a", f"--output={place}/q/a.log", f"{place}/q/a.sh"]
    assert Path("asked").read_text().splitlines() == shlex.split(asked) + rest
    assert "\ntwo  blanks\n" in Path("log/a.log").read_text()
    assert sorted(os.listdir("q")) == ["a.json", "a.log", "a.sh"]
    if conf:  # with --config, sbatch is called in the same way
        shutil.rmtree("conf")
        run(SLURM_PL, "--config", "other.conf", *given, "log/a.log", "true", cwd=place)
        assert Path("asked").read_text().splitlines() == shlex.split(asked) + rest


def test_defaults_are_those_of_the_page(slurm_pl):
    page = (ROOT / "docs/cluster.md").read_text()
    shown = re.search(r"^```\n(command .*?)^```", page, re.M | re.S)[1]
    defaults = sys.modules["slurm_conf"].DEFAULTS
    assert sorted(re.sub(r" -p \w+", "", shown).splitlines()) == sorted(defaults.split("\n")[1:-1])


@pytest.mark.parametrize(("call", "asked"), [
    ("JOB=3:7 log/a.JOB.log", "--array=3-7"),
    ("--max-jobs-run 2 JOB=3:7 log/a.JOB.log", "--array=3-7%2"),
    ("JOB=5 log/JOB/a.log", "--array=5-5"),
    ("-tc 3 N=1:2 --max-jobs-run 4 log/N/a.N.log", "--array=1-2%3"),
])
def test_sbatch_arrays(place, slurm_pl, monkeypatch, call, asked):
    monkeypatch.setattr(slurm_pl, "wait", lambda job, numbers, done: (dict.fromkeys(numbers, 0), {}))
    assert slurm_pl.main([*call.split(), "true"]) == 0
    assert asked in Path("asked").read_text().splitlines()
    assert f"{place}/q/a.sh" in Path("asked").read_text().splitlines()


@pytest.mark.parametrize(("conf", "call", "message"), [
    (None, "--licence 1 a.log true", "--licence 1: the configuration has no option of sbatch for it; "),
    ("command sbatch\noption gpu=0\n", "--gpu 2 a.log true", "--gpu 2: the configuration has no option"),
    ("option gpu=0\n", "a.log true", "conf/slurm.conf: no line with the command"),
    ("command sbatch\n\noptions mem=0\n", "a.log true", "conf/slurm.conf:3: 'options mem=0' is not a line of a conf"),
    (None, "--config missing a.log true", "missing: cannot be read"),
    ("command not-there\n", "a.log true", "not-there: No such file or directory; is this a machine that can"),
    ("command false\n", "a.log true", "not submitted: ; the command was false --open-mode"),
    ("command true\n", "a.log true", "not submitted: "),
    ("command sbatch --comment='a\n", "a.log true", "a quotation mark is not closed in the configuration: sbatch --"),
    (None, "--num-threads many a.log true", "--num-threads needs a number, not many"),
    (None, "JOB=1:2 a.log true", "2 jobs would write one log"),
    (None, "bin/sbatch/a.log true", "bin/sbatch"),
])
def test_sbatch_wrong_call_is_one_line(place, conf, call, message):
    if conf:
        (place / "conf").mkdir()
        (place / "conf/slurm.conf").write_text(conf)
    result = run(SLURM_PL, *call.split(), cwd=place)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("slurm.pl: " + message)


def test_sbatch_newline_in_a_name_runs_nothing(place):
    log = "a\ntouch ran\n%j/log/a.log"
    result = run(SLURM_PL, log, "echo", "x\ny", cwd=place)
    assert (result.stderr, result.returncode) == ("", 0)
    assert Path(log).read_text().startswith('# echo "x\n#   y"\n# Started at ')
    assert not Path("ran").exists()
    assert "\n%%j/q/a.log\n" in Path("asked").read_text()  # escaped, because sbatch replaces %j in --output


@pytest.mark.parametrize(("answers", "codes", "reasons"), [
    ([{1: "PENDING", 2: "PENDING"}, {1: "RUNNING", 2: "TIMEOUT"}], {1: 0, 2: 1}, {2: "TIMEOUT"}),
    ([{1: "COMPLETED"}] * 99, {1: 0, 2: 1}, {2: "no longer known, without an exit status"}),
    ([{2: "COMPLETED"}] * 99, {1: 0, 2: 1}, {2: "COMPLETED, without an exit status"}),
    ([None, {2: "RUNNING"}, None, {2: "PENDING"}, {2: "RUNNING"}, {2: "NODE_FAIL"}], {1: 0, 2: 1}, {2: "NODE_FAIL"}),
    ([{3: "COMPLETING"}, {3: "TIMEOUT", 2: "CANCELLED"}], {1: 0, 2: 1, 3: 143}, {2: "CANCELLED", 3: "TIMEOUT"}),
    ([{3: "COMPLETING"}, {3: "FAILED", 2: "CANCELLED"}], {1: 0, 2: 1, 3: 143}, {2: "CANCELLED"}),
    ([{2: "CANCELLED"}] * 2, {1: 0, 2: 1, 3: 143}, {2: "CANCELLED"}),
    ([{2: "FAILED"}], {1: 0, 2: 1}, {2: "FAILED, without an exit status"}),
])
def test_wait_job_ended_by_slurm(tmp_path, slurm_pl, monkeypatch, answers, codes, reasons):
    waiting = iter(answers)

    def states(_job):
        (tmp_path / "1").write_text("0")
        if 3 in codes:
            (tmp_path / "3").write_text("143")
        return next(waiting)
    monkeypatch.setattr(slurm_pl, "states", states)
    monkeypatch.setattr(slurm_pl, "GRACE", 0.01)
    assert slurm_pl.wait("7", list(codes), tmp_path) == (codes, reasons)


def test_run_job_started_again_appends_to_its_log(place):
    (place / "done").mkdir()
    what = {"command": "echo run", "log": "a.log", "name": None, "threads": 1, "done": str(place / "done")}
    (place / "a.json").write_text(json.dumps(what))
    for _ in range(2):
        assert run(SLURM_PL, "--run-job", "a.json", "1", cwd=place, env={"SLURM_JOB_ID": "7"}).returncode == 0
    lines = (place / "a.log").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["run", "run"]
    assert sum(line.startswith("# Ended (code 0)") for line in lines) == 2


def test_wait_for_late_file(tmp_path, slurm_pl, monkeypatch):
    asked = []

    def states(_job):
        asked.append(1)
        (tmp_path / "2.new").write_text("")  # half written
        if len(asked) == 5:
            (tmp_path / "2").write_text("3")
        return {}
    monkeypatch.setattr(slurm_pl, "states", states)
    assert slurm_pl.wait("7", [2], tmp_path) == ({2: 3}, {})


# A real Slurm

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=100
MailProg=/bin/true
KillWait=1
GresTypes=gpu
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=4000 Gres=gpu:2
PartitionName=main Nodes=ALL Default=YES
"""
DAEMONS = ("munged", "slurmctld", "slurmd")


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def slurm():
    missing = [name for name in (*DAEMONS, "sbatch") if not shutil.which(name, path=SEARCH)]
    if missing:
        pytest.skip(f"no {' '.join(missing)} (on Debian: apt-get install slurm-wlm munge)")
    if os.geteuid():
        pytest.skip("only root can start Slurm's daemons")
    place = Path(tempfile.mkdtemp(prefix="slurm."))
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        environment.setenv("SLURM_CONF", str(place / "slurm.conf"))
        environment.setenv("PATH", SEARCH)
        configure(place)
        stack.callback(kill_all_of, place)
        commands = [["munged", "--foreground", f"--key-file={place}/key", f"--socket={place}/munge.socket",
                     f"--pid-file={place}/munged.pid", f"--seed-file={place}/seed", f"--log-file={place}/munged.log"],
                    ["slurmctld", "-D"], ["slurmd", "-D"]]
        for command in commands:
            output = stack.enter_context(open(place / f"{command[0]}.out", "wb"))
            process = stack.enter_context(subprocess.Popen(command, stdout=output, stderr=output, cwd=place))
            stack.callback(process.kill)
            stack.callback(process.wait, 10)
            stack.callback(process.terminate)
            assert command[0] != "munged" or until((place / "munge.socket").exists), tails(place)
        assert until(lambda: "idle" in run("sinfo", "--noheader", "--format=%T", cwd=place).stdout), tails(place)
        yield place
        run("scancel", "--user=root", cwd=place)
        until(lambda: not run("squeue", "--noheader", cwd=place).stdout, 10)


def configure(place):
    place.chmod(0o755)
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in sockets]
    host = socket.gethostname().split(".")[0]
    (place / "slurm.conf").write_text(CONF.format(place=place, host=host, ports=ports))
    gpus = [f"NodeName={host} Name=gpu File=/dev/{name}\n" for name in ("null", "zero")]
    (place / "gres.conf").write_text("".join(gpus))
    (place / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    (place / "key").write_bytes(os.urandom(128))
    (place / "key").chmod(0o600)
    for name in ("state", "spool"):
        (place / name).mkdir()


def tails(place):
    return "\n".join(f"{path.name}: {path.read_text()[-1000:]}" for path in sorted(place.glob("*.out")))


def kill_all_of(place):
    """Kill all processes that jobs have left behind. They are found by SLURM_CONF, a path in `place`, in their
    environment."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"SLURM_CONF={place}/".encode() in environment.read_bytes():
                os.kill(int(environment.parent.name), signal.SIGKILL)


@pytest.fixture
def submit(slurm, tmp_path):
    return lambda *arguments: run(SLURM_PL, *arguments, cwd=tmp_path)


DATE = r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \S+ \d{4}"


def test_slurm_array(submit, tmp_path):
    result = submit("JOB=3:6", "log/a.JOB.log", "echo", "two  blanks", "JOB", "|", "tr", "a", "A", ">&2")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    for n in range(3, 7):
        assert re.fullmatch(
            rf'# echo "two  blanks" {n} \| tr a A >&2\n# Started at {DATE}\n# Running on \S+, Slurm\'s job \d+_{n}\n#\n'
            rf"two  blAnks {n}\n# Accounting: time=\d+ threads=1\n"
            rf"# Ended \(code 0\) at {DATE}, elapsed time \d+ seconds\n", (tmp_path / f"log/a.{n}.log").read_text())
    assert sorted(os.listdir(tmp_path / "q")) == ["a.json", "a.log", "a.sh"]


def test_slurm_names_that_a_shell_reads(submit, tmp_path):
    name = """a b'"&$(touch ran)%j\\;`touch ran`"""
    words = ["$(touch ran)", "a b", "JOB", "'", "~"]
    script = '. "$0"/quote.sh; quote "$@"; printf "%s\\n" "${quoted[@]}"'
    quoted = run("bash", "-c", script, ROOT / "utils", *words, cwd=tmp_path).stdout.splitlines()
    result = submit("JOB=1:1", f"{name}/log/a.JOB.log", "printf", "%s\\\\n", *quoted, "JOB")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    lines = (tmp_path / name / "log/a.1.log").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [*words, "1"]
    assert sorted(os.listdir(tmp_path)) == [name]
    assert sorted(os.listdir(tmp_path / name / "q")) == ["a.json", "a.log", "a.sh"]


def test_slurm_failed_and_cancelled_jobs(submit, tmp_path):
    # Job 1 fails. Jobs 2 and 3 are cancelled, but job 3 ignores the signal. Job 4 succeeds.
    (tmp_path / "job.sh").write_text(
        "case $1 in 1) exit 3 ;; 3) trap '' TERM ;; 4) exit 0 ;; esac\n"
        "scancel ${SLURM_ARRAY_JOB_ID}_$1\nsleep 60\nsleep 60\n")
    start = time.monotonic()
    result = submit("JOB=1:4", "log/a.JOB.log", "bash", "job.sh", "JOB", "&&", "true")
    *ended, last = result.stderr.splitlines()
    assert (result.returncode, last) == (1, "slurm.pl: 3 / 4 failed, log is in log/a.*.log")
    assert re.fullmatch(r"slurm.pl: job \d+_2 was ended: CANCELLED; what Slurm says is in q/a.log", ended[0])
    assert re.fullmatch(r"slurm.pl: job \d+_3 was ended: CANCELLED; what Slurm says is in q/a.log", ended[1])
    assert len(ended) == 2
    codes = {n: re.findall(r"^# Ended \(code (\d+)\)", (tmp_path / f"log/a.{n}.log").read_text(), re.M) for n in (1, 4)}
    assert codes == {1: ["3"], 4: ["0"]}
    assert "CANCELLED" in (tmp_path / "q/a.log").read_text()
    assert time.monotonic() - start < 30
    assert submit("log/b.log", "exit", "2").stderr == "slurm.pl: job failed, log is in log/b.log\n"


def test_slurm_max_jobs_run(submit, tmp_path):
    alone = "mkdir lock && sleep 0.3 && rmdir lock"
    assert submit("--max-jobs-run", "1", "JOB=1:3", "JOB.log", "eval", alone).returncode == 0
    # Each job waits until another one has started, so the jobs succeed only if two run at a time.
    (tmp_path / "wait.sh").write_text(
        "touch on.$1\nfor i in $(seq 100); do [ $(ls on.* | wc -l) -ge 2 ] && exit 0; sleep 0.05; done\nexit 1\n")
    assert submit("--max-jobs-run", "2", "JOB=1:2", "JOB.log", "bash", "wait.sh", "JOB").returncode == 0


def test_slurm_gives_resources(submit, tmp_path):
    (tmp_path / "big.conf").write_text(
        "command sbatch --comment=big\noption mem=* --mem $0\noption gpu=* --gres=gpu:$0\n")
    show = ("scontrol", "show", "job", "$SLURM_JOB_ID", "&&", "echo", "$CUDA_VISIBLE_DEVICES", "gpus")
    assert submit("--mem", "100M", "--num-threads", "2", "--time", "5", "JOB=1", "a.JOB.log", *show).returncode == 0
    log = (tmp_path / "a.1.log").read_text()
    assert {"NumCPUs=2", "CPUs/Task=2", "MinMemoryCPU=100M", "TimeLimit=00:05:00", "JobName=a"} <= set(log.split())
    assert "# Accounting: time=0 threads=2\n" in re.sub(r"time=\d+", "time=0", log)
    assert submit("--config", "big.conf", "--mem", "300M", "--gpu", "2", "b.log", *show).returncode == 0
    log = (tmp_path / "b.log").read_text()
    assert {"MinMemoryNode=300M", "Comment=big", "TresPerNode=gres:gpu:2"} <= set(log.split())
    assert "\n0,1 gpus\n" in log
    refused = submit("--mem", "900G", "c.log", "true")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert refused.stderr.startswith("slurm.pl: not submitted: sbatch: error: Memory specification can not be")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_slurm_stopped_run_cancels_its_jobs(slurm, tmp_path, number):
    with subprocess.Popen([SLURM_PL, "JOB=1:2", "a.JOB.log", "sleep", "60"], cwd=tmp_path,
                          stderr=subprocess.PIPE, text=True) as process:
        assert until(lambda: all((tmp_path / f"a.{n}.log").exists() and "# Started" in
                                 (tmp_path / f"a.{n}.log").read_text() for n in (1, 2)))
        process.send_signal(number)
        assert process.wait(timeout=10) == 128 + number
        assert re.fullmatch(r"slurm.pl: stopped; job \d+ is cancelled\n", process.stderr.read())
    assert until(lambda: not run("squeue", "--noheader", cwd=tmp_path).stdout)
    assert sorted(os.listdir(tmp_path / "q")) == ["a.json", "a.log", "a.sh"]


def test_slurm_trains_by_two_tasks(slurm, toy_store, tmp_path):
    """The two tasks of a Slurm job act as the nodes of a training run that `train` starts with --train-nodes 2."""
    (tmp_path / "slurm.conf").write_text("command sbatch --export=ALL\noption nodes=* --ntasks $0\n")
    (tmp_path / "a.conf").write_text("\n".join([
        "--model=t_lstm", "--embedding-dim=6", "--hidden-dim=8", "--train-set=train_short", "--dev-set=dev_short",
        "--batch-size=20", "--epochs=1", "--threads=1", "--device=cpu", ""]))
    (tmp_path / "run.sh").write_text("\n".join([
        "set -euo pipefail", "stage=0 stop_stage=7 systems= cmd=run.pl",
        "train_cmd='slurm.pl --config slurm.conf --nodes 2'",
        f". {ROOT}/utils/recipe.sh", f"train a.conf {shlex.quote(str(toy_store))} exp", ""]))
    path = f"{os.path.dirname(sys.executable)}:{ROOT}/utils:{os.environ['PATH']}"
    result = run("bash", "run.sh", "--train-nodes", "2", cwd=tmp_path, env={"PATH": path, "PYTHONPATH": str(ROOT)})
    log = (tmp_path / "exp/log/train.log").read_text()
    assert (result.returncode, len(re.findall("^epoch 1: ", log, re.M))) == (0, 1), result.stderr + log
    assert (tmp_path / "exp/final.pt").exists()
