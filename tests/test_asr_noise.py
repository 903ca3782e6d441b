"""ASR noise: confusions are counted, errors are drawn for texts, and models are trained with them."""

import contextlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.models.base import read_checkpoint
from punc.noise.confusions import HEADER, LONGEST, Confusions, add_stream, read_confusions, replacements
from punc.noise.draw import Drawn, Fluency, align_drawn, draw, drawn_pauses
from punc.noise.store_noise import StoreNoise
from punc.noise.table import Choices, Sounds, make_table
from punc.timing.align import align_words
from punc.tokens.store import Store
from punc.training.options import TrainingOptions
from punc.training.state import Run
from punc.training.train import train

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"


def counted(spoken, heard):
    """Count the confusions of a text in which `.` stands for any mark after a word. Return the confusions, and how many
    of the text's words are left out because they are in a long region of errors."""
    found = Confusions()
    words = spoken.split()
    left_out = add_stream(found, [word.rstrip(".") for word in words], heard.split(),
                          np.array([word.endswith(".") for word in words]))
    return found, left_out


def test_add_stream_counts_each_kind():
    found, left_out = counted("we saw it. then he left early with 100,000 people. yes",
                              "we so it and then he early with hundred thousand people yes")
    assert left_out == 0
    assert found.replaced == {("saw", ("so",)): 1, ("left", ()): 1, ("100,000", ("hundred", "thousand")): 1}
    assert found.inserted == {("mark", ("and",)): 1}
    assert found.runs == 3
    # Slots with a mark: it/then and people/yes. Slots without a mark: then/he and early/with.
    assert found.slots == {"mark": 2, "none": 2}
    assert found.seen.total() == 11
    assert found.heard.total() == 12
    assert found.wer == (1 + 1 + 2 + 1) / 11


def test_add_stream_leaves_long_regions_out():
    other = " ".join(f"x{i}" for i in range(LONGEST + 1))
    found, left_out = counted(f"a b {other} c d", "a b c d")
    assert (left_out, found.seen, found.runs) == (LONGEST + 1, Counter("abcd"), 0)
    found, left_out = counted("a b c d", f"a b {other} c d")
    assert (left_out, found.heard, found.inserted) == (0, Counter("abcd"), {})


@pytest.mark.parametrize(("words", "output", "expected"), [
    (1, "x", [("x",)]), (2, "x y", [("x",), ("y",)]), (2, "x", [("x",), ()]), (3, "", [(), (), ()]),
    (1, "x y z", [("x", "y", "z")]), (2, "x y z", [("x", "y"), ("z",)])])
def test_replacements_follow_the_pairing_rule(words, output, expected):
    assert replacements(words, output.split()) == expected


def test_burst_is_that_of_a_chain():
    """With probability b, a word is right or wrong like the word before it; otherwise it is wrong with probability
    m."""
    rng, n, b, m = np.random.default_rng(1), 200_000, 0.3, 0.1
    wrong = rng.random(n) < m
    copied = rng.random(n) < b
    copied[0] = False
    wrong = wrong[np.maximum.accumulate(np.where(copied, 0, np.arange(n)))]
    runs = int((wrong & ~np.append(False, wrong[:-1])).sum())
    found = Confusions(runs, seen=Counter(a=n), replaced=Counter({("a", ()): int(wrong.sum())}))
    assert found.burst == pytest.approx(b, abs=0.01)
    assert Confusions().burst == 0


WORD = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=4)
COUNTS = st.integers(1, 10**9)
SOME = st.lists(WORD, max_size=3).map(tuple)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 9), st.dictionaries(WORD, COUNTS), st.dictionaries(st.tuples(WORD, SOME), COUNTS, max_size=5),
       st.dictionaries(st.tuples(st.sampled_from(["none", "mark"]), SOME.filter(len)), COUNTS, max_size=5))
def test_read_confusions_reads_what_was_written(tmp_path_factory, runs, heard, replaced, inserted):
    path = tmp_path_factory.mktemp("confusions") / "confusions.txt"
    seen = Counter({"a": 1})
    for (word, _), count in replaced.items():
        seen[word] += count
    found = Confusions(runs, Counter(mark=3), seen, Counter(heard), Counter(replaced), Counter(inserted))
    found.write(path)
    assert read_confusions(path) == found


