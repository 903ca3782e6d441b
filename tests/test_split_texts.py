"""utils/split_texts.py: division into sets, sentences in several sets, edited lists, and invalid input."""

import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError

sys.path.insert(0, str(Path(__file__).parents[1] / "utils"))

from repeated_sentences import SHOWN, digests, overlap, remove_sentences, sentences
from split_texts import main
from text_sets import SHARES, cut_text, read_speakers, split_texts, survey


def names(number):
    return [f"t{i:04d}" for i in range(number)]


@pytest.mark.parametrize("number", [4, 5, 10, 12, 48, 100, 138])
def test_split_of_equal_texts_is_one_of_ten(number):
    """Of every ten texts, the first is in test_ref and the second in dev. The others are in train. Every fifth text of
    train is also in tree, and the other texts of train are also in `rest`."""
    sets = split_texts(dict.fromkeys(names(number), 7), {}).sets
    train = [name for i, name in enumerate(names(number)) if i % 10 > 1]
    assert sets == {"test_ref": names(number)[::10], "dev": names(number)[1::10], "train": train, "tree": train[::5],
                    "rest": [name for i, name in enumerate(train) if i % 5]}


SIZES = st.lists(st.integers(0, 10_000), min_size=1, max_size=80)


@given(SIZES, st.data())
def test_split_has_each_text_once_and_each_speaker_on_one_side(sizes, data):
    sizes = dict(zip(names(len(sizes)), sizes))
    speakers = {name: data.draw(st.frozensets(st.sampled_from("abcdefghij"), max_size=2)) for name in sizes}
    sets, ignored = split_texts(sizes, speakers)
    assert sorted(name for part in SHARES for name in sets[part]) == list(sizes)
    assert sorted(sets["tree"] + sets["rest"]) == sets["train"]
    of_set = [{speaker for name in sets[part] for speaker in speakers[name]} - ignored for part in SHARES]
    assert sum(map(len, of_set)) == len(set().union(*of_set))
    assert split_texts(sizes, speakers) == (sets, ignored)


def test_split_speakers_of_several_texts():
    speakers = {name: {f"reader{i // 10}"} for i, name in enumerate(names(50))}
    sets, ignored = split_texts(dict.fromkeys(names(50), 100), speakers)
    assert not ignored
    assert {part: len({*speakers[name]} & {f"reader{i}" for i in range(5)}) for part in SHARES
            for name in sets[part]} == dict.fromkeys(SHARES, 1)
    assert [len(sets[part]) for part in SHARES] == [10, 10, 30]


def test_split_ignores_the_host():
    speakers = {name: {"host", f"guest{i // 2}"} for i, name in enumerate(names(40))}
    sets, ignored = split_texts(dict.fromkeys(names(40), 100), speakers)
    assert ignored == {"host"}
    guests = [{guest for name in sets[part] for guest in speakers[name]} for part in SHARES]
    assert set.intersection(*guests[:2]) == set.intersection(*guests[1:]) == {"host"}


def test_read_speakers_of_texts_and_utterances(tmp_path):
    table = tmp_path / "speakers"
    table.write_text("talk anna carl\ntalk-1-0001 dora\ntalk-1_b eva\ntalk-2-0001 finn\nother nobody\n")
    assert read_speakers(table, ["talk", "talk-1"]) == {"talk": {"anna", "carl", "finn"}, "talk-1": {"dora", "eva"}}
    pieces = read_speakers(table, ["talk-1_001", "talk-1_002"])
    assert pieces == {"talk-1_001": {"dora", "eva"}, "talk-1_002": {"dora", "eva"}}


@pytest.mark.parametrize(("content", "message"), [
    ("talk\n", "speakers:1: 'talk' has no speaker; write: TEXT SPEAKER"),
    ("tall anna\n", "speakers: no line names a text; write: TEXT SPEAKER, as 'talk anna'")])
