"""Recipes for new corpora: utils/new_recipe.sh makes four kinds of recipes from small texts.

The texts have traps: tokens and lines that are easily misread, such as abbreviations and labels of speakers.
"""

import os
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from punc.data.datadir import DataDir

ROOT = Path(__file__).parents[1]
# For each sentence: its words with labels, and its traps as punc prepare counts them.
SENTENCES = [
    ("Dr. Olsen came by train, as always.", "dr olsen came by train/C as always/P", ["dots that are not marks"]),
    ("The boat leaves at 3.30 p.m. from pier 2.", "the boat leaves at 3.30 p.m from pier 2/P",
     ["dots that are not marks", "dots of abbreviations"]),
    ("Nobody [inaudible 00:00:43] knew the way.", "nobody knew the way/P", ["left out: square-brackets"]),
    ("Was the fish &amp; the bread sold out?", "was the fish & the bread sold out/Q", ["decoded: entities"]),
    ("It was <i>very</i> late; we went home.", "it was very late/P we went home/P", 2 * ["left out: tags"]),
    ("Then (laughs) he ran.", "then laughs he ran/P", ["perhaps not speech: round-brackets"]),
    ("Mrs. E. Wakefield paid 2.50 for it!", "mrs e wakefield paid 2.50 for it/P", 2 * ["dots that are not marks"]),
    ("Well... the river rose, and the bridge was closed.", "well the river rose/C and the bridge was closed/P",
     ["dots that are not marks"]),
    ("We saw the old house by the river.", "we saw the old house by the river/P", []),
    ("Who has the key to the mill?", "who has the key to the mill/Q", [])]
MARKS = {"C": "COMMA", "P": "PERIOD", "Q": "QUESTION", "": "O"}
SETS = ("test_ref", "dev", "train")
PREPARED = re.compile(r"punc prepare: data/(\w+): (\d+) streams, .* ([\d,]+) words")
COUNTED = re.compile(r"punc prepare: (left out: |decoded: |perhaps not speech: |)([\d,]+) ([a-z][a-z -]*)[,:]")


class Corpus:
    """Writes the files texts/NAME.txt. For each text, `words` and `labels` contain the words and labels that must be
    read from it, and `traps` counts its traps.

    speakers   each line of a text begins with the name of one of two speakers, who take turns
    """

    def __init__(self, folder, texts=12, sentences=24, speakers=False):
        self.folder, self.words, self.labels, self.traps = folder, {}, {}, {}
        rng = random.Random(1)
        (folder / "texts").mkdir()
        for name in (f"t{number:02d}" for number in range(texts)):
            lines, tokens, self.traps[name] = [], [], Counter()
            for number in range(sentences):
                raw, wanted, traps = rng.choice(SENTENCES)
                tokens += [token.partition("/") for token in wanted.split()]
                self.traps[name].update(traps)
                if speakers:
                    raw = ("Anna", "MR. BEAN")[number % 2] + ": " + raw
                    self.traps[name]["left out: speaker-labels"] += 1
                lines.append(raw)
            (folder / f"texts/{name}.txt").write_text("\n".join(lines) + "\n")
            self.words[name] = [word for word, _, _ in tokens]
            self.labels[name] = [MARKS[label] for _, _, label in tokens]

    def write_ctm(self, file, wrong=0, upper=False):
        """Write the times of all words, with a pause of half a second after each mark. Every `wrong`-th word is
        replaced."""
        with open(self.folder / file, "w") as ctm:
            for name, words in self.words.items():
                begin = 0.0
                for number, (word, label) in enumerate(zip(words, self.labels[name]), 1):
                    said = "uh" if wrong and number % wrong == 0 else word
                    print(f"{name} 1 {begin:.2f} 0.20", said.upper() if upper else said, file=ctm)
                    begin += 0.7 if label != "O" else 0.2

    def recipe(self, *options, stop_stage, run=()):
        for command in ([ROOT / "utils/new_recipe.sh", "recipe", "--text", "texts", *options],
                        ["recipe/run.sh", "--nj", "1", "--stop-stage", stop_stage, *run]):
            done = subprocess.run([str(part) for part in command], cwd=self.folder, capture_output=True, text=True,
                                  env=os.environ, timeout=400)
            assert done.returncode == 0, done.stderr
        return self.folder / "recipe", done.stderr


def streams(recipe, name):
    return {stream: ([word for one in utterances for word in one.words], [x for one in utterances for x in one.labels])
            for stream, utterances in DataDir(recipe / "data" / name).streams()}


def counted(stderr):
    found, current = {}, None
    for line in stderr.splitlines():
        if match := PREPARED.match(line):
            current = found.setdefault(match[1], Counter())
        elif match := COUNTED.match(line):
            current[match[1] + match[3]] += int(match[2].replace(",", ""))
    return found


