"""utils/recipe.sh, and egs/mini on a few of its texts: run from start to end, run again, and killed in every stage."""

import contextlib
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from punc.base.options import config_lines
from punc.bin.train import options as train_options
from punc.data.datadir import DataDir
from punc.decoding.shipped import shipped
from punc.results.collect import read_cost

ROOT = Path(__file__).parents[1]
UTILS = ROOT / "utils"
MINI = ROOT / "egs/mini"
KEPT = 12  # number of texts
SYSTEMS = "T-LSTM TA-LSTM-p"
SMALL = "--epochs=1\n--hidden-dim=20\n"
STAGES = range(8)


# Functions of utils/recipe.sh

def script(tmp_path, body, *arguments, **variables):
    """Run a script that sources recipe.sh. Return the printed lines, the errors, and the exit status."""
    settings = {"stage": 0, "stop_stage": 100, "systems": "", "nj": 2, **variables}
    (tmp_path / "run.pl").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "run.pl").chmod(0o755)
    (tmp_path / "run.sh").write_text("\n".join([
        "set -euo pipefail", 'cd "$(dirname "$0")"', *(f"{name}='{value}'" for name, value in settings.items()),
        "cmd=./run.pl", f". {UTILS}/recipe.sh", body, ""]))
    done = subprocess.run(["bash", tmp_path.name + "/run.sh", *arguments], cwd=tmp_path.parent, text=True,
                          capture_output=True, timeout=120, check=False)
    return done.stdout.splitlines(), done.stderr, done.returncode


TABLE = """# name  stage  store  needs
A 4 store
(base) 4 store times
B+C 5 other base times
D 5 store tool
"""


def table(tmp_path, body, *arguments, **variables):
    (tmp_path / "conf").mkdir(exist_ok=True)
    (tmp_path / "conf/systems").write_text(TABLE)
    return script(tmp_path, f"choose_systems\n{body}", *arguments, **variables)


def test_runs(tmp_path):
    body = "for n in 1 2 4 5; do ! runs $n || echo $n; done"
    assert script(tmp_path, body, stage=2, stop_stage=4) == (["2", "4"], "", 0)


@pytest.mark.parametrize(("options", "chosen"), [
    ([], "A B+C D"), (["--systems", "all"], "A B+C D"), (["--systems", "D A"], "D A")])
def test_choose_systems_empty_is_all(tmp_path, options, chosen):
    assert table(tmp_path, 'echo "$systems"', *options) == ([chosen], "", 0)


def test_choose_systems_names_those_there_are(tmp_path):
    assert table(tmp_path, "", "--systems", "A base") == (
        [], f"{tmp_path.name}/run.sh: --systems: there is no 'base'; choose from A B+C D\n", 1)


def test_in_stage_has_what_asked_systems_need(tmp_path):
    body = 'for n in 4 5; do in_stage $n; done; echo ${store_of[base]}'
    assert table(tmp_path, body, systems="B+C") == (["base", "B+C", "store"], "", 0)


def test_asked_by_name_store_or_need(tmp_path):
    body = 'for name in A B B+C D base store other tool times; do ! asked "$name" || echo "$name"; done'
    assert table(tmp_path, body, systems="B+C") == (["B+C", "other", "times"], "", 0)


def test_leave_out_names_asked_systems(tmp_path):
    assert table(tmp_path, 'leave_out times "no times"; echo $systems', systems="B+C A") == (
        ["A"], f"{tmp_path.name}/run.sh: no times, so no B+C\n", 0)


