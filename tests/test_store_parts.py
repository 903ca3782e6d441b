"""Stores made in jobs: the bytes of one job, whatever their number; parts that are missing or of other data."""

import json
import shutil
import string
from functools import partial

import numpy as np
import pytest

import punc.tokens.store_set
import punc.tokens.tokenizers.char
import punc.tokens.vocabulary
from punc.bin.main import main
from punc.data.block_reader import encode_by_time
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.tokens.store import Store


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with labels.txt and the data directories train, dev (one block) and timed (with segments)."""
    monkeypatch.setattr(punc.tokens.store_set, "ENCODE_BYTES", 600)
    monkeypatch.setattr(punc.tokens.store_set, "encode_by_time", partial(encode_by_time, batch=10))
    for module in (punc.tokens.vocabulary, punc.tokens.tokenizers.char):
        monkeypatch.setattr(module, "COUNT_BYTES", 900)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    rng = np.random.default_rng(0)

    def utterances(count):
        for i in range(count):
            words = ["".join(rng.choice(list(string.ascii_lowercase[:6] + "é0"), rng.integers(1, 3))) for _ in range(9)]
            words = words[:rng.integers(0, 9)] if i % 4 else words
            yield Utterance(f"s{i // 7:02}-{i:03}", f"s{i // 7:02}", words, ["COMMA"] * len(words),
                            rng.random(len(words)).astype(np.float32))

    for name, count in (("train", 200), ("dev", 5), ("timed", 40)):
        write_data_dir(tmp_path / name, utterances(count))
    (tmp_path / "timed/segments").write_text("".join(f"s{i // 7:02}-{i:03} r{i % 3} {99 - i} {100 - i}\n"
                                                     for i in range(40)))
    return tmp_path


def tree(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def run(*arguments):
    return main([*map(str, arguments)])


def arguments(place, *options):
    return ["make-store", "--nj=1", f"--labels={place / 'labels.txt'}", *options]


def sets(place):
    return [place / "train", place / "dev", place / "timed"]


def make_parts(place, jobs, *options):
    parts = [place / "parts" / str(job) for job in range(1, jobs + 1)]
    for job, part in enumerate(parts, 1):
        assert run(*arguments(place, *options), f"--jobs={jobs}", f"--job={job}", part, *sets(place)) == 0
    return parts


def counted(place, jobs, *options):
    """The vocabulary that jobs make."""
    assert run("join", place / "counted", *make_parts(place, jobs, "--only=count", *options)) == 0
    return f"--counted={place / 'counted'}"


@pytest.mark.parametrize("jobs", [1, 2, 3, 9])
@pytest.mark.parametrize("options", [
    ["--token-type=word", "--min-count=2", "--train=train,timed"], ["--token-type=char", "--vocab-size=6"],
    ["--token-type=subword", "--vocab-size=24"], ["--token-type=class", "--train=dev"]], ids=lambda o: o[0][13:])
def test_make_store_in_jobs_is_one_job(place, capsys, options, jobs):
    assert run(*arguments(place, *options), place / "store", *sets(place)) == 0
    one, said = tree(place / "store"), capsys.readouterr().err
    shutil.rmtree(place / "store")
    vocabulary = counted(place, jobs, *options)
    assert Store(place / "counted").sets == []
    parts = make_parts(place, jobs, *options, vocabulary)
    capsys.readouterr()
    assert run("join", place / "store", *parts) == 0
    assert tree(place / "store") == one
    assert capsys.readouterr().err == said
    assert not list((place / "parts").iterdir())
    assert run(*arguments(place, *options), "--only=check", place / "store", *sets(place)) == 0
    assert run(*arguments(place, *options, "--vocab-size=5"), "--only=check", place / "store", *sets(place)) == 1


def test_make_store_in_jobs_with_a_given_vocabulary(place):
    (place / "vocab").write_text("<unk>\n</s>\na\nb\n")
    option = f"--vocab={place / 'vocab'}"
    assert run(*arguments(place, option), place / "store", *sets(place)) == 0
    one = tree(place / "store")
    assert run("join", place / "store", *make_parts(place, 2, option)) == 0
    assert tree(place / "store") == one


def test_join_store_with_a_broken_part_leaves_the_store(place, capsys):
    parts = make_parts(place, 3, counted(place, 3))
    assert run("join", place / "store", *parts) == 0
    before = tree(place / "store")
    for file, broken, said in (
            ("train/ids.npy", lambda path: path.write_bytes(path.read_bytes()[:-4]), "ids.npy: not "),
            ("train/index", lambda path: path.write_text("s00 0\n"), "index:1: not STREAM OFFSET LENGTH; run punc"),
            ("train/index", lambda path: path.write_text("s00 0 x\n"), "index:1: not STREAM OFFSET LENGTH; run punc"),
            ("train/index", lambda path: path.write_text("s00 0 3\ns00 3 1\n"), "index:2: 's00' comes after 's00'; "),
            ("train/index", lambda path: path.write_text("s01 0 3\ns00 3 1\n"), "index:2: 's00' comes after 's01'; "),
            ("timed/pauses.npy", lambda path: path.unlink(), "pauses.npy: no such file; ")):
        parts = make_parts(place, 3, counted(place, 3))
        broken(next(part / file for part in parts if (part / file).stat().st_size > 150 or "index" in file))
        capsys.readouterr()
        assert run("join", place / "store", *parts) == 1
        *_, error = capsys.readouterr().err.splitlines()  # sets before it were joined
        assert error.startswith("punc join: ")
        assert said in error
        assert tree(place / "store") == before


@pytest.mark.parametrize(("change", "said"), [("swap", "is out of order; "), ("twice", "occurs twice; "),
                                              ("speakers", "speaker 'a' comes after 'b'; ")])
def test_join_store_refuses_parts_that_are_not_in_order(place, capsys, change, said):
    """Each part is in order, but the second begins before the first ends."""
    (place / "vocab").write_text("<unk>\n</s>\na\nb\n")
    option = f"--vocab={place / 'vocab'}"
    before = json.loads((make_parts(place, 3, option)[0] / "part.json").read_text())["result"]["train"][-1]
    ids = [line.split()[0] for line in (place / "train/text").read_text().splitlines()]
    last = ids.index(before)
    other = {"swap": {ids[last]: ids[last + 1], ids[last + 1]: ids[last]}, "twice": {ids[last + 1]: ids[last]}}
    for name in ("text", "punct", "utt2spk", "pauses.scp"):
        rows = [line.split(" ") for line in (place / "train" / name).read_text().splitlines()]
        if change == "speakers" and name == "utt2spk":
            rows = [[row[0], "b" if i <= last else "a"] for i, row in enumerate(rows)]
        (place / "train" / name).write_text("".join(
            " ".join([other.get(change, {}).get(id, id), *rest]) + "\n" for id, *rest in rows))
    parts = make_parts(place, 3, option)
    assert run("join", place / "store", *parts) == 1
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not (place / "store").exists()


def test_make_store_counts_of_other_options_are_refused(place, capsys):
    vocabulary = counted(place, 2, "--min-count=2")
    assert run(*arguments(place, vocabulary), "--jobs=2", place / "part", *sets(place)) == 1
    assert "counted: not the vocabulary of these data and options; count again" in capsys.readouterr().err
    assert not (place / "part").exists()


def test_make_store_counts_of_a_broken_part_are_refused(place, capsys):
    for file, said in (("others", "others:1: not a count of words; run its job again"), ("known", "known: not a ")):
        parts = make_parts(place, 2, "--only=count")
        (parts[1] / file).write_text("x\n")
        assert run("join", place / "counted", *parts) == 1
        assert said in capsys.readouterr().err
    assert not (place / "counted").exists()


@pytest.mark.parametrize(("options", "said"), [
    (["--only=count"], "--only count without --jobs; give --jobs and --job"),
    (["--counted=x"], "--counted without --jobs; give --jobs and --job"),
    (["--jobs=2"], "--jobs needs a vocabulary; give --only count, or --counted with what was made of the counts, or"),
    (["--jobs=2", "--only=count", "--vocab=x"], "x: no such file; "),
    (["--jobs=2", "--job=3"], "--job=3 is not one of --jobs=2 jobs; "),
])
def test_make_store_job_mistake_is_one_line(place, capsys, options, said):
    assert run(*arguments(place, *options), place / "part", *sets(place)) == 1
    assert capsys.readouterr().err.startswith(f"punc make-store: {said}" if said[0] == "-" else "punc make-store: ")
    assert not (place / "part").exists()
