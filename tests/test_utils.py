"""The scripts check_corpus.sh, near_errors.py, quote.sh and tune_scale.py in utils."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import kaldiio
import numpy as np
import pytest
from conftest import UTILS, run

from punc.data.datadir import Utterance, write_data_dir


@pytest.mark.parametrize(("listed", "code", "message"), [
    ("2 a\n\n# the same\n~2 a\n", 0, ""),
    ("~3 a\n", 0, "DIR/a: 2 lines, not the 3 of RESULTS.md; the figures will differ"),
    ("3 a\n2 a\n", 1, "DIR/a: 2 lines instead of 3; get it again: it is truncated, or a different file"),
    ("~2 b/c\n2 a\n", 1, "DIR/b/c: no such file; README.md says where to get it"),
])
def test_check_corpus_compares_line_counts(tmp_path, listed, code, message):
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "list").write_text(listed)
    done = run(UTILS / "check_corpus.sh", tmp_path, tmp_path / "list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == (f"check_corpus.sh: {message.replace('DIR', str(tmp_path))}\n" if message else "")


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
    """c is deleted, x is inserted, and y replaces f. So the slots after b, d, x, e and y are near an error."""
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
    assert done.stderr == (f"{SCRIPT}: {tmp_path}/punctuated: its words differ from "
                           f"{tmp_path}/recognized; punctuate {tmp_path}/recognized\n")


# Strings with a special meaning in bash, in here-documents, or for programs that run jobs.
PIECES = ["a", "JOB", "JO", "OB", " ", "  ", "\t", "\n", "'", '"', "\\", "$(touch ran)", "`touch ran`", "${HOME}", "$",
          "~", "*", "?", "[a-z]", "{a,b}", "&", ";", "|", "<", ">", "(", ")", "#", "!", "=", "-", "%", "^", "EOF",
          "\nEOF\n", "$'", "\\x41", "ä", "東京", "\u00a0", "\u3000", "\x7f"]
SHOW = "import json, sys; json.dump(sys.argv[2:], open('got.' + sys.argv[1], 'w'))\n"


@pytest.fixture(scope="module")
def words():
    draw = random.Random(1)
    made = ["".join(draw.choices(PIECES, k=draw.randint(1, 6))) for _ in range(150)]
    return ["", "-rf", "--scale=2", "data/test", *PIECES, *made]


def quoted(words):
    script = '. "$0"/quote.sh; quote "$@"; printf "%s\\n" "${quoted[@]}"'
    done = subprocess.run(["bash", "-euc", script, UTILS, *words], text=True, capture_output=True, check=True)
    return done.stdout.split("\n")[:-1]


def queue_pl(command, number, place):
    """Run a command as Kaldi's queue.pl does. Bash reads the command twice: as a line of a script, and within a
    here-document."""
    line = " ".join(word if re.fullmatch(r"\S+", word, re.A) else f"'{word}'" if '"' in word else f'"{word}"'
                    for word in command).replace("JOB", "${SGE_TASK_ID}")
    (place / "q.sh").write_text(f"cat <<EOF >log\n# {line}\nEOF\n( {line} ) 2>>log >>log\n")
    subprocess.run(["bash", "q.sh"], cwd=place, env={"SGE_TASK_ID": str(number), "PATH": "/usr/bin:/bin"}, check=False)


def test_words_get_through_run_pl_and_queue_pl(tmp_path, words):
    (tmp_path / "show.py").write_text(SHOW)
    command = [sys.executable, "show.py", "JOB", *quoted(words)]
    done = subprocess.run([UTILS / "run.pl", "JOB=1:2", "JOB.log", *command], cwd=tmp_path, check=False)
    assert done.returncode == 0, (tmp_path / "1.log").read_text()
    queue_pl(command, 3, tmp_path)
    assert not (tmp_path / "ran").exists()
    for number in (1, 2, 3):
        assert json.loads((tmp_path / f"got.{number}").read_text()) == words, number
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "1.log", "2.log", "got.1", "got.2", "got.3", "log", "q.sh", "show.py"]


def test_words_of_harmless_letters_stay_readable():
    plain = "exp/T-LSTM+p/decode_test:a=b,c@d%e.1"
    assert quoted([plain, "a b"]) == [plain, r"a$'\x20'b"]


TUNE = Path(__file__).parents[1] / "utils/tune_scale.py"
LABELS = ("O", "CAP", "COMMA", "CAP_COMMA")


def tune(tmp_path, *sets):
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
    return subprocess.run([sys.executable, TUNE, tmp_path / "labels.txt", *directories], capture_output=True, text=True)


def slot(label, plain, comma):
    """Return a label, and the posteriors of O, CAP, COMMA and CAP_COMMA. O has the posterior 0, so a factor has no
    effect unless it also applies to CAP."""
    return label, [0, plain, 0.01, comma]


def test_the_factor_with_the_best_mean(tmp_path):
    """The first set needs a factor below 0.8, the second at least 0.7. Of equally good factors, the smallest wins."""
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
    assert done.stderr == (f"{TUNE}: {tmp_path}/tune_dev0/post.ark: no posteriors for the 2 slots of 's-1'; "
                           f"punctuate {tmp_path}/dev0 with --posteriors true\n")
