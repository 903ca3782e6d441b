"""Options in Python and in utils/parse_options.sh follow Kaldi's conventions, and errors are one line."""

import logging
from dataclasses import dataclass, field
from typing import Optional

import pytest
from conftest import UTILS, run

from punc.base import log
from punc.base.errors import InputError
from punc.base.options import OptionParser, config_lines, with_options


def build(tokens, hidden_dim=100, rate=0.1, pauses: bool = False, limit: int | None = None, name="a",
          other: Optional[float] = None):  # noqa: UP045 (both notations are accepted)
    """Build something.

    tokens       not an option
    hidden_dim   states of a layer, at 100 % of them, which
                 is said in two lines
    rate         of something
    no argument
    """


@pytest.fixture
def parser():
    parser = OptionParser("punc test [options] DATA-DIR", "Tests.", "punc test --rate 1 data")
    parser.add_signature(build)
    parser.add_argument("--token-type", choices=("word", "char"), default="word", help="what a token is, in % of cases"
                        .replace("%", "%%"))
    parser.add_argument("--collapse", action="append", default=[], metavar="NAME", help="can be given again")
    parser.add_argument("data_dir", metavar="DATA-DIR")
    return parser


@pytest.fixture
def conf(tmp_path):
    def write(text):
        (tmp_path / "conf").write_text(text)
        return str(tmp_path / "conf")
    return write


def test_parse_defaults(parser):
    values = vars(parser.parse(["data"]))
    assert values == {"config": None, "quiet": False, "verbose": False, "hidden_dim": 100, "rate": 0.1,
                      "pauses": False, "limit": None, "name": "a", "other": None, "token_type": "word",
                      "collapse": [], "data_dir": "data"}


@pytest.mark.parametrize("arguments", [
    ["--hidden-dim", "5", "--pauses", "true", "data"], ["--hidden_dim=5", "data", "--pauses=true"],
    ["--hidden_dim", "5", "--pauses=true", "--", "data"],
])
def test_parse_values(parser, arguments):
    values = parser.parse(arguments)
    assert (values.hidden_dim, values.pauses, values.data_dir) == (5, True, "data")


def test_parse_name_that_begins_with_a_dash(parser):
    assert parser.parse(["--", "-data"]).data_dir == "-data"


@pytest.mark.parametrize(("arguments", "message"), [
    (["--hiden-dim", "5", "data"], "unknown option --hiden-dim; did you mean --hidden-dim?"),
    (["--hiden_dim=5", "data"], "unknown option --hiden_dim; did you mean --hidden-dim?"),
    (["--hidden", "5", "data"], "unknown option --hidden; did you mean --hidden-dim?"),
    (["data", "--rate"], "argument --rate: expected one argument; see punc test --help"),
    (["data", "--config"], "argument --config: expected one argument; see punc test --help"),
    (["data", "--rate", "fast"], "argument --rate: invalid float value: 'fast'; see punc test --help"),
    (["data", "--pauses", "True"], "argument --pauses: 'True' is neither true nor false; see punc test --help"),
    (["data", "--token-type", "byte"], "argument --token-type: invalid choice: 'byte'"),
    ([], "missing: DATA-DIR; see punc test --help"),
    (["data", "more"], "unrecognized arguments: more; see punc test --help"),
    (["--config", "missing", "data"], "missing: no such file; make it, or give another one"),
])
def test_parse_wrong_command_line(parser, arguments, message):
    with pytest.raises(InputError) as error:
        parser.parse(arguments)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_conf_command_line_wins(parser, conf):
    path = conf("# a comment\n\n--hidden-dim=5\n  --rate=2  # twice\n--pauses=true\n--name=a b#c=d\n")
    for arguments in (["--config", path, "--rate", "3", "data"], ["--rate=3", "data", f"--config={path}"]):
        values = parser.parse(arguments)
        assert (values.hidden_dim, values.rate, values.pauses, values.name) == (5, 3.0, True, "a b#c=d")
    assert parser.parse(["--config", conf("--hidden_dim=6\n--name=\n"), "data"]).hidden_dim == 6


