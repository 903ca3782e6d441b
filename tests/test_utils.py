"""The shell side: parse_options.sh, recipe.sh, check_corpus.sh, run.pl, path.sh, setup.sh."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UTILS = ROOT / "utils"


def run(*command, cwd, env=None, **options):
    return subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})}, text=True,
                          capture_output=True, timeout=60, **options)


# parse_options.sh

SCRIPT = """#!/usr/bin/env bash
set -eu
help_message="usage: $0"
stage=0
stop_stage=100
flag=false
name="a b"
. {utils}/parse_options.sh
echo "$stage|$stop_stage|$flag|$name|$*"
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "script.sh").write_text(SCRIPT.format(utils=UTILS))
    return lambda *arguments, **options: run("bash", "script.sh", *arguments, cwd=tmp_path, **options)


@pytest.mark.parametrize(("arguments", "printed"), [
    ((), "0|100|false|a b|"),
    (("--stage", "3", "--stop-stage", "4"), "3|4|false|a b|"),
    (("--stop_stage", "4"), "0|4|false|a b|"),
    (("--flag", "true", "x", "--stage", "1"), "0|100|true|a b|x --stage 1"),
    (("--name", "", "x"), "0|100|false||x"),
    (("--name", "--no-option"), "0|100|false|--no-option|"),
    (("--name", "$(echo evaluated) `echo evaluated`; \"$HOME\""),
     "0|100|false|$(echo evaluated) `echo evaluated`; \"$HOME\"|"),
])
def test_options_are_set(script, arguments, printed):
    result = script(*arguments)
    assert (result.stdout, result.stderr, result.returncode) == (printed + "\n", "", 0)


