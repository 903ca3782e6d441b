"""Page data: read back as written, and the published figures of the recipes."""

import pytest

from punc.base.errors import InputError
from punc.results.page_data import Cost, PageData, PairedTest, read_page_data, read_published, write_page_data
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


def test_page_data_sets_systems_and_empty_labels(data):
    assert (data.sets, data.systems, data.empty_labels()) == (["ref", "asr"], ["A", "B"], {"O", "N"})


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
