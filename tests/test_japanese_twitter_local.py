"""The scripts of egs/japanese_twitter on made-up text."""

import importlib
import os
import random
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from punc.base.errors import InputError
from punc.bin.train import options as train_options
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet

RECIPE = Path(__file__).parents[1] / "egs/japanese_twitter"
LABELS = RECIPE / "conf/labels.txt"


def load(name):
    sys.path.insert(0, str(RECIPE / "local"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(RECIPE / "local"))


TEXTS, SUBWORDS = load("make_texts"), load("subwords")


def sentences(line, post=False, line_breaks="stop"):
    reader = TEXTS.SentenceReader(LabelSet.read(LABELS), line_breaks)
    return [sentence.text for sentence in reader.line(line, post).sentences]


@pytest.mark.parametrize(("line", "expected"), [
    ("行け。", ["行け。"]),
    ("はい、そう｡ え?!ああ!", ["はい、そう。", "え？", "ああ！"]),
    ("彼は「行け。」と言った。そう。", ["彼は「行け。」と言った。", "そう。"]),
    ("「行け。」", ["「行け。」"]),
    ("「行け。」「はい。」", ["「行け。」", "「はい。」"]),
    ("「行け。そう。", ["「行け。そう。"]),
    ("行け（笑）。", ["行け（笑）。"]),
    ("行け。（笑）", ["行け。"]),
    ("3.5 km。", ["3.5 km。"]),
    ("行け。そう", ["行け。"]),
    ("行け", []), ("。", []), ("", [])])
def test_sentence_reader_marks_and_brackets(line, expected):
    assert sentences(line) == expected
    assert sentences(line, True, "drop") == expected


@pytest.mark.parametrize(("post", "stop", "drop"), [
    ("行け __BR__ そう", ["行け。", "そう。"], []),
    ("行け！ __BR__ そう？", ["行け！", "そう？"], ["行け！", "そう？"]),
    ("行け、 __BR__ そう __BR__  __BR__ え", ["行け、 そう。", "え。"], []),
    ("行け__BR__そう。え", ["行け。", "そう。", "え。"], ["行けそう。"]),
    ("「行け。」 __BR__ え、", ["「行け。」"], []),
    ("草 www", ["草 www。"], [])])
def test_sentence_reader_line_breaks(post, stop, drop):
    assert sentences(post, True) == stop
    assert [text.replace(" ", "") for text in sentences(post, True, "drop")] == drop


def test_divide_no_sentence_in_two_sets():
    rng = random.Random(3)
    word = ["".join(rng.choices("あいうえおかきくけこ", k=3)) for _ in range(2000)]  # some words are equal
    lines = [TEXTS.Line([TEXTS.Sentence(f"{w}。", w)], False) for w in word]
    runs = [lines[i:i + TEXTS.RUN] for i in range(0, 2000, TEXTS.RUN)]
    posts = [[TEXTS.Line([TEXTS.Sentence(f"{w}。", w) for w in word[:40]], True)]] * 2
    sets = TEXTS.divide({"sentences": runs, "posts": posts}, {"test": 300, "dev": 200})
    # At most one of the two identical posts is kept.
    assert [len(line.sentences) for line in sets["test"]["posts"]][1:] == []
    keys = {name: [s.key for found in kinds.values() for line in found for s in line.sentences]
            for name, kinds in sets.items()}
    together = [key for found in keys.values() for key in found]
    assert len(together) == len(set(together)) == len(set(word)) < 2000
    assert 300 <= len(keys["test"]) < 340 + TEXTS.RUN
    assert 200 <= len(keys["dev"]) < 200 + TEXTS.RUN


def books(path, works):
    """Write a file of works, and read it. Each paragraph is one sentence, except the second paragraph of each work, in
    which no sentence ends."""
    path.write_text("".join(f"#doc {name}\n{name}あ{n}。\nおわらない\n" if n == 0 else f"{name}あ{'い' * n}。\n"
                            for name, size in works.items() for n in range(size)))
    return TEXTS.read_books(str(path), TEXTS.SentenceReader(LabelSet.read(LABELS), "stop"))


def test_divide_held_out_books_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(TEXTS, "HELD_OUT", 3)
    runs = books(tmp_path / "books", dict.fromkeys("さしすせそたちつ", 5))
    sets = TEXTS.divide({"books": runs}, {"test": 6, "dev": 4})
    names = {name: [line.sentences[0].key[0] for line in found["books"]] for name, found in sets.items()}
    assert [len(names[name]) for name in ("test", "dev", "train")] == [2, 2, 4]
    assert len({*names["test"], *names["dev"], *names["train"]}) == 8
    assert {len(line.sentences) for line in sets["test"]["books"] + sets["dev"]["books"]} == {3}
    assert {len(line.sentences) for line in sets["train"]["books"]} == {5}


def test_together_sentences_in_order():
    rng = random.Random(3)
    post = TEXTS.Line([TEXTS.Sentence(f"p{i}。", f"p{i}") for i in range(12)], True)
    others = [TEXTS.Line([TEXTS.Sentence(f"{i}。", f"{i}")], False) for i in range(200)]
    texts = TEXTS.together([post, *others], rng)
    assert all(2 <= len(text) <= 5 for text in texts)
    found = [sentence.key for text in texts for sentence in text]
    assert len(found) == len(set(found)) >= 210
    of_post = [s.key for text in texts for s in text if text[0].key[0] == "p"]
    assert of_post == [f"p{i}" for i in range(len(of_post))]


def two_books(folder, restored):
    """Write a file of two works, and two data directories with the works' sentences: `reference`, and `system` with the
    labels `restored`. Return the arguments of `commas_by_book`."""
    (folder / "books").write_text("#doc さ\nあ、い、う、え。\nお、か。\n#doc す\nきくけ、こ。\n", encoding="utf-8")
    words = [[*"あいうえ"], [*"おか"], [*"きくけこ"]]
    for name, labels in (("reference", ["CCCP", "CP", "NNCP"]), ("system", restored)):
        write_data_dir(folder / name, [Utterance(f"{n}", f"{n}", *sentence) for n, sentence in
                                       enumerate(zip(words, map(list, labels)))])
    return [str(LABELS), str(folder / "books"), str(folder / "reference"), str(folder / "system")]


def test_commas_by_book(tmp_path, capsys):
    load("commas_by_book").main(*two_books(tmp_path, ["CNNP", "CP", "CNCP"]))
    assert capsys.readouterr().out.splitlines()[1:] == [
        "す\t1\t4.0\t50.0\t100.0\t66.7", "さ\t2\t1.5\t100.0\t50.0\t66.7",
        "0 books: fewest commas\t0\tinf\t0.0\t0.0\t0.0", "1 books: between\t1\t4.0\t50.0\t100.0\t66.7",
        "1 books: most commas\t2\t1.5\t100.0\t50.0\t66.7"]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("raw"), random.Random(5)
    words = ["今日は", "天気が", "いい", "明日", "行く", "Twitter", "10時", "と言う", "か\u3099", "です", "ました"]
    make = lambda: "".join(rng.choices(words, k=rng.randint(2, 8)))  # noqa: E731
    posts = [" __BR__ ".join(make() + rng.choice(["", "！", "？"]) for _ in range(rng.randint(1, 4)))
             for _ in range(900)]
    (folder / "posts.txt").write_text("\n".join(posts) + "\n", encoding="utf-8")
    (folder / "books.txt").write_text("".join(
        f"#doc {n}\n" + "".join(f"{make()}、{make()}。\n" for _ in range(12)) for n in range(60)), encoding="utf-8")
    (folder / "other.txt").write_text("".join(f"{make()}、{make()}。\n" for _ in range(600)), encoding="utf-8")
    command = [sys.executable, RECIPE / "local/make_texts.py", "--labels", LABELS, "--posts", folder / "posts.txt",
               "--books", folder / "books.txt", "--test=200", "--dev=100", folder / "raw", folder / "other.txt"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "LC_ALL": "C", "PYTHONHASHSEED": "7"})
    assert done.returncode == 0, done.stderr
    return folder


