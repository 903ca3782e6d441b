"""Formats to read are files that are found by their names."""

import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.text import formats
from punc.text.format import PrepareOptions, format_help, format_names, load_format

NEW = '''"""Words separated by bars: `one|two`."""

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
