"""The page of `punc report` as text; tests/test_page_in_browser.py opens it."""

import json
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from experiment import HOSTILE

from punc.base.errors import InputError
from punc.bin.report import main
from punc.bin.results import main as results
from punc.data.labels import Label, LabelSet
from punc.results import page
from punc.results.collect import collect_scores, paired_tests
from punc.results.page import PASSAGE, choose, encode, number_text, script_data, shown_mark, systems_table
from punc.results.slot_table import Hypothesis, SlotTable, recognise

for package in ("jinja2", "matplotlib"):
    pytest.importorskip(package)


class Read(HTMLParser):
    """The elements of a page, what is in its scripts, and the cells of its tables."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.scripts, self.tables, self.inside = [], [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.inside = tag
        if tag == "script":
            self.scripts.append("")
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        self.inside = "td" if tag == "small" or tag == "strong" else ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside in ("td", "th", "small", "strong") and self.tables:
            self.tables[-1][-1][-1] += data


def report(experiment, tmp_path, *options):
    main([*options, str(experiment), str(tmp_path / "report.html")])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    return SimpleNamespace(text=text, read=Read(text))


@pytest.fixture(scope="module")
def made(experiment, tmp_path_factory):
    return report(experiment, tmp_path_factory.mktemp("page"), "--title", "Tom & <b>")


def test_page_is_whole_and_alone(made):
    assert made.text.startswith("<!doctype html>")
    assert "<h1>Tom &amp; &lt;b&gt;</h1>" in made.text
    for tag, attributes in made.read.tags:
        assert tag not in ("link", "img", "iframe", "b")
        assert not any(name in attributes for name in ("src", "onclick", "data-src"))
        assert not re.match(r"\w+:", attributes.get("href", ""))
    assert "@import" not in made.text
    assert "url(http" not in made.text
    assert len(set(made.read.ids)) == len(made.read.ids)


def test_page_tables_are_in_the_text(made):
    by_head = {" ".join(rows[0][:3]): rows for rows in made.read.tables}
    systems = by_head["system overall F1 test"]
    assert [row[0] for row in systems[1:]] == ["A", "B"]  # the last set with that head, test_ref
    assert re.match(r"\d+\.\d \d+\.\d–\d+\.\d$", systems[1][1])
    assert by_head["system epochs kept"][1][:6] == ["B", "2", "2", "0.4000", "0.5500", "52.5"]
    assert {"reference as O as COMMA", "system COMMA PERIOD", "system error", "part slots marks"} <= by_head.keys()


def test_page_says_whose_posteriors_are_missing(made):
    assert made.text.count("No precision-recall curves and no calibration of A: their posteriors were not kept.") == 1


def test_page_hostile_text_is_text(made):
    data, script = made.read.scripts
    assert HOSTILE not in made.text
    passage = json.loads(data)["sets"][0]["passages"][0]
    assert HOSTILE in passage["words"]
    assert "use strict" in script
    kinds = [attributes.get("type") for tag, attributes in made.read.tags if tag == "script"]
    assert kinds == ["application/json", None]


def test_page_order_and_sample(experiment, tmp_path, monkeypatch):
    """The order is that of RESULTS.tsv; of a large set there is a sample, and the recordings that are asked for."""
    shutil.copytree(experiment.parent / "data", tmp_path / "data")
    shutil.copytree(experiment, tmp_path / "exp")
    assert results(["--sets", "test_asr", "--systems", "B", str(tmp_path / "exp")]) is None
    monkeypatch.setattr(page, "MOST_SLOTS", 60)
    found = report(tmp_path / "exp", tmp_path, "--recordings", "rec01")
    sets = json.loads(found.read.scripts[0])["sets"]
    assert [one["name"] for one in sets] == ["test_asr", "test_ref"]
    assert sets[1]["systems"] == ["B", "A"]
    assert re.match(r"A sample of 1\d\d of 240 slots, from 3 of 3 ", sets[1]["note"])
    slots = {}
    for passage in sets[1]["passages"]:
        slots[passage["stream"]] = slots.get(passage["stream"], 0) + len(passage["ref"])
    assert slots["rec01"] == 80
    links = [attributes["href"] for tag, attributes in found.read.tags if tag == "a"]
    assert "#errors?set=test_ref&recording=rec01" in links


def test_page_of_several_seeds_has_a_row_for_each_system(experiment, tmp_path):
    shutil.copytree(experiment.parent / "data", tmp_path / "data")
    shutil.copytree(experiment, tmp_path / "exp")
    for seed in (2, 3):
        shutil.copytree(experiment / "A", tmp_path / "exp" / f"A.seed{seed}")
    found = report(tmp_path / "exp", tmp_path)
    systems = next(rows for rows in found.read.tables if [row[0] for row in rows] == ["system", "A", "B"])
    assert re.match(r"\d+\.\d ± 0\.0, 3 seeds$", systems[1][1])
    assert "±: mean and standard deviation of trainings with several seeds" in found.text
    assert [one["systems"] for one in json.loads(found.read.scripts[0])["sets"]] == [["B"], ["A", "B"]]
    assert "A.seed2" not in found.text


def test_page_without_data_has_the_figures(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "exp")
    found = report(tmp_path / "exp", tmp_path)
    assert "test_ref has no plots and no text here: " in found.text
    assert len(found.read.tables) == 3  # systems on two sets, training
    assert 'id="data"' not in found.text


def test_report_of_a_recording_that_is_not_there(experiment, tmp_path):
    with pytest.raises(InputError, match=r"no set has a recording 'nobody'; name a recording, or a speaker, of a set"):
        report(experiment, tmp_path, "--recordings", "rec01 nobody")
    assert not (tmp_path / "report.html").exists()


def test_report_no_score(tmp_path):
    with pytest.raises(InputError, match="no scores"):
        report(tmp_path, tmp_path)


def test_report_without_packages_says_so(experiment, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    main([str(experiment), str(tmp_path / "report.html")])
    assert "jinja2 and matplotlib are not installed; pip install 'punc-toolkit[report]'" in capfd.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_number_text_script_data_shown_mark():
    assert [number_text(value) for value in (None, float("nan"), 0.25, 100.0)] == ["–", "–", "0.2", "100.0"]
    assert "<" not in script_data({"<!--": "</script>"})
    assert json.loads(script_data({"<!--": "</script>é"})) == {"<!--": "</script>é"}
    assert [shown_mark(Label("X", written)) for written in ("w", "W", "w,", "W.")] == ["", "Aa", ",", "Aa."]


@pytest.mark.parametrize(("alpha", "verdict"), [(1, "worse"), (0, "not significant")])
def test_systems_table(experiment, monkeypatch, alpha, verdict):
    monkeypatch.setattr("punc.results.page.ALPHA", alpha)
    scores = [score for score in collect_scores(experiment) if score.set == "test_ref"]
    found = systems_table(scores)
    assert found["best"] == "B"
    assert found["columns"][:3] == ["overall F1", "COMMA F1", "PERIOD F1"]
    assert "O F1" not in found["columns"]
    rows = {row["system"]: row for row in found["rows"]}
    assert rows["A"]["cells"][0] == scores[0].metrics["overall.F1"]
    test = paired_tests(scores, [("B", "A")], ["overall.F1"])[0]
    assert rows["B"]["test"] == "best"
    assert rows["A"]["test"] == f"{verdict}: {-test.difference:.1f}, p {test.p:.4f}"


def test_systems_table_other_slots_are_not_tested(experiment):
    scores = collect_scores(experiment)
    asr = next(score for score in scores if score.set == "test_asr")._replace(set="test_ref")
    other = next(score for score in scores if score.system == "A")
    row = next(row for row in systems_table([asr, other])["rows"] if row["system"] == "A")
    assert row["test"].startswith("not testable")


def test_choose_small_set_is_whole():
    assert choose(np.array([0, 3, 3, 7]), 7) == [(0, 3), (3, 7)]


def test_choose_large_set_stays_in_streams_and_under_the_limit():
    rng = np.random.default_rng(1)
    for sizes in ([100_000, 5, 70_000], [4] * 30_000, [2_000] * 130, [1_000_000], rng.integers(0, 900, 400).tolist()):
        begins = np.cumsum([0, *sizes])
        ranges = choose(begins, 10_000)
        slots = sum(end - begin for begin, end in ranges)
        assert 9_000 < slots <= 10_050  # a slot of each stream at least
        for begin, end in ranges:
            stream = np.searchsorted(begins, begin, side="right") - 1
            assert begin < end <= begins[stream + 1]
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
        assert ranges == choose(begins, 10_000)


def test_choose_wanted_stream_is_whole():
    begins = np.cumsum([0, 5_000, 5_000, 5_000])
    assert (5_000, 10_000) in choose(begins, 100, [1])


def table(slots):
    number = np.arange(slots)
    words = [f"w{i}" for i in number]
    return SlotTable(LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",)))), words, ["s"], np.array([0, slots]),
                     (number % 2).astype(np.int8), np.where(number == 1, np.nan, number / 10).astype(np.float32),
                     np.ones(slots, bool), {
                         "A": Hypothesis(np.zeros(slots, np.int8), np.full((slots, 2), 0.5, np.float32)),
                         "B": Hypothesis(np.ones(slots, np.int8))})


def test_encode_strings_have_the_slots():
    found = table(4)
    found.recognition = recognise([["w0", "x", "w2", "gone", "w3"]], found.words, found.begins)
    assert encode(found, [(1, 4)]) == [{
        "stream": "s", "at": 2, "words": "w1 w2 w3", "ref": "101", "pause": "--0k0u", "hyp": ["000", "111"],
        "post": ["505050", ""], "wrong": {0: "x"}, "missing": {1: "gone"}}]


def test_encode_cuts_passages_and_clips():
    found = table(PASSAGE + 1)
    found.pauses[:2] = 99, 0
    found.hypotheses["A"].posteriors[0] = 1
    first, second = encode(found, [(0, PASSAGE + 1)])
    assert (len(first["ref"]), second["words"]) == (PASSAGE, f"w{PASSAGE}")
    assert (first["pause"][:4], first["post"][0][:2]) == ("zz00", "99")
