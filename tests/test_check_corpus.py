"""utils/check_corpus.sh: files of a corpus and their numbers of lines."""

import os
import subprocess
from pathlib import Path

import pytest

UTILS = Path(__file__).parents[1] / "utils"


def run(*command, cwd, env=None):
    return subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})}, text=True,
                          capture_output=True, timeout=60)


@pytest.mark.parametrize(("listed", "code", "message"), [
    ("2 a\n\n# the same\n~2 a\n", 0, ""),
    ("~3 a\n", 0, "DIR/a: 2 lines, not the 3 of RESULTS.md; the figures will differ"),
    ("3 a\n2 a\n", 1, "DIR/a: 2 lines instead of 3; get it again: it is cut off, or another file"),
    ("~2 b/c\n2 a\n", 1, "DIR/b/c: no such file; README.md says where to get it"),
])
def test_check_corpus_compares_line_counts(tmp_path, listed, code, message):
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "list").write_text(listed)
    done = run(UTILS / "check_corpus.sh", tmp_path, tmp_path / "list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == (f"check_corpus.sh: {message.replace('DIR', str(tmp_path))}\n" if message else "")
