"""The benches of tests/bench, which the tests do not run: what they import from punc is there."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

BENCHES = sorted(Path(__file__).with_name("bench").glob("*.py"))


def names_of(path):
    """(module, name) of what a file imports from punc."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "punc":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.stem)
def test_bench_imports_exist(path):
    for module, name in names_of(path):
        if not hasattr(importlib.import_module(module), name):
            assert importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"
