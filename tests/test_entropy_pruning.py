"""Entropy pruning compared with sums over the whole vocabulary, n-gram by n-gram."""

from collections import Counter

import numpy as np
import pytest

from punc.models.ngram.backoff import read_arpa
from punc.models.ngram.entropy_pruning import prune

TOKENS = ["<UNK>", "</s>", *"abcdefghi", "<COMMA>", "<s>"]
BEGIN, END, EVERY = 12, 1, range(12)  # `<s>` is never predicted


def discounted(order, seed=0):
    """A normalized model as {n-gram: P}, {context: α}: absolute discounting of the counts of random texts."""
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
    """α of each context, from the shortest on, so that probabilities sum to 1."""
    weights = {}
    for context in sorted({gram[:-1] for gram in probs if len(gram) > 1}, key=len):
        explicit = [gram for gram in probs if gram[:-1] == context and len(gram) == len(context) + 1]
        weights[context] = ((1 - sum(probs[gram] for gram in explicit))
                            / (1 - sum(prob(probs, weights, context[1:], gram[-1]) for gram in explicit)))
    return weights


def prob(probs, weights, context, word):
    """P(word | context) by definition."""
    if (*context, word) in probs:
        return probs[(*context, word)]
    return weights.get(context, 1.0) * prob(probs, weights, context[1:], word)


def context_prob(probs, weights, context):
    if context == (BEGIN,):
        return probs[END,]
    return np.prod([probs[END,] if w == BEGIN else prob(probs, weights, context[:i], w)
                    for i, w in enumerate(context)])


def pruned_by_hand(probs, weights, order, threshold):
    """The n-grams that stay: D is a sum over all words, with and without each n-gram."""
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
        lines += [f"{np.log10(p):.9f}\t{' '.join(TOKENS[w] for w in gram)}\t{np.log10(weights.get(gram, 1)):.9f}"
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
    found = prune(read_arpa(written(tmp_path / "arpa", probs, weights, order), TOKENS), threshold, BEGIN, END)
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


def test_prune_by_nothing_keeps_all(tmp_path):
    model = read_arpa(written(tmp_path / "arpa", *discounted(3), 3), TOKENS)
    found = prune(model, -1.0, BEGIN, END)
    for ours, theirs in zip(found.orders, model.orders):
        assert np.array_equal(ours.keys, theirs.keys)
        np.testing.assert_allclose(ours.backoffs, theirs.backoffs, atol=2e-5)
