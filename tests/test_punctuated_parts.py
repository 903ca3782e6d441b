"""However many jobs punctuate a data directory, the output has the same bytes. Broken outputs of jobs are refused."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import UTILS, content, random_model

from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.decoding import spans
from punc.decoding.pack import pack

WORDS = [f"w{i}" for i in range(20)]
GROUP = 60  # tokens that are decoded at a time; few, so that several jobs have work
OPTIONS = ["--nj=1", "--chunk-size=16", "--context=8"]
# The number of words in each utterance of a stream. Streams c and g are longer than a group.
LENGTHS = {"a": [7, 0, 30, 12], "b": [25], "c": [40] * 5, "d": [3] * 9, "e": [18, 22, 9], "f": [0, 50], "g": [33] * 3}
# The punc command with small groups. If the file `kill` names a job, this job is killed while it decodes.
PROGRAM = f"""
import os, signal, sys
from punc.bin.main import main
from punc.decoding import decode, spans
spans.GROUP, choose = {GROUP}, decode.choose
if os.path.exists("kill") and open("kill").read() in sys.argv:
    decode.choose = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(main())
"""


@pytest.fixture(scope="module", params=["words", "pauses"])
def model(request, tmp_path_factory):
    options = {"embedding_dim": 16, "hidden_dim": 24, "init_range": 1.0, "pauses": request.param == "pauses"}
    return random_model(tmp_path_factory.mktemp("model"), "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n", WORDS,
                        options=options)


def make_data(path, kind):
    """Make a data directory: plain, with pauses and a CTM, or with segments in reverse order."""
    random = np.random.default_rng(3)
    words = [*WORDS, "new"]
    found = [Utterance(f"{stream}-{i:02}", stream, [words[k] for k in random.integers(0, 21, n)], None,
                       random.random(n).astype(np.float32) if kind == "pauses" else None)
             for stream, lengths in LENGTHS.items() for i, n in enumerate(lengths)]
    write_data_dir(path, found)
    if kind == "pauses":
        with open(path / "ctm", "w") as ctm:
            for u in found:
                ctm.writelines(f"{u.id} 1 {i}.00 0.50 {word} 0.9\n" for i, word in enumerate(u.words) if i % 7 != 6)
    if kind == "segments":
        (path / "spk2utt").unlink()
        (path / "segments").write_text("".join(
            f"{u.id} r{'gfedcba'.index(u.stream)} {100 - i} {101 - i}\n" for i, u in enumerate(found)))
    return path


@pytest.fixture(params=["plain", "pauses", "segments"])
def data(request, tmp_path, monkeypatch):
    monkeypatch.setattr(spans, "GROUP", GROUP)
    return make_data(tmp_path / "data", request.param)


def run(command, *arguments):
    return main([command, *map(str, arguments)])


def make_parts(model, data, place, jobs, *options):
    parts = [place / str(job) for job in range(1, jobs + 1)]
    for job, part in enumerate(parts, 1):
        assert run("punctuate", *OPTIONS, *options, f"--jobs={jobs}", f"--job={job}", model, data, part) == 0
    return parts


def one_job(model, data, out, *options):
    """Return the content of the files that one job writes, and remove the files."""
    assert run("punctuate", *OPTIONS, *options, model, data, out) == 0
    expected = content(out)
    shutil.rmtree(out)
    return expected


@pytest.mark.parametrize("jobs", [2, 50])
def test_join_is_the_output_of_one_job(model, data, tmp_path, jobs, capsys):
    expected = one_job(model, data, tmp_path / "out")
    said = capsys.readouterr().err
    assert {"text", "punct", "text_punct", "post.ark", "post.scp"} < expected.keys()
    assert ("ctm_punct" in expected) == ("pauses.ark" in expected) == (data / "ctm").exists()
    parts = make_parts(model, data, tmp_path / "parts", jobs)
    words = [len((part / "text").read_text().split()) if (part / "text").exists() else 0 for part in parts]
    assert all(words) == (jobs == 2)
    capsys.readouterr()
    assert run("join", tmp_path / "out", *parts) == 0
    assert content(tmp_path / "out") == expected
    assert capsys.readouterr().err.replace(str(data), "DATA") == said.replace(str(data), "DATA")
    assert not list((tmp_path / "parts").iterdir())


def test_join_prose_without_posteriors(model, data, tmp_path):
    (tmp_path / "casing").write_text("W3 w3\n")
    options = ["--posteriors=false", f"--casing={tmp_path / 'casing'}", "--scale=O=0.5"]
    expected = one_job(model, data, tmp_path / "out", *options)
    run("punctuate", *OPTIONS, model, data, tmp_path / "out")  # writes posteriors, which `join` must remove
    parts = make_parts(model, data, tmp_path / "parts", 3)
    parts = make_parts(model, data, tmp_path / "parts", 3, *options)  # replaces parts that have posteriors
    assert run("join", tmp_path / "out", *parts) == 0
    assert content(tmp_path / "out") == expected


@pytest.fixture
def recipe(model, data, tmp_path):
    """Make a script that calls the recipes' `decode` with a packed model, and with PROGRAM as `punc`."""
    pack(model, tmp_path / "packed")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/punc").write_text(f"#!{sys.executable}\n{PROGRAM}")
    (tmp_path / "bin/punc").chmod(0o755)
    (tmp_path / "run.sh").write_text("\n".join([
        "set -euo pipefail", 'cd "$(dirname "$0")"', "stage=0 stop_stage=9 systems= nj=1 cmd=",
        f". {UTILS}/recipe.sh", f"decode_options=({' '.join(OPTIONS[1:])})",
        f"decode packed {data} out/decode_test", ""]))
    return tmp_path


