"""Words that come one by one, with marks, tags and numbers, are written as those of a file."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.asr.tokens import TokenReader
from punc.asr.written import MarkedWords, of_texts
from punc.data.labels import LabelSet
from punc.live.input import read_json
from punc.live.output import VoskWriter
from punc.live.session import LiveOptions, Session
from punc.live.stream import Labelled, decode_words
from punc.live.words import LiveWriter, WordStream, open_stream
from punc.models.base import create
from punc.text.casing import Casing
from punc.tokens.vocabulary import Vocabulary

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nCAP W\nCAP_COMMA W, ,\nCAP_PERIOD W. .\n"
KNOWN = ["hello", "you", "are", "in", "the", "fine", "we"]
TEXTS = [*KNOWN, *KNOWN, "it's", "hello,", '"fine."', "42.", "3,5", "$5", "u.s.", "[Music]", "<unk>", "<unk>.", "[soft",
         "music]", ",", ".", "NATO", "Ada", "we-you", "…", "<eps>", "nato", "x.com", "You"]


@pytest.fixture(scope="module", params=[("delay", {"delay": 3, "pauses": True}), ("t_lstm", {"init_range": 2.0}),
                                        ("bi_lstm", {"pauses": True})], ids=str)
def model(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "labels.txt"
    path.write_text(LABELS)
    torch.manual_seed(3)
    name, options = request.param
    made = create(name, Vocabulary(["<unk>", "</s>", *KNOWN]), LabelSet.read(path),
                  {"embedding_dim": 8, "hidden_dim": 8, **options})
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_(std=0.9)
    return made.eval()


def writer(model):
    return LiveWriter(model, Casing(model.labels, {"Nato": "NATO"}, sentences=True))


def of_file(model, texts):
    """The words as `punc transcript` writes them."""
    zeros = np.zeros(len(texts), np.int64)
    words = of_texts(texts, TokenReader.of(KNOWN), zeros, zeros > 0, zeros)
    labels, read = zeros.copy(), np.flatnonzero(words.counts)
    labels[read] = decode_words(model, words.read(), None)[0][np.cumsum(words.counts[read]) - 1]
    return MarkedWords(model.labels, Casing(model.labels, {"Nato": "NATO"}), sentences=True).write(words, labels)[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TEXTS), max_size=30))
def test_words_are_written_as_in_a_file(model, texts):
    texts = ["you", *texts]  # it has lower case: of that, a live stream knows only the past
    stream = open_stream(model, writer(model))
    found = [marked for text in texts for marked in stream.push(text)] + stream.close()
    assert [marked.word for marked in found] == texts
    assert [marked.text for marked in found] == of_file(model, texts)
    for marked in found:
        assert math.isnan(marked.probability) or 0 < marked.probability <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(TEXTS), st.just("DECIDE")), max_size=30))
def test_decide_loses_and_repeats_no_word(model, texts):
    stream, found = open_stream(model, writer(model)), []
    for text in texts:
        found += stream.decide() if text == "DECIDE" else stream.push(text)
    copied = stream.copy()
    rest = stream.close()
    assert [marked.word for marked in found + rest] == [text for text in texts if text != "DECIDE"]
    assert [marked.text for marked in copied.close()] == [marked.text for marked in rest]


class Said:
    """A stream of words whose labels are known, each as soon as it is there."""

    def __init__(self, numbers):
        self.numbers = iter(numbers)

    def push(self, word, pause):
        return [Labelled(next(self.numbers), np.zeros(6, np.float32))]

    def close(self):
        return []


@pytest.mark.parametrize(("labels", "text"), [((0, 0, 2), "you."), ((0, 2, 0), "you."), ((1, 0, 0), "you,"),
                                              ((0, 1, 2), "you."), ((0, 0, 0), "you"), ((2, 1, 1), "you.")])
def test_marks_of_unknown_words_go_to_the_word_before(model, labels, text):
    stream = WordStream(Said([*labels, 0]), LiveWriter(model, Casing(model.labels, {})))
    words = ["you", "<unk>", "<unk>", "are"]
    found = [marked for word in words for marked in stream.push(word)] + stream.close()
    assert [marked.text for marked in found] == [text, "<unk>", "<unk>", "are"]


def test_all_in_capitals_says_nothing(model):
    stream = open_stream(model, writer(model))
    found = [marked for text in ["HELLO", "YOU"] for marked in stream.push(text)] + stream.close()
    assert all(marked.text.strip(",.")[1:].islower() for marked in found)


def test_pause_is_measured_over_a_tag(model):
    """From the end of a word that is read to the begin of the next one."""
    stream, pauses = open_stream(model, writer(model)), []
    push = stream._labels.push
    stream._labels.push = lambda word, pause: pauses.append(pause) or push(word, pause)
    session = Session(lambda: stream, LiveOptions())
    for line in ('{"word": "hello", "start": 0, "end": 0.5}', '{"word": "[Music]", "start": 0.6, "end": 2.4}',
                 '{"word": "you", "start": 2.5, "end": 3}'):
        session.feed(read_json(line, 1, "test"))
    assert pauses[1:] == [2.0]


def test_speaker_vector_of_vosk_stays_with_its_result(model):
    session = Session(lambda: open_stream(model, writer(model)), LiveOptions(utterance_end="decide"))
    items = read_json('{"result": [{"word": "hello", "start": 0.1, "end": 0.4, "conf": 1.0}], "spk": [0.5, -1], '
                      '"spk_frames": 20, "text": "hello"}', 1, "test")
    items += read_json('{"text": "are you", "spk": [2]}', 1, "test")
    decided = session.feed(items) + session.end()
    lines = VoskWriter().messages(decided, items, session.waiting)
    assert '"spk": [0.5, -1], "spk_frames": 20' in lines[0]
    assert '"spk": [2]' in lines[1]
    assert '"conf": 1.0' in lines[0]
