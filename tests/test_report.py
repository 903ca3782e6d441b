"""The HTML page of `punc report`, its tables, and the slots that it shows. test_page_in_browser.py tests it in a
browser."""

import json
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import kaldiio
import numpy as np
import pytest
from experiment import HOSTILE, NAMES

from punc.base.errors import InputError
from punc.bin.report import main
from punc.bin.results import main as results
from punc.bin.score import main as score
from punc.data.datadir import DataDir
from punc.data.kaldi_io import read_archive
from punc.data.labels import Label, LabelSet
from punc.results import page
from punc.results.collect import collect_scores, paired_tests
from punc.results.figures import styles
from punc.results.page import choose, encode, systems_table
from punc.results.set_view import DISTANCES, PAUSES, POSITIONS, breakdowns, by_stream, precision_recall, view
from punc.results.slot_table import Hypothesis, SlotTable, read_slot_table, recognise

for package in ("jinja2", "matplotlib"):
    pytest.importorskip(package)


class Read(HTMLParser):
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
    assert [row[0] for row in systems[1:]] == ["A", "B"]  # the last table with this header is that of test_ref
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
    """Systems are in the order of RESULTS.tsv. Large sets show a sample that includes the requested recordings."""
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
    assert "± follows the mean of several seeds and gives their standard deviation; the test" in found.text
    assert [one["systems"] for one in json.loads(found.read.scripts[0])["sets"]] == [["B"], ["A", "B"]]
    assert "A.seed2" not in found.text


def test_page_without_data_has_the_figures(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "exp")
    found = report(tmp_path / "exp", tmp_path)
    assert "test_ref has no plots and no text here: " in found.text
    assert len(found.read.tables) == 3  # a table of systems for each of the two sets, and a table of training
    assert 'id="data"' not in found.text


def test_report_of_a_missing_recording(experiment, tmp_path):
    with pytest.raises(InputError, match=r"no set has a recording 'nobody'; give a recording, or a speaker, of a set"):
        report(experiment, tmp_path, "--recordings", "rec01 nobody")
    assert not (tmp_path / "report.html").exists()


