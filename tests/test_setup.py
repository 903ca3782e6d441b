"""utils/setup.sh: which build of torch it installs, with a stand-in for pip that notes what it is asked for."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one build of torch")

# Notes the versions of torch that it is asked for, refuses those that are not in $OFFERED, and installs the others.
STAND_IN = """#!/bin/bash
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
def checkout(tmp_path):
    copy = tmp_path / "a checkout"
    binaries = copy / ".venv/bin"
    binaries.mkdir(parents=True)
    (copy / "utils").mkdir()
    for name in ("setup.py", "constraints.txt", "utils/setup.sh"):
        shutil.copy(ROOT / name, copy / name)
    (binaries / "activate").write_text(str(copy / ".venv"))
    for name in ("python", "punc"):
        (binaries / name).write_text(STAND_IN)
        (binaries / name).chmod(0o755)
    return copy


def set_up(checkout, offered, build=""):
    """Run setup.sh. Returns its result, what pip was asked for as `FROM VERSION`, and the torch that is installed."""
    log = checkout.parent / "log"
    log.write_text("")
    env = {**os.environ, "PYTHON": sys.executable, "LOG": str(log), "PUNC_TORCH": build,
           "OFFERED": " ".join(offered).replace("TORCH", TORCH)}
    result = subprocess.run(["bash", checkout / "utils/setup.sh"], capture_output=True, text=True, env=env)
    asked = log.read_text().replace(TORCH, "TORCH").splitlines()
    return result, asked, [path.name[6:-10].replace(TORCH, "TORCH") for path in checkout.glob(".venv/lib/*/*/torch-*")]


@pytest.mark.parametrize(("build", "offered", "asked", "installed"), [
    ("", ["index:TORCH+cpu", "index:TORCH"], ["index TORCH+cpu"], "TORCH+cpu"),
    ("", ["cpu:TORCH+cpu", "index:TORCH"], ["index TORCH+cpu", "cpu TORCH+cpu"], "TORCH+cpu"),
    ("cpu", ["cpu:TORCH+cpu", "index:TORCH"], ["index TORCH+cpu", "cpu TORCH+cpu"], "TORCH+cpu"),
    ("", ["index:TORCH"], ["index TORCH+cpu", "cpu TORCH+cpu", "index TORCH"], "TORCH"),
    ("cu130", ["index:TORCH", "cu130:TORCH+cu130"], ["index TORCH+cu130", "cu130 TORCH+cu130"], "TORCH+cu130"),
], ids=["from_the_index", "from_pytorch", "named", "plain_wheel_last", "cuda"])
def test_torch_build(checkout, build, offered, asked, installed):
    result, found, torch = set_up(checkout, offered, build)
    assert (result.returncode, found, torch) == (0, asked, [installed])
    assert ("brings CUDA: " in result.stderr) == (installed == "TORCH")
    result, found, torch = set_up(checkout, offered, build)
    assert (result.stderr, found, torch) == ("", [], [installed])


def test_torch_build_that_nobody_offers(checkout):
    result, asked, torch = set_up(checkout, ["index:TORCH", "cpu:TORCH+cpu"], "cu999")
    assert (result.returncode, asked, torch) == (1, ["index TORCH+cu999", "cu999 TORCH+cu999"], [])
    assert result.stderr.splitlines()[-1].startswith(f"utils/setup.sh: no torch=={TORCH}+cu999; https://")


def test_torch_that_nobody_offers(checkout):
    result, asked, torch = set_up(checkout, [])
    assert (result.returncode, asked[-1], torch) == (1, "index TORCH", [])
    assert "utils/setup.sh: pip could not install torch; " in result.stderr


def test_torch_build_that_is_installed_stays(checkout):
    offered = ["index:TORCH+cpu", "cu130:TORCH+cu130"]
    assert set_up(checkout, offered, "cu130")[2] == ["TORCH+cu130"]
    with open(checkout / "constraints.txt", "a") as file:
        file.write("# changed\n")
    assert set_up(checkout, offered)[1:] == ([], ["TORCH+cu130"])
    assert set_up(checkout, offered, "cpu")[2] == ["TORCH+cpu"]


def test_torch_build_stays_with_a_new_version(checkout):
    (checkout / ".venv/lib/python3.11/site-packages/torch-1.0+cu130.dist-info").mkdir(parents=True)
    assert set_up(checkout, ["index:TORCH+cpu", "cu130:TORCH+cu130"])[2] == ["TORCH+cu130"]


def test_torch_build_with_a_bad_name(checkout):
    result, asked, _ = set_up(checkout, [], "CUDA 13")
    assert (result.returncode, result.stderr.count("\n"), asked) == (1, 1, [])
    assert "PUNC_TORCH='CUDA 13' is not a build of torch; " in result.stderr
