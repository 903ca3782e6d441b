"""utils/near_errors.py: scores near recognition errors and elsewhere, on made-up text."""

import subprocess
import sys
from pathlib import Path

from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir

SCRIPT = Path(__file__).parents[1] / "utils/near_errors.py"


def near_errors(tmp_path, said, recognized, punctuated, collapse="marks:O=O+CAP,COMMAS=COMMA+CAP_COMMA"):
    (tmp_path / "labels.txt").write_text("O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\nPERIOD w. .\n")
    for name, pairs in (("said", said), ("recognized", recognized), ("punctuated", punctuated)):
        words, marks = zip(*(pair.partition("/")[::2] for pair in pairs.split()))
        names = [{"": "O", ",": "CAP_COMMA", ".": "PERIOD"}[mark] for mark in marks]
        write_data_dir(tmp_path / name, [Utterance("s-1", "s", list(words), names)])
    return subprocess.run([sys.executable, SCRIPT, tmp_path / "labels.txt", collapse,
                           *map(tmp_path.joinpath, ("said", "recognized", "punctuated"))],
                          capture_output=True, text=True)


def test_near_errors_table(tmp_path):
    """c is missing, x is inserted, y is another word: the slots after b, d, x, e, y are near an error."""
    done = near_errors(tmp_path, "a b/, c d e f/. g/.", "a b/, d x e y/. g/.", "a/, b/, d x e y/, g/.")
    assert done.stdout.splitlines()[2:] == [
        "| all | 7 | 50.0 | 66.7 | 57.1 |", "| not near an error | 2 | 50.0 | 100.0 | 66.7 |",
        "| near an error | 5 | 50.0 | 50.0 | 50.0 |"]


def test_near_errors_all_marks(tmp_path):
    done = near_errors(tmp_path, "a b/, c", "a b/, x", "a/. b/, x", "")
    assert done.stdout.splitlines()[2] == "| all | 3 | 50.0 | 100.0 | 66.7 |"


def test_near_errors_other_words(tmp_path):
    done = near_errors(tmp_path, "a", "a", "b")
    assert done.returncode
    assert done.stderr == (f"{SCRIPT}: {tmp_path}/punctuated: its words are not those of "
                           f"{tmp_path}/recognized; punctuate {tmp_path}/recognized\n")
