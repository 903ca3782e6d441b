"""utils/run.pl: jobs, their logs, and the options of Kaldi's run.pl."""

import os
import re
import signal
import subprocess
import time

import pytest
from conftest import UTILS, run


@pytest.fixture
def run_pl(tmp_path):
    return lambda *arguments, **options: run(UTILS / "run.pl", *arguments, cwd=tmp_path, **options)


DATE = r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \S+ \d{4}"


def test_run_log_has_kaldi_format(run_pl, tmp_path):
    result = run_pl("--mem", "4G", "log/a.log", "echo", "out", ";", "echo", "err", ">&2")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    assert re.fullmatch(
        rf"# echo out ; echo err >&2\n# Started at {DATE}\n#\nout\nerr\n# Accounting: time=\d+ threads=1\n"
        rf"# Ended \(code 0\) at {DATE}, elapsed time \d+ seconds\n", (tmp_path / "log/a.log").read_text())


@pytest.mark.parametrize(("arguments", "output"), [
    (("echo", "two  blanks"), "two  blanks"),
    (("echo", "$((1 + 1))"), "2"),                                   # bash evaluates it
    (("echo", '"$((1 + 1))"  x'), '"$((1 + 1))"  x'),                # quoted, so bash does not evaluate it
    (("echo", "a", "|", "tr", "a", "b"), "b"),
    (("echo", "", "x"), " x"),
    (("echo", "ä ö"), "ä ö"),
    (("echo", "$HOME_OF_A_TEST"), "here"),
    (("cat",), ""),                                                  # stdin is empty
    (("echo", "x" * 200_000), "x" * 200_000),
])
def test_run_quotes_arguments(run_pl, tmp_path, arguments, output):
    if len(arguments[-1]) > 100_000:  # too long for one argument of exec
        arguments = (*arguments[:-1], *(["x" * 1000] * 199), "x" * 1000)
        output = " ".join(arguments[1:])
    run_pl("a.log", *arguments, env={"HOME_OF_A_TEST": "here", "LC_ALL": "C"})
    body = [line for line in (tmp_path / "a.log").read_text().split("\n") if not line.startswith("#")]
    assert "\n".join(body).rstrip("\n") == output


def test_run_job_array(run_pl, tmp_path):
    result = run_pl("--max-jobs-run", "2", "N=2:4", "--num-threads", "3", "log/N/x.N.log", "echo", "job-N")
    assert result.returncode == 0
    for n in (2, 3, 4):
        assert f"\njob-{n}\n" in (tmp_path / f"log/{n}/x.{n}.log").read_text()
    assert run_pl("JOB=7", "x.JOB.log", "echo", "JOB").returncode == 0
    assert "\n7\n" in (tmp_path / "x.7.log").read_text()


def test_run_max_jobs_run_is_kept(run_pl, tmp_path):
    # Each job waits until another one has started, so the jobs succeed only if two run at a time.
    (tmp_path / "wait.sh").write_text(
        "touch on.$1\nfor i in $(seq 100); do [ $(ls on.* | wc -l) -ge 2 ] && exit 0; sleep 0.05; done\nexit 1\n")
    assert run_pl("--max-jobs-run", "2", "JOB=1:2", "JOB.log", "bash", "wait.sh", "JOB").returncode == 0
    alone = "mkdir lock && sleep 0.05 && rmdir lock"
    assert run_pl("--max-jobs-run", "1", "JOB=1:4", "JOB.log", "eval", alone).returncode == 0


def test_run_failed_jobs_are_reported(run_pl, tmp_path):
    result = run_pl("log/a.log", "exit", "3")
    assert (result.stderr, result.returncode) == ("run.pl: job failed, log is in log/a.log\n", 1)
    assert "# Ended (code 3) at " in (tmp_path / "log/a.log").read_text()
    result = run_pl("JOB=1:3", "log/a.JOB.log", "[", "JOB", "=", "2", "]")
    assert (result.stderr, result.returncode) == ("run.pl: 2 / 3 failed, log is in log/a.*.log\n", 1)
    result = run_pl("JOB=2:2", "log/a.JOB.log", "false")
    assert result.stderr == "run.pl: job failed, log is in log/a.2.log\n"
    assert "probably you forgot to put JOB=1:$nj in your script." in run_pl("log/a.JOB.log", "false").stderr
    run_pl("a.log", "kill", "-9", "$BASHPID")
    assert "# Ended (code 137) at " in (tmp_path / "a.log").read_text()
    assert run_pl("a.log", "kill", "-9", "$$").returncode == 1  # kills the shell itself
    assert "# Ended (code 0; signal 9) at " in (tmp_path / "a.log").read_text()


