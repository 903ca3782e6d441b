"""Packages import only from lower packages, imports have no cycle, and modules are small and documented."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "punc"
# From low to high: a package imports only from itself and from packages to its left.
PACKAGES = ["base", "data", "timing", "transcripts", "text", "tokens", "layers", "models", "subtitles", "decoding",
            "live", "scoring", "results", "noise", "training", "bin"]


def modules():
    """Return {module: file} for all modules of punc. punc/bin/__init__.py is punc.bin."""
    names = {path: path.relative_to(PACKAGE.parent).with_suffix("") for path in sorted(PACKAGE.rglob("*.py"))}
    return {".".join(name.parts).removesuffix(".__init__"): path for path, name in names.items()}


def level(module):
    """Return the index of a module's package in PACKAGES. punc itself is above all packages."""
    return PACKAGES.index(module.split(".")[1]) if "." in module else len(PACKAGES)


def imports(path, names):
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
    # Raises CycleError if modules import each other in a cycle. The error names them.
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


@pytest.mark.parametrize("module", FILES)
def test_imported_names_are_public(module):
    nodes = ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8")))
    for node in (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("punc")):
        private = [alias.name for alias in node.names if alias.name.startswith("_")]
        assert not private or node.module.startswith("punc.bin") or private == ["__version__"], (
            f"{module} imports {private} of {node.module}")
