"""The page of `punc report` as text; tests/test_page_in_browser.py opens it."""

import json
import re
import shutil
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from experiment import HOSTILE

from punc.base.errors import InputError
from punc.bin.report import main
from punc.data.labels import Label
from punc.results import page
from punc.results.page import number_text, script_data, shown_mark

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


def test_page_order_and_sample(experiment, tmp_path):
    found = report(experiment, tmp_path, "--sets", "test_asr", "--systems", "B", "--most-slots", "60", "--recordings",
                   "rec01")
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


@pytest.mark.parametrize(("options", "message"), [
    (["--recordings", "rec01 nobody"], "no set has a recording 'nobody'; name a recording, or a speaker, of a set"),
    (["--most-slots", "0"], "--most-slots=0 is too small; give 1 or more"),
    (["--spoken", "test_asr"], "--spoken=test_asr is not a pair; write SET=SET, as test_asr=test_ref")])
def test_report_mistakes(experiment, tmp_path, options, message):
    with pytest.raises(InputError) as error:
        report(experiment, tmp_path, *options)
    assert str(error.value) == message
    assert not (tmp_path / "report.html").exists()


def test_report_no_score(tmp_path):
    with pytest.raises(InputError, match="no scores"):
        report(tmp_path, tmp_path)


def test_report_without_packages_says_so(experiment, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(page.importlib.util, "find_spec", lambda name: None)
    main([str(experiment), str(tmp_path / "report.html")])
    assert "jinja2 and matplotlib are not installed; pip install 'punc-toolkit[report]'" in capfd.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_number_text_script_data_shown_mark():
    assert [number_text(value) for value in (None, float("nan"), 0.25, 100.0)] == ["–", "–", "0.2", "100.0"]
    assert "<" not in script_data({"<!--": "</script>"})
    assert json.loads(script_data({"<!--": "</script>é"})) == {"<!--": "</script>é"}
    assert [shown_mark(Label("X", written)) for written in ("w", "W", "w,", "W.")] == ["", "Aa", ",", "Aa."]
