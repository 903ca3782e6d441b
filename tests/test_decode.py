"""Decoding: posteriors of streams that are cut into spans, the best allowed labels, and labels of split words."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from conftest import streaming_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data import transitions as transitions_module
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.data.questions import paired
from punc.data.transitions import (
    Transitions,
    best_sequences,
    case_rules,
    learned,
    read_transitions,
    write_transitions,
)
from punc.decoding import spans
from punc.decoding.decode import PartLabels, log_posteriors
from punc.live.stream import decode_words
from punc.live.words import LiveWriter, open_stream
from punc.models.base import NeuralModel, create, load, save
from punc.models.base.model import STEPS
from punc.text.casing import Casing
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizers.char import SPACE, CharTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, Vocabulary

torch.set_num_threads(1)
LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))


class Window(NeuralModel):
    """A model whose logits are a known function of a slot's pause and of the last `memory` tokens, newest first."""

    labels = LABELS

    def __init__(self, lookahead, memory=3):
        super().__init__()
        self.lookahead, self.memory = lookahead, memory

    def initial_state(self, batch):
        return (torch.zeros(batch, self.memory, dtype=torch.int64),)

    def forward(self, tokens, pauses, state):
        read = torch.cat([state[0], tokens], dim=1)
        windows = read.unfold(1, self.memory, 1)[:, 1:].flip(2)  # (B, T, memory)
        return logits_of(windows, pauses), (read[:, -self.memory:],)


class Whole(NeuralModel):
    """A model that reads whole texts. The logits of a slot depend on its token, the token before it and the token after
    it, but not on END."""

    lookahead = None
    labels = LABELS

    def forward(self, tokens, pauses, state):
        assert state == ()
        tokens = tokens * (tokens != END)
        windows = torch.nn.functional.pad(tokens, (1, 1)).unfold(1, 3, 1).flip(2)
        return logits_of(windows, pauses), ()


def logits_of(windows, pauses):
    """Return logits (B, T, 3) from windows of tokens (B, T, 3), the newest token first. A logit is the same, bit for
    bit, in any batch."""
    newest, middle, oldest = windows.unbind(2)
    pause = torch.full(newest.shape, -1.0) if pauses is None else pauses.nan_to_num(nan=-1.0)
    values = newest * 1.0 + middle * 10.0 + oldest * 100.0 + pause * 7.0
    return torch.stack([values.sin(), (values * 2).sin(), (values * 3).cos()], dim=2)


def make(lengths, pauses, seed=0):
    rng = np.random.default_rng(seed)
    n, offsets = sum(lengths), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    lasting = rng.choice(np.array([0, 0.25, np.nan], np.float32), n)
    lasting[offsets[1:] - 1] = np.nan  # the silence after a stream is unknown
    return StoreSet(rng.integers(2, 9, n).astype(np.int32), None, lasting if pauses else None,
                    [str(i) for i in range(len(lengths))], offsets)


def by_hand(model, data):
    """Return the logits (N, L) of all slots, computed one by one from the tokens that the model should read."""
    result = []
    for begin, end in zip(data.offsets, data.offsets[1:]):
        tokens = data.ids[begin:end].tolist()
        for slot in range(len(tokens)):
            newest = slot + (1 if model.lookahead is None else model.lookahead)
            past = 0 if model.lookahead is None else END
            window = [0 if k < 0 else past if k >= len(tokens) else tokens[k] for k in (newest, newest - 1, newest - 2)]
            pause = None if data.pauses is None else torch.tensor([[data.pauses[begin + slot]]])
            result.append(logits_of(torch.tensor([[window]]), pause)[0, 0].numpy())
    return np.array(result)


def log_softmax(logits):
    return torch.tensor(logits).log_softmax(1).numpy()


AHEADS = [0, 1, 3, None]


def model_of(lookahead):
    return Whole() if lookahead is None else Window(lookahead)


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("lookahead", AHEADS)
def test_log_posteriors_uncut_streams_by_hand(lookahead, pauses):
    model, data = model_of(lookahead), make([1, 2, 5, 3 * STEPS + 1, 4], pauses)
    found = log_posteriors(model, data, chunk_size=0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, log_softmax(by_hand(model, data)), rtol=0, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.sampled_from(AHEADS), st.integers(1, 20),
       st.integers(1, 5), st.booleans())
