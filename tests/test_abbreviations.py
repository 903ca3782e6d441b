"""Periods that are not marks: how abbreviations are read, files of abbreviations, and lists learned from text."""

import random
import time
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.labels import Label, LabelSet
from punc.text.abbreviations import KINDS, NO_MARK, Abbreviations, shipped, write_abbreviations
from punc.text.format import PrepareOptions, load_format
from punc.text.passages import Cutter, Passage
from punc.text.punkt import Types, count_contexts, words_by_kind

LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ; !\nQUESTION w? ?\n"


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    return tmp_path / "labels.txt"


def passage(labels, text, **options):
    counts = Counter()
    reader = load_format("prose")(PrepareOptions(LabelSet.read(labels), abbreviations=shipped(), **options))
    found = reader.passage(reader.said(text, counts), counts)
    marks = {"O": "", "COMMA": ",", "PERIOD": ".", "QUESTION": "?"}
    return " ".join(w + marks[label] for w, label in zip(found.words.split(), found.labels.split())), counts


@pytest.mark.parametrize(("text", "expected"), [
    ("Mr. Brown and Dr. Green came. So did I. He left.", "mr brown and dr green came. so did i. he left."),
    ("J. R. R. Tolkien wrote. George E. Wakefield.", "j r r tolkien wrote. george e wakefield."),
    ("the U.S. Army and the U.S. It rained.", "the u.s army and the u.s. it rained."),
    ("apples, pears, etc. We ate.", "apples, pears, etc. we ate."),
    ("apples, pears, etc. were eaten.", "apples, pears, etc were eaten."),
    ("e.g. Rome, i.e. a city.", "e.g rome, i.e a city."),
    ("at 3.30 p.m. on Monday", "at 3.30 p.m on monday"),
    ("at 3.30 p.m. We left.", "at 3.30 p.m. we left."),
    ("it costs 3.5. We pay.", "it costs 3.5. we pay."),
    ("No. 5 is alive. No. He said no. It is.", "no 5 is alive. no. he said no. it is."),
    ("am 3. Mai, am 24. veebruar, im Jahr 1999. Er", "am 3. mai, am 24 veebruar, im jahr 1999. er"),
    ("Well... so be it... Then go.", "well so be it. then go."),
    ("well...so it was. . . . but", "well so it was but"),
    ("he said ... nothing", "he said nothing"),
    ("Acme Inc., Ltd.; Co.: and Smith Jr.?", "acme inc, ltd. co and smith jr?"),
    ("“the U.S.” He said (Mr. Brown) “etc.”", "the u.s. he said mr brown etc."),
    ("see example.com. Then 10.000. and", "see example.com. then 10.000. and"),
    ("a Ph.D. student with a Ph.D. He works", "a ph.d student with a ph.d. he works"),
    ("a family of 5. Then we", "a family of 5. then we"),
    ("above 30 °C. Following that", "above 30 °c. following that"),
    ("Mr.", "mr"),
    ("in the U.S.", "in the u.s."),
    ("the U.S. - and", "the u.s and"),
    ("St. Petersburg, Main St. The end!", "st petersburg, main st. the end."),
])
def test_abbreviations_in_prose(labels, text, expected):
    words, counts = passage(labels, text)
    assert words == expected
    assert all(times > 0 for times in counts.values())


def test_abbreviations_count_what_is_kept_and_dropped(labels):
    _, counts = passage(labels, "Mr. A. Brown met Mr. Green etc. We saw it ... in 1999. He left.")
    assert counts == {"dots that are not marks\tmr.": 2, "dots that are not marks\ta.": 1,
                      "dots that are not marks\t...": 1,
                      "dots of abbreviations, numbers and ellipses that are marks\tetc.": 1,
                      "dots of abbreviations, numbers and ellipses that are marks\tnumbers": 1}


def test_abbreviations_do_not_count_a_dot_that_no_label_reads(tmp_path):
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    words, counts = passage(tmp_path / "labels.txt", "Mr. Brown, etc. we")
    assert (words, counts) == ("mr brown, etc we", {})


