"""Back-off models from ARPA files, pruning, and hidden-event decoding agree with their definitions."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.models.ngram import backoff, hidden_events
from punc.models.ngram.backoff import LN10, read_arpa
from punc.models.ngram.entropy_pruning import prune
from punc.models.ngram.hidden_events import log_posteriors

TOKENS = ["<UNK>", "</s>", "a", "b", "ein sehr langes Wort", "c", "<COMMA>", "<s>"]
TOKENS[4] = "Wortungetüme_sind_lang"
SMALL = """\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1\t<unk>
-0.5\ta\t-0.2
-0.7\t</s>
-99\t<s>\t-0.3

\\2-grams:
-0.25\t<s> a
-0.125\ta </s>

\\end\\
"""


def random_model(rng, order, more=()):
    """Return a random model as {n-gram: (log10 P, back-off)}. The model also contains all prefixes of its
    n-grams."""
    words = [*TOKENS, *more]
    model = {(word,): (float(rng.uniform(-4, 0)), float(rng.uniform(-1, 1))) for word in words if word != "c"}
    for n in range(2, order + 1):
        begins = [gram for gram in model if len(gram) == n - 1]
        for _ in range(40):
            gram = (*begins[rng.integers(len(begins))], words[rng.integers(len(words))])
            if gram[-1] != "c":
                model[gram] = (float(rng.uniform(-4, 0)), float(rng.uniform(-1, 1)) if n < order else 0.0)
    return model


def write(path, model, order):
    text = "\\data\\\n" + "".join(f"ngram {n}={sum(len(g) == n for g in model)}\n" for n in range(1, order + 1))
    for n in range(1, order + 1):
        text += f"\n\\{n}-grams:\n"
        for gram, (log, weight) in model.items():
            if len(gram) == n:
                text += f"{log:.7f}\t{' '.join(gram)}" + (f"\t{weight:.7f}\n" if n < order else "\n")
    path.write_text(text + "\n\\end\\\n", encoding="utf-8")


def by_definition(model, history, word):
    if (*history, word) in model:
        return model[(*history, word)][0]
    if not history:
        return model[("<unk>",)][0] if ("<unk>",) in model else backoff.NEVER
    return model.get(tuple(history), (0, 0.0))[1] + by_definition(model, history[1:], word)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("unknown", [True, False])
@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_log_probs_match_definition(order, unknown, size, tmp_path, monkeypatch):
    monkeypatch.setattr(backoff, "AT_ONCE", size)
    rng = np.random.default_rng(order)
    # read_arpa leaves out n-grams with words outside TOKENS.
    model = random_model(rng, order, ["other"] + ["<unk>"] * unknown)
    write(tmp_path / "arpa", model, order)
    found = read_arpa(tmp_path / "arpa", TOKENS)
    history = rng.integers(-1, len(TOKENS), (500, order))
    history[:250] = rng.integers(2, 4, (250, order))
    tokens = rng.integers(0, len(TOKENS), 500)
    expected = [by_definition(model, [TOKENS[i] if i >= 0 else "none" for i in row][-order + 1:] if order > 1 else [],
                              TOKENS[token]) * LN10 for row, token in zip(history.tolist(), tokens.tolist())]
    np.testing.assert_allclose(found.log_probs(found.contexts(history), tokens), expected, rtol=1e-4, atol=1e-4)


def test_read_arpa_leaves_out_higher_orders(tmp_path):
    model = random_model(np.random.default_rng(1), 4)
    write(tmp_path / "arpa", model, 4)
    assert [len(o.keys) for o in read_arpa(tmp_path / "arpa", TOKENS, 2).orders] == [
        len(TOKENS), sum(len(gram) == 2 for gram in model)]


@pytest.mark.parametrize("more", [0, 9])
def test_read_arpa_missing_words_share_unk(more, tmp_path):
    (tmp_path / "arpa").write_text(SMALL)
    model = read_arpa(tmp_path / "arpa", ["<UNK>", "</s>", "a", "<s>", *map(str, range(more))])
    found = model.log_probs(model.contexts(np.array([[3], [3], [2]])), np.array([2, 0, 1]))
    np.testing.assert_allclose(found, np.array([-0.25, -0.3 - 1 - np.log10(1 + more), -0.125]) * LN10, rtol=1e-6)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("\\data\\", "data", "no \\data\\: not an ARPA file, or a truncated one; estimate it again"),
    ("ngram 1=4", "ngram 1=four", "not an ARPA file, or a truncated one; estimate it again"),
    ("ngram 1=4\nngram 2=2\n", "", "not an ARPA file, or a truncated one; estimate it again"),
    ("ngram 1=4", "ngram 1=5", "a line among the 1-grams is not a 1-gram; estimate it again"),
    ("\\2-grams:", "", "no \\2-grams:: not an ARPA file, or a truncated one; estimate it again"),
    ("-0.125\ta </s>\n\n\\end\\\n", "", "the file ends too early; estimate it again"),
    ("-0.125\ta </s>", "-0.125\ta", "a line among the 2-grams is not a 2-gram; estimate it again"),
    ("-0.125\ta </s>", "x\ta </s>", "a line among the 2-grams is not a 2-gram; estimate it again"),
    ("-0.125\ta </s>", "nan\ta </s>", "a line among the 2-grams is not a 2-gram; estimate it again"),
])
def test_read_arpa_invalid_files(old, new, message, tmp_path):
    (tmp_path / "arpa").write_text(SMALL.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        read_arpa(tmp_path / "arpa", TOKENS)
    assert str(error.value) == f"{tmp_path / 'arpa'}: {message}"


@pytest.mark.parametrize(("old", "new"), [
    ("ngram 1=", "ngram 1=" + "9" * 5000), ("-1.5\ta", "-1." + "5" * 200 + "\ta")])
def test_read_arpa_numbers_of_very_many_digits(tmp_path, old, new):
    text = "\\data\\\nngram 1=3\n\n\\1-grams:\n-1.5\ta\n-1.5\t</s>\n-1.5\t<unk>\n\n\\end\\\n"
    (tmp_path / "arpa").write_text(text.replace(old, new))
    with pytest.raises(InputError, match="estimate it again"):
        read_arpa(tmp_path / "arpa", ["a", "</s>"])


TOY = ["<UNK>", "</s>", *"abcdefghi", "<COMMA>", "<s>"]
BEGIN, END, EVERY = 12, 1, range(12)  # `<s>` is never predicted


def discounted(order, seed=0):
    """Return a normalized model of random texts, made by absolute discounting: {n-gram: P} and {context: α}."""
    rng = np.random.default_rng(seed)
    texts = [[BEGIN, *rng.choice([2, 3, 4, 5, 11], 25, p=[0.4, 0.3, 0.1, 0.1, 0.1]), END] for _ in range(4)]
    probs = {(w,): (sum(t.count(w) for t in texts) + 0.5) / (sum(len(t) - 1 for t in texts) + 6) for w in EVERY}
    for n in range(2, order + 1):
        counts = Counter(tuple(int(w) for w in t[i:i + n]) for t in texts for i in range(len(t) - n + 1))
        begun = Counter()
        for gram, count in counts.items():
            begun[gram[:-1]] += count
        probs |= {gram: (count - 0.5) / begun[gram[:-1]] for gram, count in counts.items()}
    return probs, weights_of(probs)


def weights_of(probs):
    """Return the back-off weight α of each context, which makes the context's probabilities add up to 1."""
    weights = {}
    for context in sorted({gram[:-1] for gram in probs if len(gram) > 1}, key=len):
        explicit = [gram for gram in probs if gram[:-1] == context and len(gram) == len(context) + 1]
        weights[context] = ((1 - sum(probs[gram] for gram in explicit))
                            / (1 - sum(prob(probs, weights, context[1:], gram[-1]) for gram in explicit)))
    return weights