@pytest.mark.parametrize("body", ["prepare_set dev text.txt", "project test_ref test_asr_words dev"])
def test_data_of_another_label_set_are_refused(tmp_path, body):
    """Comments and spaces in a label set make no difference. A data directory without a label set is accepted, because
    it may come from another program."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/labels.txt").write_text("# label  written\nO   w\nPERIOD  w.  .\n")
    (tmp_path / "data/dev").mkdir(parents=True)
    (tmp_path / "data/dev/text").write_text("a-1 so\n")
    assert script(tmp_path, body) == ([], "", 0)
    (tmp_path / "data/dev/punct.labels").write_text("O w\nPERIOD w. .\n")
    assert script(tmp_path, body) == ([], "", 0)
    (tmp_path / "data/dev/punct.labels").write_text("O w\nPERIOD w. . !\n")
    assert script(tmp_path, body) == ([], (
        f"{tmp_path.name}/run.sh: data/dev was made with another label set than conf/labels.txt; remove the data and "
        f"everything made from them: cd {tmp_path} && rm -r data exp\n"), 1)


def test_absolute_is_relative_to_the_users_directory(tmp_path):
    body = 'absolute own corpus vectors; printf "%s\\n" "$own" "$corpus" "$vectors"'
    assert script(tmp_path, body, own="", corpus="a b/c", vectors="/d") == (
        ["", f"{tmp_path.parent}/a b/c", "/d"], "", 0)


@pytest.mark.parametrize(("fail", "ended", "status"), [
    ("x", "abcde", 0), ("a", "ab", 1), ("d", "abcd", 1), ("e", "abcde", 1)])
def test_two_at_a_time_stops_after_a_failure(tmp_path, fail, ended, status):
    (tmp_path / "on").mkdir()
    body = f"""
