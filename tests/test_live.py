"""Streams: words pushed one by one have the labels of the whole stream, with pauses, as soon as the model allows."""

import numpy as np
import pytest
import torch

from punc.data.labels import LabelSet
from punc.live.stream import decode_words
from punc.live.words import LiveWriter, mark, open_stream
from punc.models.base import create
from punc.text.casing import Casing
from punc.tokens.tokenizers.char import CharTokenizer
from punc.tokens.vocabulary import Vocabulary

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
WORDS = [f"w{i}" for i in np.random.default_rng(3).integers(0, 30, 60)]
PAUSES = np.random.default_rng(4).choice([0, 0.1, 0.4, 2.0, np.nan], len(WORDS)).astype(np.float32)
PAUSES[-1] = np.nan  # a stream ends without a pause


@pytest.fixture(params=[("delay", {"delay": 3, "pauses": True, "embedding_dim": 8, "hidden_dim": 8}),
                        ("bi_lstm", {"pauses": True, "embedding_dim": 8, "hidden_dim": 8}),
                        ("t_lstm", {"embedding_dim": 8, "hidden_dim": 8, "init_range": 2.0})], ids=str)
def model(request, tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    torch.manual_seed(1)
    vocabulary = Vocabulary(["<unk>", "</s>", *(f"w{i}" for i in range(30))])
    name, options = request.param
    made = create(name, vocabulary, LabelSet.read(tmp_path / "labels.txt"), options)
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_(std=0.6)
    return made.eval()


def writer(model, **options):
    return LiveWriter(model, Casing(model.labels, {}, **options))


@pytest.mark.parametrize("pauses", [None, PAUSES])
@pytest.mark.parametrize("scale", [None, np.array([0.3, 1, 1, 1])])
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
    found = list(mark(open_stream(model.eval(), writer(model)), words))
    assert [marked.word for marked in found] == words
    numbers = decode_words(model, words, None)[0].tolist()
    assert [marked.number for marked in found] == numbers
    # The first of them are decided before the rest comes, with an END in place of the token that is held back.
    stream = open_stream(model, writer(model))
    before = [marked for word in words[:2] for marked in stream.push(word)]
    early = stream.decide()
    rest = [marked for word in words[2:] for marked in stream.push(word)] + stream.close()
    assert [marked.word for marked in before + early + rest] == words
    assert [marked.number for marked in before + early] == decode_words(model, words[:2], None)[0].tolist()
    assert [marked.number for marked in rest] == numbers[2:]


def test_labels_without_posteriors_are_the_same(model):
    with_rows, without = (list(mark(open_stream(model, writer(model), None, posteriors), WORDS))
                          for posteriors in (True, False))
    assert [marked[:3] for marked in with_rows] == [marked[:3] for marked in without]


def split(model, at):
    """The labels of WORDS, `decide` after `at` of them, and those of what is decided there."""
    stream, found = open_stream(model, writer(model)), []
    for word in WORDS[:at]:
        found += stream.push(word)
    early = stream.decide(0.5)
    assert stream.decide(0.5) == [], "it is out"
    for word in WORDS[at:]:
        found += stream.push(word)
    found += stream.close()
    return [marked.number for marked in found], early, [marked.word for marked in found + early]


def test_decide_gives_the_labels_of_a_stream_that_ends_there(model):
    """Or, of a model of words that reads pauses, those with the highest mean over an end and words that may follow."""
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
        assert others == whole[:first] + whole[at:], "the words after it do not know that some were decided early"
        following = [[f"w{way + 4 * step}" for step in range(ahead)] for way in range(4)] if model.reads_pauses else []
        rows = []
        for more in ([], *following):
            after = np.full(at + len(more), np.nan, np.float32)
            after[at - 1:at] = 0.5
            rows.append(np.exp(decode_words(model, WORDS[:at] + more, after, posteriors=True)[1][first:at]))
        expected = np.mean(rows, axis=0)
        assert [marked.number for marked in early] == expected.argmax(1).tolist()
        found = [marked.logits - np.logaddexp.reduce(marked.logits) for marked in early]
        np.testing.assert_allclose(np.exp(found).reshape(expected.shape), expected, rtol=0, atol=1e-5)


def test_copy_of_a_stream_has_a_state_of_its_own(model):
    if model.lookahead is None:
        return
    alone = [marked.number for marked in mark(open_stream(model, writer(model)), WORDS)]
    stream = open_stream(model, writer(model))
    found = [marked for word in WORDS[:20] for marked in stream.push(word)]
    other, their = stream.copy(), list(found)
    for word in ["w1"] * 9:
        stream.copy().push(word)
    for which, of_which in ((stream, found), (other, their)):
        of_which += [marked for word in WORDS[20:] for marked in which.push(word)] + which.close()
        assert [marked.number for marked in of_which] == alone


def test_capital_after_a_full_stop_that_silence_decided(model):
    if model.lookahead is None:
        return
    scale = np.array([1, 1, 1e30, 1])  # full stops only
    stream = open_stream(model, writer(model, sentences=True), scale)
    found = [marked.text for word in WORDS[:5] for marked in stream.push(word)] + [m.text for m in stream.decide()]
    found += [marked.text for word in WORDS[5:9] for marked in stream.push(word)] + [m.text for m in stream.close()]
    assert found == [f"W{word[1:]}." for word in WORDS[:9]]


@pytest.mark.parametrize("every", [1, 2, 3, 5])
def test_decide_again_and_again_gives_each_word_once(model, every):
    if model.lookahead is None:
        return
    stream, found, early = open_stream(model, writer(model)), [], 0
    for number, word in enumerate(WORDS, 1):
        found += stream.push(word)
        if number % every == 0:
            decided = stream.decide()
            assert len(found) + len(decided) == number, "no word waits"
            ends = decode_words(model, WORDS[:number], None)[0].tolist()
            assert [marked.number for marked in decided] == ends[len(found):]
            found, early = found + decided, early + len(decided)
    found += stream.close()
    assert [marked.word for marked in found] == WORDS
    assert early >= len(WORDS) // every