@pytest.mark.parametrize(("arguments", "message"), [
    (("--stagge", "3"), "unknown option --stagge"),
    (("--stagge",), "unknown option --stagge"),
    (("--", "x"), "unknown option --"),
    (("--a[$(touch evaluated)]", "x"), "unknown option --a["),
    (("--stage",), "--stage needs a value"),
    (("--stage", "1", "--name"), "--name needs a value"),
    (("--config",), "--config needs a value"),
    (("--config", "missing"), "no config file 'missing'"),
    (("--stage=3",), "an option is written --name value, not '--stage=3'"),
    (("--flag", "yes"), "--flag takes true or false, not 'yes'"),
    (("--flag", ""), "--flag takes true or false, not ''"),
    (("--HOME", "x"), "unknown option --HOME"),
    (("--home", "x"), "unknown option --home"),
    (("--BASH-VERSION", "x"), "unknown option --BASH-VERSION"),
])
def test_wrong_options(script, tmp_path, arguments, message):
    result = script(*arguments)
    assert (result.stdout, result.returncode) == ("", 1)
    assert result.stderr.startswith(f"script.sh: {message}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "evaluated").exists()


def test_environment_is_no_option(script):
    assert "unknown option --other" in script("--other", "1", env={"other": "0"}).stderr
    # A variable that the script sets is an option even where the environment has one of this name.
    assert script("--stage", "1", env={"stage": "7"}).stdout.startswith("1|")
    assert script(env={"stage": "7"}).stdout.startswith("0|")


def test_the_script_may_change_its_directory_first(tmp_path):
    (tmp_path / "script.sh").write_text(SCRIPT.format(utils=UTILS).replace("set -eu", 'cd "$(dirname "$0")"'))
    result = run("bash", tmp_path.name + "/script.sh", "--stage", "1", cwd=tmp_path.parent, env={"stage": "7"})
    assert result.stdout.startswith("1|")


def test_help(script):
    result = script("--stage", "3", "--help")
    assert (result.stdout, result.stderr, result.returncode) == ("", "usage: script.sh\n", 0)


def test_config_comes_first_and_the_command_line_wins(script, tmp_path):
    (tmp_path / "conf").write_text("# a comment\n\n--stage=1\n  stop_stage=2\n--name=\"$(echo x) = y\"")
    assert script("--config", "conf").stdout == "1|2|false|$(echo x) = y|\n"
    assert script("--stage", "5", "--config", "conf").stdout == "5|2|false|$(echo x) = y|\n"
    # Behind the options, --config is another command's.
    assert script("--stage", "5", "x", "--config", "conf").stdout == "5|100|false|a b|x --config conf\n"


@pytest.mark.parametrize(("line", "message"), [
    ("--flag=1", "conf:2: --flag takes true or false, not '1'"),
    ("--stagge=1", "conf:2: unknown option --stagge"),
    ("stage 1", "conf:2: 'stage 1' is no option; write --name=value"),
])
def test_wrong_config(script, tmp_path, line, message):
    (tmp_path / "conf").write_text(f"# comment\n{line}\n")
    result = script("--config", "conf")
    assert result.returncode == 1
    assert result.stderr.startswith(f"script.sh: {message}")


# recipe.sh

def test_stages_and_systems_of_a_recipe(tmp_path):
    (tmp_path / "stages.sh").write_text(f"""set -euo pipefail
stage=2 stop_stage=4 systems="T-LSTM CNN-1+p"
. {UTILS}/recipe.sh
for n in 1 2 4 5; do ! runs $n || echo $n; done
for system in T-LSTM LSTM CNN-1 CNN-1+p ""; do ! asked "$system" || echo "$system"; done
""")
    result = run("bash", "stages.sh", cwd=tmp_path)
    assert (result.stdout.split(), result.stderr, result.returncode) == (["2", "4", "T-LSTM", "CNN-1+p"], "", 0)


@pytest.mark.parametrize(("newest", "trained"), [("conf", True), ("store/conf", True), ("exp/final.pt", False)])
def test_a_finished_model_is_kept_while_conf_and_store_are_older(tmp_path, newest, trained):
    for directory in ("exp", "store"):
        (tmp_path / directory).mkdir()
    for name in ("conf", "store/conf", "exp/final.pt"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 + (name == newest), 1e9 + (name == newest)))
    (tmp_path / "stages.sh").write_text(f"""set -euo pipefail
cmd=echo
. {UTILS}/recipe.sh
train_model exp store conf --batch-size "1 2"
echo done
""")
    result = run("bash", "stages.sh", cwd=tmp_path)
    line = "exp/log/train.log punc train --config conf --batch-size 1 2 store exp\n"
    assert (result.stdout, result.returncode) == (line * trained + "done\n", 0)


# run.pl

@pytest.fixture
def run_pl(tmp_path):
    return lambda *arguments, **options: run(UTILS / "run.pl", *arguments, cwd=tmp_path, **options)


DATE = r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \S+ \d{4}"


def test_log_format(run_pl, tmp_path):
    result = run_pl("--mem", "4G", "log/a.log", "echo", "out", ";", "echo", "err", ">&2")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    assert re.fullmatch(
        rf"# echo out ; echo err >&2\n# Started at {DATE}\n#\nout\nerr\n# Accounting: time=\d+ threads=1\n"
        rf"# Ended \(code 0\) at {DATE}, elapsed time \d+ seconds\n", (tmp_path / "log/a.log").read_text())


@pytest.mark.parametrize(("arguments", "output"), [
    (("echo", "two  blanks"), "two  blanks"),
    (("echo", "$((1 + 1))"), "2"),                                   # double quotes: bash reads it
    (("echo", '"$((1 + 1))"  x'), '"$((1 + 1))"  x'),                # single quotes: it does not
    (("echo", "a", "|", "tr", "a", "b"), "b"),
    (("echo", "", "x"), " x"),
    (("echo", "ä ö"), "ä ö"),
    (("echo", "$HOME_OF_A_TEST"), "here"),
    (("cat",), ""),                                                  # nothing comes on stdin
    (("echo", "x" * 200_000), "x" * 200_000),
])
def test_quoting(run_pl, tmp_path, arguments, output):
    if len(arguments[-1]) > 100_000:  # one argument to exec may not be so long, their sum may
        arguments = (*arguments[:-1], *(["x" * 1000] * 199), "x" * 1000)
        output = " ".join(arguments[1:])
    run_pl("a.log", *arguments, env={"HOME_OF_A_TEST": "here", "LC_ALL": "C"})
    body = [line for line in (tmp_path / "a.log").read_text().split("\n") if not line.startswith("#")]
    assert "\n".join(body).rstrip("\n") == output


