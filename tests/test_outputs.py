"""No command accepts one of its inputs as its output. An output that is a device, pipe or link is not replaced."""

import os
import subprocess
import threading

import pytest
from conftest import PUNC, content

from punc.base.files import atomic_file
from punc.bin.main import main

# Command lines with an output that is one of the inputs. IN is a data directory with a text.
LABELS = "--labels=IN/labels.txt"
OVER = {
    "abbreviations": ["IN/text", "IN/text"], "confusions": [LABELS, "IN", "OTHER", "IN/text"],
    "corrupt": [LABELS, "--confusions=OTHER/text", "IN", "IN"], "export-text": ["IN", "IN/text"],
    "join": ["IN", "IN", "OTHER"], "make-store": [LABELS, "IN", "IN"], "pack": ["IN", "IN"],
    "plot-labels": [LABELS, "IN", "IN/text"], "plot-pauses": ["IN", "IN/text"],
    "prepare": ["--format=prose", LABELS, "IN/text", "IN"], "project": [LABELS, "IN", "OTHER", "IN"],
    "punctuate": ["en", "IN", "IN"], "report": ["IN", "IN/text"], "score": [LABELS, "IN", "OTHER", "IN"],
    "soft-targets": ["en", "IN", "IN", "x"], "train": ["--model=t_lstm", "IN", "IN"], "transcript": ["en", "IN", "IN"]}
# Commands without an output that could be an input: they print, answer requests, change a directory in place, or
# (kaldi-scripts) have no input.
IN_PLACE = {"casing", "find-ctm", "live", "pauses", "publish", "results", "score-text", "serve", "turns", "validate",
            "kaldi-scripts"}


@pytest.fixture
def folder(tmp_path):
    for name in ("IN", "OTHER"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text("u how are you\n")
        (tmp_path / name / "punct").write_text("u O O O\n")
        (tmp_path / name / "utt2spk").write_text("u u\n")
        (tmp_path / name / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    return tmp_path


def test_every_command_is_listed():
    from punc.bin._subcommands import commands
    assert set(commands()) - set(OVER) - IN_PLACE == set()


@pytest.mark.parametrize("command", OVER)
def test_a_command_does_not_write_over_its_input(command, folder, capsys):
    before = content(folder / "IN")
    words = [word.replace("IN", str(folder / "IN")).replace("OTHER", str(folder / "OTHER")) for word in OVER[command]]
    assert main([command, *words]) == 1
    error = capsys.readouterr().err
    assert "output" in error
    assert error.count("\n") == 1
    assert content(folder / "IN") == before


@pytest.mark.parametrize("link", ["IN", "./IN/", "link", "OTHER/../IN"])
def test_other_names_of_an_input_are_seen(link, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "link").symlink_to("IN")
    assert main(["project", "--labels=IN/labels.txt", "OTHER", "IN", link]) == 1
    assert f"{link}: the output file is also an input file; give another output" in capsys.readouterr().err


def test_devices_and_pipes_are_written_to(tmp_path):
    (tmp_path / "in").write_text("how are you\n")
    transcript = [*PUNC, "transcript", "--quiet", "en", str(tmp_path / "in")]
    for stdout in ("/dev/stdout", "-"):
        done = subprocess.run([*transcript, stdout], capture_output=True, check=True, cwd=tmp_path)
        assert done.stdout == b"How are you?\n"
        assert [path.name for path in tmp_path.iterdir()] == ["in"]
    subprocess.run([*transcript, "/dev/null"], check=True)
    assert not os.path.isfile("/dev/null")
    os.mkfifo(tmp_path / "fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_text()))
    reader.start()
    subprocess.run([*transcript, str(tmp_path / "fifo")], check=True)
    reader.join()
    assert read == ["How are you?\n"]


def test_links_stay_and_no_output_is_an_input(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with atomic_file(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    (tmp_path / "in").write_text("how are you\n")
    found = subprocess.run([*PUNC, "transcript", "en", str(tmp_path / "in"), str(tmp_path)], capture_output=True,
                           text=True, check=False)
    assert found.returncode == 1
    assert "in: the output file is also an input file; give another output" in found.stderr
