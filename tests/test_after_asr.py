"""docs/after-asr.md: its commands give what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/after-asr.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```\n\n^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_commands_show_what_the_page_shows(number, tmp_path):
    commands, expected = BLOCKS[number]
    for name in ("docs", "egs"):
        (tmp_path / name).symlink_to(ROOT / name)
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    punc = f"""PYTHONPATH='{ROOT}' '{sys.executable}' -c '{code}' "$@" --quiet true"""
    script = f"set -eu; punc() {{ {punc}; }}; {commands}"
    result = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == expected


def test_page_has_all_formats_and_links():
    assert len(BLOCKS) == 6
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists()
