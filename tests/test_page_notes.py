"""What a page says of how its figures were made."""

import pytest

from punc.results.page_data import PageData, PairedTest
from punc.results.page_notes import is_unequal, resampled, unequal
from punc.results.pages import Settings, render
from punc.results.trainings import Training
from punc.scoring.significance import Interval

UNITS = {"ref": "units:33 streams", "asr": "units:20 blocks of 100 words in 4 streams", "old": "units:38 utterances"}


def data(sets=("ref",), trained=("store/a", "store/a")):
    """Systems A and B on some sets; B is worse; a test of both."""
    metrics = {(system, name): {"overall.F1": Interval(value, value - 1, value + 1)}
               for name in sets for system, value in (("A", 60), ("A-2", 65), ("B", 50))}
    families = {"A": "lstm", "A-2": "lstm", "B": "cnn"}
    trainings = {system: Training(system, families[system], trained[system == "B"]) for system in families}
    return PageData(metrics, {key: f"labels:O+COMMA|{UNITS[key[1]]}|seed:1" for key in metrics},
                    [PairedTest("A", "B", sets[0], "overall.F1", 10, 9, 11, 0.001)], trainings=trainings)


@pytest.mark.parametrize(("sets", "said"), [
    (["ref"], " Intervals and tests resample streams: recordings, or texts."),
    (["asr"], " Intervals and tests resample blocks of 100 words, as there are fewer than ten recordings: they are of "
              "other passages of these recordings, not of other recordings."),
    (["old"], ""),
])
def test_resampled(sets, said):
    assert resampled(data(sets), sets) == said
    pages = render(data(sets), Settings())
    assert all(said in pages[name] for name in ("RESULTS.md", f"results/{sets[0]}.md"))


def test_resampled_of_sets_that_differ_names_them():
    said = resampled(data(["ref", "asr"]), ["ref", "asr"])
    assert "resample streams: recordings, or texts of ref." in said
    assert "resample blocks of 100 words of asr, as" in said


def test_unequal_training_is_marked_and_said():
    other = data(trained=("store/a", "store/b"))
    assert is_unequal(other, "A", "B")
    assert unequal("ref", other) == (r" \*: A and B were not trained on the same data, as far as is known. "
                                     "A: store/a; B: store/b.")
    page = render(other, Settings())["results/ref.md"]
    assert "| A | B \\* | overall.F1 |" in page
    assert unequal("ref", other) in page
    assert unequal("ref", data()) == ""
    assert "| A | B | overall.F1 |" in render(data(), Settings())["results/ref.md"]


def test_main_table_has_the_best_of_each_architecture_first():
    page = render(data(), Settings())["RESULTS.md"]
    assert [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")] == ["system", "A-2", "B"]
    page = render(data(), Settings(main=["B", "A"]))["RESULTS.md"]
    assert [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")] == ["system", "B", "A"]
