"""docs/tutorial.md: its commands run, from texts and speech to results, on shorter texts than the page has."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
TEXTS = [f"{kind}-{number:02d}" for kind in ("news", "talk") for number in range(1, 4)]
LINES = 1  # of each text

pytestmark = pytest.mark.skipif(not (find_spec("pocketsphinx") and shutil.which("flite")),
                                reason="pocketsphinx and flite are extras")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A checkout with some short texts, where all commands of the page were run; and what they printed."""
    root = tmp_path_factory.mktemp("checkout")
    (root / "egs/mini/corpus/text").mkdir(parents=True)
    shutil.copytree(ROOT / "utils", root / "utils")
    (root / "path.sh").write_text(f'. "{ROOT}/path.sh"\n')
    for name in TEXTS:
        lines = (ROOT / f"egs/mini/corpus/text/{name}.txt").read_text().splitlines(keepends=True)
        (root / f"egs/mini/corpus/text/{name}.txt").write_text("".join(lines[:LINES]))
    # The texts are too short for a 4-gram.
    shrink = ("for conf in egs/book/conf/*-LSTM*.conf; do echo --epochs=1 >>$conf; done\n"
              "sed -i 's/^systems= .*/systems=\"TA-LSTM TA-LSTM-p\"/; s/^nj=2/nj=1/' egs/book/run.sh\n")
    script = "set -euo pipefail\n" + "".join(
        command + (shrink if "new_recipe.sh" in command else "") for command in COMMANDS)
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
    """Each line of output on the page has the form of a line that was printed: the same words, other numbers."""
    root, done = book
    shape = re.compile(r"[\d.,]+")
    printed = {shape.sub("0", line) for line in done.stderr.splitlines()}
    for block in ("set          texts", "punc prepare: data/train", "punc pauses: "):
        line = next(line for line in PAGE.splitlines() if line.startswith(block))
        wanted = shape.sub("0", line.partition("; …")[0])
        assert any(one.startswith(wanted) for one in printed), line
    counts = (root / "egs/book/data/split/counts").read_text()
    assert counts in done.stderr
    assert re.search(r"punc pauses: \d+ slots, \d+ known, \d+ unknown, .*; WER of the timed words 0\.0%", done.stderr)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^):#]+)\)", PAGE))))
def test_tutorial_links_exist(target):
    assert (ROOT / "docs" / target).exists()
