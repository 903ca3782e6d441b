"""Imports run strictly downward, every module has a place, and nothing loads what it should not."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "punc"
# From the bottom up. A module imports from lines above its own only, never from its own line.
LAYERS = """
errors progressbar memory bfloat16
files idtable lookup triggers
labels tables options decode_dir clusters
ctm vectors word_vectors constraints
textgrids align ctm_blocks subtitles stm
datadir
text pauses project plots casing prose
characters pieces blocks validate marked_ctm
raw trs timed_text vocabulary
char_tokens subwords
units
parts
prepare store crf_features spoken
layers batches
models optim
progress decode
punctuate live plain_text
score transcript
significance train
report
results
bin
""".strip().split("\n")
PLACE = {name: number for number, line in enumerate(LAYERS) for name in line.split()}


def modules():
    """Every module of the package, punc.bin for punc/bin/__init__.py, with its file."""
    names = {path: path.relative_to(PACKAGE.parent).with_suffix("") for path in sorted(PACKAGE.rglob("*.py"))}
    return {".".join(name.parts).removesuffix(".__init__"): path for path, name in names.items()}


def place(module):
    """The layer of punc.labels or punc.layers.lstm; the package itself, which holds the version, is under all."""
    return PLACE[module.split(".")[1]] if "." in module else -1


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


@pytest.mark.parametrize("module", FILES)
def test_imports_run_downward(module):
    assert module == "punc" or module.split(".")[1] in PLACE, f"{module} has no place in LAYERS"
    for other in imports(FILES[module], set(FILES)):
        assert other in FILES, f"{module} imports {other}, which is not there"
        inside = other == "punc.models.base" or (module.startswith("punc.layers.") and other.startswith("punc.layers."))
        assert place(other) < place(module) or (inside and place(other) == place(module)), \
            f"{module} imports {other}, which is not below it"


def test_an_upward_import_is_seen(tmp_path):
    path = tmp_path / "m.py"
    for line in ("from punc.train import x", "import punc.train", "from punc import train, errors",
                 "def f():\n    from punc.train import x"):
        path.write_text(line)
        assert "punc.train" in imports(path, {"punc.train", "punc.errors"})


def test_places_are_of_modules_that_exist():
    assert PLACE.keys() == {module.split(".")[1] for module in FILES if "." in module}


@pytest.mark.parametrize("module", FILES)
def test_module_is_small_and_says_what_it_does(module):
    source = FILES[module].read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300, f"{module}: one job, or two?"
    assert ast.get_docstring(ast.parse(source)) or not source, f"{module} has no docstring"