def prob(probs, weights, context, word):
    if (*context, word) in probs:
        return probs[(*context, word)]
    return weights.get(context, 1.0) * prob(probs, weights, context[1:], word)


def context_prob(probs, weights, context):
    if context == (BEGIN,):
        return probs[END,]
    return np.prod([probs[END,] if w == BEGIN else prob(probs, weights, context[:i], w) for i, w in enumerate(context)])


def pruned_by_hand(probs, weights, order, threshold):
    """Return the n-grams that pruning keeps. The relative entropy between the models with and without an n-gram is
    computed as a sum over all words."""
    kept = dict(probs)
    for n in range(order, 1, -1):
        for gram in [gram for gram in probs if len(gram) == n]:
            context = gram[:-1]
            without = {other: p for other, p in probs.items() if other != gram}
            less = {**weights, context: weights_of(without)[context]} \
                if any(other[:-1] == context and len(other) == n for other in without) else {**weights, context: 1.0}
            distance = sum(prob(probs, weights, context, w) * np.log(prob(probs, weights, context, w)
                                                                     / prob(without, less, context, w)) for w in EVERY)
            begins = any(len(other) == n + 1 and other[:n] == gram for other in kept)
            if np.expm1(context_prob(probs, weights, context) * distance) < threshold and not begins:
                del kept[gram]
    return kept


def written(path, probs, weights, order):
    lines = ["\\data\\", *(f"ngram {n}={sum(len(g) == n for g in probs) + (n == 1)}" for n in range(1, order + 1))]
    for n in range(1, order + 1):
        lines += ["", f"\\{n}-grams:"] + [f"-99\t<s>\t{np.log10(weights[BEGIN,]):.9f}"] * (n == 1)
        lines += [f"{np.log10(p):.9f}\t{' '.join(TOY[w] for w in gram)}\t{np.log10(weights.get(gram, 1)):.9f}"
                  for gram, p in probs.items() if len(gram) == n]
    path.write_text("\n".join([*lines, "", "\\end\\", ""]))
    return path