def prepared(labels, tmp_path, text, *options):
    (tmp_path / "in").write_text(text)
    write_abbreviations(tmp_path / "abbreviations", {"never": ["mr."], "capital": ["etc."], "begins": ["he"]}, "ours")
    assert main(["prepare", "--format=prose", f"--labels={labels}", f"--abbreviations={tmp_path / 'abbreviations'}",
                 *options, str(tmp_path / "in"), str(tmp_path / "out")]) == 0
    return [" ".join(utterance.labels) for utterance in DataDir(tmp_path / "out").utterances()]


def test_abbreviations_at_line_ends(labels, tmp_path, capsys):
    text = "Mr.\nX is in the U.S.\nArmy\nthe U.S.\narmy\n"
    assert prepared(labels, tmp_path, text) == ["O O O O O O O O O O"]
    assert "; --" not in capsys.readouterr().err
    lines = prepared(labels, tmp_path, text, "--utt-words=0")
    assert lines == ["O", "O O O O PERIOD", "O", "O O", "O"]
    assert prepared(labels, tmp_path, text, "--independent=true") == ["O", "O O O O PERIOD", "O", "O PERIOD", "O"]
    assert "punc prepare: 2 dots that are not marks: mr. 1, u.s. 1\n" in capsys.readouterr().err


TOKENS = ["Mr.", "U.S.", "etc.", "J.", "No.", "5.", "...", "He", "he", "Brown", "(", "”", "—", "x,", "end.",
          "so...that", "I.", "?", "5"]
SET = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",)), Label("PERIOD", "w.", (".",)),
                Label("QUESTION", "w?", ("?",))))


@given(st.lists(st.lists(st.sampled_from(TOKENS), max_size=6), max_size=4))
def test_abbreviations_change_no_word_and_count_each_dot(lines):
    """A list of abbreviations changes no label but PERIOD, which becomes O or COMMA."""
    plain, ours = (list(cut(lines, abbreviations)) for abbreviations in (None, shipped()))
    (words, labels, _), (same, changed, counts) = plain[0], ours[0]
    assert words == same
    other = [(one, two) for one, two in zip(labels, changed) if one != two]
    assert {one for one, _ in other} <= {"PERIOD"}
    assert {two for _, two in other} <= {"O", "COMMA"}
    assert len(other) <= sum(count for what, count in counts.items() if what.startswith(NO_MARK))
    dotted = ("Mr.", "U.S.", "etc.", "J.", "No.", "5.", "...", "so...that")
    seen = sum(token in dotted for line in lines for token in line)
    assert seen == sum(counts.values())


def cut(lines, abbreviations):
    counts = Counter()
    reader = load_format("prose")(PrepareOptions(SET, abbreviations=abbreviations))
    passages = [reader.passage(" ".join(line), counts) for line in lines]
    cutter = Cutter(5, reader.reader.attach, abbreviations=abbreviations)
    found = list(cutter.cut([Passage("", "", stream="s"), *passages]))
    yield ([word for u in found for word in u.words], [label for u in found for label in u.labels],
           counts + cutter.dots)


@pytest.mark.parametrize(("content", "message"), [
    ("never mr.\noften dr.\n", ":2: not a line of abbreviations: 'often dr.'; write one of never, "),
    ("never\n", ":1: not a line of abbreviations"),
    ("never mr\n", ":1: 'mr' of the kind never; write it in lower case, with its dot"),
    ("never Mr.\n", ":1: 'Mr.' of the kind never; "),
    ("begins he.\n", ":1: 'he.' of the kind begins; write it in lower case, without its dot"),
    ("never mr.\ncapital mr.\n", ": 'mr.' is of two kinds, never and capital; remove one"),
])
def test_abbreviations_file_with_errors(tmp_path, content, message):
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(InputError) as error:
        Abbreviations.read(tmp_path / "a.txt")
    assert message in str(error.value)


def test_abbreviations_write_and_read(tmp_path):
    words = {"never": ["mr."], "starter": ["u.s.", "co."], "begins": ["he", "it"], "ordinal": ["mai"], "word": ["i."]}
    write_abbreviations(tmp_path / "a.txt", words, "learned")
    read = Abbreviations.read(tmp_path / "a.txt")
    assert read.kinds == {"mr.": "never", "u.s.": "starter", "co.": "starter", "i.": "word"}
    assert (read.begins, read.ordinals) == ({"he", "it"}, {"mai"})
    assert read.keep_dot == {"mr.", "u.s.", "co."}


