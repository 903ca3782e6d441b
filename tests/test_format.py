"""Formats to read are files that are found by their names."""

from collections import Counter
from dataclasses import fields

import pytest

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.bin import prepare
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.text import formats
from punc.text.format import Format, PrepareOptions, format_help, format_names, load_format, write_share

NEW = '''"""Words separated by bars: `one|two`.

There are no marks.
"""

from punc.text.passages import Passage
from punc.text.text_format import TextFormat


class Format(TextFormat):
    takes = ("labels", "utt_words")

    def passages(self, text, line_start, repairs):
        words = text.strip().split("|")
        yield Passage(" ".join(words), " ".join(["O"] * len(words)))
'''


@pytest.fixture
def bars(tmp_path, monkeypatch):
    """A new file in the folder of formats, a label set, and a file to read."""
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "bars.py").write_text(NEW)
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\n")
    (tmp_path / "in").write_text("one|two|three\n")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path / "formats")])
    return tmp_path


def test_format_file_is_found_by_its_name(bars, capsys):
    arguments = ["prepare", "--format=bars", f"--labels={bars / 'labels.txt'}", "--nj=999"]
    assert main([*arguments, "--utt-words=2", str(bars / "in"), str(bars / "out")]) == 1
    assert capsys.readouterr().err == "punc prepare: --nj does not apply to --format bars; leave it out\n"
    assert main([*arguments[:-1], "--utt-words=2", str(bars / "in"), str(bars / "out")]) == 0
    assert [u.words for u in DataDir(bars / "out").utterances()] == [["one", "two"], ["three"]]


def test_format_help_names_a_new_file(bars, capsys):
    with pytest.raises(SystemExit):
        main(["prepare", "--help"])
    shown = "  bars        Words separated by bars: `one|two`.\n              --labels --utt-words\n"
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("name", format_names())
def test_format_has_help_and_known_options(name):
    assert format_help(name)
    assert set(load_format(name).takes) <= set(PrepareOptions.__dataclass_fields__)


def test_format_names_are_the_files():
    assert {"characters", "ctm", "lrec", "mteval", "prose", "sil", "trs"} <= set(format_names())
    assert {name for name in format_names() if load_format(name).lines_as_utterances} == {"characters", "prose"}
    assert {name for name in format_names() if load_format(name).absolute_archive} == {"ctm"}


def test_format_without_a_docstring_has_no_help(bars):
    (bars / "formats" / "bare.py").write_text("Format = None\n")
    assert format_help("bare") == ""


def test_options_not_given_are_those_of_the_command():
    options, parser = PrepareOptions(), prepare.options()
    for field in fields(PrepareOptions):
        if field.name not in ("clean", "nj"):  # of the command, a text, and all processors
            assert getattr(options, field.name) == parser.get_default(field.name)
    assert (options.clean, options.nj) == ((), 1)


def test_reader_needs_a_label_set():
    with pytest.raises(InputError, match=r"^no label set; name one: --labels conf/labels.txt"):
        PrepareOptions().reader()


def test_format_that_cannot_be_cut_is_the_first_jobs(tmp_path):
    class Whole(Format):
        takes = ()

        def prepare(self, inputs, output):
            return Counter(words=len(inputs), directory=str(output) == str(tmp_path))

    shares = [Whole(PrepareOptions()).prepare_share(["a", "b"], tmp_path, Share(job, 3)) for job in (1, 2, 3)]
    assert shares == [(Counter(words=2, directory=1), 0), (Counter(), 0), (Counter(), 0)]


def test_write_share(tmp_path):
    one, two = Utterance("a-1", "a", ["x", "y"], None), Utterance("a-2", "a", ["z"], None)
    write_share(tmp_path, iter(()))
    assert list(tmp_path.iterdir()) == []
    write_share(tmp_path, iter((one, two)))
    assert (tmp_path / "text").read_text() == "a-1 x y\na-2 z\n"
    with pytest.raises(ValueError, match="not sorted and unique"):
        write_share(tmp_path, iter((two, one)))
