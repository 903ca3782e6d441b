"""The punc command: help of every subcommand, and a user's mistakes as one line without a traceback."""

import os
import subprocess
import sys

import pytest

from punc.base.errors import InputError
from punc.bin import main as punc


def fails_with(monkeypatch, error):
    def run(command, arguments):
        raise error
    monkeypatch.setattr(punc, "run", run)


def test_usage(capsys):
    assert punc.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in punc.COMMANDS)
    assert punc.main([]) == 1
    assert capsys.readouterr() == ("", out)


@pytest.mark.parametrize("command", punc.COMMANDS)
def test_help_of_subcommands(command, capsys):
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
def test_mistakes(capsys, arguments, message):
    assert punc.main(arguments) == 1
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(("error", "status", "message"), [
    (InputError("mark ' :' is wrong", "mend it", "f", 2), 1, "punc score: f:2: mark ' :' is wrong; mend it\n"),
    (PermissionError(13, "Permission denied", "/x"), 1, "punc score: /x: Permission denied; check the path, "),
    (OSError(28, "No space left on device"), 1, "punc score: No space left on device; check the path, "),
    (KeyboardInterrupt(), 130, ""),
])
def test_errors(monkeypatch, capsys, error, status, message):
    fails_with(monkeypatch, error)
    assert punc.main(["score"]) == status
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert err.count("\n") == (1 if message else 0)


def test_our_own_mistakes_keep_their_traceback(monkeypatch):
    fails_with(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        punc.main(["score"])


def test_a_reader_that_went_away():
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([sys.executable, "-c", "import sys; from punc.bin.main import main; sys.exit(main())",
                             "--help"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (result.stderr, result.returncode) == (b"", 0)


def test_torch_is_not_loaded_for_a_mistake():
    program = "import sys; from punc.bin.main import main; main(['trian']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, check=False).returncode == 0
