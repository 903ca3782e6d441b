"""utils/split_texts.py: lists of sets, their counts, lists that a user has edited, and every mistake."""

import os
import sys
from pathlib import Path

import pytest

from punc.base.errors import InputError

UTILS = Path(__file__).parents[1] / "utils"
SETS = ("test_ref", "dev", "train", "tree", "rest")


@pytest.fixture(scope="module")
def split_texts():
    """The script, as a module."""
    sys.path.insert(0, str(UTILS))
    import split_texts
    yield split_texts
    sys.path.remove(str(UTILS))


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """texts/t00.txt … of 100 words each: 19 sentences of five words that no other text has, and one that all have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for text in range(20):
        lines = [f"Text {text} has sentence {line}.\n" for line in range(19)]
        (tmp_path / f"texts/t{text:02d}.txt").write_text("".join([*lines, "This is in all texts.\n"]))
    return tmp_path


def lists(folder="split"):
    return {name: [Path(line).name for line in (Path(folder) / name).read_text().splitlines()] for name in SETS}


def test_split_texts_prints_and_writes_the_counts(split_texts, corpus, capsys):
    split_texts.main(["texts", "split"])
    err = capsys.readouterr().err
    assert err == Path("split/counts").read_text()
    assert err.splitlines() == [
        "set          texts        words   share",
        "test_ref         2          200   10.0%", "dev              2          200   10.0%",
        "train           16        1,600   80.0%", "tree             3          300   15.0%",
        "rest            13        1,300   65.0%",
        "2 of 40 sentences of test_ref stand in train, too (10 of 200 words), 2 of them of 5 words or more:",
        "      16 × this is in all texts",
        "2 of 40 sentences of dev stand in train, too (10 of 200 words), 2 of them of 5 words or more:",
        "      16 × this is in all texts"]
    assert lists()["test_ref"] == ["t00.txt", "t10.txt"]
    before = {path: path.stat().st_mtime_ns for path in Path("split").iterdir()}
    split_texts.main(["texts", "split"])
    assert capsys.readouterr().err == err
    assert {path: path.stat().st_mtime_ns for path in Path("split").iterdir()} == before


def test_split_texts_leave_out(split_texts, corpus, capsys):
    split_texts.main(["--leave-out", "5", "texts", "split"])
    err = capsys.readouterr().err
    assert err.startswith("left out of train: 16 sentences of 5 words or more that test_ref or dev have, 80 words\n")
    assert "train           16        1,520   79.2%\n" in err
    assert "\n0 of 40 sentences of test_ref stand in train, too (0 of 200 words), 0 of them of 5 words or more\n" in err
    for line in Path("split/train").read_text().splitlines():
        assert line.startswith(str(corpus / "split/train_text"))
        assert Path(line).read_text().split("\n")[18:] == [Path(line).read_text().split("\n")[18], "", ""]
    assert (corpus / "texts/t02.txt").read_text().endswith("This is in all texts.\n")


def test_split_texts_speakers_of_a_table_and_of_lines(split_texts, corpus, capsys):
    Path("speakers").write_text("".join(f"t{text:02d}-0001 s{text // 4}\n" for text in range(20)))
    split_texts.main(["--speakers", "speakers", "texts", "split"])
    err = capsys.readouterr().err.splitlines()
    assert err[0].endswith("speakers")
    assert [line.split()[-1] for line in err[1:4]] == ["1", "1", "3"]
    assert not [line for line in err if "speak in train" in line]
    with open("texts/t19.txt", "a") as file:
        file.write("#speaker s0\n")  # of both ends
    split_texts.main(["--speakers", "speakers", "texts", "split2"])
    of = {name: part for part, names in lists("split2").items() if part in SETS[:3] for name in names}
    assert of["t19.txt"] == of["t00.txt"]


def test_split_texts_host_is_named(split_texts, corpus, capsys):
    Path("speakers").write_text("".join(f"t{text:02d} host g{text}\n" for text in range(20)))
    split_texts.main(["--speakers", "speakers", "texts", "split"])
    err = capsys.readouterr().err
    assert "1 speakers link too many texts, and may be in several sets: 'host'\n" in err
    assert "\n1 speakers of test_ref speak in train, too: 'host'\n" in err


def test_split_texts_edited_lists_are_kept_and_counted_again(split_texts, corpus, capsys):
    split_texts.main(["texts", "split"])
    train = Path("split/train").read_text().splitlines(keepends=True)
    with open("split/dev", "a") as file:
        file.write(train[0])
    Path("split/train").write_text("".join(train[1:]))
    with pytest.raises(InputError, match="tree and rest do not have the texts of train; remove both"):
        split_texts.main(["texts", "split"])
    for name in ("tree", "rest"):
        os.remove(f"split/{name}")
    Path("texts/new.txt").write_text("One more.\n")
    split_texts.main(["texts", "split"])
    err = capsys.readouterr().err
    assert "dev              3          300   15.0%\n" in err
    assert err.endswith("\n1 texts are in no set: 'new'\n")
    assert lists()["tree"] == ["t03.txt", "t08.txt", "t15.txt"]
    assert sorted(lists()["tree"] + lists()["rest"]) == lists()["train"]


def test_split_texts_few_texts_are_cut(split_texts, corpus, capsys):
    for path in sorted(Path("texts").iterdir())[2:]:
        path.unlink()
    split_texts.main(["texts", "split"])
    err = capsys.readouterr().err
    assert err.startswith("2 texts: too few, so they are cut into 20, which share speakers and topics\n")
    assert "test_ref         2           20   10.0%\n" in err
    assert lists()["test_ref"] == ["t00_001.txt", "t01_001.txt"]
    pieces = sorted(Path("split/text").iterdir())
    assert "".join(path.read_text() for path in pieces) == "".join(
        path.read_text() for path in sorted(Path("texts").iterdir()))
    split_texts.main(["texts", "split"])
    split_texts.main(["--leave-out", "1", "texts", "split2"])
    assert "train           16" in capsys.readouterr().err


@pytest.mark.parametrize(("edit", "message"), [
    (lambda: Path("split/dev").write_text("none.txt\n"), "split/dev:1: no such file: 'none.txt'; write the path"),
    (lambda: Path("split/dev").write_text(""), "split/dev: the list is empty; give the set a text"),
    (lambda: os.remove("split/dev"), "split/dev: no such file; write it, or remove split; it is made again"),
    (lambda: Path("split/dev").write_text(Path("split/test_ref").read_text()),
     "split/dev:1: 't00' is in test_ref, too; keep one line for each text"),
    (lambda: Path("split/test_ref").write_text(2 * Path("split/test_ref").read_text()),
     "split/test_ref:3: 't00' is in test_ref, too; ")])
def test_split_texts_mistake_in_a_list(split_texts, corpus, edit, message):
    split_texts.main(["texts", "split"])
    edit()
    with pytest.raises(InputError) as error:
        split_texts.main(["texts", "split"])
    assert str(error.value).startswith(message)


def test_split_texts_mistakes(split_texts, corpus):
    for path in sorted(Path("texts").iterdir())[1:]:
        path.unlink()
    Path("texts/t00.txt").write_text("one line only\n")
    with pytest.raises(InputError, match=r"texts: 1 files \*.txt, which can be cut into 1 at their lines; give"):
        split_texts.main(["texts", "split"])
    with pytest.raises(InputError, match="none: no such directory"):
        split_texts.main(["none", "split"])
    assert not Path("split/train").exists()