def test_log_posteriors_any_batch_size_gives_the_same(lengths, lookahead, chunk_size, batch_size, pauses):
    model, data = model_of(lookahead), make(lengths, pauses)
    for context in (0, 2):
        one, some = (log_posteriors(model, data, chunk_size, context, batch_size=r) for r in (1, batch_size))
        np.testing.assert_array_equal(one, some)


@pytest.mark.parametrize("lookahead", AHEADS)
@pytest.mark.parametrize("chunk_size", [1, 7, 64])
def test_log_posteriors_chunks_with_enough_context_equal_whole_streams(lookahead, chunk_size):
    model, data = model_of(lookahead), make([1, 30, 101], True)
    whole = log_posteriors(model, data, chunk_size=0)
    np.testing.assert_array_equal(log_posteriors(model, data, chunk_size, context=2), whole)
    # Without context, results differ, which shows that the context is used.
    if chunk_size == 1 and lookahead in (0, None):
        assert not np.array_equal(log_posteriors(model, data, chunk_size, 0), whole)


@pytest.mark.parametrize("lookahead", [0, 1, 3])
def test_streaming_logits_come_as_soon_as_the_look_ahead_allows(lookahead):
    taken = []

    def tokens():
        for k in range(6):
            taken.append(k)
            yield 2 + k, np.nan

    slots = streaming_logits(Window(lookahead), tokens())
    for slot in range(6):
        next(slots)
        assert len(taken) == min(slot + lookahead + 1, 6)
    assert list(slots) == []


@given(st.lists(st.lists(st.sampled_from(["a", "bc", "日", "ddddddddd"]), max_size=9), min_size=1, max_size=30),
       st.integers(1, 9), st.integers(0, 20))