def test_shipped_abbreviations():
    assert {"mr.", "etc.", "jne."} <= shipped().keep_dot
    assert not {"no.", "i."} & shipped().keep_dot  # `no` and `i` are also words, which a recogniser may write
    assert {*shipped().kinds.values()} <= {*KINDS}


NOUNS = ["house", "river", "garden", "street", "doctor", "letter", "morning", "window", "table", "forest"]


def corpus(sentences=2000, seed=1):
    """Return sentences with `Dr.` before a name, `U.S.` in the middle and at the end, and ordinals."""
    rng = random.Random(seed)
    lines = []
    for _ in range(sentences):
        inside = rng.choice(["the {}", "Dr. Brown saw a {}", "the U.S. {}", "on 3. Mai the {}", "a {}", "a {}"])
        end = rng.choice(["the {}.", "a {}.", "the U.S.", "a {}?", "the {} in 1999."])
        first = rng.choice(["He saw", "We had", "They liked", "Then came", "It was"])
        lines.append(f"{first} {inside} and {end}".replace("{}", "%s") % tuple(
            rng.choices(NOUNS, k=(inside + end).count("{}"))))
    return "\n".join(lines)


def test_letters_are_initials_unless_their_dots_are_rare():
    tokens = Counter({"I": 1000, "I.": 1, "J.": 9, "B": 100, "B.": 3, "word": 1000, "end.": 100})
    found = words_by_kind(Types(tokens), Counter())
    assert found["word"] == ["i."]
    assert "b." not in found["starter"]  # `B.` has the form of an initial, so it need not be listed


def test_abbreviations_command(tmp_path, capsys):
    (tmp_path / "in").write_text(corpus() + "\n")
    command = ["abbreviations", str(tmp_path / "in")]
    assert main([*command, "--nj=1", str(tmp_path / "one")]) == 0
    said = capsys.readouterr().err
    assert "one: 2 abbreviations, 5 words that begin sentences, 1 after ordinals, of " in said
    assert "the most certain: u.s. dr.\n" in said
    learned = Abbreviations.read(tmp_path / "one")
    assert learned.kinds == {"u.s.": "starter", "dr.": "starter"}
    assert (learned.begins, learned.ordinals) == ({"he", "we", "they", "then", "it"}, {"mai"})
    assert main([*command, "--nj=2", str(tmp_path / "two")]) == 0
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


def seconds(labels, text):
    """Return the seconds needed to read a text with a list of abbreviations, and to learn a list from the text."""
    begin = time.process_time()
    passage(labels, text, clean=("square-brackets", "round-brackets"))
    Types(Counter(["end.", *text.split()]))
    count_contexts(text, frozenset())
    return time.process_time() - begin


@settings(max_examples=20)
@given(st.sampled_from(["", "a", "a "]), st.text("..--…a ([\"!", min_size=1, max_size=4), st.sampled_from(["", "a"]))
@example("", ".", "").via("once quadratic")
@example("", "-", "").via("once quadratic")
@example("a", ".", "").via("once cubic")
@example("", "[a", "]" * 50_000).via("once quadratic")
def test_time_is_linear(tmp_path_factory, begin, unit, end):
    """Ten times as much text takes about ten times as long. A quadratic search would take a hundred times as long."""
    path = tmp_path_factory.mktemp("labels") / "labels.txt"
    path.write_text(LABELS)
    some, more = (seconds(path, begin + unit * n + end) for n in (5_000, 50_000))
    assert more < 30 * max(some, 0.05)


@pytest.mark.parametrize(("content", "options", "message"), [
    ("— ?\n", [], "in: no words; "), ("", [], "in: the file is empty; "),
    ("so.", ["--nj=0"], "--nj=0 is out of range; ")])
def test_abbreviations_command_errors(tmp_path, capsys, content, options, message):
    (tmp_path / "in").write_text(content)
    assert main(["abbreviations", *options, str(tmp_path / "in"), str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["abbreviations", str(tmp_path / "in"), str(tmp_path / "in")]) == 1
    assert (tmp_path / "in").read_text() == content
