"""Models by name or directory."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from punc.base.errors import InputError
from punc.decoding import shipped
from punc.decoding.shipped import find_model, is_packed, model_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of models that ship: `en`; `draft` is not one."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "pretrained")
    (tmp_path / "pretrained/en").mkdir(parents=True)
    (tmp_path / "pretrained/draft").mkdir()
    (tmp_path / "pretrained/en/model.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pretrained"


def test_find_model_name_wins_over_a_directory(folder):
    Path("en").mkdir()
    Path("exp").mkdir()
    assert find_model("en") == folder / "en"
    assert find_model("./en") == Path("en")
    assert find_model("exp") == Path("exp")


def test_find_model_unknown_name_is_an_error_that_lists_the_names(folder):
    with pytest.raises(InputError, match=r"draft: no such model; .* one that ships: en$"):
        find_model("draft")


def test_find_model_without_models_that_ship(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "pretrained")
    with pytest.raises(InputError, match=r"name the directory of a trained model$"):
        find_model("en")


def test_model_files_of_both_kinds(folder):
    assert is_packed(folder / "en")
    assert not is_packed(folder / "draft")
    assert [path.name for path in model_files(folder / "en")] == ["model.json", "labels.txt", "vocab"]
    assert [path.name for path in model_files(folder / "draft")] == ["final.pt", "labels.txt", "vocab"]


def test_shipped_does_not_import_numpy():
    code = "import sys, punc.decoding.shipped; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_page_prints_what_it_says():
    page = (Path(__file__).parents[1] / "docs/punctuate-now.md").read_text(encoding="utf-8")
    words, expected = re.search(r'echo "(.*)" \| punc punctuate -\n```\n\n```\n(.*)\n', page).groups()
    result = subprocess.run([sys.executable, "-c", "from punc.bin.main import main; main()", "punctuate", "-"],
                            input=words, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout == expected + "\n"


@pytest.mark.parametrize("name", shipped.shipped())
def test_shipped_model_is_whole_small_and_punctuates(name):
    directory = find_model(name)
    assert sum(path.stat().st_size for path in directory.iterdir()) <= 8_000_000
    assert "CC BY-SA 4.0" in (directory / "README.md").read_text(encoding="utf-8")
    text = "good morning everyone my name is john smith do you have any questions yes we do thank you"
    result = subprocess.run([sys.executable, "-c", "from punc.bin.main import main; main()", "punctuate", name, "-"],
                            input=text, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout.lower().replace(",", "").replace(".", "").replace("?", "").split() == text.split()
    assert "John Smith" in result.stdout
    assert result.stdout.count("?") == 1
    assert result.stdout.count(".") >= 2