def test_read_speakers_mistake(tmp_path, content, message):
    (tmp_path / "speakers").write_text(content)
    with pytest.raises(InputError) as error:
        read_speakers(tmp_path / "speakers", ["talk"])
    assert str(error.value).endswith(message)


@given(st.lists(st.sampled_from(["one two three\n", "\n", "#speaker a\n", "four\n", "x " * 30 + "\n"]), max_size=40),
       st.integers(1, 20))
def test_cut_text_loses_nothing(tmp_path_factory, lines, words):
    folder = tmp_path_factory.mktemp("cut")
    lines.append("the end\n")
    (folder / "talk.txt").write_text("".join(lines))
    (folder / "out").mkdir()
    found = cut_text(folder / "talk.txt", folder / "out", words)
    assert [path.name for path in found] == [f"talk_{i:03d}.txt" for i in range(1, len(found) + 1)]
    texts = [path.read_text() for path in found]
    kept = "".join(lines)
    assert kept.startswith("".join(texts))
    assert not kept[len("".join(texts)):].replace("#speaker a", "").strip()  # no words
    sizes = list(survey(found, "", 1).words.values())
    assert all(size >= words for size in sizes[:-1])


PIECES = st.lists(st.sampled_from(["Yes.", "No, no!", "We go on", "and on?", "Mr. Smith.", "\n", "\n\n", "#speaker A\n",
                                   "今日は。行く。", "(laughs)", "it's 3.30", "…"]), max_size=25)


@pytest.mark.parametrize(("text", "expected"), [
    ("Hello there. Yes! “No.” he said\nand went.", ["hello there", "yes", "no", "he said and went"]),
    ("no mark\n\nnew paragraph\n \nthird", ["no mark", "new paragraph", "third"]),
    ("#speaker A. B.\nHi\n#speaker C\nthere.", ["hi", "there"]),
    ("今日は。行く。", ["今日は", "行く"]),
    ("It costs 3.30, or so… He's in.", ["it costs 3 30 or so", "he's in"]),
    ("...\n!", []), ("", [])])
def test_sentences(text, expected):
    found = list(sentences(text))
    assert [" ".join(one.words) for one in found] == expected
    for one in found:
        assert re.sub(r"\W", "", text[one.begin:one.end].casefold()) == re.sub(r"\W", "", "".join(one.words))


def write(folder, texts):
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text + "\n")
    return sorted(folder.iterdir())


@given(st.lists(PIECES, min_size=1, max_size=3), st.lists(PIECES, min_size=1, max_size=3), st.integers(1, 4))
def test_overlap_brute_force(tmp_path_factory, held_out, training, least):
    folder = tmp_path_factory.mktemp("texts")
    held_out, training = ([" ".join(pieces) for pieces in texts] for texts in (held_out, training))
    ours, theirs = ([one.words for text in texts for one in sentences(text + "\n")] for texts in (held_out, training))
    found = overlap(write(folder / "test", held_out), write(folder / "train", training), least, 1)
    both = [words for words in ours if words in theirs]
    assert (found.sentences, found.words) == (len(ours), sum(map(len, ours)))
    assert found.repeated == (len(both), sum(map(len, both)))
    assert found.long == (sum(len(words) >= least for words in both),
                          sum(len(words) for words in both if len(words) >= least))
    counts = {" ".join(words): theirs.count(words) for words in both}
    assert found.frequent == [(words, counts[words]) for words, _ in found.frequent]
    assert [number for _, number in found.frequent] == sorted(counts.values(), reverse=True)[:SHOWN]


