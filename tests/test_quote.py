"""utils/quote.sh: words get through run.pl, and what Kaldi's queue.pl makes of a command line, as they are."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

UTILS = Path(__file__).parents[1] / "utils"
# What bash, the programs that run jobs, and a here-document read as more than a character.
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
    """Run a job as Kaldi's queue.pl does: its words in one line for bash, which is also in a here-document."""
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