@pytest.mark.parametrize(("text", "message"), [
    ("", "no word was seen"), ("other\n", ":1: the first line"), (f"{HEADER}\nseen\t1\n", ":2: not a count"),
    (f"{HEADER}\nseen\tx\ta\n", ":2: not a count"), (f"{HEADER}\nseen\t-1\ta\n", ":2: not a count"),
    (f"{HEADER}\nseen\t{10**400}\ta\n", ":2: not a count"),
    (f"{HEADER}\nother\t1\ta\n", ":2: not a count"), (f"{HEADER}\nslots\t1\tcomma\n", ":2: not a count"),
    (f"{HEADER}\ninserted\t1\tmark\t\n", ":2: not a count"), (f"{HEADER}\nruns\t1\tx\n", ":2: not a count"),
    (f"{HEADER}\nseen\t1\ta\nreplaced\t2\ta\tb\n", "'a' was wrong more often"),
])
def test_read_confusions_broken_file_raises(tmp_path, text, message):
    (tmp_path / "c").write_text(text)
    with pytest.raises(InputError) as error:
        read_confusions(tmp_path / "c")
    assert message in str(error.value)


def test_read_confusions_counts_of_nothing_are_left_out(tmp_path):
    """An edited file may have counts of 0. Probabilities cannot be computed for a word whose counts are all 0."""
    (tmp_path / "c").write_text(f"{HEADER}\nslots\t9\tmark\nseen\t9\ta\nseen\t0\tb\n"
                                "replaced\t0\ta\tb\ninserted\t0\tmark\tand\n")
    found = read_confusions(tmp_path / "c")
    assert (dict(found.seen), dict(found.replaced), dict(found.inserted)) == ({"a": 9}, {}, {})


def test_confusions_command(tmp_path, capsys):
    (tmp_path / "labels.txt").write_text(LABELS)
    write_data_dir(tmp_path / "ref", [Utterance("a-1", "a", ["so", "we", "saw", "it"], ["O", "O", "O", "PERIOD"]),
                                      Utterance("a-2", "a", ["yes", "please"], ["COMMA", "PERIOD"])])
    write_data_dir(tmp_path / "asr", [Utterance("a-1", "a", ["so", "we", "so", "it", "and", "yes", "please"])])

    def learn(*paths):
        return main(["confusions", f"--labels={tmp_path / 'labels.txt'}", *(f"{tmp_path / p}" for p in paths)])

    assert learn("ref", "asr", "c.txt") == 0
    assert "6 reference words, WER 33.33 %: 1 substituted, 0 deleted, 1 insertions" in capsys.readouterr().err
    assert read_confusions(tmp_path / "c.txt").inserted == {("mark", ("and",)): 1}
    assert learn("ref", "c.txt") == 1
    assert "give pairs" in capsys.readouterr().err
    assert learn("asr", "asr", "d.txt") == 1
    assert "asr/punct: no such file; labels are needed: punc prepare makes them" in capsys.readouterr().err
    assert not (tmp_path / "d.txt").exists()


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
    # `a` was replaced by a single word 300 times, and was deleted 100 times.
    lengths = found.replacements.mean(np.append(found.lengths, 0))
    assert lengths[1:4] == pytest.approx([0.75, 2, 1], abs=0.02)


def test_make_table_unseen_word_has_the_rate_of_rare_words_and_sounds_like_others():
    confusions = Confusions(runs=3, seen=Counter(testament=1, rate=1, common=100),
                            heard=Counter(rate=5, common=100), replaced=Counter({("testament", ("stamen",)): 1}))
    found = make_table(confusions, {"common": 1, "rate": 2, "gate": 3}, {"common", "rate", "gate"})
    assert found.errors[3] == pytest.approx(0.5)  # two words were seen once; one of them was wrong
    drawn = found.replacements.draw(np.full(1000, 3), np.random.default_rng(1))
    assert set(drawn.tolist()) == {2}


def test_sounds_learns_the_edits_of_the_confusions():
    """d and t are often confused, d and g never, so `bad` is heard as `bat` more often than as `bag`."""
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
    # Count the drawn edits, not the edit distance, which is lower if fewer edits explain the same change.
    lengths = np.bincount(drawn.source, minlength=len(words))
    edits = np.where(drawn.kept, lengths - 1, np.maximum(lengths, 1)).sum()
    assert edits / len(words) == pytest.approx(wer, rel=0.05)
    assert align_drawn(words, first, drawn).distance / len(words) == pytest.approx(wer, rel=0.2)


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
    alignment = align_drawn(words, first, drawn)
    assert alignment.n_hyp == len(drawn.words)
    bounds = np.append(np.flatnonzero(first), n)
    places = np.searchsorted(drawn.source, bounds)
    whole = sum(align_words(words[i:j].tolist(), drawn.words[k:m].tolist()).distance
                for i, j, k, m in zip(bounds, bounds[1:], places, places[1:]))
    assert whole <= alignment.distance <= whole * 1.01 + 1


