"""The scripts of egs/estonian_bn on small files."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir

LOCAL = Path(__file__).parents[1] / "egs" / "estonian_bn" / "local"
LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ? ! ; :\n"


def load(name):
    spec = importlib.util.spec_from_file_location(name, LOCAL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CORPUS = load("prepare_corpus")


def item(first, words, pause="2.500"):
    return " ".join(f"w{i} <sil=0.000>" for i in range(first, first + words - 1)) + f" end <sil={pause}> .PERIOD "


def test_items_end_at_long_pauses_after_periods():
    broadcast = (item(0, 3) + "a <sil=12.000> b <sil=1.999> .PERIOD c <sil=3.000> ,COMMA d <sil=10.0> .PERIOD "
                 "e <sil=0.100> .PERIOD\n")
    found = CORPUS.items(broadcast)
    assert "".join(found) == broadcast
    assert [CORPUS.words(part) for part in found] == [3, 4, 1]


@pytest.fixture
def corpus(tmp_path):
    raw = tmp_path / "corpus" / "raw_data"
    raw.mkdir(parents=True)
    for file in ("edt.tok.txt", "estner_devtest.tok.txt", "fiction_ebooks.txt"):
        (raw.parent / file).write_text("".join(f"#doc {file}{i}\nTere , {i} .\n" for i in range(1, 31)))
    (raw / "train.txt").write_text("\nkell on viis .PERIOD\nseda ,COMMA et\n\nuus ?QUESTIONMARK\n")
    (raw / "dev.txt").write_text("\nkell .PERIOD\n")
    (raw / "pauses.train.txt").write_text(f" {item(0, 4)}{item(4, 4)}\n {item(8, 4)}{item(12, 4)}\n")
    (raw / "pauses.dev.txt").write_text(f" {item(0, 5)}")
    return raw.parent


def test_prepare_corpus_sets(corpus, tmp_path):
    out = tmp_path / "out"
    run = subprocess.run([sys.executable, LOCAL / "prepare_corpus.py", corpus, out], capture_output=True, text=True)
    assert run.returncode == 0
    assert "the train set has 16 words with pauses" in run.stderr
    assert "the test set has 5 words with pauses" in run.stderr
    held_out = [line.split("txt")[1] for line in (out / "edt.dev.txt").read_text().splitlines() if "#doc" in line]
    assert held_out == ["10", "30"]
    assert (out / "edt.train.txt").read_text().count("#doc") == 28
    assert (out / "bn.train.txt").read_text() == "#doc train1\nkell on viis.\nseda, et\n#doc train2\nuus?\n"
    train, dev = ((out / f"pauses.{name}.txt").read_text() for name in ("train", "dev"))
    assert dev.split()[:3] == ["#doc", "broadcast1", "w0"]
    assert dev.count("<sil=") == train.count("<sil=") == 8
    assert [line for line in train.splitlines() if "#doc" in line] == ["#doc broadcast1b", "#doc broadcast2a"]


def test_prepare_corpus_missing_file(tmp_path):
    run = subprocess.run([sys.executable, LOCAL / "prepare_corpus.py", tmp_path, tmp_path / "out"],
                         capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "edt.tok.txt: no such file" in run.stderr


def own(folder, *options):
    (folder.parent / "labels.txt").write_text(LABELS)
    command = [sys.executable, LOCAL / "own_data.py", *options] if options else [
        sys.executable, LOCAL / "own_data.py", "--labels", folder.parent / "labels.txt", folder, folder.parent / "out"]
    return subprocess.run(command, capture_output=True, text=True)


def pauses_of(folder):
    times = own(folder, "--times", folder).stdout.strip()
    assert main(["pauses", str(folder.parent / "out"), times]) == 0
    data = DataDir(folder.parent / "out")
    return {u.id: (" ".join(u.words), " ".join(u.labels), u.pauses) for u in data.utterances()}


TEXTGRID = """File type = "ooTextFile"
Object class = "TextGrid"

0\n3\n<exists>\n1
"IntervalTier"\n"words"\n0\n3\n3
0\n1\n"tere"
1\n1.5\n""
1.5\n3\n"õhtust"
"""


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "set"
    path.mkdir()
    return path


def test_own_data_kaldi_directory(folder):
    (folder / "text").write_text("s-1 Tere , õhtust !\ns-2 Ei .\n")
    (folder / "utt2spk").write_text("s-1 s\ns-2 s\n")
    (folder / "ctm").write_text("s-1 1 0.000 0.500 tere \ns-1 1 0.750 0.250 õhtust \ns-2 1 0.100 0.200 ei \n")
    assert own(folder).returncode == 0
    found = pauses_of(folder)
    assert found["s-1"][:2] == ("tere õhtust", "COMMA PERIOD")
    np.testing.assert_allclose(found["s-1"][2], [0.25, np.nan])


def test_own_data_texts_and_textgrids(folder):
    (folder / "rec.txt").write_text("Tere,\nõhtust.\n")
    (folder / "rec.TextGrid").write_text(TEXTGRID)
    assert own(folder).returncode == 0
    found = pauses_of(folder)
    assert found["rec"][:2] == ("tere õhtust", "COMMA PERIOD")
    np.testing.assert_allclose(found["rec"][2], [0.5, 0])


def test_own_data_transcriber_files(folder):
    (folder / "rec.trs").write_text(
        '<Trans><Episode><Section><Turn speaker="a" startTime="0" endTime="2"><Sync time="0"/>Tere, õhtust.</Turn>'
        "</Section></Episode></Trans>")
    (folder / "rec.ctm").write_text("rec 1 0.0 0.5 tere\nrec 1 1.0 0.5 õhtust\n")
    assert own(folder).returncode == 0
    (words, labels, pauses), = pauses_of(folder).values()
    assert (words, labels, pauses[0]) == ("tere õhtust", "COMMA PERIOD", 0.5)


@pytest.mark.parametrize(("files", "message"), [
    ({}, "set: no word times; put ctm"),
    ({"ctm": "a 1 0 1 b\n"}, "set: no transcripts; put text"),
    ({"ctm": "a 1 0 1 b\n", "text": "a-1 ,\n", "utt2spk": "a-1 a\n"}, "set/text: utterance 'a-1' has no words"),
    ({"ctm": "a 1 0 1 b\n", "a.txt": "…\n"}, "a.txt: the file has no words"),
    ({"ctm": "a 1 0 1 b\n", "a.trs": "<Trans>"}, "a.trs:1: not XML"),
])
def test_own_data_missing_files(folder, files, message):
    for name, content in files.items():
        (folder / name).write_text(content)
    run = own(folder)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert message in run.stderr
    assert not (folder.parent / "out").exists()
