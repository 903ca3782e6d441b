"""Options: Kaldi's habits, conf files, and errors of one line that name the nearest option."""

from typing import Optional

import pytest

from punc.base.errors import InputError
from punc.base.options import OptionParser, kebab, nearest


def build(units, hidden_dim=100, rate=0.1, pauses: bool = False, limit: int | None = None, name="a",
          other: Optional[float] = None):  # noqa: UP045 (both ways to write it are taken)
    """Build something.

    units        not an option
    hidden_dim   states of a layer, at 100 % of them
    """


@pytest.fixture
def parser():
    parser = OptionParser("punc test [options] DATA-DIR", "Tests.", "punc test --rate 1 data")
    parser.add_signature(build)
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="what a token is, in % of cases"
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


def test_defaults(parser):
    values = vars(parser.parse(["data"]))
    assert values == {"config": None, "hidden_dim": 100, "rate": 0.1, "pauses": False, "limit": None, "name": "a",
                      "other": None, "unit": "word", "collapse": [], "data_dir": "data"}


@pytest.mark.parametrize("arguments", [
    ["--hidden-dim", "5", "--pauses", "true", "data"], ["--hidden_dim=5", "data", "--pauses=true"],
    ["--hidden_dim", "5", "--pauses=true", "--", "data"],
])
def test_values(parser, arguments):
    values = parser.parse(arguments)
    assert (values.hidden_dim, values.pauses, values.data_dir) == (5, True, "data")


def test_types(parser):
    values = parser.parse(["--limit", "3", "--other", "0.5", "--rate", "-0.001", "--name", "x=--y", "data"])
    assert (values.limit, values.other, values.rate, values.name) == (3, 0.5, -0.001, "x=--y")


def test_behind_two_dashes_there_are_no_options(parser):
    assert parser.parse(["--", "--data_dir"]).data_dir == "--data_dir"


@pytest.mark.parametrize(("arguments", "message"), [
    (["--hiden-dim", "5", "data"], "unknown option --hiden-dim; did you mean --hidden-dim?"),
    (["--hiden_dim=5", "data"], "unknown option --hiden_dim; did you mean --hidden-dim?"),
    (["--hidden", "5", "data"], "unknown option --hidden; did you mean --hidden-dim?"),
    (["data", "--rate"], "argument --rate: expected one argument; see punc test --help"),
    (["data", "--config"], "argument --config: expected one argument; see punc test --help"),
    (["data", "--rate", "fast"], "argument --rate: invalid float value: 'fast'; see punc test --help"),
    (["data", "--pauses", "True"], "argument --pauses: 'True' is neither true nor false; see punc test --help"),
    (["data", "--unit", "byte"], "argument --unit: invalid choice: 'byte'"),
    ([], "missing: DATA-DIR; see punc test --help"),
    (["data", "more"], "unrecognized arguments: more; see punc test --help"),
    (["--config", "missing", "data"], "missing: no such file; make it, or name another one"),
])
def test_wrong_command_lines(parser, arguments, message):
    with pytest.raises(InputError) as error:
        parser.parse(arguments)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_conf_comes_first_and_the_command_line_wins(parser, conf):
    path = conf("# a comment\n\n--hidden-dim=5\n  --rate=2  # twice\n--pauses=true\n--name=a b#c=d\n")
    for arguments in (["--config", path, "--rate", "3", "data"], ["--rate=3", "data", f"--config={path}"]):
        values = parser.parse(arguments)
        assert (values.hidden_dim, values.rate, values.pauses, values.name) == (5, 3.0, True, "a b#c=d")
    assert parser.parse(["--config", conf("--hidden_dim=6\n--name=\n"), "data"]).hidden_dim == 6


@pytest.mark.parametrize(("line", "message"), [
    ("--hiden-dim=5", "conf:2: unknown option --hiden-dim; did you mean --hidden-dim?"),
    ("hidden-dim=5", "conf:2: 'hidden-dim=5' is not an option; write --name=value"),
    ("--hidden-dim 5", "conf:2: '--hidden-dim 5' is not an option; write --name=value"),
    ("--rate=fast", "conf:2: --rate: no value: 'fast'"),
    ("--pauses=1", "conf:2: --pauses: no value: '1' ('1' is neither true nor false); see punc test --help"),
    ("--unit=byte", "conf:2: --unit: no choice: 'byte'; choose from word, char"),
    ("--config=other", "conf:2: unknown option --config"),
])
def test_wrong_conf_files(parser, conf, line, message):
    with pytest.raises(InputError) as error:
        parser.parse(["--config", conf(f"# comment\n{line}\n"), "data"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_help_has_one_line_for_each_option_with_its_default(parser, capsys):
    with pytest.raises(SystemExit) as stop:
        parser.parse(["--help"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    options = {line.split()[0]: line for line in lines if line.startswith("  --")}
    assert set(options) == {"--config", "--hidden-dim", "--rate", "--pauses", "--limit", "--name", "--other", "--unit",
                            "--collapse"}
    for name, default in (("--hidden-dim", "100"), ("--rate", "0.1"), ("--pauses", "false"), ("--name", "a"),
                          ("--unit", "word")):
        assert options[name].endswith(f"(default: {default})")
    for name in ("--config", "--limit", "--other", "--collapse"):
        assert "default" not in options[name]
    assert "in % of cases" in options["--unit"]
    assert "  states of a layer, at 100 % of them (default: 100)" in options["--hidden-dim"]
    assert "  limit" in options["--limit"]
    assert lines[0] == "usage: punc test [options] DATA-DIR"
    assert lines[-1] == "example: punc test --rate 1 data"


def test_kebab_and_nearest():
    assert kebab("hidden_dim") == "--hidden-dim"
    assert nearest("--rat", ["--rate", "--name"]) == "did you mean --rate?"
    assert nearest("--rat", []) == "see --help"