def test_run_scheduler_options_are_ignored(run_pl, tmp_path):
    assert run_pl("--mem", "4G", "--num-threads", "4", "--gpu", "0", "-V", "-pe", "smp", "4", "-l", "arch=x", "JOB=1:2",
                  "--time", "1:00:00", "--config", "conf/slurm.conf", "-sync", "y", "a.JOB.log", "echo", "-n", "JOB:",
                  ).returncode == 0
    assert "\n2:# Accounting" in (tmp_path / "a.2.log").read_text()
    assert "'--gpu' is taken for the value of --mem" in run_pl("--mem", "--gpu", "a.log", "true").stderr


@pytest.mark.parametrize(("gpus", "answer", "side_by_side"), [
    ("0", "", 3), ("1", "", 1), ("1", "GPU 0: one\nGPU 1: other\n", 2)])
def test_run_gpu_jobs_one_per_gpu(run_pl, tmp_path, gpus, answer, side_by_side):
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "nvidia-smi").write_text(f"#!/bin/sh\nprintf '{answer}'\n")
    (binaries / "nvidia-smi").chmod(0o755)
    # Each job records how many jobs are running.
    (tmp_path / "job.sh").write_text("touch on.$1\nsleep 0.3\nls on.* | wc -l >>seen\nsleep 0.1\nrm on.$1\n")
    limit = ["--max-jobs-run", "3"] if gpus == "0" else []
    assert run_pl("--gpu", gpus, *limit, "JOB=1:3", "JOB.log", "bash", "job.sh", "JOB",
                  env={"PATH": f"{binaries}:{os.environ['PATH']}"}).returncode == 0
    assert max(map(int, (tmp_path / "seen").read_text().split())) == side_by_side


def test_run_pick_failed_and_incomplete(run_pl, tmp_path):
    def ran(*pick, code=1):
        (tmp_path / "ran").write_text("")
        result = run_pl(*pick, "JOB=1:3", "a.JOB.log", "echo", "JOB", ">>ran", ";", "[", "JOB", "!=", "2", "]")
        assert result.returncode == code
        return "".join(sorted((tmp_path / "ran").read_text().split()))
    assert ran("--pick", "failed") == "123"  # no job has run yet, so all count as failed
    (tmp_path / "a.3.log").write_text("# killed\n")
    assert ran("--pick", "incomplete") == "3"
    assert ran("--pick", "incomplete") == ""
    assert ran("--pick", "failed") == "2"
    assert ran("--pick", "all") == "123"
    for n in (1, 2, 3):
        (tmp_path / f"a.{n}.log").write_text("# Ended (code 0) at some time\n")
    assert ran("--pick", "failed", code=0) == ""


def test_run_smallest_limit_counts(run_pl, tmp_path):
    alone = "mkdir lock && sleep 0.05 && rmdir lock"
    assert run_pl("--max-jobs-run", "1", "-tc", "4", "JOB=1:4", "JOB.log", "eval", alone).returncode == 0


@pytest.mark.parametrize("link", ["directory", "file"])
def test_run_through_symlink(tmp_path, link):
    if link == "directory":
        (tmp_path / "punc").symlink_to(UTILS)
    else:
        (tmp_path / "punc").mkdir()
        (tmp_path / "punc/run.pl").symlink_to(UTILS / "run.pl")
    assert run("punc/run.pl", "a.log", "true", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(("arguments", "message"), [
    ((), "usage: "),
    (("a.log",), "usage: "),
    (("--mem",), "--mem needs a value"),
    (("JOB=0:2", "a.JOB.log", "true"), "no job range: JOB=0:2"),
    (("JOB=3:2", "a.JOB.log", "true"), "no job range: JOB=3:2"),
    (("JOB=1:", "a.JOB.log", "true"), "no job range: JOB=1:"),          # as `JOB=1:$nj` without a value of nj
    (("JOB=1:four", "a.JOB.log", "true"), "no job range: JOB=1:four"),
    (("JOB=1:2", "a.log", "true"), "2 jobs would write one log, a.log; put JOB in its name"),
    (("--max-jobs-run", "many", "a.log", "true"), "--max-jobs-run needs a number"),
    (("--max-jobs-run", "0", "a.log", "true"), "--max-jobs-run needs a number"),
    (("--pick", "some", "a.log", "true"), "--pick takes all, failed or incomplete, not 'some'"),
    (("file/a.log", "true"), "file: cannot be written"),
])
def test_run_wrong_call_is_one_line(run_pl, tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    result = run_pl(*arguments)
    assert result.returncode == 1
    assert result.stderr.startswith("run.pl: " + message)
    assert result.stderr.count("\n") == 1


def test_run_stopped_kills_its_jobs(tmp_path):
    # All processes of the job have the pipe open, so reading ends when the last process ends.
    os.mkfifo(tmp_path / "pipe")
    start = time.time()
    with subprocess.Popen([UTILS / "run.pl", "a.log", "exec", "3>pipe", ";", "sleep", "60", ";", "true"],
                          cwd=tmp_path) as process, open(tmp_path / "pipe") as pipe:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 128 + signal.SIGTERM
        assert pipe.read() == ""
    assert time.time() - start < 30