job() {{  # waits for its partner, if it has one: this ends only if two run at the same time
  touch on/$1
  until [ $(ls on | wc -l) -ge ${{number[$1]}} ]; do sleep 0.02; done
  [ $1 != {fail} ]
}}
declare -A number=([a]=2 [b]=2 [c]=4 [d]=4 [e]=5)
two_at_a_time job a b c d e
"""
    assert script(tmp_path, body) == ([], "", status)
    assert sorted(path.name for path in (tmp_path / "on").iterdir()) == [*ended]


@pytest.mark.parametrize(("newest", "trained"), [
    ("conf", True), ("base.conf", True), ("store/conf", True), ("exp/final.pt", False), ("exp/progress.pt", True)])
def test_train_keeps_model_newer_than_confs_and_store(tmp_path, newest, trained):
    for directory in ("exp", "store"):
        (tmp_path / directory).mkdir()
    (tmp_path / "conf").write_text("--config=more/../base.conf\n")
    (tmp_path / "more").mkdir()
    for name in ("conf", "base.conf", "store/conf", "exp/final.pt", newest):
        (tmp_path / name).touch()
        time_ = 1e9 + (2 if name == newest else name == "exp/final.pt")
        os.utime(tmp_path / name, (time_, time_))
    line = r"exp/log/train.log punc train --config conf --batch-size 1$'\x20'2 store exp"
    assert script(tmp_path, 'train conf store exp --batch-size "1 2"; echo done') == (
        [line] * trained + ["done"], "", 0)


@pytest.fixture
def training(tmp_path, toy_store):
    (tmp_path / "a.conf").write_text("\n".join([
        "--model=t_lstm", "--embedding-dim=6", "--hidden-dim=8", "--train-set=train_before", "--dev-set=dev_before",
        "--batch-size=20", "--epochs=12", "--schedule=linear", "--threads=1", ""]))
    (tmp_path / "run.sh").write_text("\n".join([
        "set -euo pipefail", 'cd "$(dirname "$0")"', "stage=0 stop_stage=7 systems=", "cmd=run.pl",
        f"PATH={os.path.dirname(sys.executable)}:{UTILS}:$PATH", f". {UTILS}/recipe.sh",
        f"train a.conf {toy_store} exp", ""]))
    return ["bash", str(tmp_path / "run.sh")]


def train_logs(directory):
    return {path.name: path.read_text() for path in (directory / "exp/log").iterdir()}


def test_train_log_of_a_killed_run_is_kept(tmp_path, training):
    """The logs of a killed run and of the run that continues it together contain all epochs. `read_cost` counts each
    epoch once."""
    job = subprocess.Popen(training, start_new_session=True, stderr=subprocess.DEVNULL)
    log = tmp_path / "exp/log/train.log"
    while job.poll() is None and not (log.exists() and "\nepoch 3:" in log.read_text()):
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        for group in groups_below(job.pid):
            os.killpg(group, signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL
    assert not (tmp_path / "exp/final.pt").exists()
    subprocess.run(training, check=True, timeout=120)
    logs = train_logs(tmp_path)
    assert sorted(logs) == ["train.1.log", "train.log"]
    assert "\nepoch 3:" in logs["train.1.log"]
    assert "\nepoch 2:" not in logs["train.log"]
    assert "\nepoch 12:" in logs["train.log"]
    assert read_cost(tmp_path / "exp").epochs == 12
    assert sorted(path.name for path in (tmp_path / "exp").iterdir()) == [
        "conf", "final.pt", "labels.txt", "log", "vocab"]


def test_decode_and_score_skips_finished_work(tmp_path):
    body = "decode_options=(--context 9) score_options=(--match streams)\ndecode_and_score exp/A exp/A 'test dev'"
    decoded = [f"exp/A/log/decode_{name}.log punc punctuate --nj 2 --context 9 exp/A data/{name} exp/A/decode_{name}"
               for name in ("test", "dev")]
    scored = [f"exp/A/log/score_{name}.log punc score --labels conf/labels.txt --match streams data/{name} "
              f"exp/A/decode_{name} exp/A/decode_{name}/score" for name in ("test", "dev")]
    assert script(tmp_path, body) == ([decoded[0], scored[0], decoded[1], scored[1]], "", 0)
    # Make each file newer than the files before it in the list.
    for number, name in enumerate(["data/test/text", "data/test/punct", "exp/A/final.pt", "exp/A/decode_test/punct"]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 + number, 1e9 + number))
    # text is written last, so a directory without text is left over from a killed run.
    assert script(tmp_path, body)[0] == [decoded[0], scored[0], decoded[1], scored[1]]
    (tmp_path / "exp/A/decode_test/text").touch()
    assert script(tmp_path, body)[0] == [scored[0], decoded[1], scored[1]]
    (tmp_path / "exp/A/decode_test/score").mkdir()
    metrics = tmp_path / "exp/A/decode_test/score/metrics.tsv"
    metrics.touch()
    os.utime(metrics, (4e9, 4e9))
    assert script(tmp_path, body)[0] == [decoded[1], scored[1]]
    os.utime(metrics, (1e9 + 5, 1e9 + 5))
    assert script(tmp_path, body)[0] == [scored[0], decoded[1], scored[1]]


def test_decode_in_jobs_joins_their_parts(tmp_path):
    body = "decode exp/A data/test exp/A/decode_test --scale O=0.5; score data/test exp/B exp/A/decode_test; ls exp/A"
    (tmp_path / "exp/A/decode_test.parts/9").mkdir(parents=True)  # left over from a killed run
    jobs = ["--cmd", "echo -q x", "--nj", "3"]
    joined = " ".join(f"exp/A/decode_test.parts/{n}" for n in (1, 2, 3))
    assert script(tmp_path, body, *jobs) == ([
        "-q x JOB=1:3 exp/A/log/decode_test.JOB.log punc punctuate --jobs 3 --job JOB --nj 1 --scale O=0.5 exp/A "
        "data/test exp/A/decode_test.parts/JOB",
        f"-q x exp/A/log/decode_test.log punc join exp/A/decode_test {joined}",
        "-q x exp/A/log/score_test.log punc score --labels conf/labels.txt data/test exp/B exp/A/decode_test/score"],
        "", 0)
    assert script(tmp_path, body + "; echo done", *jobs)[0][-1] == "done"
    assert script(tmp_path, "decode exp/A data/test exp/A/decode_test; echo done", "--cmd", "false") == ([], "", 1)


def test_text_on_a_cluster_is_one_job(tmp_path):
    """If --cmd is not run.pl, prepare_set and make_store each run as one job. Bash must not interpret their
    arguments."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    (tmp_path / "a $(touch ran).txt").write_text("".join(f"#doc {i}\nso, it (x y) is {i}.\n$HOME\n" for i in range(9)))
    (tmp_path / "queue.pl").symlink_to(UTILS / "run.pl")
    body = f"""
PATH={os.path.dirname(sys.executable)}:$PATH
prepare_set train --format prose --document-prefix '#doc' --remove '\\([^ ]* [^ ]*\\)' 'a $(touch ran).txt'
make_store --min-count 2 data/store data/train
"""
    _, said, status = script(tmp_path, body, "--cmd", "./queue.pl -l x")
    assert (said, status) == ("", 0)
    assert sorted(path.name for path in (tmp_path / "data/log").iterdir()) == ["prepare_train.log", "store.log"]
    assert (tmp_path / "data/store/train/ids.npy").is_file()
    assert not (tmp_path / "ran").exists()
    assert "so it is 0" in (tmp_path / "data/train/text").read_text()


