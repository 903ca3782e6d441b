"""README.md and docs/: commands print what the pages show, figures agree with RESULTS.tsv, and links have targets."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from punc import load
from punc.data.labels import LabelSet
from punc.decoding.shipped import find_model

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
@pytest.mark.parametrize("page", ["README.md", *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))])
def test_links_exist(page):
    for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / page).parent.joinpath(target).exists(), target


def commands_of(page):
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


AFTER_ASR = (ROOT / "docs/after-asr.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```\n\n^```\n(.*?)^```$", AFTER_ASR, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(6))
def test_after_asr_commands_show_what_the_page_shows(number, tmp_path):
    assert len(BLOCKS) == 6
    commands, expected = BLOCKS[number]
    for name in ("docs", "egs"):
        (tmp_path / name).symlink_to(ROOT / name)
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    punc = f"""PYTHONPATH='{ROOT}' '{sys.executable}' -c '{code}' "$@" --quiet true"""
    script = f"set -eu; punc() {{ {punc}; }}; {commands}"
    result = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == expected


@pytest.mark.parametrize("page", ["prepare-data", "clean-text", "tokens"])
def test_commands_print_what_the_page_shows(page, tmp_path):
    """All commands of a page run one after another. The text below a command is everything that it prints."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$(?:\n\n^```\n(.*?)^```$)?", text, re.DOTALL | re.MULTILINE)
    parts = [f"{commands}echo %%" for commands, _ in blocks]
    script = "\n".join([f". '{ROOT}/path.sh'", "set -eu", "exec 2>&1", *parts])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout
    for (_, expected), printed in zip(blocks, done.stdout.split("%%\n"), strict=False):
        assert expected in ("", printed)


def test_adapt_commands_train_and_score(tmp_path):
    for name, numbers in (("train", (1, 2)), ("dev", (3,)), ("test", (4,))):
        texts = [ROOT / f"egs/mini/corpus/text/talk-0{number}.txt" for number in numbers]
        (tmp_path / f"{name}.txt").write_text("".join(text.read_text(encoding="utf-8") for text in texts))
    commands = commands_of("docs/adapt.md")
    assert len(commands) == 3
    script = "\n".join([f". '{ROOT}/path.sh'", "set -euo pipefail", *commands])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    # Training starts from the model `en`. From random weights, a thousand words would be too few for this loss.
    first, last = (float(loss) for loss in re.findall(r"epoch [13]: .* dev loss (\S+),", done.stderr))
    assert last < first < 0.6
    sentence, *scores = done.stdout.splitlines()
    assert re.fullmatch(r"So,? good evening.* Do you know why\?", sentence)
    assert sum(line.startswith("overall ") for line in scores) == 2
    mine = load(str(tmp_path / "my-model"))
    assert tuple(mine.label_names) == tuple(LabelSet.read(find_model("en") / "labels.txt").names)
    for model in ("en", "my-model"):
        assert (tmp_path / f"out_{model}/score/metrics.tsv").is_file()


TEXTS = [f"{kind}-{number:02d}" for kind in ("news", "talk") for number in range(1, 4)]
LINES = 1


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Make a checkout with short texts, and run all commands of the tutorial in it. Return the checkout and the
    commands' output."""
    if not (find_spec("pocketsphinx") and shutil.which("flite")):
        pytest.skip("pocketsphinx and flite are extras")
    root = tmp_path_factory.mktemp("checkout")
    (root / "egs/mini/corpus/text").mkdir(parents=True)
    shutil.copytree(ROOT / "utils", root / "utils")
    (root / "path.sh").write_text(f'. "{ROOT}/path.sh"\n')
    for name in TEXTS:
        lines = (ROOT / f"egs/mini/corpus/text/{name}.txt").read_text().splitlines(keepends=True)
        (root / f"egs/mini/corpus/text/{name}.txt").write_text("".join(lines[:LINES]))
    # No 4-gram system is trained, because the texts are too short.
    shrink = ("for conf in egs/book/conf/*-LSTM*.conf; do printf '%s\\n' --epochs=1 --hidden-dim=20 >>$conf; done\n"
              "sed -i 's/^systems= .*/systems=\"TA-LSTM TA-LSTM-p\"/; s/^nj=2/nj=1/' egs/book/run.sh\n")
    script = "set -euo pipefail\n" + "".join(
        command + (shrink if "new_recipe.sh" in command else "") for command in commands_of("docs/tutorial.md"))
    done = subprocess.run(["bash", "-c", script], cwd=root, capture_output=True, text=True, timeout=900,
                          env={**os.environ, "HOME": str(root)})
    assert done.returncode == 0, done.stderr
    return root, done


def test_tutorial_commands_make_results(book):
    root, done = book
    results = (root / "egs/book/exp/RESULTS.md").read_text()
    assert results.startswith("# book\n")
    systems = re.findall(r"^\| (\S+) \|", results, re.MULTILINE)
    assert {"TA-LSTM-p", "TA-LSTM"} <= {*systems}
    assert "| TA-LSTM-p | TA-LSTM | PERIOD.F1 |" in (root / "egs/book/exp/results/test_ref.md").read_text()
    for path in ("results/pauses.png", "results/labels.png", "report.html"):
        assert (root / "egs/book/exp" / path).exists()
    assert done.stdout.splitlines()[-1].startswith("the last ferry")


def test_tutorial_shows_what_is_printed(book):
    root, done = book
    shape = re.compile(r"[\d.,]+")
    printed = {shape.sub("0", line) for line in done.stderr.splitlines()}
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").splitlines()
    for block in ("set          texts", "punc prepare: data/train", "punc pauses: "):
        line = next(line for line in page if line.startswith(block))
        wanted = shape.sub("0", line.partition("; …")[0])
        assert any(one.startswith(wanted) for one in printed), line
    counts = (root / "egs/book/data/split/counts").read_text()
    assert counts in done.stderr
    assert re.search(r"punc pauses: \d+ slots, \d+ known, \d+ unknown, .*; WER of the timed words 0\.0%", done.stderr)


def test_formats_page_has_the_table_of_formats():
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    from punc.transcripts import json_formats, lines
    json = "; ".join(dict.fromkeys(row.writers for row in [*json_formats.FORMATS, json_formats.TEXT]))
    for name, writers in [("JSON", json), *((row.name, row.writers) for row in lines.FORMATS)]:
        assert f"| {name} | {writers} |\n" in page
