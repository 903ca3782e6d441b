"""The score directory, its signature and the table, through the command."""

import json
import re

import pytest

from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.scoring.report import score_json, score_table
from punc.scoring.significance import Comparison, Interval
from punc.scoring.tables import read_tsv

HEADER = ("metric", "value", "low", "high")
NAN = float("nan")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A directory with labels.txt and three data directories: ref, good, bad."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    reference = ["O", "COMMA", "O", "PERIOD"]
    sides = {"ref": reference, "good": ["O", "COMMA", "O", "COMMA"], "bad": ["COMMA", "O", "PERIOD", "O"]}
    for name, labels in sides.items():
        write_data_dir(name, [Utterance(f"u{i:02}", f"u{i:02}", ["a", "b", "c", "d"],
                                        reference if name == "good" and i % 3 else labels, None) for i in range(20)])
    return tmp_path


def score(*options, hypothesis="good", out="out"):
    return main(["score", "--labels", "labels.txt", "--replicates", "200", *options, "ref", hypothesis, out])


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
                        r"\|bootstrap:200\|seed:1\|reference:[0-9a-f]+\|punc:[\d.]+\|python:3\.\d+\|numpy:\S+", signed)


def test_signature_differs_with_options_and_words(work):
    seen = set()
    variants = [(), ("--last-slot", "false"), ("--merge", "O=O+COMMA"), ("--replicates", "100")]
    for options in variants:
        score(*options)
        seen.add((work / "out/signature").read_text())
    assert len(seen) == len(variants)
    score(hypothesis="bad")
    assert (work / "out/signature").read_text() in seen  # a system's labels are not part of it
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
    found = {name: Comparison(*numbers)
             for name, *numbers in read_tsv("two/against.tsv", header, Comparison._fields)}
    assert found["Err"].difference == pytest.approx(100 - 8.75)
    assert found["Err"].p < 0.01
    assert re.search(r"^Err +100\.0 +8\.8 +\+91\.2 \S+ … \S+ +0\.0050$", capsys.readouterr().out, re.M)
    score(hypothesis="bad", out="two")
    assert not (work / "two/against.tsv").exists()  # the older one belongs to another run


@pytest.mark.parametrize(("options", "message"), [
    (["--against", "none"], "none/metrics.tsv: no such file"),
    (["--replicates", "0"], "--replicates=0 is too small"),
    (["--last-slot", "yes"], "invalid choice: 'yes'"),
    (["--labels", "none"], "none: no such file"),
    (["--collapse", "x:A=B"], "'B' is no label of the set"),
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
    assert "one: other units" in capsys.readouterr().err
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
