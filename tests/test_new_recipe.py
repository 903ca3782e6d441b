"""utils/new_recipe.sh: a recipe made from a folder of texts runs to the end; mistakes are one line."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from punc.data.datadir import DataDir

ROOT = Path(__file__).parents[1]
WORDS = ["we", "saw", "the", "old", "house", "by", "river", "and", "then", "walked", "home", "in", "rain"]
NAMES = [f"talk-{number:02d}" for number in range(1, 13)]


def run(*command, cwd, **env):
    return subprocess.run([str(part) for part in command], cwd=cwd, env={**os.environ, **env}, text=True,
                          capture_output=True, timeout=400)


def write_corpus(folder):
    """Write texts/NAME.txt, times.ctm with long pauses after marks, and asr.ctm, where every seventh word is wrong."""
    rng = random.Random(1)
    (folder / "texts").mkdir()
    with open(folder / "times.ctm", "w") as times, open(folder / "asr.ctm", "w") as asr:
        for name in NAMES:
            words = [rng.choice(WORDS) + rng.choices(["", ",", ".", "?"], [20, 3, 2, 1])[0] for _ in range(120)]
            (folder / "texts" / f"{name}.txt").write_text(" ".join(words).capitalize() + ".\n")
            begin = 0.0
            for number, word in enumerate(words):
                line = f"{name} 1 {begin:.2f} 0.20"
                print(line, word.strip(",.?"), file=times)
                print(line, "UH" if number % 7 == 0 else word.strip(",.?").upper(), 0.9, file=asr)
                begin += 0.2 + {",": 0.3, ".": 0.7, "?": 0.7}.get(word[-1], 0)


@pytest.fixture
def corpus(tmp_path):
    write_corpus(tmp_path)
    return tmp_path


def make(corpus, recipe, *options):
    return run(ROOT / "utils/new_recipe.sh", recipe, *options, cwd=corpus)


def shrink(recipe):
    """Let the neural systems train for one epoch, by editing their confs, as a user may."""
    for conf in recipe.glob("conf/*-LSTM*.conf"):
        conf.write_text(conf.read_text() + "--epochs=1\n")


def written(recipe):
    """Each file in data and exp with its time, without the pages of results."""
    pages = {"results", "RESULTS.md", "RESULTS.tsv", "report.html"}
    return {path: path.stat().st_mtime_ns for top in ("data", "exp") for path in (recipe / top).rglob("*")
            if path.is_file() and (path.suffix == ".png" or not pages & {*path.parts})}


def test_new_recipe_runs_from_texts_and_ctms_to_results(corpus):
    made = make(corpus, "a place/talks", "--text", "texts", "--times", "times.ctm", "--asr", "asr.ctm")
    assert made.returncode == 0, made.stderr
    recipe = corpus / "a place/talks"
    shrink(recipe)
    command = recipe / "run.sh", "--nj", "1", "--systems"
    ran = run(*command, "TA-LSTM-p 4-gram+DT-p", "--stop-stage", "5", cwd="/")
    assert ran.returncode == 0, ran.stderr
    sets = {name: [stream for stream, _ in DataDir(recipe / "data" / name).streams()]
            for name in ("train", "rest", "tree", "dev", "test_ref", "test_asr")}
    assert sets == {"test_ref": ["talk-01", "talk-11"], "dev": ["talk-02", "talk-12"], "train": NAMES[2:10],
                    "tree": ["talk-03", "talk-08"], "rest": [*NAMES[3:7], *NAMES[8:10]],
                    "test_asr": ["talk-01", "talk-11"]}
    assert "240 reference words, WER 15.00 %" in ran.stderr  # 18 of the 120 words of a text are wrong
    has_lmplz = bool(shutil.which("lmplz")) or (ROOT / ".venv/bin/lmplz").exists()  # path.sh puts it on PATH
    assert (recipe / "exp/4-gram+DT-p/final.pt").exists() == has_lmplz
    trained = written(recipe)
    ran = run(*command, "TA-LSTM-p", cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert trained.items() <= written(recipe).items()  # finished work is not repeated
    results = (recipe / "exp/RESULTS.md").read_text()
    assert results.startswith("# talks\n")
    assert [line.split()[1] for line in results.splitlines() if line.startswith("| TA-LSTM")] == ["TA-LSTM-p"]
    rows = [line.split("\t")[:2] for line in (recipe / "exp/RESULTS.tsv").read_text().splitlines()[1:]]
    assert {*map(tuple, rows)} == {("TA-LSTM-p", "test_ref"), ("TA-LSTM-p", "test_asr")}
    for name in ("train", "test_ref"):
        for utterance in DataDir(recipe / "data" / name).utterances():
            assert [pause > 0.1 for pause in utterance.pauses[:-1]] == [label != "O" for label in utterance.labels[:-1]]
    # A second run changes no file, and has the same results.
    before = written(recipe)
    again = run(*command, "TA-LSTM-p", cwd=corpus)
    assert again.returncode == 0, again.stderr
    assert written(recipe) == before
    assert (recipe / "exp/RESULTS.md").read_text() == results
    assert not list(recipe.parent.glob(".*"))


def test_new_recipe_leaves_out_systems_without_data(corpus):
    assert make(corpus, "talks", "--text", "texts").returncode == 0
    recipe = corpus / "talks"
    recipe_run = run(recipe / "run.sh", "--stop-stage", "0", cwd=recipe)
    assert f"{recipe / 'run.sh'}: no word times, so no TA-LSTM-p 4-gram+DT-p\n" in recipe_run.stderr
    # A PATH without lmplz.
    (corpus / "bin").mkdir()
    path = (recipe / "path.sh").read_text()
    (recipe / "path.sh").write_text(f'{path}PATH={corpus / "bin"}:$(dirname "$(command -v bash)")\n')
    for tool in ("check_texts.py", "split_texts.py", *(f"{name}.sh" for name in (
            "lock", "parse_options", "quote", "recipe", "train"))):
        shutil.copy(ROOT / "utils" / tool, corpus / "bin" / tool)
    if not (Path(shutil.which("bash")).parent / "lmplz").exists():
        left = run(recipe / "run.sh", "--stage", "9", "--times", corpus / "times.ctm", cwd=recipe)
        assert "no lmplz (utils/install_lmplz.sh builds it), so no 4-gram 4-gram+DT-p\n" in left.stderr
        assert left.returncode == 0


def test_new_recipe_keeps_existing_directory(corpus):
    (corpus / "talks").mkdir()
    (corpus / "talks/README.md").write_text("mine\n")
    made = make(corpus, "talks", "--text", "texts")
    assert (made.returncode, made.stderr) == (
        1, "utils/new_recipe.sh: talks: this directory exists; remove it, or name another one\n")
    assert [path.name for path in (corpus / "talks").iterdir()] == ["README.md"]


@pytest.mark.parametrize(("options", "message"), [
    ((), "usage: utils/new_recipe.sh RECIPE-DIR --text DIR"),
    (("--text", "none"), "none: no such directory; "),
    (("--text", "empty"), "empty: 0 files *.txt here; give at least 4 texts, one per file"),
    (("--text", "texts", "--times", "none"), "none: no such file; "),
    (("--text", "texts", "--times", "empty"), "empty: no *.ctm in this directory; "),
    (("--text", "texts", "--times", "strange.ctm"),
     "strange.ctm: no text is called 'one': they are 'talk-01', 'talk-02', 'talk-03', …; "),
    (("--text", "texts", "--asr", "strange.ctm"), "strange.ctm: no text is called 'one'"),
])
def test_new_recipe_mistake_is_one_line(corpus, options, message):
    (corpus / "empty").mkdir()
    (corpus / "strange.ctm").write_text("one 1 0 1 word\ntwo 1 0 1 word\n")
    made = make(corpus, "talks", *options)
    assert made.returncode == 1
    lines = [line for line in made.stderr.splitlines() if not line.endswith(" texts")]
    assert len(lines) == 1
    assert message in lines[0]
    assert not list(corpus.glob("*talks*"))
    assert not list(corpus.glob(".*talks*"))


def test_new_recipe_ctm_with_unknown_ids(corpus):
    with open(corpus / "times.ctm", "a") as file:
        file.write("one 1 0 1 word\n")
    (corpus / "texts" / "zero.txt").write_text("No times.\n")
    made = make(corpus, "talks", "--text", "texts", "--times", "times.ctm")
    assert made.returncode == 0
    assert "word times of 12 of 13 texts\n" in made.stderr
    assert "times.ctm: 1 ids belong to no text, left out: 'one'\n" in made.stderr


def test_new_recipe_in_egs_has_relative_path(corpus):
    root = corpus / "a checkout"  # its path.sh need not set anything up
    (root / "egs").mkdir(parents=True)
    shutil.copytree(ROOT / "utils", root / "utils")
    (root / "path.sh").write_text(f'. "{ROOT}/path.sh"\n')
    made = run("bash", root / "utils/new_recipe.sh", "egs/talks", "--text", corpus / "texts", cwd=root)
    assert made.returncode == 0, made.stderr
    assert (root / "egs/talks/path.sh").read_text().splitlines()[-1] == ". ../../path.sh"
    assert (root / "egs/talks/cmd.sh").read_text() == (ROOT / "utils/templates/recipe/cmd.sh").read_text()
    assert run("egs/talks/run.sh", "--stop-stage", "0", cwd=root).returncode == 0