def grams_of(model):
    found = [[(w,) for w in range(model.size)]]
    for order in model.orders[1:]:
        found.append([(*found[-1][key // model.size], key % model.size) for key in order.keys.tolist()])
    return {gram for grams in found for gram in grams}


@pytest.mark.parametrize(("order", "threshold"), [(2, 0.01), (3, 1e-9), (3, 0.004), (4, 0.002), (3, 10)])
def test_prune_matches_relative_entropy_by_sums(order, threshold, tmp_path):
    probs, weights = discounted(order)
    expected = pruned_by_hand(probs, weights, order, threshold)
    found = prune(read_arpa(written(tmp_path / "arpa", probs, weights, order), TOY), threshold, BEGIN, END)
    assert grams_of(found) == {*expected, (BEGIN,)}
    if 1e-9 < threshold < 10:
        assert 12 < len(expected) < len(probs) - 3
    new_weights = weights_of(expected)
    for context in {gram[:-1] for gram in probs} - {()}:
        history = np.tile(np.array([[-1] * (order - len(context)) + [*context]])[:, -order + 1:], (12, 1))
        log_probs = found.log_probs(found.contexts(history), np.array(EVERY))
        np.testing.assert_allclose(np.exp(log_probs).sum(), 1, atol=1e-5)
        np.testing.assert_allclose(np.exp(log_probs), [prob(expected, new_weights, context, w) for w in EVERY],
                                   atol=1e-5)


EVENTS, FIRST, LAST = 10, 20, 1  # label i is token 10 + i; a text begins with token 20 and ends with token 1


def toy(order, seed=0):
    """Return a model with random probabilities that depend on the last `order` − 1 tokens."""
    rng, table = np.random.default_rng(seed), {}

    def log_probs(history, tokens):
        assert history.shape[1] >= order - 1
        seen = [tuple(row[len(row) - order + 1:]) for row in history.tolist()]
        return np.array([[table.setdefault((h, token), np.log(rng.uniform(0.001, 1))) for token in row]
                         for h, row in zip(seen, tokens.tolist())])
    return log_probs


def enumerate_all(words, labels, order, log_probs):
    sums = np.zeros((len(words), labels))
    for labelling in product(range(labels), repeat=len(words)):
        tokens = [-1] * order + [FIRST]
        first = len(tokens)
        for word, label in zip(words, labelling):
            tokens += [word, EVENTS + label] if label else [word]
        tokens.append(LAST)
        log = sum(log_probs(np.array([tokens[i - order:i]]), np.array([tokens[i:i + 1]]))[0, 0]
                  for i in range(first, len(tokens)))
        sums[np.arange(len(words)), labelling] += np.exp(log)
    return sums / sums.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("labels", [2, 3, 4])
def test_log_posteriors_match_enumeration(order, labels):
    log_probs, lengths = toy(order), [5, 1, 4] if labels < 4 else [4, 1, 3]
    offsets = np.cumsum([0, *lengths])
    words = np.random.default_rng(order).integers(0, 4, offsets[-1])
    found = log_posteriors(words, offsets, labels, order, log_probs, EVENTS, FIRST, LAST)
    assert found.dtype == np.float32
    expected = [enumerate_all(words[b:e].tolist(), labels, order, log_probs) for b, e in pairwise(offsets.tolist())]
    np.testing.assert_allclose(np.exp(found), np.concatenate(expected), atol=1e-6)


def test_log_posteriors_same_in_chunks(monkeypatch):
    log_probs, words = toy(4), np.random.default_rng(0).integers(0, 4, 700)
    offsets = np.array([0, 300, 301, 700])
    whole = log_posteriors(words, offsets, 3, 4, log_probs, EVENTS, FIRST, LAST)
    monkeypatch.setattr(hidden_events, "CHUNK_SIZE", 100)
    monkeypatch.setattr(hidden_events, "CONTEXT", 60)
    parts = log_posteriors(words, offsets, 3, 4, log_probs, EVENTS, FIRST, LAST)
    np.testing.assert_allclose(np.exp(parts), np.exp(whole), atol=1e-5)


def test_log_posteriors_of_impossible_labels_are_finite():
    def log_probs(history, tokens):
        return np.where(tokens == EVENTS + 1, -2000.0, -1.0)
    found = log_posteriors(np.zeros(20, int), np.array([0, 20]), 3, 4, log_probs, EVENTS, FIRST, LAST)
    assert np.isfinite(found).all()
    assert (found[:, 1] < -80).all()
