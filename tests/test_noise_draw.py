"""Errors drawn for texts: frequencies against the table, arrays against a walk word by word, fluency, pauses."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.noise.confusions import Confusions
from punc.noise.draw import Drawn, Fluency, align_drawn, draw, drawn_pauses
from punc.noise.sounds import Sounds
from punc.noise.table import Choices, make_table
from punc.timing.align import align_words

CONFUSIONS = Confusions(
    runs=900, slots=Counter(none=8000, mark=1000), seen=Counter(a=5000, b=4000, c=1000),
    heard=Counter(a=5000, b=4000, c=1000, d=300),
    replaced=Counter({("a", ("d",)): 300, ("a", ()): 100, ("b", ("a", "d")): 400, ("c", ("b",)): 200}),
    inserted=Counter({("none", ("d",)): 80, ("mark", ("a", "b")): 100}))
TYPES = {"a": 1, "b": 2, "c": 3, "d": 4}


def table():
    return make_table(CONFUSIONS, TYPES, "abcd")


def text(rng, n):
    return rng.integers(1, 4, n), rng.random(n) < 0.1, np.arange(n) == 0


def test_make_table_rates_and_replacements_are_those_counted():
    found = table()
    assert found.errors[1:4] == pytest.approx([0.08, 0.1, 0.2], rel=0.01)
    assert found.inserted == pytest.approx([0.01, 0.1])
    lengths = found.replacements.mean(np.append(found.lengths, 0))  # 300 single words and 100 deletions of `a`
    assert lengths[1:4] == pytest.approx([0.75, 2, 1], abs=0.02)


def test_make_table_unseen_word_has_the_rate_of_rare_words_and_sounds_like_others():
    confusions = Confusions(runs=3, seen=Counter(testament=1, rate=1, common=100),
                            heard=Counter(rate=5, common=100), replaced=Counter({("testament", ("stamen",)): 1}))
    found = make_table(confusions, {"common": 1, "rate": 2, "gate": 3}, {"common", "rate", "gate"})
    assert found.errors[3] == pytest.approx(0.5)  # one of the two words that were seen once was wrong
    drawn = found.replacements.draw(np.full(1000, 3), np.random.default_rng(1))
    assert set(drawn.tolist()) == {2}


def test_sounds_learns_the_edits_of_the_confusions():
    """d and t are often confused, d and g never: `bad` is heard as `bat`, not as `bag`."""
    pairs = [("ride", "rite"), ("need", "neet"), ("mad", "mat"), ("dog", "tog"), ("goad", "goat")]
    confusions = Confusions(heard=Counter(bat=10, bag=10, window=10),
                            replaced=Counter({(word, (other,)): 1 for word, other in pairs}))
    sounds = Sounds(confusions)
    (near, probabilities), (none, _) = sounds.neighbours(["bad", "xyzzyxyzzy"])
    best = [sounds.words[i] for i in near]
    assert best == ["bat", "bag"]
    assert probabilities[0] > 0.9
    assert probabilities.sum() == pytest.approx(1)
    assert not len(none)


def test_choices_draw_in_proportion():
    rows, outcomes, weights = np.array([2, 0, 2, 0]), np.array([7, 5, 8, 6]), np.array([1.0, 1.0, 3.0, 1.0])
    choices = Choices(rows, outcomes, weights, 3, 9)
    rng = np.random.default_rng(1)
    counts = Counter(choices.draw(np.full(10_000, 2), rng).tolist())
    assert counts[8] / 10_000 == pytest.approx(0.75, abs=0.02)
    assert set(counts) == {7, 8}
    assert set(choices.draw(np.zeros(100, np.int64), rng).tolist()) == {5, 6}
    assert set(choices.draw(np.ones(10, np.int64), rng).tolist()) == {9}
    assert choices.mean(np.arange(10.0)) == pytest.approx([5.5, 9, 7.75])


@pytest.mark.parametrize("wer", [0.02, 0.1, 0.4])
def test_draw_has_the_word_error_rate_that_was_asked_for(wer):
    rng = np.random.default_rng(1)
    words, marks, first = text(rng, 100_000)
    found = table().at_wer(wer, np.bincount(words, minlength=5), marks.mean())
    drawn = draw(found, words, marks, first, rng)
    # Of the edits that were drawn; the edit distance is lower, as some of them can be had with fewer.
    lengths = np.bincount(drawn.source, minlength=len(words))
    edits = np.where(drawn.kept, lengths - 1, np.maximum(lengths, 1)).sum()
    assert edits / len(words) == pytest.approx(wer, rel=0.05)
    assert align_drawn(words, first, drawn).wer == pytest.approx(wer, rel=0.2)


def test_draw_errors_come_in_bursts():
    rng = np.random.default_rng(1)
    words, marks, first = text(rng, 100_000)
    found = table()
    wrong = ~draw(found, words, marks, first, rng).kept
    mean = wrong.mean()
    assert wrong[1:][wrong[:-1]].mean() == pytest.approx(found.burst + (1 - found.burst) * mean, abs=0.02)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3000))
def test_draw_gives_a_text_with_known_sources(seed, n):
    rng = np.random.default_rng(seed)
    words, marks, _ = text(rng, n)
    first = (rng.random(n) < 0.05) | (np.arange(n) == 0)
    drawn = draw(table().at_wer(0.3, np.bincount(words, minlength=5), 0.1), words, marks, first, rng)
    assert len(drawn.words) == n - drawn.deleted + drawn.inserted
    assert (np.diff(drawn.source) >= 0).all()
    assert np.isin(np.flatnonzero(first), drawn.source).all()  # no stream loses its first word
    kept = drawn.kept[drawn.source] & drawn.spoken
    assert (drawn.words[kept] == words[drawn.source[kept]]).all()
    # Aligned in parts, the streams have the distance that they have aligned whole.
    alignment = align_drawn(words, first, drawn)
    assert alignment.n_hyp == len(drawn.words)
    bounds = np.append(np.flatnonzero(first), n)
    places = np.searchsorted(drawn.source, bounds)
    whole = sum(align_words(words[i:j].tolist(), drawn.words[k:m].tolist()).distance
                for i, j, k, m in zip(bounds, bounds[1:], places, places[1:]))
    assert whole <= alignment.distance <= whole * 1.01 + 1


def test_drawn_pauses():
    #     a      b deleted   c as x y    d, e inserted after it    f
    # Six reference words: a kept, b deleted, c replaced by two words, d kept with a word after it, e deleted, f kept.
    drawn = Drawn(np.array([1, 8, 9, 4, 7, 6]), np.array([0, 2, 2, 3, 3, 5]),
                  np.array([True, False, False, True, False, True]), np.array([True, False, True, True, False, True]))
    pauses = np.array([0.1, 0.2, 0.3, 0.4, 0.5, np.nan], np.float32)
    assert drawn_pauses(pauses, drawn) == pytest.approx([0.3, np.nan, 0.3, np.nan, np.nan, np.nan], nan_ok=True)
    assert drawn.deleted == 2
    assert drawn.inserted == 2


LETTERS = {word: number for number, word in enumerate("abcdef", 1)}
A, B, C, D, E, F = LETTERS.values()


def table_of_b(**outputs):
    """Of a word that is always wrong, by its outputs and how often each was counted."""
    count = sum(outputs.values())
    replaced = Counter({("b", tuple(words.replace("_", ""))): number for words, number in outputs.items()})
    return make_table(Confusions(runs=count, seen=Counter(b=count), replaced=replaced), LETTERS, "")


def fluency(draws, *texts):
    found = Fluency(draws)
    for text in texts:
        found.add(np.array([LETTERS.get(letter, 0) for letter in text], np.int64), np.arange(len(text)) == 0)
    return found


def drawn(found, noise, text, first=(0,), count=2000):
    """What stands in the place of each `b` of a text, drawn many times."""
    words = np.array([LETTERS.get(letter, 0) for letter in text], np.int64)
    starts = np.isin(np.arange(len(words)), first)
    wrong = np.flatnonzero(words == B)
    rng = np.random.default_rng(1)
    return np.stack([found.draw(noise, words, starts, wrong, rng) for _ in range(count)])


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=200))
def test_seen_is_a_set_of_pairs(text):
    words = np.array([word for word, _ in text], np.int64)
    first = np.array([begins for _, begins in text], bool)
    found = Fluency(2)
    found.add(words, first)
    pairs = {(x, y) for (x, _), (y, begins) in pairwise(text) if x and y and not begins}
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(41), np.arange(41)))
    assert {(x, y) for x, y, seen in zip(left, right, found.seen(left, right)) if seen} == pairs


def test_draw_takes_what_fits_on_both_sides():
    noise = table_of_b(c=1000, d=1000, e=1000)
    found = fluency(8, "acf", "adx", "xef")  # c fits on both sides, d and e on one
    assert (drawn(found, noise, "abf") == C).mean() == pytest.approx(1 - (2 / 3) ** 8, abs=0.02)
    assert set(drawn(found, noise, "abx").ravel().tolist()) <= {C, D, E}


def test_draw_nothing_is_beside_the_ends_of_streams():
    noise = table_of_b(c=1000, d=1000)
    found = fluency(8, "ac", "ca")  # beside `a` only c fits; at the begin of a stream nothing is before, nor after
    assert (drawn(found, noise, "ab") == C).mean() > 0.98
    assert (drawn(found, noise, "ab", first=(0, 1)) == C).mean() == pytest.approx(0.5, abs=0.05)
    assert (drawn(found, noise, "ba", first=(0, 1)) == C).mean() == pytest.approx(0.5, abs=0.05)
    assert (drawn(found, noise, "ba") == C).mean() > 0.98


def test_draw_of_several_words_the_first_and_the_last_make_pairs():
    noise = table_of_b(ce=1000, ec=1000)
    assert len(set(drawn(fluency(8, "ac", "ef"), noise, "abf").ravel().tolist())) == 2
    best = drawn(fluency(8, "ac", "ef"), noise, "abf").ravel()
    words = [tuple(noise.words[noise.ends[s] - noise.lengths[s]:noise.ends[s]].tolist()) for s in best]
    assert Counter(words).most_common(1)[0][0] == (C, E)
    assert Counter(words)[C, E] > 1900


def test_draw_leaves_deletions_as_they_are():
    noise = table_of_b(c=700, d=700, _=600)
    deletion = len(noise.errors)
    for text in ("acf", "af", "adf"):
        shares = [(drawn(fluency(draws, text), noise, "abf") == deletion).mean() for draws in (1, 8)]
        assert shares == pytest.approx([0.3, 0.3], abs=0.04)


def test_draw_in_a_text_keeps_what_is_wrong_and_what_is_deleted():
    noise = table_of_b(c=700, d=700, _=600)
    words = np.random.default_rng(2).integers(1, 7, 5000)
    marks, first = np.zeros(5000, bool), np.arange(5000) == 0
    plain, fitting = (draw(noise, words, marks, first, np.random.default_rng(5), fluency=found)
                      for found in (None, fluency(6, "acadafcecf")))
    assert (plain.kept == fitting.kept).all()
    assert plain.deleted == fitting.deleted
    assert (plain.source == fitting.source).all()
    assert (plain.words != fitting.words).any()