@pytest.mark.parametrize(("line", "message"), [
    ("--hiden-dim=5", "conf:2: unknown option --hiden-dim; did you mean --hidden-dim?"),
    ("hidden-dim=5", "conf:2: 'hidden-dim=5' is not an option; write --name=value"),
    ("--hidden-dim 5", "conf:2: '--hidden-dim 5' is not an option; write --name=value"),
    ("--rate=fast", "conf:2: --rate: wrong value 'fast'"),
    ("--pauses=1", "conf:2: --pauses: wrong value '1' ('1' is neither true nor false); see punc test --help"),
    ("--token-type=byte", "conf:2: --token-type: wrong value 'byte'; choose from word, char"),
    ("--config=other", "conf:2: no such file: {folder}/other; make it, or give another one"),
    ("--config=", "conf:2: no such file: {folder}; make it, or give another one"),
    ("--rate=1\n--config=conf", "conf:3: --config after other options; make it the first line"),
    ("--config conf", "conf:2: {folder}/conf includes this file; remove one of the two lines"),
])
def test_conf_wrong_line(parser, conf, tmp_path, line, message):
    with pytest.raises(InputError) as error:
        parser.parse(["--config", conf(f"# comment\n{line}\n"), "data"])
    assert message.format(folder=tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


def test_conf_includes_others_and_wins(parser, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/deep.conf").write_text("--hidden-dim=1\n--rate=1\n--name=deep\n--limit=1\n")
    (tmp_path / "sub/base.conf").write_text("# first\n--config deep.conf  # in sub/\n--rate=2\n--name=base\n")
    (tmp_path / "two.conf").write_text("--limit=2\n")
    (tmp_path / "top.conf").write_text("--config=sub/base.conf\n\n--config=two.conf\n--name=top\n")
    values = parser.parse(["--config", str(tmp_path / "top.conf"), "data"])
    assert (values.hidden_dim, values.rate, values.limit, values.name) == (1, 2.0, 2, "top")
    assert parser.parse([f"--config={tmp_path}/top.conf", "--name=line", "data"]).name == "line"
    assert parser.value([f"--config={tmp_path}/top.conf", "data"], "--rate") == "2"
    assert [(line.path.name, line.number, line.value) for line in config_lines(tmp_path / "top.conf")] == [
        ("deep.conf", 1, "1"), ("deep.conf", 2, "1"), ("deep.conf", 3, "deep"), ("deep.conf", 4, "1"),
        ("base.conf", 3, "2"), ("base.conf", 4, "base"), ("two.conf", 1, "2"), ("top.conf", 4, "top")]


@pytest.mark.parametrize(("files", "message"), [
    ({"a": "--config=b\n", "b": "\n--config=a\n"}, "b:2: {folder}/a includes this file; remove one of the two lines"),
    ({"a": "--config=b\n", "b": "--config=c\n", "c": "--config=b\n"}, "c:1: {folder}/b includes this file; "),
    ({"a": "--config=b\n--rate=1\n", "b": "# base\n--rat=1\n"}, "b:2: unknown option --rat; did you mean --rate?"),
    ({"a": "--config=b\n--rate=1\n", "b": "--rate=fast\n"}, "b:1: --rate: wrong value 'fast'"),
    ({"a": "--config=b\n--rate=1\n", "b": "rate=1\n"}, "b:1: 'rate=1' is not an option; write --name=value"),
])
def test_conf_wrong_included_file(parser, tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        parser.parse([f"--config={tmp_path}/a", "data"])
    assert str(error.value).startswith(f"{tmp_path}/{message.format(folder=tmp_path)}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("flags", "level"), [
    ([], logging.INFO), (["--quiet=true"], logging.WARNING), (["--verbose", "true"], logging.DEBUG),
    (["--quiet", "false"], logging.INFO), (["--quiet"], logging.WARNING), (["--verbose"], logging.DEBUG)])
def test_parse_configures_messages(parser, flags, level):
    try:
        parser.parse([*flags, "data"])
        assert log.LOGGER.level == level
    finally:
        log.configure()


def test_parse_quiet_and_verbose_is_an_error(parser):
    with pytest.raises(InputError, match="--quiet cannot be combined with --verbose; give one of them"):
        parser.parse(["--quiet=true", "--verbose=true", "data"])


@dataclass
class Settings:
    """Settings of something.

    rate    how fast, in 1/s
    """

    store: str
    rate: float = 0.5
    pauses: bool = False
    limit: int | None = None
    names: list = field(default_factory=lambda: ["a", "b"])


@dataclass
class More(Settings):
    """More settings.

    depth   how deep
    """

    depth: int = 2


def test_add_signature_of_dataclass(capsys):
    parser = OptionParser("punc test [options]", "Tests.", "punc test")
    parser.add_signature(More, skip=("names",))
    values = vars(parser.parse(["--rate=2", "--pauses=true", "--limit=3"]))
    assert More("data", **{name: values[name] for name in ("rate", "pauses", "limit", "depth")}) == More(
        "data", 2.0, True, 3, ["a", "b"], 2)
    assert "store" not in values
    with pytest.raises(SystemExit):
        parser.parse(["--help"])
    out = capsys.readouterr().out
    assert "  how deep (default: 2)\n" in out
    assert "  how fast, in 1/s (default: 0.5)\n" in out


def test_add_signature_in_groups(capsys):
    parser = OptionParser("punc test [options]", "Tests.", "punc test")
    parser.add_signature(More, groups={"how fast": ["rate"], "how much": ["limit", "depth"]})
    with pytest.raises(SystemExit):
        parser.parse(["--help"])
    sections = capsys.readouterr().out.split("\n\n")
    assert [part.split()[0] for part in sections[-3].splitlines()[1:]] == ["--rate"]
    assert [part.split()[0] for part in sections[-2].splitlines()] == ["how", "--limit", "--depth"]


def test_help_one_line_per_option_with_default(parser, capsys):
    with pytest.raises(SystemExit) as stop:
        parser.parse(["--help"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    options = {line.split()[0]: line for line in lines if line.startswith("  --")}
    assert set(options) == {"--config", "--quiet", "--verbose", "--hidden-dim", "--rate", "--pauses", "--limit",
                            "--name", "--other", "--token-type", "--collapse"}
    for name, default in (("--hidden-dim", "100"), ("--rate", "0.1"), ("--pauses", "false"), ("--name", "a"),
                          ("--token-type", "word")):
        assert options[name].endswith(f"(default: {default})")
    for name in ("--config", "--limit", "--other", "--collapse"):
        assert "default" not in options[name]
    assert "in % of cases" in options["--token-type"]
    assert "  states of a layer, at 100 % of them, which is said in two lines (default: 100)" in options["--hidden-dim"]
    assert "  limit" in options["--limit"]
    assert options["--rate"].endswith("  of something (default: 0.1)")
    assert lines[0] == "usage: punc test [options] DATA-DIR"
    assert lines[-1] == "example: punc test --rate 1 data"


def test_with_options_names_an_argument_as_its_option():
    assert with_options(InputError("hidden_dim=0",
                                   "give 1 or more")) == "--hidden-dim=0; give 1 or more"
    assert with_options(InputError("a=b", "rename it", "x=1")) == "x=1: a=b; rename it"
    assert with_options(InputError("no set 'a=b'", "give another one")) == "no set 'a=b'; give another one"


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
    # A variable that the script sets is an option, even if the environment has a variable with this name.
    assert script("--stage", "1", env={"stage": "7"}).stdout.startswith("1|")
    assert script(env={"stage": "7"}).stdout.startswith("0|")


def test_options_help(script):
    result = script("--stage", "3", "--help")
    assert (result.stdout, result.stderr, result.returncode) == ("", "usage: script.sh\n", 0)


def test_config_command_line_wins(script, tmp_path):
    (tmp_path / "conf").write_text("# a comment\n\n--stage=1\n  stop_stage=2\n--name=\"$(echo x) = y\"")
    assert script("--config", "conf").stdout == "1|2|false|$(echo x) = y|\n"
    assert script("--stage", "5", "--config", "conf").stdout == "5|2|false|$(echo x) = y|\n"
    # After the options, --config is an argument.
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
