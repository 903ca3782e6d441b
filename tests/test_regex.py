"""No regular expression in punc, utils and egs takes more than quadratic time on any text, according to regexploit."""

import ast
import importlib
import pkgutil
import re
from contextlib import suppress
from pathlib import Path

import pytest

import punc

ROOT = Path(__file__).parents[1]
FILES = sorted(path for folder in ("punc", "utils", "egs") for path in (ROOT / folder).rglob("*.py")
               if not {"data", "exp"} & set(path.relative_to(ROOT / folder).parts[2:]))


def patterns_in(value):
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(part)


def expressions():
    for module in pkgutil.walk_packages(punc.__path__, "punc."):
        for value in vars(importlib.import_module(module.name)).values():
            for pattern in patterns_in(value):
                if isinstance(pattern.pattern, str):
                    yield pattern.pattern, pattern.flags
    reader = pytest.importorskip("regexploit.languages.python_node_visitor").PythonNodeVisitor
    for path in FILES:
        visitor = reader()
        visitor.visit(ast.parse(path.read_text(encoding="utf-8")))
        for regex in visitor.patterns:  # strings that look like regular expressions
            with suppress(re.error):
                re.compile(regex.pattern)
                yield regex.pattern, regex.flags


def test_no_two_repetitions_overlap():
    sre, redos = pytest.importorskip("regexploit.ast.sre"), pytest.importorskip("regexploit.redos")
    found = sorted(set(expressions()))
    assert len(found) > 200
    slow = [pattern for pattern, flags in found
            if any(one.starriness > 2 for one in redos.find(sre.SreOpParser().parse_sre(pattern, flags)))]
    assert not slow
