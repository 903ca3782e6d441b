"""The punc command: help of every subcommand, and a user's mistakes as one line without a traceback."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from punc import __version__
from punc.base.errors import InputError
from punc.bin import main as punc

COMMANDS = punc.commands()


def fails_with(monkeypatch, error):
    def run(command, arguments):
        raise error
    monkeypatch.setattr(punc, "run", run)


def test_usage_describes_main_subcommands_and_names_the_others(capsys):
    assert punc.main(["--help"]) == 0
    out = capsys.readouterr().out
    described = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert described == [name for name in punc.DESCRIBED if name in COMMANDS]
    assert all(len(line.split()) > 2 and not line.endswith(".") for line in out.splitlines() if line.startswith("  "))
    assert "\nScripts also use: find-ctm.\n" in out
    assert punc.main([]) == 1
    assert capsys.readouterr() == ("", out)
    assert max(map(len, out.splitlines())) <= 120


def test_usage_imports_no_subcommand():
    program = ("import sys; from punc.bin.main import main; main(['--help']); "
               "sys.exit([m for m in sys.modules if m.startswith('punc.bin.') and m != 'punc.bin.main'] != [])")
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
    options = [line for line in lines[lines.index("options:"):] if line.startswith("  -")]
    # Each option has its text in its own line (two blanks part them), and there is nothing between options.
    assert all(len(line.strip().split("  ", 1)) == 2 for line in options)
    assert len(options) == lines.index("", lines.index("options:")) - lines.index("options:") - 1


@pytest.mark.parametrize(("arguments", "message"), [
    (["trian"], "punc: no subcommand 'trian'; did you mean train?\n"),
    (["score", "--lables", "x"], "punc score: unknown option --lables; did you mean --labels?\n"),
])
def test_mistake_is_one_line(capsys, arguments, message):
    assert punc.main(arguments) == 1
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(("error", "status", "message"), [
    (InputError("mark ' :' is wrong", "fix it", "f", 2), 1, "punc score: f:2: mark ' :' is wrong; fix it\n"),
    (PermissionError(13, "Permission denied", "/x"), 1, "punc score: /x: Permission denied; check the path, "),
    (OSError(28, "No space left on device"), 1, "punc score: No space left on device; check the path, "),
    (KeyboardInterrupt(), 130, ""),
])
def test_error_is_one_line(monkeypatch, capsys, error, status, message):
    fails_with(monkeypatch, error)
    assert punc.main(["score"]) == status
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert err.count("\n") == (1 if message else 0)


def test_program_error_keeps_its_traceback(monkeypatch):
    fails_with(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        punc.main(["score"])


def test_usage_closed_reader_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([sys.executable, "-c", "import sys; from punc.bin.main import main; sys.exit(main())",
                             "--help"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (result.stderr, result.returncode) == (b"", 0)


def test_mistake_loads_no_torch():
    program = "import sys; from punc.bin.main import main; main(['trian']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, check=False).returncode == 0


def completed(line, tmp_path):
    """What the shell offers after this line, by the protocol of argcomplete."""
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
    ("punc score --unknown x --rep", ["--replicates"]),
    ("punc scroe --la", []),
    ("punc train --model t_lstm --hid", ["--hidden-dim"]),
])
def test_completion(tmp_path, line, words):
    (tmp_path / "labels.txt").touch()
    assert completed(line, tmp_path) == words


def test_completion_offers_every_subcommand(tmp_path):
    assert set(completed("punc ", tmp_path)) == {*COMMANDS, "--help", "--version"}