def test_make_texts_repeatable(raw, tmp_path, capsys):
    TEXTS.main(["--labels", str(LABELS), "--posts", str(raw / "posts.txt"), "--books", str(raw / "books.txt"),
                "--test=200", "--dev=100", str(tmp_path), str(raw / "other.txt")])
    names = sorted(path.name for path in tmp_path.iterdir())
    tests = ["test_books", "test_posts", "test_sentences"]
    assert names == sorted(f"{name}_{kind}.txt" for name in ("train", "dev", *tests) for kind in ("single", "multi"))
    for name in names:
        assert (tmp_path / name).read_bytes() == (raw / "raw" / name).read_bytes()
    singles = [(tmp_path / f"{name}_single.txt").read_text(encoding="utf-8").split("\n") for name in
               ("train", "dev", *tests)]
    assert all(not (set(one) & set(other)) - {""} for one, other in combinations(singles, 2))
    assert all(line == "" or line[-1] in "。！？" for lines in singles for line in lines)


def utterances(rng):
    """Yield utterances in which common words occur among other characters. Marks follow words; a few are inside
    words."""
    units = ["ました", "です", "ところ", "Twitter", "10", "か\u3099", *"あいうえおかきくけこさしせそたちつてとな"]
    marks = ["N", "N", "C", "P", "Q"]
    for n in range(1500):
        words, labels = [], []
        for unit in rng.choices(units, [9, 9, 9, 2, 2, 2, *[1] * 20], k=rng.randint(2, 9)):
            tokens = [*unit] if len(unit) > 1 and unit in units[:3] else [unit]
            words += tokens
            labels += [rng.choice(marks) if rng.random() < 0.02 else "N" for _ in tokens[1:]] + [rng.choice(marks)]
        yield Utterance(f"{n:08}", f"{n:08}", words, labels)


