"""Words that arrive one by one, with pauses, get the same labels as in a file, as soon as the model allows.

Words with marks, tags and numbers are written as in a file.
"""

import math

import numpy as np
import pytest
import torch
from conftest import random_model
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.data.labels import LabelSet
from punc.live.input import read_json
from punc.live.session import LiveOptions, Session, Writer
from punc.live.stream import Labelled, decode_words
from punc.live.words import LiveWriter, WordStream, open_stream
from punc.models.base import create, load
from punc.text.casing import Casing
from punc.text.marked_words import MarkedWords
from punc.text.split_words import take_apart
from punc.text.word_parts import TokenReader
from punc.tokens.tokenizers.char import CharTokenizer

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nCAP W\nCAP_COMMA W, ,\nCAP_PERIOD W. .\n"
KNOWN = ["hello", "you", "are", "in", "the", "fine", "we"]
TEXTS = [*KNOWN, *KNOWN, "it's", "hello,", '"fine."', "42.", "3,5", "$5", "u.s.", "[Music]", "<unk>", "<unk>.", "[soft",
         "music]", ",", ".", "NATO", "Ada", "we-you", "…", "<eps>", "nato", "x.com", "You"]
NAMES = [f"w{a}{b}" for a in "abc" for b in "abcdefghij"]  # no digits, which a model would read differently
WORDS = np.random.default_rng(3).choice(NAMES, 60).tolist()
PAUSES = np.random.default_rng(4).choice([0, 0.1, 0.4, 2.0, np.nan], len(WORDS)).astype(np.float32)
PAUSES[-1] = np.nan  # the pause after a stream is unknown
SIZES = {"embedding_dim": 8, "hidden_dim": 8}


@pytest.fixture(scope="module", params=[("delay", {"delay": 3, "pauses": True}), ("bi_lstm", {"pauses": True}),
                                        ("t_lstm", {})], ids=str)
def model(request, tmp_path_factory):
    name, options = request.param
    return load(random_model(tmp_path_factory.mktemp("live"), LABELS, [*NAMES, *KNOWN], name, SIZES | options, std=0.8))


def mark(stream, words):
    return [marked for word in words for marked in stream.push(word)] + stream.close()


def writer(model, **options):
    return LiveWriter(model, Casing(model.labels, {}, **options))


def cased(model):
    return LiveWriter(model, Casing(model.labels, {"Nato": "NATO"}, sentences=True))


@pytest.mark.parametrize("pauses", [None, PAUSES])
@pytest.mark.parametrize("scale", [None, np.array([0.3, 1, 1, 1, 1, 1])])
def test_labels_are_those_of_the_whole_stream(model, pauses, scale):
    numbers, posteriors = decode_words(model, WORDS, pauses, scale, posteriors=True)
    assert decode_words(model, WORDS, pauses, scale)[0].tolist() == numbers.tolist()
    stream = open_stream(model, writer(model), scale)
    before = [np.nan, *(PAUSES[:-1] if pauses is not None else [np.nan] * (len(WORDS) - 1))]
    found = [marked for word, pause in zip(WORDS, before) for marked in stream.push(word, pause)] + stream.close()
    assert [marked.word for marked in found] == WORDS
    assert [marked.number for marked in found] == numbers.tolist()
    expected = np.exp(posteriors[np.arange(len(WORDS)), [marked.number for marked in found]])
    assert np.allclose([marked.probability for marked in found], expected, atol=1e-5)


def test_words_are_out_as_soon_as_the_model_allows(model):
    stream, out = open_stream(model, writer(model)), 0
    for number, word in enumerate(WORDS, 1):
        out += len(stream.push(word))
        assert out == (0 if model.lookahead is None else max(0, number - model.lookahead))
    assert out + len(stream.close()) == len(WORDS)


