"""`punc score-text` and `punc export-text`: other systems' text against a reference, in one command."""

import json
import random
import re
from pathlib import Path

import pytest

from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir

MARKS = {"O": "", "COMMA": ",", "PERIOD": ".", "QUESTION": "?"}


def sentences(n, right):
    """n lines of ten words, and the same with a share of the labels right."""
    rng, errors, lines = random.Random(1), random.Random(2), []
    for _ in range(n):
        words = [rng.choice(["so", "it", "begins", "and", "ends"]) + str(i) for i in range(10)]
        labels = rng.choices(list(MARKS), [7, 1, 1, 1], k=10)
        guess = [label if errors.random() < right else errors.choice(list(MARKS)) for label in labels]
        lines.append((words, labels, guess))
    return lines


@pytest.fixture
def work(tmp_path, monkeypatch):
    """ref and good, bad as text; data/ref, data/good as data directories of the same."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n", encoding="utf-8")
    for name, right in (("good", 0.9), ("bad", 0.5)):
        lines = sentences(12, right)
        for side, column in (("ref", 1), (name, 2)):
            (tmp_path / f"{side}.txt").write_text("".join(
                " ".join(word + MARKS[label] for word, label in zip(line[0], line[column])) + "\n" for line in lines))
            write_data_dir(f"data/{side}", [Utterance(f"s{i:02}", f"s{i:02}", line[0], line[column])
                                            for i, line in enumerate(lines)])
    return tmp_path


def text(*arguments):
    return main(["score-text", "--replicates", "100", *arguments])


def scored(capsys, *arguments):
    assert text("--output", "json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_score_text_is_punc_score(work, capsys):
    """The same figures and intervals as for data directories, from text and from text without the directory."""
    main(["score", "--labels", "labels.txt", "--replicates", "100", "--collapse", "2-class", "--output", "json",
          "data/ref", "data/good", "exp/good/decode_t/score"])
    theirs = json.loads(capsys.readouterr().out)
    for ref, hyp in (("ref.txt", "good.txt"), ("data/ref", "good.txt"), ("ref.txt", "data/good")):
        ours = scored(capsys, "--labels", "labels.txt", "--collapse", "2-class", ref, hyp)[0]
        found = {name: value for name, value in ours["metrics"].items() if not name.startswith("WER")}
        assert found == theirs["metrics"]
    assert "units:12 streams" in ours["signature"]


def test_score_text_written_score_is_a_row_of_results(work, capsys):
    for name in ("good", "bad"):
        assert text("--labels", "labels.txt", "--out", f"exp/{name}/decode_t/score", "data/ref", f"{name}.txt") == 0
    assert main(["results", "--compare", "good,bad", "exp"]) == 0
    page = (work / "exp/results/t.md").read_text()
    assert "| good | bad | overall.F1 |" in page
    main(["score", "--labels", "labels.txt", "--replicates", "100", "data/ref", "data/good", "score"])
    assert (work / "score/signature").read_text() == (work / "exp/good/decode_t/score/signature").read_text()


def test_score_text_several_systems_are_tested_against_the_first(work, capsys):
    good, bad = scored(capsys, "ref.txt", "good.txt", "bad.txt")
    assert "against" not in good
    tested = bad["against"]["overall.F1"]
    assert tested["this"] == bad["metrics"]["overall.F1"]["value"] < tested["other"] - 10
    assert tested["p"] < 0.05
    assert text("ref.txt", "good.txt", "bad.txt") == 0
    table = capsys.readouterr().out
    assert re.search(r"^% +good\.txt +bad\.txt$", table, re.M)
    assert re.search(r"^bad\.txt − good\.txt$", table, re.M)
    assert re.search(r"^overall\.F1 +\d.* -\d", table, re.M)


def test_score_text_other_words_are_aligned(work, capsys):
    """Numbers, case, and words lost and inserted: the marks of the other words count as before, and WER is said."""
    lines = (work / "ref.txt").read_text().splitlines()
    changed = [re.sub(r"^\w+", "5,000", line.upper()) + " uh" for line in lines]
    (work / "changed.txt").write_text(" ".join(changed))
    found = scored(capsys, "ref.txt", "changed.txt")[0]["metrics"]
    assert found["WER"]["value"] == pytest.approx(100 * 24 / 120)
    assert found["overall.F1"]["value"] > 95
    assert found["WER_C"]["value"] > found["WER"]["value"]
    assert text("ref.txt", "changed.txt") == 0
    said = capsys.readouterr()
    assert "not as many lines in all files: each is one text" in said.err
    assert "132 words, the reference has 120; WER 20.00 %: 12 substituted, 0 deleted, 12 inserted" in said.err
    assert "units:2 blocks of 100 words in 1 streams" in said.out


def test_results_compare_a_system_that_changed_words(work, capsys):
    """Its slots are others, but the streams are those of the same reference."""
    (work / "uh.txt").write_text((work / "bad.txt").read_text().replace("\n", " uh.\n"))
    for name in ("good", "uh"):
        assert text("--labels", "labels.txt", "--out", f"exp/{name}/decode_t/score", "data/ref", f"{name}.txt") == 0
    assert main(["results", "--compare", "good,uh", "exp"]) == 0
    assert "| good | uh | overall.F1 |" in (work / "exp/results/t.md").read_text()
    write_data_dir("data/other", [Utterance(f"s{i:02}", f"s{i:02}", ["so"], ["PERIOD"]) for i in range(12)])
    assert text("--labels", "labels.txt", "--out", "exp/uh/decode_t/score", "data/other", "uh.txt") == 0
    assert main(["results", "--compare", "good,uh", "exp"]) == 1
    assert "other reference labels than in the score it is compared with" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    (["none.txt", "good.txt"], "none.txt: no such file"),
    (["ref.txt", "good.txt", "bad.txt", "--out", "x"], "--out with several HYP; score one at a time"),
    (["ref.txt", "good.txt", "--replicates", "0"], "--replicates=0 is too small"),
])
def test_score_text_wrong_input_is_one_line(work, capsys, arguments, message):
    assert text(*arguments) == 1
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert message in said.err


def test_export_text_words_and_marks(work, capsys):
    assert main(["export-text", "data/ref", "words.txt"]) == 0
    assert main(["export-text", "--labels", "labels.txt", "data/ref", "marks.txt"]) == 0
    assert "12 lines, 120 words in marks.txt" in capsys.readouterr().err
    assert (work / "marks.txt").read_text() == (work / "ref.txt").read_text()
    assert (work / "words.txt").read_text() == re.sub("[,.?]", "", (work / "ref.txt").read_text())


def test_export_text_without_labels_or_with_others_raises(work, capsys):
    write_data_dir("bare", [Utterance("a", "a", ["x"])])
    assert main(["export-text", "--labels", "labels.txt", "bare", "out.txt"]) == 1
    (work / "few.txt").write_text("O w\nCOMMA w, ,\n")
    assert main(["export-text", "--labels", "few.txt", "data/ref", "out.txt"]) == 1
    assert "data/ref/punct: label 'PERIOD', which is not in the label set" in capsys.readouterr().err
    assert not (work / "out.txt").exists()


def test_docs_example(tmp_path, monkeypatch, capsys):
    """The first commands of docs/score-another-system.md print what the page shows."""
    page = (Path(__file__).parents[1] / "docs/score-another-system.md").read_text(encoding="utf-8")
    commands, printed = re.findall(r"```(?:sh)?\n(.*?)```", page, re.S)[:2]
    monkeypatch.chdir(tmp_path)
    for content, name in re.findall(r"^printf '(.*)' >(\S+)$", commands, re.M):
        Path(name).write_text(content.replace("\\n", "\n"))
    assert main(commands.splitlines()[-1].split()[1:]) == 0
    assert capsys.readouterr().out.partition("\n\n")[0] == printed.rstrip("\n")