TRAIN = "train conf store exp"
LINE = "exp/log/train.log {} punc train --config conf store exp"
NODES = ("srun --kill-on-bad-exit=1 --cpus-per-task ${SLURM_CPUS_PER_TASK:-1} torchrun --nnodes 2 --nproc-per-node 4 "
         "--rdzv-backend c10d --rdzv-id $SLURM_JOB_ID "
         "--rdzv-endpoint $SLURMD_NODENAME:$((20000+SLURM_JOB_ID%10000)) --no-python")


@pytest.mark.parametrize(("options", "launched"), [
    ("--train-ranks 4", LINE.format("torchrun --standalone --nproc-per-node 4 --no-python")),
    ("--train-ranks 4 --train-nodes 2", LINE.format(NODES)),
])
def test_train_in_several_processes(tmp_path, options, launched):
    (tmp_path / "conf").touch()
    assert script(tmp_path, TRAIN, *options.split()) == ([launched], "", 0)
    body = "train_cmd='echo slurm.pl'; " + TRAIN
    assert script(tmp_path, body, *options.split()) == ([f"slurm.pl {launched}"], "", 0)


def made(tmp_path, *names):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()


def test_seeds_train_decode_and_score_each(tmp_path):
    (tmp_path / "conf").write_text("--config=base.conf\n--model=ta_lstm\n")
    (tmp_path / "base.conf").write_text("--text-model=exp/A  # the first stage\n")
    made(tmp_path, "exp/A.seed2/final.pt", "exp/L/final.pt", "exp/B.seed2/final.pt", "exp/R.seed2/decode_x/punct",
         "store/conf")
    os.utime(tmp_path / "store/conf", (4e9, 4e9))
    body = ("train conf store exp/B --lm-model exp/L; decode exp/B data/x exp/R/decode_x --nj 1;"
            "score data/x exp/R/decode_x exp/R/decode_x; score data/x data/engine exp/engine/decode_x")
    train = "exp/B{0}/log/train.log punc train --config conf --lm-model exp/L {1}store exp/B{0}"
    decoded = "exp/R{0}/log/decode_x.log punc punctuate --nj 2 --nj 1 exp/B{0} data/x exp/R{0}/decode_x"
    scored = "exp/{0}/log/score_x.log punc score --labels conf/labels.txt data/x {1} exp/{0}/decode_x/score"
    assert script(tmp_path, body, "--seeds", "1 2 3") == ([
        train.format("", ""), train.format(".seed2", "--seed 2 --text-model exp/A.seed2 "),
        train.format(".seed3", "--seed 3 "), decoded.format(""), decoded.format(".seed2"),
        scored.format("R", "exp/R/decode_x"), scored.format("R.seed2", "exp/R.seed2/decode_x"),
        scored.format("engine", "data/engine")], "", 0)


def test_seeds_of_a_fitted_model_are_one(tmp_path):
    (tmp_path / "conf").write_text("--model=ngram\n")
    assert script(tmp_path, TRAIN, "--seeds", "1 2") == ([LINE.format("").replace("log  ", "log ")], "", 0)


@pytest.mark.parametrize(("option", "said"), [
    ("--nj 0", "--nj 0 is not a number of processes or jobs; give 1 or more"),
    ("--train-ranks 0", "--train-ranks 0; give 1 or more"),
    ("--train-nodes 0", "--train-nodes 0; give 1 or more"),
    ("--seeds 1,2", "--seeds '1,2'; write whole numbers, as --seeds '1 2 3'"),
    ("--seeds 0", "--seeds '0'; write whole numbers, as --seeds '1 2 3'")])
def test_option_that_is_not_a_number(tmp_path, option, said):
    assert script(tmp_path, "", *option.split()) == ([], f"{tmp_path.name}/run.sh: {said}\n", 1)


# Tables of systems