def test_tokens_of_words_that_wait_for_the_next(tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    torch.manual_seed(2)
    tokenizer = CharTokenizer.learn({b"abc": 3, b"b": 2}, 20)
    model = create("delay", tokenizer.vocabulary, LabelSet.read(tmp_path / "labels.txt"),
                   {"delay": 2, "hidden_dim": 8}, tokenizer)
    words = ["abc", "b", "cab", "a"]
    found = mark(open_stream(model.eval(), writer(model)), words)
    assert [marked.word for marked in found] == words
    numbers = decode_words(model, words, None)[0].tolist()
    assert [marked.number for marked in found] == numbers
    # The first words are decided before the other words arrive. END replaces the token that is held back.
    stream = open_stream(model, writer(model))
    before = [marked for word in words[:2] for marked in stream.push(word)]
    early = stream.decide()
    rest = [marked for word in words[2:] for marked in stream.push(word)] + stream.close()
    assert [marked.word for marked in before + early + rest] == words
    assert [marked.number for marked in before + early] == decode_words(model, words[:2], None)[0].tolist()
    assert [marked.number for marked in rest] == numbers[2:]


def split(model, at):
    """Call `decide` after `at` words. Return the labels of the words that this call did not decide, the words that it
    decided, and all words."""
    stream, found = open_stream(model, writer(model)), []
    for word in WORDS[:at]:
        found += stream.push(word)
    early = stream.decide(0.5)
    assert stream.decide(0.5) == [], "these words were already decided"
    for word in WORDS[at:]:
        found += stream.push(word)
    found += stream.close()
    return [marked.number for marked in found], early, [marked.word for marked in found + early]


def test_decide_gives_the_labels_of_a_stream_that_ends_there(model):
    """If the model does not read pauses, `decide` chooses labels as if the text ended. If it does, `decide` chooses the
    labels with the highest mean posterior over five continuations: the text ends, or one of four sequences of frequent
    words follows."""
    whole = [marked.number for marked in mark(open_stream(model, writer(model)), WORDS)]
    ahead = model.lookahead
    for at in (0, 1, 2, 17, len(WORDS)):
        others, early, words = split(model, at)
        assert sorted(words) == sorted(WORDS)
        if ahead is None:
            assert (others, early) == (whole, [])
            continue
        first = max(0, at - ahead)
        assert len(early) == at - first
        assert others == whole[:first] + whole[at:], "an early decision does not change later labels"
        following = [[NAMES[way + 4 * step] for step in range(ahead)] for way in range(4)] if model.reads_pauses else []
        rows = []
        for more in ([], *following):
            after = np.full(at + len(more), np.nan, np.float32)
            after[at - 1:at] = 0.5
            rows.append(np.exp(decode_words(model, WORDS[:at] + more, after, posteriors=True)[1][first:at]))
        expected = np.mean(rows, axis=0)
        assert [marked.number for marked in early] == expected.argmax(1).tolist()
        found = [marked.logits - np.logaddexp.reduce(marked.logits) for marked in early]
        np.testing.assert_allclose(np.exp(found).reshape(expected.shape), expected, rtol=0, atol=1e-5)


def test_capital_after_a_full_stop_that_silence_decided(model):
    if model.lookahead is None:
        return
    scale = np.array([1, 1, 1e30, 1, 1, 1])  # makes every label a full stop
    stream = open_stream(model, writer(model, sentences=True), scale)
    found = [marked.text for word in WORDS[:5] for marked in stream.push(word)] + [m.text for m in stream.decide()]
    found += [marked.text for word in WORDS[5:9] for marked in stream.push(word)] + [m.text for m in stream.close()]
    assert found == [f"W{word[1:]}." for word in WORDS[:9]]


# Words with marks, tags and numbers

def of_file(model, texts):
    zeros = np.zeros(len(texts), np.int64)
    words = take_apart(texts, TokenReader.of([*NAMES, *KNOWN]), zeros, zeros > 0, zeros)
    labels, read = zeros.copy(), np.flatnonzero(words.counts)
    labels[read] = decode_words(model, words.read(), None)[0][np.cumsum(words.counts[read]) - 1]
    return MarkedWords(model.labels, Casing(model.labels, {"Nato": "NATO"}), sentences=True).write(words, labels)[0]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(TEXTS), max_size=30))