@given(PIECES, PIECES)
def test_remove_sentences_keeps_the_others(tmp_path_factory, held_out, training):
    folder = tmp_path_factory.mktemp("texts")
    test, train = write(folder / "test", [" ".join(held_out)]), write(folder / "train", [" ".join(training)])
    before = [one.words for one in sentences(train[0].read_text())]
    other = [one.words for one in sentences(test[0].read_text())]
    removed = remove_sentences(train[0], folder / "out", digests(test, 1), 2)
    after = [one.words for one in sentences((folder / "out").read_text())]
    kept = [words for words in before if len(words) < 2 or words not in other]
    assert after == kept
    assert removed["sentences"] == len(before) - len(kept)
    assert removed["words"] == sum(map(len, before)) - sum(map(len, kept))
    # Lines that name speakers remain, and are not joined with other lines.
    assert (folder / "out").read_text().count("\n#speaker") == train[0].read_text().count("\n#speaker")


def test_remove_sentences_next_one_stays_apart(tmp_path):
    """The space before a removed sentence is kept, because a full stop ends a sentence only before a space."""
    train, = write(tmp_path / "train", ["Yes. We go on 今日は。行く。"])
    known = digests(write(tmp_path / "test", ["We go on 今日は。"]), 1)
    remove_sentences(train, tmp_path / "out", known, 2)
    assert [one.words for one in sentences((tmp_path / "out").read_text())] == [["yes"], ["行く"]]


SETS = ("test_ref", "dev", "train", "tree", "rest")


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Write texts t00.txt, … of 100 words. Each has 19 sentences of its own, and one that all texts have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for text in range(20):
        lines = [f"Text {text} has sentence {line}.\n" for line in range(19)]
        (tmp_path / f"texts/t{text:02d}.txt").write_text("".join([*lines, "This is in all texts.\n"]))
    return tmp_path


def lists(folder="split"):
    return {name: [Path(line).name for line in (Path(folder) / name).read_text().splitlines()] for name in SETS}


def test_split_texts_prints_and_writes_the_counts(corpus, capsys):
    main(["texts", "split"])
    err = capsys.readouterr().err
    assert err == Path("split/counts").read_text()
    assert err.splitlines() == [
        "set          texts        words   share",
        "test_ref         2          200   10.0%", "dev              2          200   10.0%",
        "train           16        1,600   80.0%", "tree             3          300   15.0%",
        "rest            13        1,300   65.0%",
        "2 of 40 sentences of test_ref are also in train (10 of 200 words), 2 of them of 5 words or more:",
        "      16 × this is in all texts",
        "2 of 40 sentences of dev are also in train (10 of 200 words), 2 of them of 5 words or more:",
        "      16 × this is in all texts"]
    assert lists()["test_ref"] == ["t00.txt", "t10.txt"]
    before = {path: path.stat().st_mtime_ns for path in Path("split").iterdir()}
    main(["texts", "split"])
    assert capsys.readouterr().err == err
    assert {path: path.stat().st_mtime_ns for path in Path("split").iterdir()} == before


def test_split_texts_leave_out(corpus, capsys):
    main(["--leave-out", "5", "texts", "split"])
    err = capsys.readouterr().err
    assert err.startswith("left out of train: 16 sentences of 5 words or more that are also in test_ref or dev "
                          "(80 words)\n")
    assert "train           16        1,520   79.2%\n" in err
    assert "\n0 of 40 sentences of test_ref are also in train (0 of 200 words), 0 of them of 5 words or more\n" in err
    for line in Path("split/train").read_text().splitlines():
        assert line.startswith(str(corpus / "split/train_text"))
        assert Path(line).read_text().split("\n")[18:] == [Path(line).read_text().split("\n")[18], "", ""]
    assert (corpus / "texts/t02.txt").read_text().endswith("This is in all texts.\n")


def test_split_texts_speakers_of_a_table_and_of_lines(corpus, capsys):
    Path("speakers").write_text("".join(f"t{text:02d}-0001 s{text // 4}\n" for text in range(20)))
    main(["--speakers", "speakers", "texts", "split"])
    err = capsys.readouterr().err.splitlines()
    assert err[0].endswith("speakers")
    assert [line.split()[-1] for line in err[1:4]] == ["1", "1", "3"]
    assert not [line for line in err if "speak in train" in line]
    with open("texts/t19.txt", "a") as file:
        file.write("#speaker s0\n")  # s0 is also the speaker of t00
    main(["--speakers", "speakers", "texts", "split2"])
    of = {name: part for part, names in lists("split2").items() if part in SETS[:3] for name in names}
    assert of["t19.txt"] == of["t00.txt"]


