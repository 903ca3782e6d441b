"""Kaldi's tools read our files. The tests need KALDI_ROOT, and one of them needs a compiled Kaldi."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import run

from punc.bin.main import main
from punc.data.datadir import DataDir, write_data_dir

KALDI = Path(os.environ.get("KALDI_ROOT", ""))
KALDI_UTILS = KALDI / "egs/wsj/s5/utils"

pytestmark = pytest.mark.skipif(not os.environ.get("KALDI_ROOT"), reason="KALDI_ROOT is not set")

LABELS = "O w\nCOMMA w, , : -\nPERIOD w. . ; !\nQUESTION w? ?\n"
TEXTS = {"a": "So it begins, as it must. Does it end?\nNot today, nor in the morning; \"never\", he says. ",
         "b": "Jää-äär on siin: öö tuleb! Kas tuleb?\u00a0Ei.\u2028今日 は. \u200bWho's there? ",
         "c": "One. Two, three.\n"}


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    assert KALDI_UTILS.is_dir(), f"KALDI_ROOT: no {KALDI_UTILS}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    Path("utils").symlink_to(KALDI_UTILS)
    Path("labels.txt").write_text(LABELS)
    for name, text in TEXTS.items():
        Path(name).write_text(text * 3)
    assert main(["prepare", "--format=prose", "--labels=labels.txt", "--utt-words=7", "--nj=1", *TEXTS,
                 "data/train"]) == 0
    with open("ctm", "w") as ctm:  # as get_train_ctm.sh writes it: by utterance, with a final space
        for utterance in DataDir("data/train").utterances():
            times = enumerate(utterance.words)
            ctm.writelines(f"{utterance.id} 1 {0.5 * i + i % 3 / 10:.3f} 0.250 {word} \n" for i, word in times)
    assert main(["pauses", "data/train", "ctm"]) == 0
    return tmp_path


def kaldi_validates(directory):
    result = run("utils/validate_data_dir.sh", "--no-feats", "--no-wav", "--non-print", directory)
    assert (result.returncode, "Successfully validated" in result.stdout) == (0, True), result.stdout + result.stderr


def we_validate(directory):
    assert main(["validate", "--labels=labels.txt", str(directory)]) == 0


def segmented(like, directory):
    """Copy a data directory, and make it one recording: add wav.scp, and segments whose times reverse the order of the
    utterances."""
    shutil.copytree(like, directory)
    utterances = [u.id for u in DataDir(like).utterances()]
    Path(directory, "segments").write_text("".join(
        f"{id} rec {len(utterances) - i} {len(utterances) - i + 0.9}\n" for i, id in enumerate(utterances)))
    Path(directory, "wav.scp").write_text("rec rec.wav\n")
    Path(directory, "reco2file_and_channel").write_text("rec rec A\n")
    return DataDir(directory)


def test_kaldi_validate_data_dir(recipe):
    kaldi_validates("data/train")
    we_validate("data/train")
    data = segmented("data/train", "data/segmented")
    write_data_dir("data/again", data.utterances(), like=data)
    kaldi_validates("data/again")
    we_validate("data/again")
    with open("data/again/text", "a") as text:
        text.write("zzz word\n")
    with pytest.raises(AssertionError):
        kaldi_validates("data/again")


@pytest.mark.parametrize("segments", [False, True])
def test_kaldi_fix_data_dir(recipe, segments):
    if segments:
        segmented("data/train", "data/other")
    directory = Path("data/other" if segments else "data/train")
    before = {u.id: u for u in DataDir(directory).utterances()}
    lost = sorted(before)[::4]
    lines = (directory / "text").read_text().splitlines(keepends=True)
    (directory / "text").write_text("".join(line for line in lines if line.split()[0] not in lost))
    result = run("utils/fix_data_dir.sh", "--utt-extra-files", "punct pauses.scp", directory)
    assert result.returncode == 0, result.stdout + result.stderr
    kaldi_validates(directory)
    we_validate(directory)
    after = {u.id: u for u in DataDir(directory).utterances()}
    assert after.keys() == before.keys() - set(lost)
    for id, utterance in after.items():
        assert utterance[:4] == before[id][:4]
        np.testing.assert_array_equal(utterance.pauses, before[id].pauses)


def test_kaldi_split_data(recipe):
    result = run("utils/split_data.sh", "data/train", 3)
    assert result.returncode == 0, result.stdout + result.stderr
    parts = [f"data/train/split3/{n}" for n in (1, 2, 3)]
    together = [utterance for part in parts for utterance in DataDir(part).utterances()]
    assert [u[:3] for u in together] == [u[:3] for u in DataDir("data/train").utterances()]
    for part in parts:
        kaldi_validates(part)
        assert len(list(DataDir(part).streams())) == 1
    we_validate("data/train")  # data/train now contains split3


def test_kaldi_copy_vector(recipe):
    found = shutil.which("copy-vector", path=f"{KALDI / 'src/bin'}:{os.environ['PATH']}")
    if not found:
        pytest.skip(f"no copy-vector in {KALDI / 'src/bin'}: Kaldi is not built there")
    result = run(found, "scp:data/train/pauses.scp", "ark,t:-")
    assert result.returncode == 0, result.stderr
    copied = dict(line.split("  ", 1) for line in result.stdout.splitlines())
    utterances = list(DataDir("data/train").utterances())
    assert len(copied) == len(utterances)
    for utterance in utterances:
        pauses = np.array(copied[utterance.id].strip("[] ").split(), np.float32)
        np.testing.assert_allclose(pauses, utterance.pauses, rtol=1e-5)
    assert any(np.isnan(u.pauses).any() for u in utterances)
    result = run(found, "scp:data/train/pauses.scp", "ark,scp:copy.ark,copy.scp")
    assert result.returncode == 0, result.stderr
    shutil.move("copy.scp", "data/train/pauses.scp")
    for utterance, copy in zip(utterances, DataDir("data/train").utterances(), strict=True):
        np.testing.assert_array_equal(copy.pauses, utterance.pauses)
