"""docs/adapt.md: its commands train a model that ships on some text, and score both."""

import os
import re
import subprocess
from pathlib import Path

from punc import load
from punc.data.labels import LabelSet
from punc.decoding.shipped import find_model

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/adapt.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_adapt_commands_train_and_score(tmp_path):
    for name, numbers in (("train", (1, 2)), ("dev", (3,)), ("test", (4,))):
        texts = [ROOT / f"egs/mini/corpus/text/talk-0{number}.txt" for number in numbers]
        (tmp_path / f"{name}.txt").write_text("".join(text.read_text(encoding="utf-8") for text in texts))
    assert len(COMMANDS) == 3
    script = "\n".join([f". '{ROOT}/path.sh'", "set -euo pipefail", *COMMANDS])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    # The model starts from what `en` knows: a thousand words alone teach none of this.
    first, last = (float(loss) for loss in re.findall(r"epoch [13]: .* dev loss (\S+),", done.stderr))
    assert last < first < 0.6
    sentence, *scores = done.stdout.splitlines()
    assert re.fullmatch(r"So,? good evening.* Do you know why\?", sentence)
    assert sum(line.startswith("overall ") for line in scores) == 2
    mine = load(str(tmp_path / "my-model"))
    assert tuple(mine.label_names) == tuple(LabelSet.read(find_model("en") / "labels.txt").names)
    for model in ("en", "my-model"):
        assert (tmp_path / f"out_{model}/score/metrics.tsv").is_file()


def test_adapt_links_exist():
    for target in re.findall(r"\]\(([^):#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
