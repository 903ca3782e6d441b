"""utils/parse_options.sh: options, config files, and errors of one line."""

import os
import subprocess
from pathlib import Path

import pytest

UTILS = Path(__file__).parents[1] / "utils"


def run(*command, cwd, env=None):
    return subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})}, text=True,
                          capture_output=True, timeout=60)


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
    return lambda *arguments, **env: run("bash", "script.sh", *arguments, cwd=tmp_path, **env)


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
def test_options_set_variables(script, arguments, printed):
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
    (("--config", "missing"), "there is no config file 'missing'"),
    (("--stage=3",), "an option is written --name value, not '--stage=3'"),
    (("--flag", "yes"), "--flag takes true or false, not 'yes'"),
    (("--flag", ""), "--flag takes true or false, not ''"),
    (("--HOME", "x"), "unknown option --HOME"),
    (("--home", "x"), "unknown option --home"),
    (("--BASH-VERSION", "x"), "unknown option --BASH-VERSION"),
])
def test_options_wrong_is_one_line(script, tmp_path, arguments, message):
    result = script(*arguments)
    assert (result.stdout, result.returncode) == ("", 1)
    assert result.stderr.startswith(f"script.sh: {message}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "evaluated").exists()


def test_options_environment_variable_is_unknown(script):
    assert "unknown option --other" in script("--other", "1", env={"other": "0"}).stderr
    # A variable that the script sets is an option, even if the environment has one of this name.
    assert script("--stage", "1", env={"stage": "7"}).stdout.startswith("1|")
    assert script(env={"stage": "7"}).stdout.startswith("0|")


def test_options_after_cd_to_script_directory(tmp_path):
    (tmp_path / "script.sh").write_text(SCRIPT.format(utils=UTILS).replace("set -eu", 'cd "$(dirname "$0")"'))
    result = run("bash", tmp_path.name + "/script.sh", "--stage", "1", cwd=tmp_path.parent, env={"stage": "7"})
    assert result.stdout.startswith("1|")


def test_options_help(script):
    result = script("--stage", "3", "--help")
    assert (result.stdout, result.stderr, result.returncode) == ("", "usage: script.sh\n", 0)


def test_config_command_line_wins(script, tmp_path):
    (tmp_path / "conf").write_text("# a comment\n\n--stage=1\n  stop_stage=2\n--name=\"$(echo x) = y\"")
    assert script("--config", "conf").stdout == "1|2|false|$(echo x) = y|\n"
    assert script("--stage", "5", "--config", "conf").stdout == "5|2|false|$(echo x) = y|\n"
    # After the options, --config belongs to another command.
    assert script("--stage", "5", "x", "--config", "conf").stdout == "5|100|false|a b|x --config conf\n"


@pytest.mark.parametrize(("line", "message"), [
    ("--flag=1", "conf:2: --flag takes true or false, not '1'"),
    ("--stagge=1", "conf:2: unknown option --stagge"),
    ("stage 1", "conf:2: 'stage 1' is not an option; write --name=value"),
])
def test_config_wrong_line_is_one_line(script, tmp_path, line, message):
    (tmp_path / "conf").write_text(f"# comment\n{line}\n")
    result = script("--config", "conf")
    assert result.returncode == 1
    assert result.stderr.startswith(f"script.sh: {message}")


def test_options_of_sourced_file(tmp_path):
    (tmp_path / "defaults.sh").write_text(f"nj=1\n. {UTILS}/parse_options.sh\n")
    (tmp_path / "script.sh").write_text('set -eu\nstage=0\n. ./defaults.sh\necho "$stage|$nj"\n')
    result = run("bash", "script.sh", "--stage", "1", "--nj", "4", cwd=tmp_path, env={"stage": "7", "nj": "7"})
    assert (result.stdout, result.stderr) == ("1|4\n", "")