@pytest.mark.parametrize("table", sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("egs/**/conf/**/systems")))
def test_table_of_systems(table):
    path = ROOT / table
    rows = [re.sub("[()]", "", line).split() for line in path.read_text().splitlines() if not line.startswith("#")]
    above = set()
    for name, _, _, *needs in rows:
        assert name not in above
        places = [path.parent, *path.parent.parents[:1], *path.parent.iterdir()]  # the first conf file found counts
        conf = next(place / f"{name}.conf" for place in places if (place / f"{name}.conf").is_file())
        options = {line.option: line.value for line in config_lines(conf)}
        bases = {Path(options[name]).name for name in ("--lm-model", "--text-model", "--initial-model")
                 if options.get(name)}
        if teacher := Path(options.get("--teacher", "")).name.removeprefix("targets_"):
            if "learner" in needs:  # the teacher need not be trained first, because it is also bundled
                assert teacher in above & {*shipped()}
            else:
                bases.add(teacher)
        assert bases & {row[0] for row in rows} == {*needs} & {row[0] for row in rows} <= above
        above.add(name)


CONFS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("egs/**/conf/**/*.conf")
               if not re.match("results|align|base|sets", path.name))


@pytest.mark.parametrize("conf", CONFS)
def test_conf_of_a_system_is_read_by_punc_train(conf):
    arguments = ["--config", str(ROOT / conf), "store", "exp"]
    assert train_options(train_options().value(arguments, "--model")).parse(arguments).model


# egs/mini


def cut_down(recipe):
    """Copy egs/mini with KEPT of its texts, and with conf files of small networks that are trained for one epoch."""
    shutil.copytree(MINI, recipe, ignore=shutil.ignore_patterns("data", "exp", "text", "*.gz"))
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
        conf.write_text(conf.read_text() + SMALL)
    (recipe / "path.sh").write_text(f". {ROOT / 'path.sh'}\n")


def command(recipe, *options, systems=SYSTEMS):
    return [str(recipe / "run.sh"), "--nj", "1", "--systems", systems, *map(str, options)]


