"""The score directory, its signature and tables; scores of posteriors; tables that are written and read back."""

import json
import re

import kaldiio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.scoring.posteriors import Posteriors
from punc.scoring.report import duration, markdown_table, read_tsv, score_json, score_table, write_tsv
from punc.scoring.significance import Comparison, Interval

HEADER = ("metric", "value", "low", "high")
NAN = float("nan")


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    reference = ["O", "COMMA", "O", "PERIOD"]
    sides = {"ref": reference, "good": ["O", "COMMA", "O", "COMMA"], "bad": ["COMMA", "O", "PERIOD", "O"]}
    for name, labels in sides.items():
        write_data_dir(name, [Utterance(f"u{i:02}", f"u{i:02}", ["a", "b", "c", "d"],
                                        reference if name == "good" and i % 3 else labels, None) for i in range(20)])
    return tmp_path


def score(*options, hypothesis="good", out="out"):
    return main(["score", "--labels", "labels.txt", *options, "ref", hypothesis, out])


def rows(path):
    return {name: numbers for name, *numbers in read_tsv(path, HEADER, HEADER[1:])}


def test_score_writes_directory_and_table(work, capsys):
    assert score() == 0
    assert {path.name for path in (work / "out").iterdir()} == {"counts.tsv", "metrics.tsv", "labels.txt", "signature"}
    found = rows("out/metrics.tsv")
    assert found["Err"][0] == pytest.approx(100 * 7 / 80, abs=1e-4)
    assert found["PERIOD.R"][0] == pytest.approx(100 * 13 / 20, abs=1e-4)
    assert found["Err"][1] < found["Err"][0] < found["Err"][2]
    printed = capsys.readouterr().out
    assert re.search(r"^COMMA +74\.1 \S+ +100\.0 100\.0–100\.0 +85\.1 ", printed, re.M)
    signed = (work / "out/signature").read_text().strip()
    assert printed.endswith(signed + "\n")
    assert re.fullmatch(r"labels:O\+COMMA\+PERIOD\|words:same\|last-slot:true\|slots:80\|marks:40\|units:20 streams"
                        r"\|bootstrap:2000\|seed:1\|reference:[0-9a-f]+\|punc:[\d.]+\+[0-9a-f]{8}\|python:3\.\d+"
                        r"\|numpy:\S+", signed)


def test_signature_differs_with_options_and_words(work):
    seen = set()
    variants = [(), ("--last-slot", "false"), ("--merge", "O=O+COMMA")]
    for options in variants:
        score(*options)
        seen.add((work / "out/signature").read_text())
    assert len(seen) == len(variants)
    score(hypothesis="bad")
    assert (work / "out/signature").read_text() in seen  # the signature does not depend on the system's labels
    write_data_dir("good", [Utterance(f"u{i:02}", f"u{i:02}", ["a", "b", "x", "c", "d"], ["O"] * 5, None)
                            for i in range(20)])
    score()
    signed = (work / "out/signature").read_text()
    assert "|words:aligned by edit distance in 20 of 20 streams|" in signed
    assert "|slots:100|" in signed
    assert "|rapidfuzz:" in signed


def test_score_against_other_system(work, capsys):
    score(out="one")
    score("--against", "one", hypothesis="bad", out="two")
    header = ("metric", *Comparison._fields)
    found = {name: Comparison(*numbers) for name, *numbers in read_tsv("two/against.tsv", header, Comparison._fields)}
    assert found["Err"].difference == pytest.approx(100 - 8.75)
    assert found["Err"].p < 0.01
    assert re.search(r"^Err +100\.0 +8\.8 +\+91\.2 \S+ … \S+ +0\.0005$", capsys.readouterr().out, re.M)
    score(hypothesis="bad", out="two")
    assert not (work / "two/against.tsv").exists()  # the second run removes the file of the first


@pytest.mark.parametrize(("options", "message"), [
    (["--against", "none"], "none/metrics.tsv: no such file"),
    (["--last-slot", "yes"], "invalid choice: 'yes'"),
    (["--labels", "none"], "none: no such file"),
    (["--labels", "out/labels.txt"], "out/labels.txt: the output file is also an input file"),
    (["--collapse", "x:A=B"], "'B' is not a label of the set"),
    (["--colapse", "x"], "did you mean --collapse?"),
])
def test_score_wrong_option_is_one_line_and_keeps_output(work, capsys, options, message):
    score()
    before = {path.name: path.read_bytes() for path in (work / "out").iterdir()}
    capsys.readouterr()
    assert score(*options) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("punc score: ")
    assert message in captured.err
    assert {path.name: path.read_bytes() for path in (work / "out").iterdir()} == before


def test_score_against_other_units_raises(work, capsys):
    score(out="one")
    for name in ("ref", "good"):
        write_data_dir(name, [Utterance(f"v{i:02}", f"v{i:02}", ["a"], ["O"], None) for i in range(20)])
    assert score("--against", "one", out="two") == 1
    assert "one: the units differ" in capsys.readouterr().err
    assert not (work / "two").exists()


