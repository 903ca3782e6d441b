"""Features of a word CRF on small texts."""

import numpy as np
import pytest

from punc.models.word_crf.features import (
    LM_STEPS,
    Finder,
    Template,
    Text,
    cluster_table,
    odds_step,
    shape_table,
    suffix_table,
    templates,
)
from punc.tokens.tokenizers.form import forms, word_shape

WORDS = ["<unk>", "</s>", "what", "is", "mp3", "n't", "McDonald", "1990s"]
V = len(WORDS)
WHAT, IS, MP3 = 2, 3, 4
# Two streams: "what is mp3 <unk>" and "is".
TEXT = Text(np.array([WHAT, IS, MP3, 0, IS], np.int32), np.array([0, 4, 5]), None)


def keys(template, text=TEXT, start=0, stop=5, tables=None, triggers=(), before=2, after=1):
    """The keys of a template, a list for each slot."""
    finder = Finder(V, tables or {}, triggers, before, after)
    slots, found = next(finder.keys([template], text, start, stop))
    return [found[slots == slot].tolist() for slot in range(stop - start)]


def number(*words):
    return sum(word * V ** place for place, word in enumerate(reversed(words)))


def test_word_shape_by_hand():
    assert [word_shape(word) for word in WORDS[2:]] == ["a", "a", "a0", "a'a", "AaAa", "0a"]
    assert word_shape("don't--") == "a'a-"
    table = shape_table(WORDS)
    assert table[:2].tolist() == [-1, -1]
    assert table[2] == table[3]
    assert len(set(table[3:].tolist())) == 5


def test_suffix_table_only_longer_words():
    table = suffix_table([*WORDS, "that", "at"], 2)
    assert (table[WHAT] == table[V], table[V + 1], table[IS], table[0]) == (True, -1, -1, -1)
    assert len({table[WHAT], table[MP3], table[5], table[6], table[7]}) == 5  # at, p3, 't, ld, 0s


@pytest.mark.parametrize("word", ["blogging", "10:30", "a", "ok", "abc", "Abcd", "x:y", "n't"])
def test_tables_of_a_form_are_those_of_its_words(word):
    """A new word, as its form, has the shape and the suffixes that it has as a word of the vocabulary."""
    for table in (shape_table, lambda words: suffix_table(words, 1), lambda words: suffix_table(words, 3)):
        own, form = table(["<unk>", "</s>", word, next(forms(word))])[2:]
        assert own == form
    assert suffix_table(["<unk>", "</s>", word, "<form:0:a:>"], 1)[3] == -1


def test_cluster_table_by_prefixes():
    clusters = {"what": "0010", "is": "0011", "mp3": "01", "other": "1"}
    assert cluster_table(WORDS, clusters, 3).tolist() == [-1, -1, 0, 0, 1, -1, -1, -1]
    assert cluster_table(WORDS, clusters, 4).tolist() == [-1, -1, 0, 1, 2, -1, -1, -1]


def test_keys_word_ngrams_stop_at_stream_ends():
    assert keys(Template("word", 0)) == [[WHAT], [IS], [MP3], [0], [IS]]
    assert keys(Template("word", 1)) == [[IS], [MP3], [0], [1], [1]]
    assert keys(Template("word", -1, 3)) == [[number(1, WHAT, IS)], [number(WHAT, IS, MP3)], [number(IS, MP3, 0)],
                                             [number(MP3, 0, 1)], [number(1, IS, 1)]]


@pytest.mark.parametrize(("start", "stop"), [(0, 100), (0, 40), (37, 41), (99, 100)])
def test_keys_same_for_part_of_text(start, stop):
    rng = np.random.default_rng(0)
    text = Text(rng.integers(0, V, 100).astype(np.int32), np.array([0, 39, 40, 100]), None)
    for template in templates(4, 3, [], 0, 0):
        assert keys(template, text, start, stop) == keys(template, text, 0, 100)[start:stop]


def test_keys_of_word_tables_use_their_offset():
    tables = {"shape": shape_table(WORDS)}
    a, a0 = tables["shape"][[WHAT, MP3]].tolist()
    assert keys(Template("shape", 0), tables=tables) == [[a], [a], [a0], [], [a]]
    assert keys(Template("shape", 1), tables=tables) == [[a], [a0], [], [], []]


def test_odds_step_by_hand():
    log_probs = np.log([[0.5, 0.5], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))], [1.0, 1e-30]])
    assert [keys(Template("lm", label), TEXT._replace(log_probs=log_probs), 0, 3) for label in (0, 1)] == \
        [[[LM_STEPS], [LM_STEPS + 2], [2 * LM_STEPS]], [[LM_STEPS], [LM_STEPS - 2], [0]]]
    assert odds_step(np.zeros(1, np.float32)).tolist() == [2 * LM_STEPS]


def test_keys_triggers_in_window():
    """Two words before, one after; "what is" is in the windows of slots 0 and 1, "is" of 0, 1, 2, and of slot 4."""
    triggers = [np.array([IS]), np.array([number(WHAT, IS)])]
    assert keys(Template("trigger", 0, 1), triggers=triggers) == [[IS], [IS], [IS], [], [IS]]
    assert keys(Template("trigger", 0, 2), triggers=triggers) == [[number(WHAT, IS)]] * 2 + [[]] * 3


def test_templates_of_model():
    names = [str(template) for template in templates(2, 2, ["shape", "cluster4"], 2, 2)]
    assert names == ["word[-1]", "word[0]", "word[1]", "word[2]", "word[-1..0]", "word[0..1]", "word[1..2]", "shape[0]",
                     "shape[1]", "cluster4[-1]", "cluster4[0]", "cluster4[1]", "cluster4[2]", "lm[0]", "lm[1]",
                     "trigger[1]", "trigger[2]"]
    assert str(Template("word", -1, 3)) == "word[-1..1]"