def run(recipe, *options, **systems):
    done = subprocess.run(command(recipe, *options, **systems), cwd="/", text=True, capture_output=True, timeout=300,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done


def files(recipe, *tops):
    return {path.relative_to(recipe): path for top in tops or ("data", "exp") for path in (recipe / top).rglob("*")
            if path.is_file() and path.suffix != ".log"}


def own_files(recipe):
    return {path.relative_to(recipe): path.read_bytes() for path in recipe.rglob("*")
            if path.is_file() and path.relative_to(recipe).parts[0] not in ("data", "exp")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run all stages of a copy of egs/mini. They must change only files in data and exp, which git ignores."""
    recipe = tmp_path_factory.mktemp("whole") / "mini"
    cut_down(recipe)
    before = own_files(recipe)
    run(recipe)
    assert own_files(recipe) == before
    return recipe


def test_run_leaves_data_and_systems(finished):
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


def test_run_writes_metrics_of_each_system_and_set(finished):
    rows = [line.split("\t") for line in (finished / "exp/RESULTS.tsv").read_text().splitlines()[1:]]
    found = {(system, name): float(value) for system, name, metric, value, *_ in rows if metric == "Err"}
    assert found.keys() == {(system, name) for system in SYSTEMS.split() for name in ("test_ref", "test_asr")}
    assert all(5 < value < 40 for value in found.values())
    page = (finished / "exp/RESULTS.md").read_text()
    assert "TA-LSTM-p" in page
    assert f"./run.sh --nj 1 --systems '{SYSTEMS}'\n" in page
    assert (finished / "exp/results/test_asr.md").is_file()
    assert "<h1>The mini corpus</h1>" in (finished / "exp/report.html").read_text()
    transcript = next((finished / "exp/transcripts/txt").glob("*.txt")).read_text()
    assert len(transcript.split()) > 250


def test_run_again_changes_nothing(finished):
    def state():
        return {name: path.stat().st_mtime_ns for name, path in files(finished).items()
                if name.suffix == ".png" or not {"transcripts", "results", "RESULTS.md", "RESULTS.tsv",
                                                   "report.html"} & {*name.parts}}

    def pages():
        return {name: path.read_bytes() for name, path in files(finished).items()
                if "RESULTS" in name.name or name.name == "report.html"
                or (name.parent.name == "results" and name.suffix != ".png")}
    before, results = state(), pages()
    printed = run(finished).stdout
    assert state() == before
    assert pages() == results
    assert (finished / "exp/RESULTS.md").read_text() in printed
    assert "The speech of this corpus is synthetic and its pauses are simulated from the marks" in printed


def test_run_one_system_keeps_rows_of_others(finished):
    before = (finished / "exp/RESULTS.tsv").read_bytes()
    run(finished, "--stage", 6, systems="T-LSTM")
    assert (finished / "exp/RESULTS.tsv").read_bytes() == before


@pytest.mark.parametrize(("options", "message"), [
    (["--stage", "x"], "--stage 'x' is not a number; stages are 0 to 7"),
    (["--stop-stage", "3-4"], "--stop-stage '3-4' is not a number; stages are 0 to 7"),
    (["--systems", "T-LSTM LSTM"],
     "--systems: there is no 'LSTM'; choose from T-LSTM TA-LSTM TA-LSTM-p 4-gram 4-gram+DT-p"),
    (["3"], "'3' is not an option; see RUN --help"),
])
def test_wrong_option_is_one_line_and_makes_nothing(tmp_path, options, message):
    recipe = tmp_path / "mini"
    cut_down(recipe)
    before = own_files(recipe)
    done = subprocess.run([str(recipe / "run.sh"), *options], cwd="/", text=True, capture_output=True, timeout=60,
                          check=False)
    program = str(recipe / "run.sh")
    assert (done.stdout, done.stderr, done.returncode) == ("", f"{program}: {message.replace('RUN', program)}\n", 1)
    assert own_files(recipe) == before
    assert not (recipe / "data").exists()
    assert not (recipe / "exp").exists()


def kill_midway(recipe, stage, **systems):
    """Start a stage, and kill its processes as soon as any file or directory has changed."""
    before = {path: path.stat().st_mtime_ns for path in recipe.rglob("*")}
    job = subprocess.Popen(command(recipe, "--stage", stage, "--stop-stage", stage, **systems), cwd="/",
                           start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while job.poll() is None:
        if any(before.get(path) != state for path, state in states(recipe)):
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGSTOP)  # stopped first, so that the recipe starts no further processes
        for group in groups_below(job.pid):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
    return job.wait()


def groups_below(pid):
    """Return the process groups of a process and its descendants. The jobs of run.pl have their own groups."""
    rows = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # a process may end in the meantime
            _, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
            rows.append((int(stat.parent.name), int(parent), int(group)))
    below, groups = {pid}, {pid}
    while new := {(child, group) for child, parent, group in rows if parent in below and child not in below}:
        below |= {child for child, _ in new}
        groups |= {group for _, group in new}
    return groups


def states(recipe):
    """Yield each file and directory of a recipe, and its modification time. The lock and its directory are left out,
    because each run changes them first."""
    for path in recipe.rglob("*"):
        if path in (recipe / "exp", recipe / "exp/.run.lock"):
            continue
        with contextlib.suppress(FileNotFoundError):  # a file may be renamed in the meantime
            yield path, path.stat().st_mtime_ns


def test_run_killed_in_every_stage_gives_the_same_results(finished, tmp_path):
    """The stages run for TA-LSTM-p, which needs T-LSTM. So both systems are trained, but only TA-LSTM-p is scored."""
    recipe, system = tmp_path / "mini", "TA-LSTM-p"
    cut_down(recipe)
    killed = []
    for stage in STAGES:
        killed.append(kill_midway(recipe, stage, systems=system) == -signal.SIGKILL)
        run(recipe, "--stage", stage, "--stop-stage", stage, systems=system)
    assert sum(killed) >= len(STAGES) - 1  # one stage may end before the kill
    header, *rows = (finished / "exp/RESULTS.tsv").read_text().splitlines(keepends=True)
    of_system = [row for row in rows if row.startswith(f"{system}\t")]
    assert (recipe / "exp/RESULTS.tsv").read_text() == header + "".join(of_system)
    # Lock files may differ: a process that is killed after its last rename leaves its lock file, which is no longer
    # locked.
    scored = {name for name in files(finished) if not re.match("exp/T-LSTM/decode", str(name))}
    assert {name for name in files(recipe) if name.name not in (".lock", "tests.tsv")} == (
        {name for name in scored if name.name != "tests.tsv"})
    for name, path in files(recipe).items():
        if name.name in ("text", "punct", "pauses.ark", "ids.npy", "metrics.tsv"):
            assert path.read_bytes() == files(finished)[name].read_bytes(), name
