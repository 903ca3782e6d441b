"""path.sh and utils/setup.sh, in a copy of the checkout with a simulated .venv that records the pip commands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run

ROOT = Path(__file__).parents[1]
UTILS = ROOT / "utils"
PIP_VERSION = re.search(r"^pip==.+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]


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
    for name in ("path.sh", "setup.py", "pyproject.toml", "constraints.txt", "utils/setup.sh"):
        shutil.copy(ROOT / name, copy / name)
    binaries = copy / ".venv/bin"
    binaries.mkdir(parents=True)
    (binaries / "activate").write_text(str(copy / ".venv"))
    for name in ("python", "punc"):
        (binaries / name).write_text(STAND_IN.format(log=tmp_path / "pip"))
        (binaries / name).chmod(0o755)
    return copy


def set_up(checkout, *options, **env):
    log = checkout.parent / "pip"
    log.unlink(missing_ok=True)
    result = run("bash", checkout / "utils/setup.sh", *(options or ["--train"]), cwd="/",
                 env={"PYTHON": sys.executable, **env})
    return result, log.read_text().splitlines() if log.exists() else []


def test_setup_again_does_nothing(checkout):
    result, asked = set_up(checkout)
    assert (result.stdout, result.returncode, len(asked)) == ("", 0, 3)
    result, asked = set_up(checkout)
    assert (result.stdout, result.stderr, result.returncode, asked) == ("", "", 0, [])
    with open(checkout / "constraints.txt", "a") as file:
        file.write("# changed\n")
    assert len(set_up(checkout)[1]) == 3


def test_path_installs_no_torch_and_a_recipe_the_rest(checkout):
    source = ["bash", "-euc", f'. "{checkout}/path.sh"']
    log = checkout.parent / "pip"
    assert run(*source, cwd="/", env={"PYTHON": sys.executable}).returncode == 0
    assert [re.search(r" (pip==[\d.]+|torch|--editable \S+)", line)[1] for line in log.read_text().splitlines()] == [
        PIP_VERSION, "--editable ."]
    _, asked = set_up(checkout)
    assert [re.search(r" (pip==[\d.]+|torch|--editable \S+)", line)[1][:18] for line in asked] == [
        PIP_VERSION, "torch", "--editable .[train"]
    log.unlink()
    assert run(*source, cwd="/", env={"PYTHON": sys.executable}).returncode == 0
    assert not log.exists()


def test_setup_with_a_wrong_option_is_one_line(checkout):
    result, asked = set_up(checkout, "--light")
    assert (result.returncode, result.stderr, asked) == (1, "utils/setup.sh: usage: utils/setup.sh [--train]\n", [])


def test_setup_after_failure_is_repeated(checkout):
    result, _ = set_up(checkout, REFUSED="--editable")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("utils/setup.sh: pip could not install the packages; ")
    result, asked = set_up(checkout)
    assert (result.returncode, len(asked)) == (0, 3)


def test_setup_with_the_pip_that_is_there(checkout):
    result, asked = set_up(checkout, REFUSED="install --no-compile pip==")
    assert result.returncode == 0
    assert "pip is not updated: " in result.stderr
    assert [re.search(r" (pip==[\d.]+|torch==|--editable)", line)[1] for line in asked] == [
        PIP_VERSION, "torch==", "--editable"]


@pytest.mark.skipif(sys.platform != "linux", reason="the plain wheels of other systems have no CUDA")
def test_setup_torch_has_no_cuda(checkout):
    result, asked = set_up(checkout, REFUSED="no-deps torch")
    assert result.returncode == 0
    assert [re.search(r"torch==\S+", line)[0].split("+")[1:] for line in asked[1:3]] == [["cpu"], ["cpu"]]
    assert ["--index-url" in line for line in asked[1:3]] == [False, True]
    assert not any("torch" in line for line in (asked[0], *asked[3:]))


def test_setup_without_python_is_one_line(checkout, tmp_path):
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("bash", "dirname", "cat", "cksum", "env"):
        (bare / tool).symlink_to(shutil.which(tool))
    result, asked = set_up(checkout, PYTHON="", PATH=str(bare))
    assert (result.returncode, result.stderr.count("\n"), asked) == (1, 1, [])
    assert "no Python 3.10 or newer; install it" in result.stderr
    python = bare / "python3"
    python.write_text('#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\n')
    python.chmod(0o755)
    result, asked = set_up(checkout, PYTHON="", PATH=str(bare))
    assert (result.returncode, result.stderr.count("\n"), asked) == (1, 1, [])
    assert "python3 has no venv module; install it (on Debian and Ubuntu: apt install python3-venv)" in result.stderr


def test_path_sets_variables_once(checkout, tmp_path):
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


def test_path_failed_setup_stops_recipe(checkout, tmp_path):
    result = run("bash", "-euc", f'. "{checkout}/path.sh"; echo on', cwd=tmp_path, env={"PYTHON": sys.executable})
    assert "on" in result.stdout
    (checkout / "constraints.txt").write_text("")
    result = run("bash", "-euc", f'. "{checkout}/path.sh"; echo on', cwd=tmp_path,
                 env={"PYTHON": sys.executable, "REFUSED": "editable"})
    assert (result.stdout, result.returncode) == ("", 1)


# This stand-in for pip records the requested versions of torch, refuses those that are not in $OFFERED, and installs
# the others.
PIP = """#!/bin/bash
site=$(dirname "$0")/../lib/python3.11/site-packages
case "$*" in
  *importlib.metadata*)
    for found in "$site"/torch-*.dist-info; do found=${found##*/torch-}; done
    [ "$found" != '*.dist-info' ] && echo "${found%.dist-info}" ;;
  *torch==*)
    all=$* && version=${all##*torch==} && version=${version%% *} from=index
    case "$*" in *--index-url*) from=$(sed 's/.*--index-url [^ ]*\\///; s/ .*//' <<<"$*") ;; esac
    echo "$from $version" >>"$LOG"
    case " $OFFERED " in *" $from:$version "*) ;; *) exit 1 ;; esac
    rm -rf "$site"/torch-*
    mkdir -p "$site/torch-$version.dist-info" ;;