def decode(recipe, jobs):
    command = "run.pl" if jobs == 1 else "queue.pl"
    if not (recipe / "bin" / command).exists():
        (recipe / "bin" / command).symlink_to(UTILS / "run.pl")
    return subprocess.run(["bash", recipe / "run.sh", "--nj", str(jobs), "--cmd", command], text=True,
                          env={**os.environ, "PATH": f"{recipe / 'bin'}:{os.environ['PATH']}"}, timeout=120,
                          capture_output=True, check=False)


@pytest.mark.parametrize("model", ["pauses"], indirect=True)
@pytest.mark.parametrize("data", ["segments"], indirect=True)
def test_decode_in_jobs_one_killed(recipe):
    assert decode(recipe, 1).returncode == 0
    expected = content(recipe / "out/decode_test")
    shutil.rmtree(recipe / "out")
    (recipe / "kill").write_text("2")
    failed = decode(recipe, 3)
    assert failed.returncode == 1
    assert failed.stderr == "queue.pl: 1 / 3 failed, log is in out/log/decode_test.*.log\n"
    assert not (recipe / "out/decode_test").exists()
    (recipe / "kill").unlink()
    done = decode(recipe, 3)
    assert (done.stderr, done.returncode) == ("", 0)
    assert content(recipe / "out/decode_test") == expected
    assert sorted(path.name for path in (recipe / "out").iterdir()) == ["decode_test", "log"]
    decode(recipe, 3)  # nothing is left to do
    assert sorted(path.name for path in (recipe / "out/log").iterdir()) == [
        "decode_test.1.log", "decode_test.2.log", "decode_test.3.log", "decode_test.log"]


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def append(path, line):
    path.write_text(path.read_text() + line)


@pytest.mark.parametrize("model", ["words"], indirect=True)
@pytest.mark.parametrize("data", ["plain"], indirect=True)
@pytest.mark.parametrize(("break_it", "said"), [
    (lambda parts, data: change(parts[1] / "text", " w", " v"), "parts/2/text:1: the words differ from those of "
     "{data}/text; run punc punctuate with --job=2 again"),
    (lambda parts, data: change(parts[0] / "punct", "b-00 ", "b-00 O "), "parts/1/punct:5: utterance 'b-00' does "
     "not have one label for each word; run punc punctuate with --job=1 again"),
    (lambda parts, data: [(parts[2] / name).write_text("".join((parts[2] / name).read_text().splitlines(True)[:-1]))
                          for name in ("text", "punct")], "parts/3/text: 4 utterances instead of 5; run "),
    (lambda parts, data: [append(data / "text", "z w1\n"), append(data / "utt2spk", "z z\n")], "data/text: the file "
     "has changed since the jobs ran; run all jobs again"),
    (lambda parts, data: (parts[0] / "text").write_text(""), "parts/1/text: the file is empty; "),
    (lambda parts, data: (parts[2] / "post.ark").unlink(), "parts/3/post.ark: no such file; "),
    (lambda parts, data: parts.pop(), "parts/1: the part of --job=1 --jobs=3, not of job 1 of 2; give the "
     "outputs"),
])
def test_join_mistake_is_one_line_and_leaves_the_output(model, data, tmp_path, capsys, break_it, said):
    run("punctuate", *OPTIONS, "--scale=O=9", model, data, tmp_path / "out")
    before = content(tmp_path / "out")
    parts = make_parts(model, data, tmp_path / "parts", 3)
    break_it(parts, data)
    kept = [content(part) for part in parts]
    capsys.readouterr()
    assert run("join", tmp_path / "out", *parts) == 1
    error = capsys.readouterr().err
    assert said.format(data=data) in error
    assert error.count("\n") == 1
    assert content(tmp_path / "out") == before
    assert [content(part) for part in parts] == kept


@pytest.mark.parametrize("model", ["words"], indirect=True)
@pytest.mark.parametrize("data", ["plain"], indirect=True)
def test_join_out_dir_that_would_be_lost(model, data, tmp_path, capsys):
    parts = make_parts(model, data, tmp_path / "parts", 2)
    capsys.readouterr()
    assert run("join", parts[0], *parts) == 1
    assert capsys.readouterr().err.endswith(f"{parts[0]}: the output file is also an input file; give another output\n")
    assert run("join", data, *parts) == 1
    assert "the output file is also an input file" in capsys.readouterr().err
    before = content(data)
    run("punctuate", *OPTIONS, model, data, tmp_path / "own")
    assert run("punctuate", *OPTIONS, "--jobs=2", model, data, tmp_path / "own") == 1
    assert ("own: this directory exists and was not written by a job; give a new directory for each job\n"
            in capsys.readouterr().err)
    assert content(data) == before


@pytest.mark.parametrize("model", ["words"], indirect=True)
@pytest.mark.parametrize("data", ["plain"], indirect=True)
@pytest.mark.parametrize(("options", "said"), [
    (["--jobs=3", "--job=4"], "--job=4 is not one of the --jobs=3 jobs; count from 1 to --jobs"),
    (["--jobs=3", "--job=0"], "--job=0 is not one of the --jobs=3 jobs; count from 1 to --jobs"),
    (["--job=2"], "--job=2 is not one of the --jobs=0 jobs; count from 1 to --jobs"),
    (["--jobs=-1"], "--job=1 is not one of the --jobs=-1 jobs; count from 1 to --jobs"),
    (["--jobs=2", "--ctm=none"], "none: no such file; give a CTM, or leave --ctm out"),
])
def test_punctuate_job_mistake_is_one_line(model, data, tmp_path, capsys, options, said):
    assert run("punctuate", *options, model, data, tmp_path / "part") == 1
    assert capsys.readouterr().err == f"punc punctuate: {said}\n"
    assert not (tmp_path / "part").exists()