def test_subwords_round_trip(tmp_path, capsys):
    before = [*utterances(random.Random(5))]
    write_data_dir(tmp_path / "data", before)
    SUBWORDS.main(["train", str(tmp_path / "data"), str(tmp_path / "model"), "60"])
    SUBWORDS.main(["tokenize", str(tmp_path / "model"), str(tmp_path / "data"), str(tmp_path / "subwords")])
    said = capsys.readouterr().out.split()
    after = [*DataDir(tmp_path / "subwords").utterances()]
    assert ["".join(u.words) for u in before] == ["".join(u.words) for u in after]
    assert {"ました", "ところ"} <= {word for u in after for word in u.words}
    assert sum(len(u.words) for u in after) < 0.7 * sum(len(u.words) for u in before)
    assert all(word in ("Twitter", "10", "か\u3099") for u in after for word in u.words if {*word} & {*"T1\u3099"})
    marks, kept = (sum(label != "N" for u in some for label in u.labels) for some in (before, after))
    assert 0 < marks - kept < 0.5 * marks
    assert said[1:4] == [str(marks - kept), "of", str(marks)]
    SUBWORDS.main(["detokenize", str(tmp_path / "data"), str(tmp_path / "subwords"), str(tmp_path / "back")])
    back = [*DataDir(tmp_path / "back").utterances()]
    for one, other in zip(before, back, strict=True):
        assert one.words == other.words
        assert all(b in (a, "N") for a, b in zip(one.labels, other.labels, strict=True))
        assert one.labels[-1] == other.labels[-1]
    assert sum(label != "N" for u in back for label in u.labels) == kept


def test_subwords_wrong_inputs(tmp_path):
    for name, words in (("a", ["あ", "い"]), ("b", ["あう"])):
        write_data_dir(tmp_path / name, [Utterance("x", "x", words, ["N"] * len(words))])
    with pytest.raises(InputError, match="not the same text"):
        SUBWORDS.main(["detokenize", str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "c")])
    (tmp_path / "model").write_bytes(b"x")
    with pytest.raises(InputError, match="not a subword model"):
        SUBWORDS.main(["tokenize", str(tmp_path / "model"), str(tmp_path / "a"), str(tmp_path / "c")])


ROWS = sorted(path for path in (RECIPE / "conf").glob("*/*.conf") if path.name != "sets.conf")


@pytest.mark.parametrize("path", ROWS, ids=[f"{path.parent.name}-{path.stem}" for path in ROWS])
def test_row_confs_are_read_by_punc_train(path):
    arguments = ["--config", str(path), "store", "exp"]
    options = train_options(train_options().value(arguments, "--model")).parse(arguments)
    kind = path.parent.name + (f"_subwords_{path.parent.name}" if path.stem.startswith("Subword") else "")
    assert (options.train_set, options.dev_set) == (f"train_{kind}", f"dev_{kind}")
    base = train_options("bi_lstm").parse(["--config", str(RECIPE / "conf/Bi-LSTM.conf"), "store", "exp"])
    for name in ("epochs", "batch_size", "schedule", "optimizer", "learning_rate"):
        assert getattr(options, name) == getattr(base, name), "one table, one training"
