"""The wheel in a separate environment, outside the checkout: the command, the models, and the scripts for Kaldi."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from punc.base.errors import InputError
from punc.bin.kaldi_scripts import SCRIPTS, put_scripts

ROOT = Path(__file__).parents[1]
pytest.importorskip("setuptools", minversion="70.1")  # older versions also need the package `wheel`


def run(*command, cwd, stdin="", **env):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PUNC_ROOT")}
    environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run([str(word) for word in command], cwd=cwd, input=stdin, text=True, capture_output=True,
                          timeout=300, env={**environment, **env}, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Return the bin directory of an environment in which the wheel is installed. Other packages come from the tests'
    environment."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    shutil.copytree(ROOT / "punc", source / "punc", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "utils", source / "utils", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", place, ".", cwd=source)
    run(sys.executable, "-m", "venv", "--without-pip", "env", cwd=place)
    wheel, = place.glob("*.whl")
    run(*pip, "--python", place / "env/bin/python", "install", "--no-deps", "--no-compile", wheel, cwd=place)
    packages, = (place / "env/lib").glob("python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shutil.rmtree(source)
    return place / "env/bin"


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "data/test").mkdir(parents=True)
    for name in ("utt2spk", "spk2utt"):
        (tmp_path / "data/test" / name).write_text("call call\n")
    (tmp_path / "data/test/text").write_text("call x\n")
    words = ["hello", "everyone", "my", "name", "is", "john", "smith", "do", "you", "have", "any", "questions"]
    (tmp_path / "ctm").write_text("".join(f"call 1 {i / 2} 0.4 {word}\n" for i, word in enumerate(words)))
    (tmp_path / "path.sh").write_text("touch read\n")
    return tmp_path


def test_wheel_has_the_command_and_the_models(fresh, tmp_path):
    assert run(fresh / "punc", "--version", cwd=tmp_path).stdout.startswith("punc ")
    done = run(fresh / "punc", "punctuate", "-", cwd=tmp_path, stdin="what is your name i am john smith\n")
    assert done.stdout == "What is your name? I am John Smith.\n"


@pytest.mark.parametrize("copy", ["false", "true"])
def test_kaldi_scripts_work_where_they_are_put(fresh, recipe, copy):
    done = run(fresh / "punc", "kaldi-scripts", "--copy", copy, "punc", cwd=recipe)
    assert done.stderr == "punc: punctuate_ctm.sh punctuate_decode.sh punctuate_text.sh\n"
    assert sorted(path.name for path in (recipe / "punc").iterdir() if path.name[0] != ".") == sorted(
        [*SCRIPTS, "installed.sh"])
    assert all(path.is_symlink() == (copy == "false") for path in (recipe / "punc").glob("*.pl"))
    run("bash", "-euc", "punc/punctuate_ctm.sh --nj 1 data/test ctm en out", cwd=recipe)
    assert (recipe / "out/text").read_text() == \
        "call Hello, everyone. My name is John Smith. Do you have any questions?\n"
    assert not (recipe / "read").exists()
    run(fresh / "punc", "kaldi-scripts", "punc", cwd=recipe)  # replaces the scripts


def test_kaldi_scripts_say_that_their_punc_is_gone(fresh, recipe):
    run(fresh / "punc", "kaldi-scripts", "punc", cwd=recipe)
    (recipe / "punc/installed.sh").write_text("punc=/nowhere/bin/punc\n")
    done = subprocess.run(["punc/punctuate_ctm.sh", "data/test", "ctm", "en", "out"], cwd=recipe, text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (
        1, "punc/punctuate_ctm.sh: /nowhere/bin/punc: no such program; run punc kaldi-scripts again\n")


def test_kaldi_scripts_of_a_checkout_are_those_of_utils(tmp_path):
    put_scripts(tmp_path / "punc")
    assert (tmp_path / "punc/run.pl").resolve() == ROOT / "utils/run.pl"


def test_kaldi_scripts_replace_no_link(tmp_path):
    (tmp_path / "punc").symlink_to(ROOT / "utils")
    with pytest.raises(InputError, match="this is a link; remove it"):
        put_scripts(tmp_path / "punc")
    assert not (ROOT / "utils/installed.sh").exists()