def test_jobs(run_pl, tmp_path):
    result = run_pl("--max-jobs-run", "2", "N=2:4", "--num-threads", "3", "log/N/x.N.log", "echo", "job-N")
    assert result.returncode == 0
    for n in (2, 3, 4):
        assert f"\njob-{n}\n" in (tmp_path / f"log/{n}/x.{n}.log").read_text()
    assert run_pl("JOB=7", "x.JOB.log", "echo", "JOB").returncode == 0
    assert "\n7\n" in (tmp_path / "x.7.log").read_text()


def test_jobs_run_side_by_side_up_to_the_limit(run_pl, tmp_path):
    # Each job waits until another one has begun: this succeeds only where two run at once.
    (tmp_path / "wait.sh").write_text(
        "touch on.$1\nfor i in $(seq 100); do [ $(ls on.* | wc -l) -ge 2 ] && exit 0; sleep 0.05; done\nexit 1\n")
    assert run_pl("--max-jobs-run", "2", "JOB=1:2", "JOB.log", "bash", "wait.sh", "JOB").returncode == 0
    alone = "mkdir lock && sleep 0.05 && rmdir lock"
    assert run_pl("--max-jobs-run", "1", "JOB=1:4", "JOB.log", "eval", alone).returncode == 0


def test_failures(run_pl, tmp_path):
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
    assert run_pl("a.log", "kill", "-9", "$$").returncode == 1  # the shell itself
    assert "# Ended (code 0; signal 9) at " in (tmp_path / "a.log").read_text()


def test_options_of_schedulers_are_taken(run_pl, tmp_path):
    assert run_pl("--mem", "4G", "--num-threads", "4", "--gpu", "0", "-V", "-pe", "smp", "4", "-l", "arch=x", "JOB=1:2",
                  "--time", "1:00:00", "--config", "conf/slurm.conf", "-sync", "y", "a.JOB.log", "echo", "-n", "JOB:",
                  ).returncode == 0
    assert "\n2:# Accounting" in (tmp_path / "a.2.log").read_text()
    assert "'--gpu' is taken for the value of --mem" in run_pl("--mem", "--gpu", "a.log", "true").stderr


@pytest.mark.parametrize(("gpus", "answer", "side_by_side"), [
    ("0", "", 3), ("1", "", 1), ("1", "GPU 0: one\nGPU 1: other\n", 2)])
def test_gpu_jobs_run_one_to_a_gpu(run_pl, tmp_path, gpus, answer, side_by_side):
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "nvidia-smi").write_text(f"#!/bin/sh\nprintf '{answer}'\n")
    (binaries / "nvidia-smi").chmod(0o755)
    # Each job notes how many run.
    (tmp_path / "job.sh").write_text("touch on.$1\nsleep 0.3\nls on.* | wc -l >>seen\nsleep 0.1\nrm on.$1\n")
    limit = ["--max-jobs-run", "3"] if gpus == "0" else []
    assert run_pl("--gpu", gpus, *limit, "JOB=1:3", "JOB.log", "bash", "job.sh", "JOB",
                  env={"PATH": f"{binaries}:{os.environ['PATH']}"}).returncode == 0
    assert max(map(int, (tmp_path / "seen").read_text().split())) == side_by_side


