"""Prunes a back-off n-gram model by relative entropy, like SRILM's `ngram -prune` (Stolcke 1998, "Entropy-based Pruning
of Backoff Language Models").

If the n-gram h w is removed from a model p, the model backs off to compute the probability of w after h, and the
back-off weight α(h) becomes α'(h). The relative entropy between p and the new model p' is (section 3):

    D(p || p') = −P(h) { p(w | h) [log p(w | h') + log α'(h) − log p(w | h)]
                         + [log α'(h) − log α(h)] (1 − Σ_{v: h v explicit} p(v | h)) }

h' is h without its first word. *Explicit* n-grams are those that are in the model. P(h) is the model's probability of
h, where P(</s>) replaces the probability of `<s>`. An n-gram is removed if its removal raises the perplexity by less
than a relative threshold θ: exp(D) − 1 < θ. But it is kept if a longer n-gram that begins with it is kept, so orders
are pruned from the highest to the lowest. D is always computed with the original model. At the end, all back-off
weights are computed again.
"""

import numpy as np

from punc.models.ngram.backoff import Backoff, Order

BLOCK = 1 << 20  # the number of n-grams processed at a time
LEAST = 1e-7  # a probability; a context is not changed if its n-grams leave less than this to all other words


def prune(model: Backoff, threshold: float, begin: int, end: int) -> Backoff:
    """Remove n-grams whose removal raises the perplexity by less than the fraction `threshold`. Keep all unigrams.
    `begin` and `end` are the tokens before and after a text."""
    grams = _grams(model)
    prefixes = [order.keys // model.size for order in model.orders]
    first = model.orders[0].log_probs.astype(np.float64)
    first[begin] = first[end]  # `<s>` is never predicted, but is as frequent as `</s>`
    context_log_probs = [first]  # for each order: log P(h) with each n-gram as the context h, float64 (M,)
    for order, prefix in zip(model.orders[1:], prefixes[1:]):
        context_log_probs.append(context_log_probs[-1][prefix] + order.log_probs)
    kept = [np.ones(len(order.keys), bool) for order in model.orders]
    for n in range(len(model.orders), 1, -1):
        change = _perplexity_change(model, n, grams[n - 1], prefixes[n - 1], context_log_probs[n - 2])
        kept[n - 1] = change >= threshold
        if n < len(model.orders):
            kept[n - 1][prefixes[n][kept[n]]] = True
    orders = []
    for order, prefix, keep, below in zip(model.orders, prefixes, kept, [None, *kept]):
        keys = order.keys[keep]
        if below is not None:
            keys = (np.cumsum(below) - 1)[prefix[keep]] * model.size + keys % model.size
        orders.append(Order(keys, order.log_probs[keep], order.backoffs[keep]))
    return _with_new_weights(model.size, orders)


def _grams(model: Backoff) -> list[np.ndarray]:
    grams = [np.arange(model.size, dtype=np.int32)[:, None]]
    for order in model.orders[1:]:
        last = (order.keys % model.size).astype(np.int32)
        grams.append(np.column_stack([grams[-1][order.keys // model.size], last]))
    return grams


def _shorter_log_probs(model: Backoff, grams: np.ndarray) -> np.ndarray:
    """Return log p(w | h'), float64 (M,), for the n-grams h w, int32 (M, n)."""
    result = np.empty(len(grams))
    for start in range(0, len(grams), BLOCK):
        block = grams[start:start + BLOCK].astype(np.int64)
        result[start:start + BLOCK] = model.log_probs(model.contexts(block[:, 1:-1]), block[:, -1])
    return result


def _left_over(contexts: int, prefix: np.ndarray, log_probs: np.ndarray) -> np.ndarray:
    """Return, for each context, 1 minus the sum of the probabilities of its explicit n-grams, float64 (contexts,)."""
    return 1.0 - np.bincount(prefix, np.exp(log_probs, dtype=np.float64), contexts)


def _perplexity_change(model: Backoff, n: int, grams: np.ndarray, prefix: np.ndarray,
                       context_log_probs: np.ndarray) -> np.ndarray:
    """Return exp(D) − 1 for each n-gram of order n, or infinity if its context is not changed (see LEAST)."""
    own = model.orders[n - 1].log_probs.astype(np.float64)
    shorter = _shorter_log_probs(model, grams)
    weights = model.orders[n - 2].backoffs.astype(np.float64)
    left, shorter_left = (_left_over(len(weights), prefix, log_probs) for log_probs in (own, shorter))
    usable = ((left > LEAST) & (shorter_left > LEAST))[prefix]
    left, shorter_left = left.clip(LEAST)[prefix], shorter_left.clip(LEAST)[prefix]
    new_weight = np.log(left + np.exp(own)) - np.log(shorter_left + np.exp(shorter))
    distance = -np.exp(context_log_probs)[prefix] * (np.exp(own) * (shorter + new_weight - own)
                                                     + (new_weight - weights[prefix]) * left)
    return np.where(usable, np.expm1(distance), np.inf)


def _with_new_weights(size: int, orders: list[Order]) -> Backoff:
    """Return the model with new back-off weights, so that the probabilities after each context sum to 1."""
    model = Backoff(size, orders)
    grams = _grams(model)
    for n in range(1, len(orders)):  # in ascending order, because longer n-grams back off to shorter ones
        longer, contexts = model.orders[n], model.orders[n - 1]
        prefix = longer.keys // size
        left = _left_over(len(contexts.keys), prefix, longer.log_probs)
        shorter_left = _left_over(len(contexts.keys), prefix, _shorter_log_probs(model, grams[n]))
        usable = (left > LEAST) & (shorter_left > LEAST)
        weights = np.where(usable, np.log(left.clip(LEAST) / shorter_left.clip(LEAST)), contexts.backoffs)
        model.orders[n - 1] = contexts._replace(backoffs=weights.astype(np.float32))
    return model
