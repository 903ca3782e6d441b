"""Pages written into an experiment, and published into a recipe's directory."""

import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.results.publish import publish, write_pages


def write(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tree(root):
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def exp(tmp_path):
    root = tmp_path / "exp"
    write(root, RESULTS_md="new", RESULTS_tsv="new", results__ref_md="new", results__tests_tsv="new",
          results__pauses_png="new", TLSTM__final_pt="model")
    return root


def test_publish_replaces_and_removes(exp, tmp_path):
    target = tmp_path / "recipe"
    write(target, RESULTS_md="old", results__dev_md="old", results__ref_md="old", results__old_png="old",
          results__4__RESULTS_md="another page", run_sh="old")
    names = publish(exp, target)
    assert tree(target) == {
        "RESULTS.md": "new", "RESULTS.tsv": "new", "results/ref.md": "new", "results/tests.tsv": "new",
        "results/pauses.png": "new", "results/4/RESULTS.md": "another page", "run.sh": "old"}
    assert sorted(names) == ["RESULTS.md", "RESULTS.tsv", "results/pauses.png", "results/ref.md", "results/tests.tsv"]
    assert publish(exp, target) == names


def test_publish_command_makes_the_target(exp, tmp_path, capsys):
    assert main(["publish", str(exp), str(tmp_path / "results/4-europarl")]) == 0
    assert capsys.readouterr().err == f"punc publish: 5 files in {tmp_path}/results/4-europarl\n"
    assert (tmp_path / "results/4-europarl/RESULTS.md").read_text() == "new"


def test_publish_without_pages_keeps_the_target(exp, tmp_path, capsys):
    write(tmp_path, RESULTS_md="old", results__ref_md="old")
    (exp / "RESULTS.tsv").unlink()
    before = tree(tmp_path)
    assert main(["publish", str(exp), str(tmp_path)]) == 1
    assert capsys.readouterr().err == (f"punc publish: {exp}/RESULTS.tsv: no such file; make it with punc results\n")
    assert tree(tmp_path) == before
    with pytest.raises(InputError):
        publish(tmp_path / "none", tmp_path)


def test_write_pages_removes_pages_of_other_sets(tmp_path):
    write(tmp_path, results__old_md="old", results__tests_tsv="kept", results__pauses_png="kept")
    write_pages(tmp_path, {"RESULTS.md": "new", "results/ref.md": "new"})
    assert tree(tmp_path) == {"RESULTS.md": "new", "results/ref.md": "new", "results/tests.tsv": "kept",
                              "results/pauses.png": "kept"}
