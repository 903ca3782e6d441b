"""Imports run strictly downward between packages, without a cycle inside one; each module is small and documented."""

import ast
import importlib
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "punc"
# From the bottom up. A package imports from those before it and from itself.
PACKAGES = ["base", "data", "timing", "text", "asr", "tokens", "layers", "models", "runtime", "decoding", "scoring",
            "report", "noise", "training", "bin"]


def modules():
    """Every module of the package, punc.bin for punc/bin/__init__.py, with its file."""
    names = {path: path.relative_to(PACKAGE.parent).with_suffix("") for path in sorted(PACKAGE.rglob("*.py"))}
    return {".".join(name.parts).removesuffix(".__init__"): path for path, name in names.items()}


def level(module):
    """The place of a module's package in PACKAGES; punc itself, the interface for programs, is above all."""
    return PACKAGES.index(module.split(".")[1]) if "." in module else len(PACKAGES)


def imports(path, names):
    """The modules of punc that a file imports, wherever in it that is written."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name.split(".")[0] == "punc")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import; write punc.…"
            if node.module.split(".")[0] == "punc":
                inside = {f"{node.module}.{alias.name}" for alias in node.names} & names
                found.update(inside or {node.module})
    return found - {"punc"}


FILES = modules()


def test_packages_are_those_on_disk():
    assert sorted(PACKAGES) == sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    assert {module.split(".")[1] for module in FILES if "." in module} <= set(PACKAGES)


@pytest.mark.parametrize("module", FILES)
def test_imports_run_downward(module):
    for other in imports(FILES[module], set(FILES)):
        assert other in FILES, f"{module} imports {other}, which is not there"
        assert level(other) <= level(module), f"{module} imports {other}, which is not below it"


def test_imports_have_no_cycle():
    # Raises CycleError, which names the modules of a cycle.
    tuple(TopologicalSorter({module: imports(path, set(FILES)) for module, path in FILES.items()}).static_order())


def test_imports_upward_is_seen(tmp_path):
    path = tmp_path / "m.py"
    for line in ("from punc.training.train import x", "import punc.training.train", "from punc.training import train",
                 "def f():\n    from punc.training.train import x"):
        path.write_text(line)
        assert "punc.training.train" in imports(path, {"punc.training.train", "punc.base.errors"})
    assert level("punc.training.train") > level("punc.base.errors")


@pytest.mark.parametrize("module", FILES)
def test_module_is_small_and_documented(module):
    source = FILES[module].read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300, f"{module}: one job, or two?"
    assert ast.get_docstring(ast.parse(source)), f"{module} has no docstring"


LISTED = re.compile(r"^    (\w+)  +(.+(?:\n      +.+)*)", re.MULTILINE)  # a module, and what stands behind it


def listed(package):
    """The public names that a package's docstring lists, as (module, name)."""
    found = set()
    for module, text in LISTED.findall(ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text()))):
        found |= {(f"punc.{package}.{module}", name) for name in re.findall(r"\w+", text.partition(":")[0])}
    return found


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in ("models", "bin")])
def test_public_names_exist(package):
    assert listed(package)
    for module, name in listed(package):
        assert hasattr(importlib.import_module(module), name), f"punc/{package}/__init__.py lists {module}.{name}"


@pytest.mark.parametrize("module", FILES)
def test_names_of_another_package_are_public(module):
    # Architectures, formats, tokenizers and metrics are found by their files' names.
    by_name = ("punc.models.", "punc.text.formats.", "punc.asr.formats.", "punc.tokens.tokenizers.",
               "punc.scoring.metrics.")
    nodes = ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8")))
    for node in (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("punc.")):
        if node.module.startswith(by_name):
            continue
        package = node.module.split(".")[1]
        names = {(node.module, alias.name) for alias in node.names if f"{node.module}.{alias.name}" not in FILES}
        if package not in ("models", "bin") and module.split(".")[1:2] != [package]:
            assert names <= listed(package), f"{module} imports what punc/{package}/__init__.py does not list"