def check(corpus, recipe, stderr):
    """Assert that each text is in exactly one set and has the expected words and labels. Check the printed counts."""
    found = {name: streams(recipe, name) for name in SETS}
    assert sorted(text for texts in found.values() for text in texts) == sorted(corpus.words)
    printed = counted(stderr)
    for name, texts in found.items():
        for text, (words, labels) in texts.items():
            assert words == corpus.words[text]
            assert labels == corpus.labels[text]
        assert printed[name] == sum((corpus.traps[text] for text in texts), Counter())
        share = sum(len(words) for words, _ in texts.values()) / sum(map(len, corpus.words.values()))
        assert 0.05 < share < 0.2 or name == "train"
    return found


@pytest.fixture
def make(tmp_path):
    return lambda **options: Corpus(tmp_path, **options)


def test_read_speech_with_times_and_asr_output(make):
    corpus = make()
    corpus.write_ctm("times.ctm")
    corpus.write_ctm("asr.ctm", wrong=10, upper=True)
    recipe, stderr = corpus.recipe("--times", "times.ctm", "--asr", "asr.ctm", stop_stage=2)
    found = check(corpus, recipe, stderr)
    for utterance in DataDir(recipe / "data/train").utterances():
        assert [pause > 0.3 for pause in utterance.pauses[:-1]] == [label != "O" for label in utterance.labels[:-1]]
    assert stderr.count("; WER of the timed words 0.0%; ") == 5
    assert (recipe / "exp/results/pauses.png").exists()
    total = sum(len(words) for words, _ in found["test_ref"].values())
    wrong = sum(len(words) // 10 for words, _ in found["test_ref"].values())
    marks = sum(label != "O" for _, labels in found["test_ref"].values() for label in labels)
    assert f"{total} reference words, WER {100 * wrong / total:.2f} %; {marks} marks: 0 moved, 0 merged, 0 lost" in (
        stderr)
    for text, (words, labels) in streams(recipe, "test_asr").items():
        assert labels == corpus.labels[text]
        assert words == ["uh" if i % 10 == 0 else word for i, word in enumerate(corpus.words[text], 1)]


def test_conversations_with_speakers(make):
    """Texts 0 and 6, 1 and 7, … have the same guest. One host speaks in all texts."""
    corpus = make(speakers=True)
    speakers = {name: {"host", f"guest{number % 6}"} for number, name in enumerate(corpus.words)}
    (corpus.folder / "speakers").write_text("".join(f"{name} {' '.join(who)}\n" for name, who in speakers.items()))
    recipe, stderr = corpus.recipe("--speakers", "speakers", stop_stage=1)
    found = check(corpus, recipe, stderr)
    of_set = [set().union(*(speakers[text] for text in texts)) - {"host"} for texts in found.values()]
    assert sum(map(len, of_set)) == 6
    assert "1 speakers link too many texts, and may be in several sets: 'host'\n" in stderr
    assert "\n1 speakers of test_ref speak in train, too: 'host'\n" in stderr


def test_text_alone(make):
    corpus = make(texts=1, sentences=300)
    recipe, stderr = corpus.recipe(stop_stage=3)
    assert "too few texts (1), so they are cut into " in stderr
    printed, found = counted(stderr), [streams(recipe, name) for name in SETS]
    whole = {text: part for texts in found for text, part in texts.items()}
    assert [word for text in sorted(whole) for word in whole[text][0]] == corpus.words["t00"]
    assert [label for text in sorted(whole) for label in whole[text][1]] == corpus.labels["t00"]
    assert sum((printed[name] for name in SETS), Counter()) == corpus.traps["t00"]
    assert "sentences of test_ref are also in train" in stderr  # the corpus has only ten different sentences


WORDS = ["we", "saw", "the", "old", "house", "by", "river", "and", "then", "walked", "home", "in", "rain"]
NAMES = [f"talk-{number:02d}" for number in range(1, 13)]


def run(*command, cwd, **env):
    return subprocess.run([str(part) for part in command], cwd=cwd, env={**os.environ, **env}, text=True,
                          capture_output=True, timeout=400)


def write_corpus(folder):
    """Write texts/NAME.txt, times.ctm with long pauses after marks, and asr.ctm with every seventh word wrong."""
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


def recipe_make(corpus, recipe, *options):
    return run(ROOT / "utils/new_recipe.sh", recipe, *options, cwd=corpus)


def shrink(recipe):
    """Edit the conf files, as users may do, so that the LSTMs are small and are trained for one epoch."""
    for conf in recipe.glob("conf/*-LSTM*.conf"):
        conf.write_text(conf.read_text() + "--epochs=1\n--hidden-dim=20\n")


def written(recipe):
    pages = {"results", "RESULTS.md", "RESULTS.tsv", "report.html"}
    return {path: path.stat().st_mtime_ns for top in ("data", "exp") for path in (recipe / top).rglob("*")
            if path.is_file() and (path.suffix == ".png" or not pages & {*path.parts})}


def test_new_recipe_runs_from_texts_and_ctms_to_results(corpus):
    made = recipe_make(corpus, "a place/talks", "--text", "texts", "--times", "times.ctm", "--asr", "asr.ctm")
    assert made.returncode == 0, made.stderr
    recipe = corpus / "a place/talks"
    shrink(recipe)
    # Like path.sh, look for lmplz in .venv, too. The training of networks is tested with the tutorial in docs/.
    has_lmplz = bool(shutil.which("lmplz")) or (ROOT / ".venv/bin/lmplz").exists()
    system = "4-gram+DT-p" if has_lmplz else "TA-LSTM-p"
    command = recipe / "run.sh", "--nj", "1", "--systems", system
    ran = run(*command, "--stop-stage", "5", cwd="/")
    assert ran.returncode == 0, ran.stderr
    sets = {name: [stream for stream, _ in DataDir(recipe / "data" / name).streams()]
            for name in ("train", "rest", "tree", "dev", "test_ref", "test_asr")}
    assert sets == {"test_ref": ["talk-01", "talk-11"], "dev": ["talk-02", "talk-12"], "train": NAMES[2:10],
                    "tree": ["talk-03", "talk-08"], "rest": [*NAMES[3:7], *NAMES[8:10]],
                    "test_asr": ["talk-01", "talk-11"]}
    assert "240 reference words, WER 15.00 %" in ran.stderr  # in each text, 18 of 120 words are wrong
    assert (recipe / "exp" / system / "final.pt").exists()
    trained = written(recipe)
    ran = run(*command, cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert trained.items() <= written(recipe).items()  # finished work is not repeated
    results = (recipe / "exp/RESULTS.md").read_text()
    assert results.startswith("# talks\n")
    rows = [line.split("\t")[:2] for line in (recipe / "exp/RESULTS.tsv").read_text().splitlines()[1:]]
    assert {*map(tuple, rows)} == {(system, "test_ref"), (system, "test_asr")}
    for name in ("train", "test_ref"):
        for utterance in DataDir(recipe / "data" / name).utterances():
            assert [pause > 0.1 for pause in utterance.pauses[:-1]] == [label != "O" for label in utterance.labels[:-1]]
    assert not list(recipe.parent.glob(".*"))


def test_new_recipe_leaves_out_systems_without_data(corpus):
    assert recipe_make(corpus, "talks", "--text", "texts").returncode == 0
    recipe = corpus / "talks"
    recipe_run = run(recipe / "run.sh", "--nj", "1", "--stop-stage", "0", cwd=recipe)
    assert f"{recipe / 'run.sh'}: no word times, so no TA-LSTM-p 4-gram+DT-p\n" in recipe_run.stderr
    # Run without lmplz on PATH.
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
    made = recipe_make(corpus, "talks", "--text", "texts")
    assert (made.returncode, made.stderr) == (
        1, "utils/new_recipe.sh: talks: this directory exists; remove it, or give another directory\n")
    assert [path.name for path in (corpus / "talks").iterdir()] == ["README.md"]


@pytest.mark.parametrize(("options", "message"), [
    ((), "usage: utils/new_recipe.sh RECIPE-DIR --text DIR"),
    (("--text", "none"), "none: no such directory; "),
    (("--text", "empty"), "empty: 0 files *.txt here; give at least 4 texts, one per file"),
    (("--text", "texts", "--times", "none"), "none: no such file; "),
    (("--text", "texts", "--times", "empty"), "empty: no *.ctm in this directory; "),
    (("--text", "texts", "--times", "strange.ctm"),
     "strange.ctm: no text is called 'one'; the texts are 'talk-01', 'talk-02', 'talk-03', …; "),
    (("--text", "texts", "--asr", "strange.ctm"), "strange.ctm: no text is called 'one'"),
])
def test_new_recipe_mistake_is_one_line(corpus, options, message):
    (corpus / "empty").mkdir()
    (corpus / "strange.ctm").write_text("one 1 0 1 word\ntwo 1 0 1 word\n")
    made = recipe_make(corpus, "talks", *options)
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
    made = recipe_make(corpus, "talks", "--text", "texts", "--times", "times.ctm")
    assert made.returncode == 0
    assert "word times of 12 of 13 texts\n" in made.stderr
    assert "times.ctm: 1 ids belong to no text, left out: 'one'\n" in made.stderr


def test_new_recipe_in_egs_has_relative_path(corpus):
    root = corpus / "a checkout"  # a checkout whose path.sh has nothing to set up
    (root / "egs").mkdir(parents=True)
    shutil.copytree(ROOT / "utils", root / "utils")
    (root / "path.sh").write_text(f'. "{ROOT}/path.sh"\n')
    made = run("bash", root / "utils/new_recipe.sh", "egs/talks", "--text", corpus / "texts", cwd=root)
    assert made.returncode == 0, made.stderr
    assert (root / "egs/talks/path.sh").read_text().splitlines()[-1] == ". ../../path.sh"
    assert (root / "egs/talks/cmd.sh").read_text() == (ROOT / "utils/templates/recipe/cmd.sh").read_text()
    assert run("egs/talks/run.sh", "--nj", "1", "--stop-stage", "0", cwd=root).returncode == 0