def test_split_texts_host_is_named(corpus, capsys):
    Path("speakers").write_text("".join(f"t{text:02d} host g{text}\n" for text in range(20)))
    main(["--speakers", "speakers", "texts", "split"])
    err = capsys.readouterr().err
    assert "1 speakers link too many texts, and may be in several sets: 'host'\n" in err
    assert "\n1 speakers of test_ref speak in train, too: 'host'\n" in err


def test_split_texts_edited_lists_are_kept_and_counted_again(corpus, capsys):
    main(["texts", "split"])
    train = Path("split/train").read_text().splitlines(keepends=True)
    with open("split/dev", "a") as file:
        file.write(train[0])
    Path("split/train").write_text("".join(train[1:]))
    with pytest.raises(InputError, match="tree and rest do not add up to train; remove both"):
        main(["texts", "split"])
    for name in ("tree", "rest"):
        os.remove(f"split/{name}")
    Path("texts/new.txt").write_text("One more.\n")
    main(["texts", "split"])
    err = capsys.readouterr().err
    assert "dev              3          300   15.0%\n" in err
    assert err.endswith("\n1 texts are in no set: 'new'\n")
    assert lists()["tree"] == ["t03.txt", "t08.txt", "t15.txt"]
    assert sorted(lists()["tree"] + lists()["rest"]) == lists()["train"]


def test_split_texts_few_texts_are_cut(corpus, capsys):
    for path in sorted(Path("texts").iterdir())[2:]:
        path.unlink()
    main(["texts", "split"])
    err = capsys.readouterr().err
    assert err.startswith("too few texts (2), so they are cut into 20, which share speakers and topics\n")
    assert "test_ref         2           20   10.0%\n" in err
    assert lists()["test_ref"] == ["t00_001.txt", "t01_001.txt"]
    pieces = sorted(Path("split/text").iterdir())
    assert "".join(path.read_text() for path in pieces) == "".join(
        path.read_text() for path in sorted(Path("texts").iterdir()))
    main(["texts", "split"])
    main(["--leave-out", "1", "texts", "split2"])
    assert "train           16" in capsys.readouterr().err


@pytest.mark.parametrize(("edit", "message"), [
    (lambda: Path("split/dev").write_text("none.txt\n"), "split/dev:1: no such file: 'none.txt'; write the path"),
    (lambda: Path("split/dev").write_text(""), "split/dev: the list is empty; give the set a text"),
    (lambda: os.remove("split/dev"), "split/dev: no such file; write it, or remove split; it is made again"),
    (lambda: Path("split/dev").write_text(Path("split/test_ref").read_text()),
     "split/dev:1: 't00' is in test_ref, too; keep one line for each text"),
    (lambda: Path("split/test_ref").write_text(2 * Path("split/test_ref").read_text()),
     "split/test_ref:3: 't00' is in test_ref, too; ")])
def test_split_texts_mistake_in_a_list(corpus, edit, message):
    main(["texts", "split"])
    edit()
    with pytest.raises(InputError) as error:
        main(["texts", "split"])
    assert str(error.value).startswith(message)


def test_split_texts_mistakes(corpus):
    for path in sorted(Path("texts").iterdir())[1:]:
        path.unlink()
    Path("texts/t00.txt").write_text("one line only\n")
    with pytest.raises(InputError, match=r"texts: 1 files \*.txt, which can be cut into 1 at their lines; give"):
        main(["texts", "split"])
    with pytest.raises(InputError, match="none: no such directory"):
        main(["none", "split"])
    assert not Path("split/train").exists()