def test_spans_of_characters_are_cut_from_the_stream(texts, chunk_size, context):
    """The tokens are the same wherever the stream is cut, and only its last token is END."""
    tokenizer = CharTokenizer(Vocabulary(["<unk>", "</s>", "<space>", *"abcd"]))
    utterances = [Utterance(str(i), "s", words, None, np.arange(len(words), dtype=np.float32))
                  for i, words in enumerate(texts)]
    stream, _, _ = tokenizer.encode([word for words in texts for word in words])
    stream[-1:] = END
    before, spans.GROUP = spans.GROUP, 30
    try:
        found = list(spans.spans(utterances, tokenizer, chunk_size, context))
    finally:
        spans.GROUP = before
    assert [u.id for span in found for u in span.utterances] == [u.id for u in utterances]
    words = done = 0
    for span in found:
        slots = span.slots
        assert len(slots) == sum(len(u.words) for u in span.utterances)
        if not len(slots):
            continue
        words += len(slots)
        at_slots = np.flatnonzero((stream == SPACE) | (stream == END))[words - len(slots):words]
        start = at_slots[0] - slots[0]
        assert (slots + start).tolist() == at_slots.tolist()
        assert start % chunk_size == 0
        assert start <= max(0, done // chunk_size * chunk_size - context)
        np.testing.assert_array_equal(span.ids, stream[start:start + len(span.ids)])
        assert np.flatnonzero(~np.isnan(span.pauses)).tolist() == np.flatnonzero(
            (span.ids == SPACE) | (span.ids == END)).tolist()
        np.testing.assert_array_equal(span.pauses[slots], [p for u in span.utterances for p in u.pauses])
        done = at_slots[-1] + 1
        assert start + len(span.ids) >= min(len(stream), -(-done // chunk_size) * chunk_size + max(chunk_size, context))
    assert words == sum(map(len, texts))


def test_span_groups_are_filled_and_keep_the_order(tmp_path, monkeypatch):
    write_data_dir(tmp_path, (Utterance(f"{i:03}-1", f"{i:03}", ["w"] * 7) for i in range(100)))
    monkeypatch.setattr(spans, "GROUP", 70)
    found = list(spans.span_groups(DataDir(tmp_path), WordTokenizer(Vocabulary(["<unk>", "</s>"])), 0, 0))
    assert [len(group) for group in found] == [10] * 10
    assert [span.utterances[0].stream for group in found for span in group] == [f"{i:03}" for i in range(100)]
    # Each stream has two chunks, because it is slightly longer than a chunk. A group has enough streams to fill its
    # batches.
    found = list(spans.span_groups(DataDir(tmp_path), WordTokenizer(Vocabulary(["<unk>", "</s>"])), 5, 2))
    assert {len(group) for group in found} == {7, 100 % 7}


CASED = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("COMMA", "w,", (",",)), Label("CAP_COMMA", "W,", (",",)),
                  Label("PERIOD", "w.", (".",)), Label("CAP_PERIOD", "W.", (".",))))
PLAIN = LabelSet((Label("O", "w"), Label("PERIOD", "w.", (".",))))


def drawn(n, labels, seed=0):
    log_probs = np.random.default_rng(seed).normal(0, 1.5, (n, labels))
    return log_probs - np.log(np.exp(log_probs).sum(1, keepdims=True))


def searched(log_probs, transitions, free):
    best, at = -np.inf, None
    for path in product(range(log_probs.shape[1]), repeat=len(log_probs)):
        befores = [transitions.begin[path[0]], *(transitions.follow[p] for p in pairwise(path))]
        value = sum(row[y] for row, y in zip(log_probs, path)) + sum(w for w, f in zip(befores, free) if not f)
        if value > best:
            best, at = value, path
    return at


def drawn_transitions(labels, seed):
    counts = np.random.default_rng(seed).integers(0, 40, (labels + 1, labels)) ** 2
    return learned(counts, 0.5)


RULES = [case_rules(CASED), drawn_transitions(len(CASED), 1), drawn_transitions(len(CASED), 2)]


@pytest.mark.parametrize("transitions", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_best_sequences_are_the_best_of_all(transitions, seed):
    offsets = np.array([0, 5, 5, 6, 11, 14])
    log_probs = drawn(14, len(CASED), seed) * (1 + 2 * seed)
    free = np.random.default_rng(seed).random(14) < seed / 4
    found = best_sequences(log_probs, offsets, transitions, free)
    for b, e in pairwise(offsets.tolist()):
        if e > b:
            assert tuple(found[b:e]) == searched(log_probs[b:e], transitions, free[b:e])
    assert seed or (found != log_probs.argmax(1)).any()


def test_last_slot_after_a_settled_one():
    transitions = Transitions(np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros(2))
    log_probs = np.log([[0.999, 0.001], [0.6, 0.4]])
    assert best_sequences(log_probs, np.array([0, 2]), transitions).tolist() == [0, 1]


def test_best_sequences_without_a_label_that_all_may_follow():
    """No label may follow itself, so there is no label that may follow every label. Each stream must therefore be
    searched in one piece."""
    transitions = Transitions(np.where(np.eye(3), -np.inf, 0), np.array([-np.inf, 0, 0]))
    offsets, log_probs = np.array([0, 7, 15]), drawn(15, 3)
    found = best_sequences(log_probs, offsets, transitions)
    for b, e in pairwise(offsets.tolist()):
        assert tuple(found[b:e]) == searched(log_probs[b:e], transitions, np.zeros(e - b, bool))


@pytest.mark.parametrize("transitions", RULES[:2])
def test_best_sequence_of_a_long_stream_of_many_stretches_agrees_with_one_search(transitions):
    log_probs = drawn(30_000, len(CASED)) * 3
    found = best_sequences(log_probs, np.array([0, 30_000]), transitions)
    best, back = log_probs[0] + transitions.begin, []
    for t in range(1, len(log_probs)):
        step = best[:, None] + transitions.follow
        back.append(step.argmax(0))
        best = step.max(0) + log_probs[t]
    path = [int(best.argmax())]
    for before in reversed(back):
        path.append(int(before[path[-1]]))
    np.testing.assert_array_equal(found, path[::-1])
    assert (found != log_probs.argmax(1)).sum() > 2 * transitions_module.SEARCH_BATCH


def test_case_rules_keep_allowed_labels_and_change_the_least_probable():
    rules = case_rules(CASED)
    sure = np.log(np.full((4, 6), 0.02) + 0.88 * np.eye(6)[[1, 4, 1, 0]])
    assert best_sequences(sure, np.array([0, 4]), rules).tolist() == [1, 4, 1, 0]
    sure[2] = np.log([0.5, 0.3, 0.05, 0.05, 0.05, 0.05])  # after a period, a word that probably has no capital
    assert best_sequences(sure, np.array([0, 4]), rules).tolist() == [1, 4, 1, 0]
    sure[1] = np.log([0.4, 0.05, 0.02, 0.02, 0.49, 0.02])  # now the period is uncertain, too
    assert best_sequences(sure, np.array([0, 4]), rules).tolist() == [1, 0, 0, 0]
    assert best_sequences(sure, np.array([0, 4]), rules, np.array([0, 0, 1, 0], bool)).tolist() == [1, 4, 0, 0]


def test_case_rules_with_and_without_capitals():
    follow, begin = case_rules(CASED)
    capital = [False, True] * 3
    assert (begin == 0).tolist() == capital
    assert (follow[CASED.index("PERIOD")] == 0).tolist() == (follow[CASED.index("CAP_PERIOD")] == 0).tolist() == capital
    assert not follow[:4].any()
    follow, begin = case_rules(PLAIN)
    assert not follow.any()
    assert not begin.any()


def test_transitions_written_and_read(tmp_path):
    transitions = drawn_transitions(len(CASED), 3)
    write_transitions(tmp_path / "t", transitions, CASED)
    found = read_transitions(tmp_path / "t", CASED)
    for was, now in zip(transitions, found):
        np.testing.assert_allclose(now, was, atol=6e-4)
    assert read_transitions(tmp_path / "missing", CASED) is None


@pytest.mark.parametrize(("change", "said"), [
    (lambda lines: lines[:-1], "the pairs of labels do not have one weight each"),
    (lambda lines: [*lines, "O NONE 1.0"], "the pairs of labels do not have one weight each"),
    (lambda lines: ["<s> O much", *lines[1:]], "t:1: the line is not two labels and a weight"),
    (lambda lines: ["<s> O inf", *lines[1:]], "t:1: the line is not two labels and a weight")])
def test_broken_transitions(tmp_path, change, said):
    write_transitions(tmp_path / "t", drawn_transitions(len(CASED), 3), CASED)
    lines = change((tmp_path / "t").read_text().splitlines())
    (tmp_path / "t").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(InputError, match=said):
        read_transitions(tmp_path / "t", CASED)


def test_impossible_rules_are_an_error():
    barred = Transitions(np.array([[0, 0], [-np.inf, -np.inf]]), np.zeros(2))
    with pytest.raises(ValueError, match="no label may follow"):
        best_sequences(np.zeros((1, 2)), np.array([0, 1]), barred)


RULES = "# how the text was split\nwon't will not\nl'\nn't\n's\n"
CAPITALS = "O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\nPERIOD w. .\n"
SMALL = "O w\nCOMMA w, ,\nPERIOD w. . !\n"
SPLIT = ["so", "it", "is", "n't", "here", "it", "'s", "there", "he", "will", "not", "go", "l'", "eau", "is", "it", "so",
         "is"]
WHOLE = ["so", "it", "isn't", "here", "it's", "there", "he", "won't", "go", "l'eau", "is", "it", "so", "is"]
LASTS = [0, 1, 3, 4, 6, 7, 8, 10, 11, 13, 14, 15, 16, 17]  # for each word of WHOLE, the index of its last part in SPLIT
FIRSTS = [0, 1, 2, 4, 5, 7, 8, 9, 11, 12, 14, 15, 16, 17]


@pytest.fixture
def parts_make(tmp_path):
    def model(labels, name, **options):
        (tmp_path / "labels.txt").write_text(labels)
        (tmp_path / "rules").write_text(RULES)
        write_data_dir(tmp_path / "train", [Utterance("a", "a", SPLIT, ["O"] * len(SPLIT))])
        assert main(["make-store", f"--labels={tmp_path}/labels.txt", f"--clitics={tmp_path}/rules",
                     str(tmp_path / "store"), str(tmp_path / "train")]) == 0
        store = Store(tmp_path / "store")
        torch.manual_seed(5)
        made = create(name, store.vocabulary, store.labels, options, store.tokenizer)
        for weight in made.parameters():
            torch.nn.init.uniform_(weight, -1, 1)
        out = tmp_path / "exp"
        out.mkdir()
        save(made, out / "final.pt")
        store.tokenizer.write(out)
        store.labels.write(out / "labels.txt")
        return out
    return model


MODELS = [("delay", {"delay": 1, "embedding_dim": 6, "hidden_dim": 8, "layers": 1}),
          ("bi_lstm", {"embedding_dim": 6, "hidden_dim": 8, "layers": 1}),
          ("blstm_crf", {"embedding_dim": 6, "hidden_dim": 8, "layers": 1, "characters": False})]


@pytest.mark.parametrize("labels", [SMALL, CAPITALS], ids=["plain", "cased"])
@pytest.mark.parametrize(("name", "options"), MODELS, ids=[name for name, _ in MODELS])
def test_words_have_the_labels_of_their_parts(parts_make, tmp_path, labels, name, options):
    model = load(parts_make(labels, name, **options))
    parts, rows = decode_words(model, SPLIT, None, posteriors=True)
    words, joined = decode_words(model, WHOLE, None, posteriors=True)
    assert decode_words(model, WHOLE, None)[0].tolist() == words.tolist()
    names = np.array(model.labels.names)
    assert set(names[parts]) >= {"O"} or len(set(parts.tolist())) > 1
    alone = [i for i, (first, last) in enumerate(zip(FIRSTS, LASTS)) if first == last]
    assert words[alone].tolist() == parts[LASTS][alone].tolist()
    assert np.array_equal(joined[alone], rows[LASTS][alone])
    np.testing.assert_allclose(np.exp(joined).sum(1), 1, atol=1e-5)
    if labels == SMALL:
        assert words.tolist() == parts[LASTS].tolist()
    elif name == "blstm_crf":
        capital = [model.labels[number].capital for number in parts[FIRSTS]]
        assert [model.labels[number].mark for number in words] == [model.labels[number].mark for number in parts[LASTS]]
        assert all(model.labels[number].capital == one or model.labels[number].mark == "."  # there is no CAP_PERIOD
                   for number, one in zip(words, capital))
    # The labels are the same in a data directory, and in a text that arrives word by word.
    write_data_dir(tmp_path / "data", [Utterance("a", "a", WHOLE)])
    assert main(["punctuate", "--nj=1", str(tmp_path / "exp"), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
    utterance, = DataDir(tmp_path / "out").utterances()
    assert utterance.words == WHOLE
    assert utterance.labels == names[words].tolist()
    stream = open_stream(model, LiveWriter(model, Casing(model.labels, {})))
    found = [marked for word in WHOLE for marked in stream.push(word)] + stream.close()
    assert [(marked.word, marked.label) for marked in found] == list(zip(WHOLE, names[words]))
    # When the speaker pauses, the waiting words get the labels of a text that ends there. No other label changes.
    for at in range(1, len(WHOLE)) if model.lookahead is not None else ():
        stream = open_stream(model, LiveWriter(model, Casing(model.labels, {})))
        found = [marked for word in WHOLE[:at] for marked in stream.push(word)]
        before, early = len(found), stream.decide()
        found += early + [marked for word in WHOLE[at:] for marked in stream.push(word)] + stream.close()
        assert [marked.word for marked in found] == WHOLE
        expected = words.copy()
        expected[before:at] = decode_words(model, WHOLE[:at], None)[0][before:]
        assert [marked.number for marked in found] == expected.tolist()


def test_part_labels_by_hand(tmp_path):
    (tmp_path / "labels").write_text(CAPITALS)
    labels = LabelSet.read(tmp_path / "labels")
    parts = PartLabels(labels)
    together = [[labels.names[number] for number in row] for row in parts.together]
    assert together[labels.index("CAP_COMMA")] == ["CAP", "CAP", "CAP_COMMA", "CAP_COMMA", "PERIOD"]
    assert together[labels.index("PERIOD")] == ["O", "O", "COMMA", "COMMA", "PERIOD"]
    first, last = np.array([[.1, .6, .1, .1, .1]]), np.array([[.2, .1, .3, .3, .1]])
    # Probabilities: capital 0.7; no mark 0.3, comma 0.6, period 0.1. No label has both a capital and a period.
    expected = np.array([.3 * .3, .7 * .3, .3 * .6, .7 * .6, .3 * .1])
    np.testing.assert_allclose(np.exp(parts.log_probs(np.log(first), np.log(last)))[0], expected / expected.sum(),
                               rtol=1e-6)


def test_clitics_go_from_the_store_to_a_packed_model(parts_make, tmp_path):
    directory = parts_make(CAPITALS, "delay", delay=1, embedding_dim=6, hidden_dim=8, layers=1)
    assert sorted((directory / "clitics").read_text().split()) == sorted(RULES.split("\n", 1)[1].split())
    assert main(["pack", str(directory), str(tmp_path / "packed")]) == 0
    (tmp_path / "in").write_text(" ".join(WHOLE) + "\n")
    outputs = []
    for model in (directory, tmp_path / "packed"):
        write_data_dir(tmp_path / "data", [Utterance("a", "a", WHOLE)])
        assert main(["punctuate", "--nj=1", str(model), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
        outputs.append((tmp_path / "out/punct").read_bytes())
    assert outputs[0] == outputs[1]


SPANISH = LabelSet(tuple(Label(name, written) for name, written in (
    ("O", "w"), ("CAP", "W"), ("COMMA", "w,"), ("PERIOD", "w."), ("QUESTION", "w?"), ("CAP_QUESTION", "W?"),
    ("CAP_PERIOD", "W."), ("OPEN", "¿w"), ("CAP_OPEN", "¿W"), ("OPEN_COMMA", "¿w,"), ("OPEN_QUESTION", "¿w?"),
    ("CAP_OPEN_QUESTION", "¿W?"))))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_sentences_have_both_question_marks_or_neither(seed):
    rng = np.random.default_rng(seed)
    log_probs = np.log(rng.dirichlet(np.full(len(SPANISH), 0.3), 12) + 1e-9)
    chosen, offsets = log_probs.argmax(1), np.array([0, 0, 7, 12])
    begins = np.array([True, True, bool(rng.integers(2))])
    found = paired(log_probs, chosen, offsets, begins, SPANISH)
    written, ends = [label.written for label in SPANISH], [name in SPANISH.sentence_ends for name in SPANISH.names]
    plain = {i: written.index(text.strip("¿").replace("?", ".")) for i, text in enumerate(written)}
    at = 0
    for end in range(12):
        if not (ends[chosen[end]] or end in (6, 11)):
            continue
        own = found[at:end + 1]
        if not ends[chosen[end]] or (at == 7 and not begins[2]):  # the sentence goes on, or began earlier
            assert own.tolist() == chosen[at:end + 1].tolist()
        else:
            base = [plain[i] for i in chosen[at:end + 1]]
            questions = []
            for number in range(len(base)):
                texts = [written[i] for i in base]
                texts[-1] = texts[-1].replace(".", "?")
                texts[number] = f"¿{texts[number]}"
                if texts[number] in written:
                    questions.append([written.index(text) for text in texts])
            assert own.tolist() in [base, *questions]
            if len(base) > 1 and own.tolist() == base:
                sums = [log_probs[range(at, end + 1), one].sum() for one in questions if written[one[-1]][0] != "¿"]
                assert not sums or max(sums) <= log_probs[range(at, end + 1), base].sum() + 1e-9
        at = end + 1
    assert paired(log_probs, found, offsets, begins, SPANISH).tolist() == found.tolist()


def test_question_marks_of_labels_without_all_forms_stay():
    labels = LabelSet(tuple(label for label in SPANISH if label.name not in ("CAP", "CAP_PERIOD")))
    log_probs = np.log(np.random.default_rng(3).dirichlet(np.full(len(labels), 0.3), 40))
    chosen = log_probs.argmax(1)
    assert paired(log_probs, chosen, np.array([0, 40]), np.ones(1, bool), labels).tolist() == chosen.tolist()
