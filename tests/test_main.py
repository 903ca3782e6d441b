"""The punc command and the scripts of recipes: help, command lines, and errors of one line without a traceback."""

import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from punc import __version__
from punc.base import stop
from punc.base.errors import InputError
from punc.bin import _subcommands
from punc.bin import main as punc
from punc.bin.script import bind
from punc.data.datadir import Utterance, write_data_dir

COMMANDS = _subcommands.commands()


def fails_with(monkeypatch, error):
    def run(command, arguments):
        raise error
    monkeypatch.setattr(_subcommands, "run", run)


def test_usage_describes_main_subcommands_and_names_the_others(capsys):
    assert punc.main(["--help"]) == 0
    out = capsys.readouterr().out
    described = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert described == [name for name in _subcommands.DESCRIBED if name in COMMANDS]
    assert all(len(line.split()) > 2 and not line.endswith(".") for line in out.splitlines() if line.startswith("  "))
    assert "\nScripts also use: find-ctm.\n" in out
    assert punc.main([]) == 1
    assert capsys.readouterr() == ("", out)
    assert max(map(len, out.splitlines())) <= 120


def test_usage_imports_no_subcommand():
    program = ("import sys; from punc.bin.main import main; main(['--help']); "
               "sys.exit([m for m in sys.modules if m.startswith('punc.bin.') and m not in "
               "('punc.bin.main', 'punc.bin._subcommands')] != [])")
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_version(capsys):
    assert punc.main(["--version"]) == 0
    assert capsys.readouterr() == (f"punc {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_subcommand_docstring_names_it_and_says_what_it_does(command):
    path = Path(punc.__file__).with_name(f"{command.replace('-', '_')}.py")
    first = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()[0]
    assert first.startswith(f"`punc {command}`: ")
    assert first.endswith(".")


@pytest.mark.parametrize("command", COMMANDS)
def test_subcommand_help(command, capsys):
    with pytest.raises(SystemExit) as stop:
        punc.main([command, "--help"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"usage: punc {command} ")
    assert lines[-1].startswith("example: ")
    section = lines[lines.index("options:"):-1]
    options = [line for line in section if line.startswith("  -")]
    # An option's help follows on the option's line after two spaces, and does not continue on a second line.
    assert all(len(line.strip().split("  ", 1)) == 2 for line in options)
    assert not [line for line in section if line.startswith(" " * 20)]


@pytest.mark.parametrize(("arguments", "message"), [
    (["trian"], "punc: no subcommand 'trian'; did you mean train?\n"),
    (["score", "--lables", "x"], "punc score: unknown option --lables; did you mean --labels?\n"),
])
def test_mistake_is_one_line(capsys, arguments, message):
    assert punc.main(arguments) == 1
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(("error", "status", "message"), [
    (InputError("mark ' :' is wrong", "fix it", "f", 2), 1, "punc score: f:2: mark ' :' is wrong; fix it\n"),
    (PermissionError(13, "Permission denied", "/x"), 1, "punc score: /x: permission denied; change the permissions, "),
    (OSError(28, "No space left on device"), 1, "punc score: no space left on the disk; free some space, "),
    (OSError(5, "Input/output error", "/x"), 1, "punc score: /x: Input/output error; check the path, "),
    (MemoryError(), 1, "punc score: not enough memory; use fewer processes (--nj), "),
    (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), 1,
     "punc score: not enough memory; use fewer "),
])
def test_error_is_one_line(monkeypatch, capsys, error, status, message):
    fails_with(monkeypatch, error)
    assert punc.main(["score"]) == status
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert err.count("\n") == (1 if message else 0)


@pytest.mark.parametrize("error", [ZeroDivisionError("by\x1b[31m\n" + "0" * 5000), KeyError("x"), RecursionError()])
def test_program_error_is_one_line_and_its_traceback_in_a_file(monkeypatch, capsys, tmp_path, error):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fails_with(monkeypatch, error)
    assert punc.main(["score"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"punc score: an internal error, {type(error).__name__}")
    assert err.endswith(".log\n")
    assert (err.count("\n"), "\x1b" in err, len(err) < 600) == (1, False, True)
    log, = tmp_path.glob("punc-score-*.log")
    assert " in test_main.py:" in err
    assert err.rstrip().endswith(str(log))
    text = log.read_text(encoding="utf-8")
    assert text.startswith("# 'punc score'")
    assert "Traceback (most recent call last):" in text
    assert "in run\n    raise error" in text


def test_ctrl_c_is_one_line(monkeypatch, capfd):
    monkeypatch.setattr(stop, "_said", threading.Lock())
    fails_with(monkeypatch, KeyboardInterrupt())
    assert punc.main(["score"]) == 130
    assert capfd.readouterr() == ("", "punc score: interrupted\n")


def shell(line, **options):
    env = {**os.environ, "PYTHON": sys.executable}
    env.pop("PYTHONUNBUFFERED", None)  # most users do not set it
    return subprocess.run(["bash", "-c", line], env=env, timeout=60, capture_output=True, text=True, check=False,
                          **options)


PUNC = '"$PYTHON" -c "import sys; from punc.bin.main import main; sys.exit(main())"'


@pytest.mark.parametrize(("line", "status", "message"), [
    (f"{PUNC} --version >&-", 1, "punc: standard output is closed; leave it open, or redirect it to a file\n"),
    (f"{PUNC} punctuate - <&-", 1, "punc punctuate: standard input is closed; leave it open, or redirect it to a f"),
    (f"{PUNC} --version >/dev/full", 1, "punc: no space left on the disk; free some space, or write to another disk\n"),
    (f"{PUNC} --version 2>&-", 0, ""),
    (f"{PUNC} trian 2>&-", 1, ""),
    (f"{PUNC} trian 2>/dev/full", 1, ""),
    (f"{PUNC} --help | true; exit ${{PIPESTATUS[0]}}", 0, ""),
])
def test_closed_or_full_streams(line, status, message):
    done = shell(line)
    assert done.stderr.startswith(message)
    assert (done.returncode, done.stderr.count("\n")) == (status, 1 if message else 0)


# KiB: too little for NumPy, for ONNX Runtime, and for a session of ONNX Runtime.
@pytest.mark.parametrize("limit", [110_000, 136_000, 200_000])
def test_too_little_memory_is_one_line(tmp_path, limit):
    write_data_dir(tmp_path / "data", [Utterance("a-1", "a", ["how", "are", "you"])])
    done = shell(f"ulimit -v {limit}; {PUNC} punctuate en {tmp_path}/data {tmp_path}/out")
    assert done.returncode == 1
    assert re.fullmatch(r"(.*bad_alloc.*\n)?punc punctuate: not enough memory; .*\n", done.stderr), done.stderr


def test_deleted_working_directory_is_named(tmp_path):
    (tmp_path / "cue.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhow are you\n")
    done = shell(f"cd {tmp_path}; mkdir gone; cd gone; rmdir ../gone; {PUNC} transcript en {tmp_path}/cue.srt out.srt")
    assert (done.returncode, done.stderr) == (
        1, "punc transcript: the working directory was deleted; change to another one\n")


def test_closed_input_is_no_error_if_none_is_read():
    assert shell(f"{PUNC} --version <&-").stdout == f"punc {__version__}\n"


def test_long_or_odd_arguments_make_a_short_line(capsys):
    assert punc.main(["score", "--labels", "l", "x\x1b[31m" * 1000, "y", "z"]) == 1
    err = capsys.readouterr().err
    assert (err.count("\n"), "\x1b" in err, len(err) < 1100) == (1, False, True)


def test_mistake_loads_no_torch():
    program = "import sys; from punc.bin.main import main; main(['trian']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, check=False).returncode == 0


def completed(line, tmp_path):
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    environment = os.environ | {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)),
                                "COMP_TYPE": "9", "_ARGCOMPLETE_IFS": "\n",
                                "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    program = "import sys; from punc.bin.main import main; sys.exit(main([]))"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, cwd=tmp_path)
    return [word.strip() for word in answer.read_text(encoding="utf-8").split("\n") if word]


@pytest.mark.parametrize(("line", "words"), [
    ("punc tr", ["train", "transcript"]),
    ("punc --v", ["--version"]),
    ("punc score --la", ["--labels", "--last-slot"]),
    ("punc score --match ", ["utterances", "streams"]),
    ("punc score --labels lab", ["labels.txt"]),
    ("punc score --unknown x --coll", ["--collapse"]),
    ("punc scroe --la", []),
    ("punc train --model t_lstm --hid", ["--hidden-dim"]),
])
def test_completion(tmp_path, line, words):
    (tmp_path / "labels.txt").touch()
    assert completed(line, tmp_path) == words


def test_completion_offers_every_subcommand(tmp_path):
    assert set(completed("punc ", tmp_path)) == {*COMMANDS, "--help", "--version"}


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
    """Return a function that runs the script, and returns its status, output and errors. In the errors, SCRIPT stands
    for the script's path."""
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
    assert errors == f"SCRIPT: an internal error, ZeroDivisionError in a script.py:15; report it with {log}\n"
    assert log.read_text().startswith(f"# '{tmp_path}/a script.py' fail 1\n")


def test_run_script_closed_reader_and_full_disk(run):
    reader, writer = os.pipe()
    os.close(reader)
    assert run("do 9", capture_output=False, stdout=writer, stderr=subprocess.PIPE)[::2] == (0, "")
    os.close(writer)
    with open("/dev/full", "w") as full:
        status, _, errors = run("do 9", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (status, errors) == (1, "SCRIPT: no space left on the disk; free some space, or write to another disk\n")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_end_in_run_script(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.unparse(tree.body[-1]).startswith("if __name__ == '__main__':\n    run_script(main, __doc__")
    assert len(tree.body[-1].body) == 1
    main, = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    kinds = [ast.unparse(argument.annotation) for argument in (*main.args.args, *[main.args.vararg] * bool(
        main.args.vararg))]
    assert kinds == ["Sequence[str]"] or {*kinds} <= {"str", "Path", "int"}
