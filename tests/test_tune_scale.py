"""utils/tune_scale.py: the factor of the labels without a mark that has the best F1 on development sets."""

import subprocess
import sys
from pathlib import Path

import kaldiio
import numpy as np

from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir

SCRIPT = Path(__file__).parents[1] / "utils/tune_scale.py"
LABELS = ("O", "CAP", "COMMA", "CAP_COMMA")


def tune(tmp_path, *sets):
    """Run the script on sets, each with slots as (label, posteriors)."""
    (tmp_path / "labels.txt").write_text("O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\n")
    directories = []
    for number, slots in enumerate(sets):
        data, decoded = tmp_path / f"dev{number}", tmp_path / f"tune_dev{number}"
        words = [f"w{i}" for i in range(len(slots))]
        write_data_dir(data, [Utterance("s-1", "s", words, [label for label, _ in slots])])
        decoded.mkdir()
        rows = np.array([row for _, row in slots if row], np.float32)
        kaldiio.save_ark(str(decoded / "post.ark"), {"s-1": rows})
        directories += [data, decoded]
    return subprocess.run([sys.executable, SCRIPT, tmp_path / "labels.txt", *directories],
                          capture_output=True, text=True)


def slot(label, plain, comma):
    """A slot with a capital, so that both labels without a mark must get the factor."""
    return label, [0, plain, 0.01, comma]


def test_the_factor_with_the_best_mean(tmp_path):
    """The first set is right below 0.8, the second from 0.7 on; of equal factors the first one is taken."""
    first = [slot("COMMA", 0.5, 0.4), slot("CAP_COMMA", 0.2, 0.7), slot("O", 0.9, 0.05)]
    second = [slot("CAP", 0.58, 0.4), slot("COMMA", 0.1, 0.8)]
    done = tune(tmp_path, first, second)
    assert done.stdout == "O=0.70,CAP=0.70\n"
    log = done.stderr.splitlines()
    assert "0.75:100.00" in log[0]
    assert "0.85:66.67" in log[0]
    assert "0.65:66.67 0.70:100.00" in log[1]


def test_posteriors_of_other_words(tmp_path):
    done = tune(tmp_path, [slot("O", 0.9, 0.1), ("O", None)])
    assert done.returncode
    assert done.stderr == (f"{SCRIPT}: {tmp_path}/tune_dev0/post.ark: no posteriors of the 2 slots of 's-1'; "
                           f"punctuate {tmp_path}/dev0 with --posteriors true\n")