esac
"""
TORCH = re.search(r"^torch==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1]


@pytest.fixture
def torch_checkout(checkout):
    if sys.platform != "linux":
        pytest.skip("other systems have one build of torch")
    for name in ("python", "punc"):
        (checkout / ".venv/bin" / name).write_text(PIP)
    return checkout


def set_up_torch(checkout, offered, build=""):
    """Run setup.sh. Return its result, its requests to pip as `INDEX VERSION`, and the installed versions of torch."""
    log = checkout.parent / "log"
    log.write_text("")
    env = {**os.environ, "PYTHON": sys.executable, "LOG": str(log), "PUNC_TORCH": build,
           "OFFERED": " ".join(offered).replace("TORCH", TORCH)}
    result = subprocess.run(["bash", checkout / "utils/setup.sh", "--train"], capture_output=True, text=True, env=env)
    asked = log.read_text().replace(TORCH, "TORCH").splitlines()
    return result, asked, [path.name[6:-10].replace(TORCH, "TORCH") for path in checkout.glob(".venv/lib/*/*/torch-*")]


@pytest.mark.parametrize(("build", "offered", "asked", "installed"), [
    ("", ["index:TORCH+cpu", "index:TORCH"], ["index TORCH+cpu"], "TORCH+cpu"),
    ("", ["cpu:TORCH+cpu", "index:TORCH"], ["index TORCH+cpu", "cpu TORCH+cpu"], "TORCH+cpu"),
    ("cpu", ["cpu:TORCH+cpu", "index:TORCH"], ["index TORCH+cpu", "cpu TORCH+cpu"], "TORCH+cpu"),
    ("", ["index:TORCH"], ["index TORCH+cpu", "cpu TORCH+cpu", "index TORCH"], "TORCH"),
    ("cu130", ["index:TORCH", "cu130:TORCH+cu130"], ["index TORCH+cu130", "cu130 TORCH+cu130"], "TORCH+cu130"),
], ids=["from_the_index", "from_pytorch", "named", "plain_wheel_last", "cuda"])
def test_torch_build(torch_checkout, build, offered, asked, installed):
    result, found, torch = set_up_torch(torch_checkout, offered, build)
    assert (result.returncode, found, torch) == (0, asked, [installed])
    assert ("includes CUDA, " in result.stderr) == (installed == "TORCH")
    result, found, torch = set_up_torch(torch_checkout, offered, build)
    assert (result.stderr, found, torch) == ("", [], [installed])


def test_torch_build_that_no_index_has(torch_checkout):
    result, asked, torch = set_up_torch(torch_checkout, ["index:TORCH", "cpu:TORCH+cpu"], "cu999")
    assert (result.returncode, asked, torch) == (1, ["index TORCH+cu999", "cu999 TORCH+cu999"], [])
    assert result.stderr.splitlines()[-1].startswith(f"utils/setup.sh: no torch=={TORCH}+cu999; https://")


def test_torch_that_no_index_has(torch_checkout):
    result, asked, torch = set_up_torch(torch_checkout, [])
    assert (result.returncode, asked[-1], torch) == (1, "index TORCH", [])
    assert "utils/setup.sh: pip could not install torch; " in result.stderr


def test_torch_build_that_is_installed_stays(torch_checkout):
    offered = ["index:TORCH+cpu", "cu130:TORCH+cu130"]
    assert set_up_torch(torch_checkout, offered, "cu130")[2] == ["TORCH+cu130"]
    with open(torch_checkout / "constraints.txt", "a") as file:
        file.write("# changed\n")
    assert set_up_torch(torch_checkout, offered)[1:] == ([], ["TORCH+cu130"])
    assert set_up_torch(torch_checkout, offered, "cpu")[2] == ["TORCH+cpu"]


def test_torch_build_stays_with_a_new_version(torch_checkout):
    (torch_checkout / ".venv/lib/python3.11/site-packages/torch-1.0+cu130.dist-info").mkdir(parents=True)
    assert set_up_torch(torch_checkout, ["index:TORCH+cpu", "cu130:TORCH+cu130"])[2] == ["TORCH+cu130"]


def test_torch_build_with_a_bad_name(torch_checkout):
    result, asked, _ = set_up_torch(torch_checkout, [], "CUDA 13")
    assert (result.returncode, result.stderr.count("\n"), asked) == (1, 1, [])
    assert "PUNC_TORCH='CUDA 13' is not a build of torch; " in result.stderr
