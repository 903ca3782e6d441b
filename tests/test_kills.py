"""A small part of the campaign: kills of every command that writes a directory, and two at once (docs/campaign.md)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).with_name("campaign")


@pytest.mark.parametrize(("line", "counts"), [
    ("kills.py --kills 16", r"kills (1\d), mixtures 0, "),
    ("races.py --races 4 --commands make-store,score", r"races 4, mixed results 0, "),
])
def test_campaign_finds_nothing(line, counts):
    program, *options = line.split()
    done = subprocess.run([sys.executable, CAMPAIGN / program, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(counts, done.stdout.splitlines()[-1]), done.stdout