def test_pick(run_pl, tmp_path):
    def ran(*pick, code=1):
        (tmp_path / "ran").write_text("")
        result = run_pl(*pick, "JOB=1:3", "a.JOB.log", "echo", "JOB", ">>ran", ";", "[", "JOB", "!=", "2", "]")
        assert result.returncode == code
        return "".join(sorted((tmp_path / "ran").read_text().split()))
    assert ran("--pick", "failed") == "123"  # none has been run
    (tmp_path / "a.3.log").write_text("# killed\n")
    assert ran("--pick", "incomplete") == "3"
    assert ran("--pick", "incomplete") == ""
    assert ran("--pick", "failed") == "2"
    assert ran("--pick", "all") == "123"
    for n in (1, 2, 3):
        (tmp_path / f"a.{n}.log").write_text("# Ended (code 0) at some time\n")
    assert ran("--pick", "failed", code=0) == ""


def test_the_smallest_limit_counts(run_pl, tmp_path):
    alone = "mkdir lock && sleep 0.05 && rmdir lock"
    assert run_pl("--max-jobs-run", "1", "-tc", "4", "JOB=1:4", "JOB.log", "eval", alone).returncode == 0


@pytest.mark.parametrize("link", ["directory", "file"])
def test_utils_can_be_linked_into_another_recipe(tmp_path, link):
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
    (("JOB=1:", "a.JOB.log", "true"), "no job range: JOB=1:"),          # as JOB=1:$nj is where nj is not set
    (("JOB=1:four", "a.JOB.log", "true"), "no job range: JOB=1:four"),
    (("JOB=1:2", "a.log", "true"), "2 jobs would write one log, a.log; put JOB in its name"),
    (("--max-jobs-run", "many", "a.log", "true"), "--max-jobs-run needs a number"),
    (("--max-jobs-run", "0", "a.log", "true"), "--max-jobs-run needs a number"),
    (("--pick", "some", "a.log", "true"), "--pick takes all, failed or incomplete, not 'some'"),
    (("file/a.log", "true"), "file: cannot be written"),
])
def test_wrong_calls(run_pl, tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    result = run_pl(*arguments)
    assert result.returncode == 1
    assert result.stderr.startswith("run.pl: " + message)
    assert result.stderr.count("\n") == 1


def test_a_stopped_run_leaves_no_job_behind(tmp_path):
    # Whoever belongs to the job holds the pipe open for writing; its end comes when the last of them is gone.
    os.mkfifo(tmp_path / "pipe")
    start = time.time()
    with subprocess.Popen([UTILS / "run.pl", "a.log", "exec", "3>pipe", ";", "sleep", "60", ";", "true"],
                          cwd=tmp_path) as process, open(tmp_path / "pipe") as pipe:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 128 + signal.SIGTERM
        assert pipe.read() == ""
    assert time.time() - start < 30


# path.sh and setup.sh, in a copy whose .venv is a stand-in that notes what pip is asked for

STAND_IN = """#!/bin/sh
case "$*" in
  *install*) echo "$*" >>"{log}"; case "$*" in *${{REFUSED:-nothing}}*) exit 1 ;; esac ;;
  *importlib.metadata*) exit 1 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    copy = tmp_path / "a checkout"
    (copy / "utils").mkdir(parents=True)
    for name in ("path.sh", "setup.py", "constraints.txt", "utils/setup.sh"):
        shutil.copy(ROOT / name, copy / name)
    binaries = copy / ".venv/bin"
    binaries.mkdir(parents=True)
    (binaries / "activate").write_text(str(copy / ".venv"))
    for name in ("python", "punc"):
        (binaries / name).write_text(STAND_IN.format(log=tmp_path / "pip"))
        (binaries / name).chmod(0o755)
    return copy


def set_up(checkout, **env):
    """Run setup.sh. Returns its result and the pip commands that it gave."""
    log = checkout.parent / "pip"
    log.unlink(missing_ok=True)
    result = run("bash", checkout / "utils/setup.sh", cwd="/", env={"PYTHON": sys.executable, **env})
    return result, log.read_text().splitlines() if log.exists() else []


def test_set_up_is_done_once(checkout):
    result, asked = set_up(checkout)
    assert (result.stdout, result.returncode, len(asked)) == ("", 0, 2)
    result, asked = set_up(checkout)
    assert (result.stdout, result.stderr, result.returncode, asked) == ("", "", 0, [])
    with open(checkout / "constraints.txt", "a") as file:
        file.write("# changed\n")
    assert len(set_up(checkout)[1]) == 2


def test_set_up_that_failed_is_done_again(checkout):
    result, _ = set_up(checkout, REFUSED="--editable")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("utils/setup.sh: pip could not install the packages; ")
    result, asked = set_up(checkout)
    assert (result.returncode, len(asked)) == (0, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the plain wheel has no CUDA")
def test_torch_is_never_the_cuda_build(checkout):
    result, asked = set_up(checkout, REFUSED="no-deps torch")
    assert result.returncode == 0
    assert [re.search(r"torch==\S+", line)[0].split("+")[1:] for line in asked[:2]] == [["cpu"], ["cpu"]]
    assert ["--index-url" in line for line in asked[:2]] == [False, True]
    assert not any("torch" in line for line in asked[2:])


def test_set_up_without_a_python(checkout, tmp_path):
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("bash", "dirname", "cat", "cksum", "env"):
        (bare / tool).symlink_to(shutil.which(tool))
    result, asked = set_up(checkout, PYTHON="", PATH=str(bare))
    assert (result.returncode, result.stderr.count("\n"), asked) == (1, 1, [])
    assert "no Python of 3.10 or newer; install one" in result.stderr
    python = bare / "python3"
    python.write_text('#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\n')
    python.chmod(0o755)
    result, asked = set_up(checkout, PYTHON="", PATH=str(bare))
    assert (result.returncode, result.stderr.count("\n"), asked) == (1, 1, [])
    assert "python3 has no venv module; install it (on Debian and Ubuntu: apt install python3-venv)" in result.stderr


def test_path(checkout, tmp_path):
    set_up(checkout)
    shutil.copy(UTILS / "parse_options.sh", checkout / "utils")
    show = 'command -v punc parse_options.sh; echo "$LC_ALL $PYTHONUTF8 $PATH"'
    (checkout / "utils/parse_options.sh").chmod(0o755)
    result = run("bash", "-euc", f'. "{checkout}/path.sh"; . "{checkout}/path.sh"; {show}', cwd=tmp_path,
                 env={"CDPATH": "/", "LC_ALL": "C.UTF-8", "PYTHON": sys.executable})
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        f"{checkout}/.venv/bin/punc", f"{checkout}/utils/parse_options.sh",
        f"C 1 {checkout}/.venv/bin:{checkout}/utils:{os.environ['PATH']}"]


def test_path_stops_a_recipe_that_cannot_be_set_up(checkout, tmp_path):
    result = run("bash", "-euc", f'. "{checkout}/path.sh"; echo on', cwd=tmp_path, env={"PYTHON": sys.executable})
    assert "on" in result.stdout
    (checkout / "constraints.txt").write_text("")
    result = run("bash", "-euc", f'. "{checkout}/path.sh"; echo on', cwd=tmp_path,
                 env={"PYTHON": sys.executable, "REFUSED": "editable"})
    assert (result.stdout, result.returncode) == ("", 1)


# check_corpus.sh

@pytest.mark.parametrize(("listed", "code", "message"), [
    ("2 a\n\n# the same\n~2 a\n", 0, ""),
    ("~3 a\n", 0, "DIR/a: 2 lines, not the 3 of RESULTS.md; the figures will differ"),
    ("3 a\n2 a\n", 1, "DIR/a: 2 lines instead of 3; get it again, it is cut or another file"),
    ("~2 b/c\n2 a\n", 1, "DIR/b/c: no such file; README.md says where to get it"),
])
def test_check_corpus(tmp_path, listed, code, message):
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "list").write_text(listed)
    done = run(UTILS / "check_corpus.sh", tmp_path, tmp_path / "list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == (f"check_corpus.sh: {message.replace('DIR', str(tmp_path))}\n" if message else "")
