"""Regular expressions: none takes more than quadratic time, whatever it reads."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import punc

ROOT = Path(__file__).parents[1]
FILES = sorted(path for folder in ("punc", "utils", "egs") for path in (ROOT / folder).rglob("*.py")
               if not {"data", "exp"} & set(path.relative_to(ROOT / folder).parts[2:]))


def patterns_in(value):
    """The compiled expressions in a module's value, and in its tables."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(part)


def expressions():
    """What each expression says, with its flags: all that modules hold, and all that stand in a call of `re`."""
    for module in pkgutil.walk_packages(punc.__path__, "punc."):
        for value in vars(importlib.import_module(module.name)).values():
            for pattern in patterns_in(value):
                if isinstance(pattern.pattern, str):
                    yield pattern.pattern, pattern.flags
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(
                    node.func.value, ast.Name) and node.func.value.id == "re" and node.args:
                if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                    yield node.args[0].value, 0


def test_no_two_repetitions_overlap():
    sre, redos = pytest.importorskip("regexploit.ast.sre"), pytest.importorskip("regexploit.redos")
    found = sorted(set(expressions()))
    assert len(found) > 150
    slow = [pattern for pattern, flags in found
            if any(one.starriness > 2 for one in redos.find(sre.SreOpParser().parse_sre(pattern, flags)))]
    assert not slow
