"""Scripts of recipes: command lines by the signature of `main`, and how scripts end."""

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from punc.bin.script import bind

ROOT = Path(__file__).parents[1]
SCRIPTS = [path for path in sorted([*ROOT.glob("egs/*/local/*.py"), *ROOT.glob("utils/*.py")])
           if "__main__" in path.read_text(encoding="utf-8")]
SCRIPT = '''"""usage: script.py WHAT NUMBER"""
import os, signal, sys, time
from punc.base.errors import InputError
from punc.bin.script import run_script

def main(what: str, number: int) -> None:
    if what == "wrong":
        raise InputError("it is wrong", "mend it", "f", number)
    if what == "stop":
        os.kill(os.getpid(), number)
        time.sleep(60)
    for line in range(number):
        print(line)
    if what == "fail":
        raise ZeroDivisionError

if __name__ == "__main__":
    run_script(main, __doc__)
'''


def two(path: Path, number: int) -> None: ...
def optional(path: Path, table: str = "") -> None: ...
def several(out: str, *names: str) -> None: ...
def numbers(*numbers: int) -> None: ...
def whole(arguments: Sequence[str]) -> None: ...
def postponed(path: "Path") -> None: ...


@pytest.mark.parametrize(("main", "line", "bound"), [
    (two, "a 12", [Path("a"), 12]),
    (two, "a", None),
    (two, "a 1 2", None),
    (two, "a b", None),
    (two, "a -1", None),
    (two, "", None),
    (optional, "a b", [Path("a"), "b"]),
    (optional, "a", [Path("a")]),
    (optional, "", None),
    (optional, "a b c", None),
    (several, "a b", ["a", "b"]),
    (several, "a b c d", ["a", "b", "c", "d"]),
    (several, "a", None),
    (several, "--help", None),
    (numbers, "1 2", [1, 2]),
    (numbers, "1 b", None),
    (numbers, "", None),
    (whole, "--a b", [["--a", "b"]]),
    (whole, "--help", [["--help"]]),
    (whole, "", [[]]),
    (postponed, "a", [Path("a")]),
    (postponed, "-h", None),
])
def test_bind(main, line, bound):
    found = bind(main, line.split())
    assert found == bound
    assert [*map(type, found or ())] == [*map(type, bound or ())]


@pytest.fixture
def run(tmp_path):
    """Runs the script with a command line. Returns the exit status, and both outputs, with SCRIPT for its name."""
    path = tmp_path / "a script.py"
    path.write_text(SCRIPT)

    def run(line, **options):
        done = subprocess.run([sys.executable, path, *line.split()], text=True, timeout=60, check=False,
                              **{"capture_output": True, **options}, env=os.environ | {"TMPDIR": str(tmp_path)})
        return done.returncode, done.stdout, done.stderr.replace(str(path), "SCRIPT")
    return run


@pytest.mark.parametrize(("line", "status", "output", "errors"), [
    ("do 2", 0, "0\n1\n", ""),
    ("do", 1, "", "usage: script.py WHAT NUMBER\n"),
    ("do x", 1, "", "usage: script.py WHAT NUMBER\n"),
    ("--help", 0, "usage: script.py WHAT NUMBER\n", ""),
    ("wrong 3", 1, "", "SCRIPT: f:3: it is wrong; mend it\n"),
    (f"stop {signal.SIGINT:d}", 130, "", "SCRIPT: interrupted\n"),
    (f"stop {signal.SIGTERM:d}", 143, "", "SCRIPT: terminated\n"),
])
def test_run_script_ends(run, line, status, output, errors):
    assert run(line) == (status, output, errors)


def test_script_stopped_in_its_imports(tmp_path):
    path = tmp_path / "a.py"
    for error, said in (("KeyboardInterrupt", f"{path}: interrupted\n"), ("ValueError(1)", "ValueError: 1\n")):
        path.write_text(f"from punc.bin.script import run_script\nraise {error}\n")
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode
        assert done.stderr.endswith(said)
        assert ("Traceback" in done.stderr) == (error != "KeyboardInterrupt")


def test_run_script_error_of_the_program(run, tmp_path):
    status, output, errors = run("fail 1")
    log, = tmp_path.glob("a-script.py-*.log")
    assert (status, output) == (1, "0\n")
    assert errors == f"SCRIPT: an error of the program, ZeroDivisionError in a script.py:15; report it with {log}\n"
    assert log.read_text().startswith(f"# '{tmp_path}/a script.py' fail 1\n")


def test_run_script_closed_reader_and_full_disk(run):
    reader, writer = os.pipe()
    os.close(reader)
    assert run("do 9", capture_output=False, stdout=writer, stderr=subprocess.PIPE)[::2] == (0, "")
    os.close(writer)
    with open("/dev/full", "w") as full:
        status, _, errors = run("do 9", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (status, errors) == (1, "SCRIPT: no space left on the disk; free some, or write to another disk\n")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_end_in_run_script(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.unparse(tree.body[-1]).startswith("if __name__ == '__main__':\n    run_script(main, __doc__")
    assert len(tree.body[-1].body) == 1
    main, = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    kinds = [ast.unparse(argument.annotation) for argument in (*main.args.args, *[main.args.vararg] * bool(
        main.args.vararg))]
    assert kinds == ["Sequence[str]"] or {*kinds} <= {"str", "Path", "int"}