def test_score_table_undefined_is_dash():
    table = score_table({"COMMA.P": Interval(NAN, NAN, NAN), "COMMA.R": Interval(0, 0, 0),
                         "COMMA.F1": Interval(12.345, 1, 2), "Err": Interval(5, NAN, NAN)})
    assert [line.split() for line in table.splitlines()[1:]] == [
        ["COMMA", "–", "0.0", "0.0–0.0", "12.3", "1.0–2.0"], ["Err", "5.0"]]


def test_score_json_undefined_is_null():
    found = json.loads(score_json({"COMMA.P": Interval(NAN, NAN, NAN), "Err": Interval(5, NAN, 6)}, "signed",
                                  {"Err": Comparison(5, 6, -1, -2, 0, NAN)}))
    assert found == {"signature": "signed", "metrics": {"COMMA.P": {"value": None, "low": None, "high": None},
                                                        "Err": {"value": 5, "low": None, "high": 6}},
                     "against": {"Err": {"this": 5, "other": 6, "difference": -1, "low": -2, "high": 0, "p": None}}}


@pytest.fixture
def posteriors_work(tmp_path, monkeypatch):
    """Make labels.txt and two data directories of the same 12 streams of 4 words: ref, and exp/S/decode with
    posteriors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    rng, matrices = np.random.default_rng(1), {}
    sides = {"ref": [], "exp/S/decode": []}
    for i in range(12):
        id = f"u{i:02}"
        matrices[id] = rng.dirichlet([1, 1, 1], 4).astype(np.float32)
        for name, labels in (("ref", rng.integers(0, 3, 4)), ("exp/S/decode", matrices[id].argmax(1))):
            sides[name].append(Utterance(id, id, list("abcd"), [("O", "COMMA", "PERIOD")[j] for j in labels]))
    for name, utterances in sides.items():
        write_data_dir(name, utterances)
    kaldiio.save_ark("exp/S/decode/post.ark", matrices)
    return tmp_path


def posteriors_score(*options, out="score"):
    return main(["score", "--labels", "labels.txt", *options, "ref", "exp/S/decode", out])


def area(path="score"):
    return next(line.split("\t")[1:] for line in open(f"{path}/metrics.tsv") if line.startswith("COMMA.AUPRC"))


def test_score_has_the_area_under_the_curve(posteriors_work):
    assert posteriors_score() == 0
    value, *bounds = area()
    assert 0 < float(value) < 100
    assert [bound.strip() for bound in bounds] == ["nan", "nan"]
    (posteriors_work / "exp/S/decode/post.ark").unlink()
    assert posteriors_score() == 0
    assert "AUPRC" not in (posteriors_work / "score/metrics.tsv").read_text()


def test_posteriors_of_other_labels_are_left_out(posteriors_work):
    LabelSet.read("labels.txt")
    (posteriors_work / "exp/S/labels.txt").write_text("O w\nPERIOD w. .\nCOMMA w, ,\n")
    assert Posteriors.of("exp/S/decode", LabelSet.read("labels.txt")) is None
    assert Posteriors.of("ref", LabelSet.read("labels.txt")) is None


def test_posteriors_of_other_slots_raise(posteriors_work):
    found = Posteriors.of("exp/S/decode", LabelSet.read("labels.txt"))
    with pytest.raises(InputError, match=r"post\.ark: no posteriors for the 3 slots of 'u00'"):
        found.add([Utterance("u00", "u00", list("abc"), ["O"] * 3)], np.zeros(3, int), np.ones(3, bool))


@given(st.lists(st.tuples(st.text("abc.-", min_size=1), *[st.floats(-1e6, 1e6) | st.just(NAN)] * 3), max_size=9))
def test_read_tsv_reads_what_was_written(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("table") / "metrics.tsv"
    write_tsv(path, HEADER, table)
    again = read_tsv(path, HEADER, HEADER[1:])
    assert [row[0] for row in again] == [row[0] for row in table]
    for row, expected in zip(again, table):
        assert row[1:] == pytest.approx(list(expected[1:]), abs=1e-4, nan_ok=True)


@pytest.mark.parametrize(("text", "line"), [
    ("metric value low high\n", 1),
    ("metric\tvalue\tlow\thigh\nErr\t1\t2\n", 2),
    ("metric\tvalue\tlow\thigh\nErr\t1\t2\tx\n", 2),
])
def test_read_tsv_wrong_line_raises(tmp_path, text, line):
    (tmp_path / "metrics.tsv").write_text(text)
    with pytest.raises(InputError, match=rf"metrics.tsv:{line}: .*metric value low high"):
        read_tsv(tmp_path / "metrics.tsv", HEADER, HEADER[1:])


def test_markdown_table_escapes_bars():
    assert markdown_table([["a", "b"], ["1|2", ""]]) == "| a | b |\n|---|---|\n| 1\\|2 |  |"


@pytest.mark.parametrize(("seconds", "text"), [
    (0.4, "0 s"), (47.3, "47 s"), (119, "119 s"), (121, "2 min"), (7100, "118 min"), (7500, "2 h 5 min")])
def test_duration(seconds, text):
    assert duration(seconds) == text