def test_drawn_pauses():
    # Of six reference words, a, d and f are kept, b and e are deleted, and c is replaced by two words. A word is
    # inserted after d.
    drawn = Drawn(np.array([1, 8, 9, 4, 7, 6]), np.array([0, 2, 2, 3, 3, 5]),
                  np.array([True, False, False, True, False, True]), np.array([True, False, True, True, False, True]))
    pauses = np.array([0.1, 0.2, 0.3, 0.4, 0.5, np.nan], np.float32)
    assert drawn_pauses(pauses, drawn) == pytest.approx([0.3, np.nan, 0.3, np.nan, np.nan, np.nan], nan_ok=True)
    assert drawn.deleted == 2
    assert drawn.inserted == 2


LETTERS = {word: number for number, word in enumerate("abcdef", 1)}
A, B, C, D, E, F = LETTERS.values()


def table_of_b(**outputs):
    """Return a table in which the word b is always wrong. `outputs` gives the count of each replacement."""
    count = sum(outputs.values())
    replaced = Counter({("b", tuple(words.replace("_", ""))): number for words, number in outputs.items()})
    return make_table(Confusions(runs=count, seen=Counter(b=count), replaced=replaced), LETTERS, "")


def fluency(draws, *texts):
    found = Fluency(draws)
    for text in texts:
        found.add(np.array([LETTERS.get(letter, 0) for letter in text], np.int64), np.arange(len(text)) == 0)
    return found


def drawn(found, noise, text, first=(0,), count=500):
    """Draw the replacements of each `b` in a text `count` times."""
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
    found = fluency(8, "acf", "adx", "xef")  # c fits on both sides, d and e on one side only
    assert (drawn(found, noise, "abf") == C).mean() == pytest.approx(1 - (2 / 3) ** 8, abs=0.03)
    assert set(drawn(found, noise, "abx").ravel().tolist()) <= {C, D, E}


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


torch.set_num_threads(1)
MODEL = {"embedding_dim": 6, "hidden_dim": 8, "init_range": 0.1}
SETTINGS = {"train_set": "train_before", "dev_set": "dev_before", "batch_size": 20, "bptt": 5, "epochs": 3,
            "threads": 1, "device": "cpu"}


@pytest.fixture
def noise(toy_store, tmp_path):
    words = Store(toy_store).vocabulary.tokens[2:]
    Confusions(90, Counter(none=900), Counter(dict.fromkeys(words, 100)), Counter(dict.fromkeys(words, 100)),
               Counter({(word, (other,)): 10 for word, other in pairwise(words)} | {(words[-1], ()): 10}),
               Counter({("none", (words[0],)): 30})).write(tmp_path / "c")
    return {"asr_noise": 0.1, "confusions": str(tmp_path / "c")}


def weights(toy_store, directory, **settings):
    train(toy_store, directory, "t_lstm", MODEL, TrainingOptions(**SETTINGS | settings))
    return read_checkpoint(directory / "final.pt")["weights"]


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


def test_errors_are_drawn_anew_for_each_reading(toy_store, tmp_path, noise, monkeypatch):
    """Errors are drawn once for each pass over the set, not once for each of its two parts."""
    draw, drawn = StoreNoise.draw, []

    def recorded(self, seed):
        drawn.append(draw(self, seed))
        return drawn[-1]

    monkeypatch.setattr(StoreNoise, "draw", recorded)
    weights(toy_store, tmp_path, **noise, parts=2, batching="chunks", chunk_size=16, epochs=4, schedule="linear")
    assert len({data.ids.tobytes() for data in drawn}) == len(drawn) == 2


@contextlib.contextmanager
def killed_in_second_epoch():
    after_batch = Run.after_batch

    def killed(run, *rest):
        after_batch(run, *rest)
        if run.progress.epoch == 1:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(Run, "after_batch", killed)
        yield


@pytest.mark.parametrize("changes", [{}, {"schedule": "linear", "learning_rate": 0.2},
                                     {"batching": "chunks", "chunk_size": 16, "context": 4, "parts": 2}])
def test_train_resumed_with_noise_gives_the_same_model(toy_store, tmp_path, noise, changes):
    whole = weights(toy_store, tmp_path / "whole", **noise, **changes)
    assert not same(whole, weights(toy_store, tmp_path / "clean", **changes))
    with killed_in_second_epoch():
        weights(toy_store, tmp_path / "stopped", **noise, **changes)
    assert (tmp_path / "stopped" / "progress.pt").exists()
    assert same(whole, weights(toy_store, tmp_path / "stopped", **noise, **changes))


def test_train_resumed_with_other_confusions_raises(toy_store, tmp_path, noise):
    with killed_in_second_epoch():
        weights(toy_store, tmp_path / "stopped", **noise)
    with open(noise["confusions"], "a") as file:
        file.write("heard\t1\tother\n")
    with pytest.raises(InputError, match="c: the file has changed since the training"):
        weights(toy_store, tmp_path / "stopped", **noise)
