"""egs/mini end to end on some of its texts: figures, nothing done twice, and killed in the middle of every stage."""

import contextlib
import gzip
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from punc.data.datadir import DataDir

ROOT = Path(__file__).parents[1]
MINI = ROOT / "egs/mini"
KEPT = 12  # texts
SYSTEMS = "T-LSTM TA-LSTM-p"
STAGES = range(8)


def cut_down(recipe):
    """A copy of the recipe with KEPT of the texts, and an epoch for each system."""
    shutil.copytree(MINI, recipe, ignore=shutil.ignore_patterns("data", "exp", "RESULTS*", "text", "*.gz", "*.png"))
    texts = sorted((MINI / "corpus/text").glob("*.txt"))
    kept = texts[::len(texts) // KEPT][:KEPT]
    (recipe / "corpus/text").mkdir()
    for text in kept:
        shutil.copy(text, recipe / "corpus/text")
    for kind in ("ref", "asr"):
        with gzip.open(MINI / f"corpus/{kind}.ctm.gz", "rt") as ctm, \
                gzip.open(recipe / f"corpus/{kind}.ctm.gz", "wt") as out:
            out.writelines(line for line in ctm if line.split()[0] in {text.stem for text in kept})
    for conf in recipe.glob("conf/*-LSTM*.conf"):
        conf.write_text(conf.read_text() + "--epochs=1\n")
    (recipe / "path.sh").write_text(f". {ROOT / 'path.sh'}\n")


def command(recipe, *options):
    return [str(recipe / "run.sh"), "--nj", "1", "--systems", SYSTEMS, *map(str, options)]


def run(recipe, *options):
    done = subprocess.run(command(recipe, *options), cwd="/", text=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done


def files(recipe, *tops):
    return {path.relative_to(recipe): path for top in tops or ("data", "exp") for path in (recipe / top).rglob("*")
            if path.is_file() and path.suffix != ".log"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    recipe = tmp_path_factory.mktemp("whole") / "mini"
    cut_down(recipe)
    run(recipe)
    return recipe


def test_every_stage_leaves_what_the_next_one_reads(finished):
    sets = {name: DataDir(finished / "data" / name) for name in ("train", "dev", "test_ref", "test_asr")}
    assert [len(list(data.streams())) for data in sets.values()] == [8, 2, 2, 2]
    for name, data in sets.items():
        known = [pause for u in data.utterances() for pause in u.pauses if pause == pause]
        assert len(known) > 0.9 * sum(len(u.words) for u in data.utterances()), name
    for system in SYSTEMS.split():
        assert (finished / "exp" / system / "final.pt").is_file()
        for name in ("test_ref", "test_asr"):
            decoded = (finished / f"exp/{system}/decode_{name}/punct").read_text().splitlines()
            assert [len(line.split()) - 1 for line in decoded] == [len(u.words) for u in sets[name].utterances()]


def test_results_have_a_figure_for_each_system_and_set(finished):
    rows = [line.split("\t") for line in (finished / "RESULTS.tsv").read_text().splitlines()[1:]]
    found = {(system, name): float(value) for system, name, metric, value, *_ in rows if metric == "Err"}
    assert found.keys() == {(system, name) for system in SYSTEMS.split() for name in ("test_ref", "test_asr")}
    assert all(5 < value < 40 for value in found.values())
    assert "TA-LSTM-p" in (finished / "RESULTS.md").read_text()
    read = next((finished / "exp/transcripts/txt").glob("*.txt")).read_text()
    assert len(read.split()) > 250


def test_run_again_it_does_nothing(finished):
    before = {name: path.stat().st_mtime_ns for name, path in files(finished).items() if "transcripts" not in str(name)}
    results = (finished / "RESULTS.md").read_bytes()
    run(finished)
    after = {name: path.stat().st_mtime_ns for name, path in files(finished).items() if "transcripts" not in str(name)}
    assert after == before
    assert (finished / "RESULTS.md").read_bytes() == results


def kill_midway(recipe, stage):
    """Start a stage and kill all of its processes as soon as something on disk has changed."""
    before = {path: path.stat().st_mtime_ns for path in recipe.rglob("*")}
    job = subprocess.Popen(command(recipe, "--stage", stage, "--stop-stage", stage), cwd="/", start_new_session=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while job.poll() is None:
        if any(before.get(path) != state for path, state in states(recipe)):
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGSTOP)  # so that no process begins that is not seen
        for group in groups_below(job.pid):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
    return job.wait()


def groups_below(pid):
    """The process groups of a process and all below it: run.pl begins one for each job, which outlives it."""
    rows = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # over meanwhile
            _, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
            rows.append((int(stat.parent.name), int(parent), int(group)))
    below, groups = {pid}, {pid}
    while new := {(child, group) for child, parent, group in rows if parent in below and child not in below}:
        below |= {child for child, _ in new}
        groups |= {group for _, group in new}
    return groups


def states(recipe):
    for path in recipe.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # renamed meanwhile
            yield path, path.stat().st_mtime_ns


def test_killed_in_every_stage_it_comes_to_the_same(finished, tmp_path):
    recipe = tmp_path / "mini"
    cut_down(recipe)
    killed = []
    for stage in STAGES:
        killed.append(kill_midway(recipe, stage) == -signal.SIGKILL)
        run(recipe, "--stage", stage, "--stop-stage", stage)
    assert sum(killed) >= len(STAGES) - 1  # a stage may be over before it is killed
    assert (recipe / "RESULTS.tsv").read_bytes() == (finished / "RESULTS.tsv").read_bytes()
    assert files(recipe).keys() == files(finished).keys()
    for name, path in files(recipe).items():
        if name.name in ("text", "punct", "pauses.ark", "ids.npy", "figures.tsv"):
            assert path.read_bytes() == files(finished)[name].read_bytes(), name
