"""The campaign of docs/campaign.md, with all kinds of inputs and some kills and races. Names that scripts import
from punc exist."""

import ast
import contextlib
import importlib
import importlib.util
import logging
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).with_name("campaign")))

import mutate
from fuzz import Runner
from kind import Kind, Read, all_kinds, counted, found
from transcript_files import MAKERS

from punc.base.errors import InputError
from punc.models.base import names as model_names
from punc.text.format import format_names
from punc.tokens.tokenizer import token_types

PUNC = Path(__file__).parents[1] / "punc"
KINDS = {kind.name: kind for kind in all_kinds()}
WITH_WORDS = [name for name, kind in KINDS.items() if kind.visible]
# The same code reads the files of all models, so three models are enough.
QUICK = [name for name in KINDS if not name.startswith(("model ", "packed ")) or name in (
    "model ngram_dt", "model t_lstm", "packed delay")]


@pytest.fixture(scope="module")
def place():
    """Make a folder. Each input is made in `in`; files that many inputs share are made once, next to `in`."""
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
    logging.disable(logging.NOTSET)


def make(kind, place, seed=1):
    folder = place / "in"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    kind.make(folder, random.Random(seed))
    return folder


def lost(kind, data, read):
    return (counted(kind.visible(data)) - found(read.words)).total() - read.named


def test_kinds_are_those_of_the_program():
    every = (*format_names(), *(f"transcript {name}" for name in MAKERS),
             *(f"store {kind}" for kind in token_types()), *(f"model {m}" for m in model_names()))
    missing = {"store encoder"} if not find_spec("tokenizers") else set()
    missing |= {"model encoder", "model ta_encoder"} if not find_spec("transformers") else set()
    assert {*every} - {*KINDS} == missing


@pytest.mark.parametrize("name", QUICK)
def test_valid_inputs_are_read(name, place):
    kind = KINDS[name]
    for seed in (1, 2):
        folder = make(kind, place, seed)
        files = [folder / file for file in kind.mutated if (folder / file).is_file()]
        data = b"".join(file.read_bytes() for file in files) if kind.visible else b""
        read = kind.read(folder, random.Random(seed))
        assert not read or lost(kind, data, read) <= 0


@pytest.mark.parametrize("name", WITH_WORDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(data=st.data())
def test_words_in_are_words_out_or_named(name, place, data):
    """In a valid input, some pieces are replaced by other pieces of the same input, or by odd bytes."""
    kind = KINDS[name]
    folder = make(kind, place)
    path = folder / kind.mutated[0]
    pieces = [piece for piece in re.split(rb"(\s+|<[^<>]*>|[^\s<]+)", path.read_bytes()) if piece]
    piece = st.sampled_from([*pieces, *mutate.BYTES, b"\n", b" "])
    begin = data.draw(st.integers(0, len(pieces)))
    some = data.draw(st.lists(piece, max_size=30))
    content = b"".join([*pieces[:begin], *some, *pieces[begin + data.draw(st.integers(0, 9)):]])
    path.write_bytes(content)
    try:
        read = kind.read(folder, random.Random(begin))
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 (many inputs are refused)
    else:
        assert lost(kind, content, read) <= 0, content


@pytest.mark.parametrize("name", QUICK)
def test_no_file_runs_code(name, place):
    kind, marker = KINDS[name], place / "ran"
    payloads = mutate.payloads(marker)[1:11:3]  # pickles (alone, after PKL, after NUMPY), and code
    few = len(kind.mutated) <= 12  # each of many files gets one payload, the next file the next payload
    for number, file in enumerate(kind.mutated):
        for payload in payloads if few else [payloads[number % len(payloads)]]:
            folder = make(kind, place)
            if (folder / file).is_file():
                (folder / file).write_bytes(payload)
                with contextlib.suppress(InputError):
                    kind.read(folder, random.Random(1))
                assert not marker.exists(), f"{file}: {payload}"


def test_pickle_that_is_planted_would_run(place):
    pickle.loads(mutate.payloads(place / "ran")[0])
    assert (place / "ran").is_dir()
    (place / "ran").rmdir()


# Functions that can run code from a file, at least with some arguments.
DANGEROUS = re.compile(r"(?<![\w.])(eval|exec|compile)$|\b(load_ark|load_mat|load_scp|loads?|safe_load|Unpickler|"
                       r"ReadHelper|loadtxt|genfromtxt|run_path|run_module)$")


def test_every_loader_is_safe():
    """Each call that loads a file has arguments that refuse code, or is listed here."""
    # `load` is punc.models.base.load, which calls read_checkpoint. `onnx.load` reads protobuf.
    safe = {"json.loads", "load", "onnx.load"}
    for path in PUNC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "marshal", "shelve", "dill", "joblib", "yaml"}, path
            if isinstance(node, ast.Call) and DANGEROUS.search(called := ast.unparse(node.func)):
                arguments = {word.arg: ast.unparse(word.value) for word in node.keywords}
                fine = called in safe or (called == "torch.load" and arguments.get("weights_only") == "True")
                fine |= called == "np.load" and arguments.get("allow_pickle", "False") == "False"
                assert fine, f"{path}:{node.lineno}: {called}"


def planted(name, read):
    def write(folder, rng):
        (folder / "x").write_text("qzabcq")

    return Kind(name, write, read, ("x",), lambda data: b"qzabcq")


def test_campaign_counts_what_is_planted(tmp_path):
    def run_code(folder, rng):
        (tmp_path / "ran").mkdir()
        return Read(b"qzabcq")

    def refuse(folder, rng):
        raise InputError("bad", "mend it", folder / "x", 1)

    def loop(folder, rng):
        while True:
            pass

    kinds = [planted("code", run_code), planted("crash", lambda *_: 1 / 0), planted("refuse", refuse),
             planted("loss", lambda *_: Read(b"")), planted("named", lambda *_: Read(b"", 1)), planted("loop", loop)]
    out = tmp_path / "out"
    runner = Runner(kinds, 1, out, tmp_path, seconds=0.05)
    for number in range(len(runner.kinds)):
        runner.run(number)
    assert {key: number // kinds[0].share for key, number in runner.counts.items()} == {
        ("code", "read"): 1, ("code", "code run"): 1, ("crash", "failed"): 1, ("crash", "traceback"): 1,
        ("refuse", "refused"): 1, ("loss", "read"): 1, ("loss", "loss"): 1, ("named", "read"): 1, ("loop", "hung"): 1,
        ("loop", "hang"): 1}
    crash = (out / "crash-traceback-8" / "WHY").read_text()
    assert "\n--seed 1 --first 8 --inputs 1 --kind 'code' --kind 'crash' " in crash
    assert "ZeroDivisionError" in crash


CAMPAIGN = Path(__file__).with_name("campaign")


@pytest.mark.parametrize(("line", "counts"), [
    ("kills.py --kills 16", r"kills (1\d), mixtures 0, "),
    ("races.py --races 2 --commands make-store,score", r"races 2, mixed results 0, "),
])
def test_campaign_finds_nothing(line, counts):
    program, *options = line.split()
    done = subprocess.run([sys.executable, CAMPAIGN / program, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(counts, done.stdout.splitlines()[-1]), done.stdout


ROOT = Path(__file__).parents[1]
PATTERNS = ("tests/bench/*.py", "egs/*/local/*.py", "utils/*.py")
FILES = sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))


def names_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "punc":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_of_punc_exist(path):
    for module, name in names_of(path):
        if not hasattr(importlib.import_module(module), name):
            assert importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"
