"""Abbreviations of a corpus: the scores by hand, words that are known, and `punc abbreviations`."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.bin.main import main
from punc.text.abbreviations import Abbreviations
from punc.text.punkt import Contexts, Types, count_contexts, count_types, dunning, dunning_abbreviation, read

NOUNS = ["house", "river", "garden", "street", "doctor", "letter", "morning", "window", "table", "forest"]


def corpus(sentences=2000, seed=1):
    """Sentences with titles before names, U.S. and etc. inside and at the end, and German ordinals."""
    rng = random.Random(seed)
    lines = []
    for _ in range(sentences):
        inside = rng.choice(["the {}", "Dr. Brown saw a {}", "the U.S. {}", "on 3. Mai the {}", "a {}", "a {}"])
        end = rng.choice(["the {}.", "a {}.", "the U.S.", "a {}?", "the {} in 1999."])
        first = rng.choice(["He saw", "We had", "They liked", "Then came", "It was"])
        lines.append(f"{first} {inside} and {end}".replace("{}", "%s") % tuple(
            rng.choices(NOUNS, k=(inside + end).count("{}"))))
    return "\n".join(lines)


def test_score_by_hand():
    types = Types(Counter({"Dr.": 5, "dr": 1, "end.": 10, "end": 10, "word": 74}))
    chance = 15 / 100
    ratio = -2 * (5 * math.log(chance / 0.99) + math.log((1 - chance) / 0.01))
    assert (types.total, types.dots) == (100, 15)
    assert dunning_abbreviation(5, 1, chance) == pytest.approx(ratio)
    assert types.scores["dr"] == pytest.approx(ratio * math.exp(-2) / 2)
    assert types.scores["end"] < 0.3


def test_score_counts_dots_inside_and_letters_only():
    types = Types(Counter({"e.g.": 4, "(e.g.,": 1, "word": 95}))
    assert types.scores["e.g"] == pytest.approx(-2 * 5 * math.log(0.05 / 0.99) * math.exp(-2) * 2)


@given(st.integers(1, 50), st.integers(1, 50), st.data())
def test_dunning_is_twice_the_information(first, second, data):
    """Dunning's ratio is the G² of the table of both events, Σ 2 O ln(O / E)."""
    both = data.draw(st.integers(0, min(first, second)))
    total = first + second + data.draw(st.integers(1, 100))
    table = [[both, first - both], [second - both, total - first - second + both]]
    expected = sum(2 * table[i][j] * math.log(table[i][j] * total / (sum(table[i]) * (table[0][j] + table[1][j])))
                   for i in (0, 1) for j in (0, 1) if table[i][j])
    assert dunning(first, second, both, total) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("text", "token"), [
    ("“U.S.”", ("u.s", True, False, False, True)), ("1,000.", ("##number##", True, False, False, False)),
    ("so...", ("so", False, False, True, False)), ("what?!", ("what", False, True, False, False)),
    ("--", ("", False, False, False, False)), ("3rd", ("3rd", False, False, False, False))])
def test_read_token(text, token):
    assert read(text) == token


def test_contexts_add_up():
    lines = corpus(100).split("\n")
    whole, sum_ = count_contexts("\n".join(lines), frozenset(["dr"])), Contexts()
    for half in (lines[:50], lines[50:]):
        sum_.add(count_contexts("\n".join(half), frozenset(["dr"])))
    assert sum_.ends == whole.ends
    assert sum((whole.first - sum_.first).values()) <= 1  # the word after the cut


def test_types_find_abbreviations():
    types = Types(count_types(corpus()))
    assert types.abbreviations == {"dr", "u.s"}


def test_abbreviations_command(tmp_path, capsys):
    (tmp_path / "in").write_text("#doc Xx.\n" + corpus() + "\n")
    command = ["abbreviations", "--skip-prefix=#doc", str(tmp_path / "in")]
    assert main([*command, "--nj=1", str(tmp_path / "one")]) == 0
    said = capsys.readouterr().err
    assert "one: 2 abbreviations, 5 words that begin sentences, 1 after ordinals, of " in said
    assert "the surest: u.s. dr.\n" in said
    learned = Abbreviations.read(tmp_path / "one")
    assert learned.kinds == {"u.s.": "starter", "dr.": "starter"}
    assert (learned.begins, learned.ordinals) == ({"he", "we", "they", "then", "it"}, {"mai"})
    assert main([*command, "--nj=2", str(tmp_path / "two")]) == 0
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()


@pytest.mark.parametrize(("content", "options", "message"), [
    ("— ?\n", [], "in: no words; "), ("", [], "in: the file is empty; "),
    ("so.", ["--min-count=0"], "--min-count 0; ")])
def test_abbreviations_command_errors(tmp_path, capsys, content, options, message):
    (tmp_path / "in").write_text(content)
    assert main(["abbreviations", *options, str(tmp_path / "in"), str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["abbreviations", str(tmp_path / "in"), str(tmp_path / "in")]) == 1
    assert (tmp_path / "in").read_text() == content
