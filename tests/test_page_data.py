"""Page data: read back as written, published into a recipe's directory; the published figures of the recipes."""

import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.results.page_data import (
    Cost,
    PageData,
    PairedTest,
    publish,
    read_page_data,
    read_published,
    write_page_data,
)
from punc.scoring.significance import Interval

NAN = float("nan")


@pytest.fixture
def data():
    metrics = {("A", "ref"): {"COMMA.F1": Interval(61.25, 50.5, 70.125), "Err": Interval(5, NAN, NAN)},
               ("B", "asr"): {"Err": Interval(NAN, NAN, NAN)}}
    return PageData(metrics, {("A", "ref"): "labels:O+COMMA|slots:10", ("B", "asr"): "labels:N+C|slots:9"},
                    [PairedTest("A", "B", "ref", "Err", 21.22, 10.04, 30.06, 0.0005)],
                    {"A": Cost("A", 7, 390, 14321), "B": Cost("B", NAN, 7500, NAN)}, "./run.sh\n./run.sh --again", [])


def test_page_data_is_read_back(tmp_path, data):
    write_page_data(tmp_path, data)
    (tmp_path / "results/pauses.png").write_bytes(b"")
    again = read_page_data(tmp_path)
    assert str(again) == str(data).replace("pictures=[]", "pictures=['pauses.png']").replace(
        "epochs=7,", "epochs=7.0,").replace("390,", "390.0,").replace("14321", "14321.0").replace(
        "7500,", "7500.0,").replace("value=5,", "value=5.0,")


def test_write_page_data_removes_empty_tables(tmp_path, data):
    write_page_data(tmp_path, data)
    write_page_data(tmp_path, PageData(data.metrics, data.signatures))
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"signatures.tsv"}


def test_read_page_data_missing_table_raises(tmp_path, data):
    write_page_data(tmp_path, data)
    (tmp_path / "results/signatures.tsv").unlink()
    with pytest.raises(InputError, match=r"signatures\.tsv: no such file"):
        read_page_data(tmp_path)


def test_published_f1_is_the_harmonic_mean_of_p_and_r(pytestconfig):
    """F1 is the harmonic mean of P and R in every published row that has all three, within rounding."""
    paths = list(pytestconfig.rootpath.glob("egs/*/conf/published.tsv"))
    assert paths
    for path in paths:
        of = {(row.system, row.set, row.metric): row.value for row in read_published(path)}
        for (system, set, metric), f1 in of.items():
            p, r = (of.get((system, set, metric.replace(".F1", part))) for part in (".P", ".R"))
            if metric.endswith(".F1") and p and r:
                # A paper that gives whole percents rounds P, R and F1 by up to a half each.
                rounding = 1.0 if f1 % 1 == p % 1 == r % 1 == 0 else 0.16
                assert f1 == pytest.approx(2 * p * r / (p + r), abs=rounding), (system, set, metric)


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