def test_report_without_packages_says_so(experiment, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    main([str(experiment), str(tmp_path / "report.html")])
    assert "jinja2 and matplotlib are not installed; pip install 'punc-toolkit[report]'" in capfd.readouterr().err
    assert not (tmp_path / "report.html").exists()


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


def test_choose_large_set_stays_in_streams_and_under_the_limit():
    rng = np.random.default_rng(1)
    for sizes in ([100_000, 5, 70_000], [4] * 30_000, [2_000] * 130, [1_000_000], rng.integers(0, 900, 400).tolist()):
        begins = np.cumsum([0, *sizes])
        ranges = choose(begins, 10_000)
        slots = sum(end - begin for begin, end in ranges)
        assert 9_000 < slots <= 10_050  # may exceed 10,000, because each stream drawn gets at least one slot
        for begin, end in ranges:
            stream = np.searchsorted(begins, begin, side="right") - 1
            assert begin < end <= begins[stream + 1]
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
        assert ranges == choose(begins, 10_000)


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


pytest.importorskip("matplotlib")


def test_view(experiment):
    scores = [score for score in collect_scores(experiment) if score.set == "test_ref"]
    table = read_slot_table(scores, experiment.parent / "data")
    found = view(table, styles(["A", "B"]), "set1", {"rec01"})
    assert found["slots"] == 240
    rows = found["confusions"][0]["rows"]
    assert [[count for count, _ in row["cells"]] for row in rows] == table.confusion("A")[0].tolist()
    assert all(sum(share for _, share in row["cells"]) == pytest.approx(100) for row in rows)
    assert [system for system, _ in found["curves"]["rows"]] == ["B"]
    assert found["without_posteriors"] == ["A"]
    recall, precision = found["curves"]["rows"][0][1][0].operating
    metrics = scores[1].metrics
    assert (recall, precision) == pytest.approx((metrics["COMMA.R"].value, metrics["COMMA.P"].value))
    assert {row["group"] for row in found["streams"]["rows"] if row["shown"]} == {"rec01"}


@pytest.fixture(scope="module", params=["test_ref", "test_asr"])
def slots(request, experiment):
    return read_slot_table([score for score in collect_scores(experiment) if score.set == request.param],
                           experiment.parent / "data", "test_ref" if request.param == "test_asr" else "")


def f1(table, system, chosen):
    ref, hyp = table.reference[chosen], table.hypotheses[system].labels[chosen]
    both, wanted, written = np.sum((ref == hyp) & (ref > 0)), np.sum(ref > 0), np.sum(hyp > 0)
    return 200 * both / (wanted + written) if wanted + written else np.nan


def test_breakdowns_cover_the_set(slots):
    for found in [*breakdowns(slots).values(), by_stream(slots)]:
        assert sum(group.slots for group in found) == len(slots.words)
        assert sum(group.marks for group in found) == (slots.reference > 0).sum()
    titles = list(breakdowns(slots))
    assert len(titles) == (3 if slots.recognition is None else 4)


def test_breakdowns_pauses(slots):
    found = breakdowns(slots)["F1 by length of pause, in seconds"]
    assert [group.group for group in found] == ["none", "0.01–0.1", "0.3–0.5", "from 1", "unknown"]
    system = next(iter(slots.hypotheses))
    np.testing.assert_allclose([group.f1[0] for group in found], [
        f1(slots, system, np.isnan(slots.pauses) if np.isnan(pause) else np.isclose(slots.pauses, pause))
        for pause in (0, 0.05, 0.4, 2, np.nan)])
    assert found[-2].group == f"from {PAUSES[-1]:g}"


def test_breakdowns_positions_and_distances(slots):
    *_, positions = breakdowns(slots).values()
    last = len(slots.words) // 3  # in each stream
    assert [group[:2] for group in positions] == [("1–5", 15), ("6–20", 45), (f"21–{POSITIONS[2]}", 3 * (last - 20))]
    if slots.recognition is not None:
        distances = breakdowns(slots)["F1 by words to the nearest recognition error"]
        assert [group.group for group in distances[:2]] == ["at an error", "1"]
        assert distances[0].slots == (slots.recognition.distance == 0).sum()
        assert distances[-1].group == f"from {DISTANCES[-1]}"


def test_precision_recall_average_precision_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    for size in (5, 400):
        expected = rng.random(size) < 0.3
        expected[0] = True
        posterior = np.round(rng.random(size), 2)  # rounded, so that some posteriors are equal
        found = precision_recall(posterior, expected, posterior > 0.5)
        assert found.average_precision == pytest.approx(100 * metrics.average_precision_score(expected, posterior))


def scores_of(exp, name):
    return [score for score in collect_scores(exp) if score.set == name]


@pytest.fixture
def copied(experiment, tmp_path):
    shutil.copytree(experiment.parent, tmp_path / "copy")
    return tmp_path / "copy/exp"


def test_read_slot_table_columns(experiment):
    table = read_slot_table(scores_of(experiment, "test_ref"), experiment.parent / "data")
    utterances = list(DataDir(experiment.parent / "data/test_ref").utterances())
    assert table.words == [word for one in utterances for word in one.words]
    assert [NAMES[label] for label in table.reference] == [label for one in utterances for label in one.labels]
    np.testing.assert_array_equal(table.pauses, np.concatenate([one.pauses for one in utterances]))
    assert (table.streams, table.begins.tolist()) == (["rec00", "rec01", "rec02"], [0, 80, 160, 240])
    assert table.hypotheses["A"].posteriors is None
    posteriors = table.hypotheses["B"].posteriors
    np.testing.assert_allclose(posteriors.sum(1), 1, rtol=1e-5)
    assert (posteriors.argmax(1) == table.hypotheses["B"].labels).all()
    assert table.recognition is None
    assert table.left_out == {}


def test_read_slot_table_spoken_words(experiment):
    table = read_slot_table(scores_of(experiment, "test_asr"), experiment.parent / "data", "test_ref")
    assert sorted(set(table.recognition.missing)) == [38, 77, 116, 155, 194, 233]
    assert {table.words[i] for i in table.recognition.spoken} == {"wrong"}
    assert table.recognition.wer == pytest.approx(100 * 12 / 240)


def test_read_slot_table_reference_with_other_words(copied):
    # The reference has the spoken words, so the score and the table need an alignment.
    decoded = copied / "B/decode_test_asr"
    score(["--labels", str(copied / "B/labels.txt"), str(copied.parent / "data/test_ref"),
           str(decoded), str(decoded / "score")])
    log = copied / "B/log/score_test_asr.log"
    log.write_text("# punc score --labels exp/B/labels.txt data/test_ref exp/B/decode_test_asr X/score\n")
    table = read_slot_table(scores_of(copied, "test_asr"), copied.parent / "data")
    assert table.words[5] == "wrong"
    assert table.recognition.missing[38]


def test_read_slot_table_merged_labels(copied):
    labels = "O w\nCAP W\nCOMMA w, ,\nPERIOD w. .\n"
    decoded = copied / "B/decode_test_ref"
    (copied / "B/labels.txt").write_text(labels)
    (decoded / "post.ark").unlink()
    (decoded / "punct").write_text((decoded / "punct").read_text().replace(" O ", " CAP "))
    score(["--labels", str(copied / "B/labels.txt"), "--merge", "O=O+CAP",
           str(copied.parent / "data/test_ref"), str(decoded), str(decoded / "score")])
    table = read_slot_table([one for one in scores_of(copied, "test_ref") if one.system == "B"], copied.parent / "data")
    assert isinstance(table, SlotTable)
    assert table.labels.names == NAMES


def test_read_slot_table_last_slot(copied):
    decoded = copied / "B/decode_test_ref"
    score(["--labels", str(copied / "B/labels.txt"), "--last-slot", "false",
           str(copied.parent / "data/test_ref"), str(decoded), str(decoded / "score")])
    table = read_slot_table([one for one in scores_of(copied, "test_ref") if one.system == "B"], copied.parent / "data")
    assert np.flatnonzero(~table.counted).tolist() == [79, 159, 239]
    assert table.confusion("B").sum() == 237


def test_read_slot_table_leaves_out_invalid_posteriors(copied):
    archive = copied / "B/decode_test_ref/post.ark"
    found = dict(read_archive(archive))
    next(iter(found.values()))[0, 0] = np.nan
    kaldiio.save_ark(str(archive), found)
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert "numbers that are not posteriors" in table.left_out["B"]
    assert list(table.hypotheses) == ["A"]


def test_read_slot_table_leaves_out_posteriors_of_other_labels(copied):
    labels = copied / "B/labels.txt"
    labels.write_text(labels.read_text().replace("PERIOD w.", "POINT w#"))
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert list(table.hypotheses) == ["A"]
    assert "label 'POINT' is not one of the score's" in table.left_out["B"]


def test_read_slot_table_leaves_out_a_broken_signature(copied):
    signature = copied / "A/decode_test_ref/score/signature"
    signature.write_text(signature.read_text().replace("last-slot:true", "last-slot:treu"))
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert table.left_out["A"].startswith("the signature has 'last-slot:treu' (score again")


def test_read_slot_table_leaves_out_what_was_not_scored(copied):
    punct = copied / "A/decode_test_ref/punct"
    lines = punct.read_text().splitlines()
    lines[0] = lines[0].replace(" COMMA", " PERIOD") if " COMMA" in lines[0] else lines[0].replace(" O", " COMMA", 1)
    punct.write_text("\n".join([*lines, ""]))
    table = read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")
    assert list(table.hypotheses) == ["B"]
    assert "differ from those of the score" in table.left_out["A"]


def test_read_slot_table_without_data(copied):
    shutil.rmtree(copied.parent / "data/test_ref")
    assert "no such data directory" in read_slot_table(scores_of(copied, "test_ref"), copied.parent / "data")


def test_recognise_substituted_inserted_missing():
    spoken = [[*"abcdef"], [*"gh"]]
    words = ["a", "X", "c", "e", "f", "more", "g", "h"]  # b is substituted (X), d is deleted, and `more` is inserted
    found = recognise(spoken, words, np.array([0, 6, 8]))
    assert found.wrong.tolist() == [False, True, False, False, False, True, False, False]
    assert found.spoken == {1: "b"}
    assert found.missing == {2: "d"}
    assert found.wer == pytest.approx(100 * 3 / 8)
    # Slots 0 and 1 are next to X, d is missing at slot 2, and slots 4 and 5 are next to "more".
    assert found.distance.tolist() == [0, 0, 0, 1, 0, 0, -1, -1]
