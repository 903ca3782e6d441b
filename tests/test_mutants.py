"""tests/campaign/mutants.py: what it changes in a source, and the list of mutants that do the same."""

import ast
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).with_name("campaign")
ROOT = CAMPAIGN.parents[1]


@pytest.fixture
def campaign(monkeypatch):
    monkeypatch.syspath_prepend(str(CAMPAIGN))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    import mutants
    return mutants


SOURCE = '''"""A docstring, 1."""
def cut(words: list, size: int = 2):
    if not words:
        raise ValueError("no words, 3")
    logger.info("%d words", 4)
    done = words[size - 1:]
    return [word for word in done if word in "ab" and min(done) < word]
'''
CHANGED = {
    (2, "def cut(words: list, size: int=3):"), (3, "if words:"), (4, "pass"), (5, "pass"),
    (6, "done = words[size + 1:]"), (6, "done = words[size - 2:]"), (6, "done = words[:]"),
    (7, "return [word for word in done]"),
    (7, "return [word for word in done if word not in 'ab' and min(done) < word]"),
    (7, "return [word for word in done if word in 'XXab' and min(done) < word]"),
    (7, "return [word for word in done if word in 'ab' or min(done) < word]"),
    (7, "return [word for word in done if word in 'ab' and max(done) < word]"),
    (7, "return [word for word in done if word in 'ab' and min(done) <= word]")}


def test_mutants_are_all_changes_of_behaviour(campaign):
    found = list(campaign.mutants_of(SOURCE))
    assert {(mutant.line, mutant.after) for mutant in found} == CHANGED
    assert len(found) == len(CHANGED)
    for mutant in found:
        ast.parse(mutant.source)
        assert mutant.before in ast.unparse(ast.parse(SOURCE))


def test_modules_and_their_tests_exist(campaign):
    for module, tests in campaign.MODULES.items():
        assert (ROOT / f"punc/{module}.py").is_file()
        assert all((ROOT / f"tests/test_{name}.py").is_file() for name in tests.split())


def test_equivalent_mutants_are_of_lines_that_are_there(campaign):
    for module, before, after in campaign.equivalents():
        lines = ast.unparse(ast.parse((ROOT / f"punc/{module}.py").read_text(encoding="utf-8"))).splitlines()
        assert before in map(str.strip, lines), f"{module}: {before}"
        assert before != after