def test_words_are_written_as_in_a_file(model, texts):
    texts = ["you", *texts]  # a lower-case word is first, because a live stream does not know later words
    stream = open_stream(model, cased(model))
    found = [marked for text in texts for marked in stream.push(text)] + stream.close()
    assert [marked.word for marked in found] == texts
    assert [marked.text for marked in found] == of_file(model, texts)
    for marked in found:
        assert math.isnan(marked.probability) or 0 < marked.probability <= 1


@settings(max_examples=40)
@given(st.lists(st.one_of(st.sampled_from(TEXTS), st.just("DECIDE")), max_size=30))
def test_decide_loses_and_repeats_no_word(model, texts):
    stream, found = open_stream(model, cased(model)), []
    for text in texts:
        found += stream.decide() if text == "DECIDE" else stream.push(text)
    copied = stream.copy()
    rest = stream.close()
    assert [marked.word for marked in found + rest] == [text for text in texts if text != "DECIDE"]
    assert [marked.text for marked in copied.close()] == [marked.text for marked in rest]


class Said:
    """A stream with given labels, which decides each word when the next word arrives."""

    def __init__(self, numbers):
        self.labels = [Labelled(number, np.zeros(6, np.float32)) for number in numbers]
        self.pushed = 0

    def push(self, word, pause):
        self.pushed += 1
        return [] if self.pushed == 1 else [self.labels[self.pushed - 2]]

    def close(self):
        return self.labels[-1:]


@pytest.mark.parametrize(("labels", "text"), [((0, 0, 2), "you."), ((0, 2, 0), "you."), ((1, 0, 0), "you,"),
                                              ((0, 1, 2), "you."), ((0, 0, 0), "you"), ((2, 1, 1), "you.")])
def test_marks_of_unknown_words_go_to_the_word_before(model, labels, text):
    stream = WordStream(Said([*labels, 0]), LiveWriter(model, Casing(model.labels, {})))
    words = ["you", "<unk>", "<unk>", "are"]
    found = [marked for word in words for marked in stream.push(word)] + stream.close()
    assert [marked.text for marked in found] == [text, "<unk>", "<unk>", "are"]


def test_all_in_capitals_says_nothing(model):
    stream = open_stream(model, cased(model))
    found = [marked for text in ["HELLO", "YOU"] for marked in stream.push(text)] + stream.close()
    assert all(marked.text.strip(",.")[1:].islower() for marked in found)


def test_pause_is_measured_over_a_tag(model):
    """A pause lasts from the end of a word that the model reads to the beginning of the next such word."""
    stream, pauses = open_stream(model, cased(model)), []
    push = stream._labels.push
    stream._labels.push = lambda word, pause: pauses.append(pause) or push(word, pause)
    session = Session(lambda: stream, LiveOptions())
    for line in ('{"word": "hello", "start": 0, "end": 0.5}', '{"word": "[Music]", "start": 0.6, "end": 2.4}',
                 '{"word": "you", "start": 2.5, "end": 3}'):
        session.feed(read_json(line, 1, "test"))
    assert pauses[1:] == [2.0]


def test_speaker_vector_of_vosk_stays_with_its_result(model):
    session = Session(lambda: open_stream(model, cased(model)), LiveOptions(utterance_end="decide"))
    items = read_json('{"result": [{"word": "hello", "start": 0.1, "end": 0.4, "conf": 1.0}], "spk": [0.5, -1], '
                      '"spk_frames": 20, "text": "hello"}', 1, "test")
    items += read_json('{"text": "are you", "spk": [2]}', 1, "test")
    decided = session.feed(items) + session.end()
    lines = Writer("vosk").messages(decided, items, session.waiting)
    assert '"spk": [0.5, -1], "spk_frames": 20' in lines[0]
    assert '"spk": [2]' in lines[1]
    assert '"conf": 1.0' in lines[0]
