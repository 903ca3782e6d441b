"""egs/iwslt_ted makes a vocabulary from vectors and text; utils/learn_confusions.sh counts confusions in text pairs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from punc.noise.confusions import read_confusions
from punc.tokens.vocabulary import Vocabulary

LOCAL = Path(__file__).parents[1] / "egs/iwslt_ted/local"


def write_text(path, words):
    path.mkdir()
    (path / "text").write_text(f"s-1 {' '.join(words)}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_vectors_vocab_merges(tmp_path, header):
    data = write_text(tmp_path / "data", ["x", "y", "don't", "x"])
    (tmp_path / "v").write_text(f"{header}the 1 2\nx 1 2\n<unk> 1 2\ndas\u00a0haus 1 2\n")
    command = [LOCAL / "vectors_vocab.sh", tmp_path / "v", data / "text", tmp_path / "vocab"]
    subprocess.run(command, check=True)
    assert Vocabulary.read(tmp_path / "vocab").tokens == ["<unk>", "</s>", "das\u00a0haus", "don't", "the", "x", "y"]
    before = (tmp_path / "vocab").stat().st_mtime_ns
    subprocess.run(command, check=True)
    assert (tmp_path / "vocab").stat().st_mtime_ns == before


def test_vectors_vocab_missing_file(tmp_path):
    data = write_text(tmp_path / "data", ["x"])
    done = subprocess.run([LOCAL / "vectors_vocab.sh", tmp_path / "v", data / "text", tmp_path / "vocab"], text=True,
                          capture_output=True, check=False)
    assert done.returncode == 1
    assert f"{tmp_path}/v: no such file; give another with --vectors" in done.stderr
    assert not (tmp_path / "vocab").exists()


def test_learn_confusions_of_pairs(tmp_path):
    labels = LOCAL.parent / "conf/labels.txt"
    (tmp_path / "train.ref.lrec.txt").write_text("so\tO\nwe\tO\nsaw\tO\nit\tPERIOD\nyes\tPERIOD\n")
    (tmp_path / "train.asr.lrec.txt").write_text("so\tO\nwe\tO\nsore\tO\nit\tO\nyes\tO\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run([LOCAL.parents[2] / "utils/learn_confusions.sh", tmp_path, labels, tmp_path / "c"], check=True,
                   env=os.environ | {"PATH": path})
    assert read_confusions(tmp_path / "c").replaced == {("saw", ("sore",)): 1}
