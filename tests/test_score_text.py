"""`punc score-text` scores texts and data directories against a reference. `punc export-text` writes data directories
as text."""

import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest

import punc
from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.scoring.texts import ENGLISH, count_sides, read_side, score_texts, text_reader

MARKS = {"O": "", "COMMA": ",", "PERIOD": ".", "QUESTION": "?"}


def sentences(n, right):
    """Return n lines of ten words: words, labels, and guessed labels. A guess is correct with probability `right`, or
    else random."""
    rng, errors, lines = random.Random(1), random.Random(2), []
    for _ in range(n):
        words = [rng.choice(["so", "it", "begins", "and", "ends"]) + str(i) for i in range(10)]
        labels = rng.choices(list(MARKS), [7, 1, 1, 1], k=10)
        guess = [label if errors.random() < right else errors.choice(list(MARKS)) for label in labels]
        lines.append((words, labels, guess))
    return lines


@pytest.fixture
def work(tmp_path, monkeypatch):
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
    return main(["score-text", *arguments])


def scored(capsys, *arguments):
    assert text("--output", "json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_score_text_is_punc_score(work, capsys):
    main(["score", "--labels", "labels.txt", "--collapse", "2-class", "--output", "json",
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
    main(["score", "--labels", "labels.txt", "data/ref", "data/good", "score"])
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
    lines = (work / "ref.txt").read_text().splitlines()
    changed = [re.sub(r"^\w+", "5,000", line.upper()) + " uh" for line in lines]
    (work / "changed.txt").write_text(" ".join(changed))
    found = scored(capsys, "ref.txt", "changed.txt")[0]["metrics"]
    assert found["WER"]["value"] == pytest.approx(100 * 24 / 120)
    assert found["overall.F1"]["value"] > 95
    assert found["WER_C"]["value"] > found["WER"]["value"]
    assert text("ref.txt", "changed.txt") == 0
    said = capsys.readouterr()
    assert "the files have different numbers of lines, so each file is scored as one text" in said.err
    assert "132 words, the reference has 120; WER 20.00 %: 12 substituted, 0 deleted, 12 inserted" in said.err
    assert "units:2 blocks of 100 words in 1 streams" in said.out


def test_results_compare_a_system_that_changed_words(work, capsys):
    """The systems have different slots, but the same reference streams."""
    (work / "uh.txt").write_text((work / "bad.txt").read_text().replace("\n", " uh.\n"))
    for name in ("good", "uh"):
        assert text("--labels", "labels.txt", "--out", f"exp/{name}/decode_t/score", "data/ref", f"{name}.txt") == 0
    assert main(["results", "--compare", "good,uh", "exp"]) == 0
    assert "| good | uh | overall.F1 |" in (work / "exp/results/t.md").read_text()
    write_data_dir("data/other", [Utterance(f"s{i:02}", f"s{i:02}", ["so"], ["PERIOD"]) for i in range(12)])
    assert text("--labels", "labels.txt", "--out", "exp/uh/decode_t/score", "data/other", "uh.txt") == 0
    assert main(["results", "--compare", "good,uh", "exp"]) == 1
    assert "the reference labels differ from those of the score it is compared with" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    (["none.txt", "good.txt"], "none.txt: no such file"),
    (["ref.txt", "good.txt", "bad.txt", "--out", "x"], "--out cannot be used with several HYP; score one at a time"),
    (["ref.txt", "good.txt", "--labels", "labels.txt", "--out", "."], "the output file is also an input"),
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
    assert "data/ref/punct: utterance 's00' has label 'PERIOD', which is not" in capsys.readouterr().err
    assert not (work / "out.txt").exists()


def test_docs_example(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[1] / "docs/score-another-system.md").read_text(encoding="utf-8")
    commands, printed = re.findall(r"```(?:sh)?\n(.*?)```", page, re.S)[:2]
    monkeypatch.chdir(tmp_path)
    for content, name in re.findall(r"^printf '(.*)' >(\S+)$", commands, re.M):
        Path(name).write_text(content.replace("\\n", "\n"))
    assert main(commands.splitlines()[-1].split()[1:]) == 0
    assert capsys.readouterr().out.partition("\n\n")[0] == printed.rstrip("\n")


READ = text_reader(ENGLISH)
REFERENCE = "So it begins, as it must. Does it end? No!"


def test_text_reader():
    words = READ('"Well," he said -- no… Really?')
    assert words.plain == ["well", "he", "said", "no", "really"]
    assert [ENGLISH.names[slot] for slot in words.slots] == ["COMMA", "O", "COMMA", "PERIOD", "QUESTION"]


def test_counts_by_hand():
    # Of four marks, two are correct, one is missing and one is wrong. One more mark is inserted.
    found = punc.score(REFERENCE, "So, it begins as it must. Does it end. No!")
    assert found["overall.P"] == found["overall.R"] == pytest.approx(100 * 2 / 4)
    assert found["Err"] == pytest.approx(100 * 3 / 10)
    assert found["SER"] == pytest.approx(100 * 3 / 4)
    assert found["COMMA.P"] == found["QUESTION.R"] == 0
    assert math.isnan(found["QUESTION.P"])


def test_texts_without_spaces():
    labels = LabelSet((Label("O", "w"), Label("COMMA", "w、", ("、",)), Label("PERIOD", "w。", ("。",))))
    found = punc.score("はい、そうです。", "はいそうです。", labels, characters=True)
    assert (found["COMMA.R"], found["PERIOD.F1"], found["overall.R"]) == (0, 100, 50)


def test_a_mark_before_a_word_may_be_apart_from_it():
    labels = LabelSet((Label("O", "w"), Label("QUESTION", "w?", ("?",)), Label("OPEN", "¿w")))
    assert punc.score("¿Qué tal? sí", "¿ qué tal ? sí", labels)["overall.F1"] == 100


def test_case_and_words_may_differ():
    # `must` is deleted, so its mark moves to the word before it. Inserted words get no mark from the reference.
    found = score_texts(REFERENCE, "SO IT BEGINS, AS IT. DOES IT REALLY END? NO!")
    assert found["overall.F1"] == 100


@pytest.mark.parametrize("texts", [("", "a"), ("a", " ... ")])
def test_no_words(texts):
    with pytest.raises(InputError, match="a text without words"):
        score_texts(*texts)


def side(path, text, labels=ENGLISH, read=READ):
    path.write_text(text, encoding="utf-8", newline="")
    return read_side(path, labels, read)


def test_read_side_is_a_stream_a_line(tmp_path):
    found = side(tmp_path / "a.txt", "So, it begins.\r\n\r\nHe said: NO!\n\n")
    assert found.names == ["1", "2", "3"]
    assert [list(stream.plain) for stream in found.streams] == [["so", "it", "begins"], [], ["he", "said", "no"]]
    assert found.streams[2].cased == ["He", "said", "NO"]
    assert found.streams[2].slots.tolist() == [0, 1, 2]
    assert (found.words, found.named) == (6, False)


def test_read_side_labels_with_capitals(tmp_path):
    stop = (".",)
    cased = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", stop), Label("CAP_PERIOD", "W.", stop)))
    stream = side(tmp_path / "a.txt", "He saw NATO.", cased, text_reader(cased)).streams[0]
    assert (stream.cased, stream.slots.tolist()) == (["He", "saw", "NATO"], [1, 0, 3])


def test_read_side_characters(tmp_path):
    labels = LabelSet((Label("O", "w"), Label("STOP", "w。", ("。",))))
    stream = side(tmp_path / "a.txt", "そう。 OK。", labels, text_reader(labels, characters=True)).streams[0]
    assert (list(stream.plain), stream.slots.tolist()) == (["そ", "う", "ok"], [0, 1, 1])


def test_read_side_data_directory_has_the_same_counts(tmp_path):
    rows = [(["a", "b"], ["COMMA", "PERIOD"]), (["c"], ["QUESTION"])]
    write_data_dir(tmp_path / "d", [Utterance(f"s{i}", f"s{i}", *row) for i, row in enumerate(rows)])
    data = read_side(tmp_path / "d", ENGLISH, READ)
    text = side(tmp_path / "a.txt", "a, b.\nc?\n")
    assert (data.names, data.named) == (["s0", "s1"], True)
    assert data.checksum == text.checksum
    counts = count_sides(data, text, ENGLISH)
    assert counts.units == ["s0:000000", "s1:000000"]
    np.testing.assert_array_equal(counts.confusion.sum(0), np.diag([0, 1, 1, 1]))


def test_side_as_whole(tmp_path):
    ref, hyp = side(tmp_path / "1.txt", "A, b.\nC d?\n"), side(tmp_path / "2.txt", "a, b. c x d?\n")
    counts = count_sides(ref.as_whole, hyp.as_whole, ENGLISH)
    assert counts.units == ["text:000000"]
    assert counts.words[:, 0].tolist() == [[4, 0, 0, 1]]


@pytest.mark.parametrize("text", ["", "\n\n", " ...\n"])
def test_read_side_without_words_raises(tmp_path, text):
    with pytest.raises(InputError, match=r"a\.txt: a text without words"):
        side(tmp_path / "a.txt", text)


def test_read_side_not_utf8_names_the_line(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(InputError, match=r"a\.txt:2: byte 1 is not UTF-8"):
        read_side(tmp_path / "a.txt", ENGLISH, READ)


def test_data_directories_with_other_streams_raise(tmp_path):
    for name in ("x", "y"):
        write_data_dir(tmp_path / name, [Utterance(name, name, ["a"], ["O"])])
    with pytest.raises(InputError, match="y: the streams differ from those of"):
        count_sides(*(read_side(tmp_path / name, ENGLISH, READ) for name in ("x", "y")), ENGLISH)
