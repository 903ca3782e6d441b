"""What the benches and the scripts of recipes, which the tests do not all run, import from punc is there."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATTERNS = ("tests/bench/*.py", "egs/*/local/*.py", "utils/*.py")
FILES = sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))


def names_of(path):
    """(module, name) of what a file imports from punc."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "punc":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_of_punc_exist(path):
    for module, name in names_of(path):
        if not hasattr(importlib.import_module(module), name):
            assert importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"
