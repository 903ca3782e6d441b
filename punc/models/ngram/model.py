"""4-gram: the hidden-event language model of Stolcke et al. 1998, as in Tilk & Alumäe 2015, section 3.

The model interpolates Kneser-Ney smoothed n-gram models over words and punctuation, one for each training set:

    P(x | h) = Σ_k λ_k P_k(x | h)       λ: estimated by EM on the development set

The token of a punctuation mark is the name of its label in angle brackets, such as `<COMMA>`. The empty label has no
token. A word outside the vocabulary is `<UNK>`. The posterior of a label in a slot is the sum of the probabilities of
all label sequences that have this label in the slot.

    punc train --model ngram --train-set text1,text2 --dev-set dev data/store_word exp/4-gram

KenLM's `lmplz` (utils/install_lmplz.sh) estimates the models. The option `arpa` names ARPA files to use instead.
The option `entropy_prune` prunes like Tilk & Alumäe, who remove "n-gram probabilities accounting for less than 10⁻⁷
training set perplexity improvement".
"""

import logging
import shutil
import subprocess
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np

from punc.base.errors import InputError, check_at_least
from punc.data.labels import LabelSet
from punc.models.base import NonGradientModel
from punc.models.ngram import entropy_pruning
from punc.models.ngram.backoff import Backoff, Order, read_arpa
from punc.models.ngram.hidden_events import label_histories, log_posteriors
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, UNK, Vocabulary

logger = logging.getLogger(__name__)

WRITE_SIZE = 1 << 20  # the number of words written at once
# Special tokens of language models. `tokens_of` renames words with these spellings.
RESERVED = "<s>", "</s>", "<unk>", "<UNK>"
UNKNOWN = "<UNK>"  # stands for unknown words in the text for lmplz, which reserves `<unk>` for words not in this text
MOST_STATES = 10_000  # the maximum number of label histories; more would take too long
MEMORY = "1G"  # the memory that lmplz may use
EM_ROUNDS, EM_TOLERANCE = 100, 1e-5


class Model(NonGradientModel):
    """Interpolated n-gram models over words and punctuation.

    order           length of the longest n-grams, in tokens
    prune           a count for each order: n-grams that occur at most this often are left out; the last count also
                    applies to all higher orders, as in lmplz
    entropy_prune   then remove n-grams whose removal raises the perplexity by less than this fraction, such as 1e-7;
                    0: remove none
    arpa            ARPA files, separated by commas, to use instead of models estimated on the training sets
    """

    def __init__(self, vocab: int, labels: int, order: int = 4, prune: str = "0,0,1,1",
                 entropy_prune: float = 0.0, arpa: str = ""):
        super().__init__()
        check_at_least(1, order=order)
        check_at_least(0, entropy_prune=entropy_prune)
        try:
            thresholds = [int(count) for count in prune.split(",")][:order]
            if thresholds[0] != 0 or thresholds != sorted(thresholds):
                raise ValueError
        except ValueError:
            raise InputError(f"prune={prune} does not fit",
                             "write counts that start with 0 and do not decrease: 0,0,1,1") from None
        self.order, self.thresholds, self.arpa = order, thresholds, arpa
        self.entropy_prune = entropy_prune
        self.vocab, self.n_labels = vocab, labels  # token ids: words, then labels (the first is not used), then <s>
        self.models: list[Backoff] = []

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        files = self.arpa.split(",") if self.arpa else train_sets
        tokens = tokens_of(store.vocabulary, store.labels)
        with tempfile.TemporaryDirectory() as folder:
            for number, name in enumerate(files):
                path = Path(name)
                if not self.arpa:
                    text, path = Path(folder) / "text", Path(folder) / "arpa"
                    write_text(text, store.set(name), tokens, self.vocab)
                    estimate(text, path, self.order, self.thresholds)
                model = read_arpa(path, tokens, self.order)
                if self.entropy_prune:
                    model = entropy_pruning.prune(model, self.entropy_prune, self.vocab + self.n_labels, END)
                for n, order in enumerate(model.orders, 1):
                    self.arrays |= {f"{number}.{n}.{field}": array for field, array in order._asdict().items()}
                logger.info("%s: %s n-grams of 1 to %d tokens", name, " ".join(str(len(o.keys)) for o in model.orders),
                            len(model.orders))
        self.arrays["weights"] = np.full(len(files), 1 / len(files))
        self.prepare()
        if len(files) > 1:
            self.arrays["weights"] = interpolation(self._component_log_probs_of(store.set(dev_set)))
            self.prepare()
            weights = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(files, self.arrays["weights"]))
            logger.info("weights: %s", weights)

    def prepare(self) -> None:
        self.log_weights = np.log(np.maximum(self.arrays["weights"], 1e-30)).astype(np.float32)
        self.models = []
        for number in range(len(self.log_weights)):
            orders: list[Order] = []
            while f"{number}.{len(orders) + 1}.keys" in self.arrays:
                orders.append(Order(*(self.arrays[f"{number}.{len(orders) + 1}.{f}"] for f in Order._fields)))
            self.models.append(Backoff(self.vocab + self.n_labels + 1, orders))
            self.models[-1].check()
            if not orders or len(orders[0].log_probs) != self.vocab + self.n_labels + 1:
                raise ValueError("not the unigrams of this vocabulary")
        self.seen = max(len(model.orders) for model in self.models)
        histories = label_histories(max(self.seen - 1, 1), self.n_labels)
        if len(list(islice(histories, MOST_STATES + 1))) > MOST_STATES:
            raise InputError(f"n-grams of {self.seen} tokens: too long for {self.n_labels} labels", "lower --order")

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        return log_posteriors(np.asarray(data.ids), np.asarray(data.offsets), self.n_labels, self.seen, self.log_probs,
                              self.vocab, self.vocab + self.n_labels, END)

    def log_probs(self, history: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """Return log P(token | history), (M, K), given histories (M, H) and tokens (M, K)."""
        each = self.component_log_probs(history, tokens)
        return each[0] if len(each) == 1 else np.logaddexp.reduce(each + self.log_weights[:, None, None])

    def component_log_probs(self, history: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """Like `log_probs`, but returns the result of each interpolated model, (models, M, K)."""
        result = np.empty((len(self.models), *tokens.shape), np.float32)
        for log_probs, model in zip(result, self.models):
            contexts = model.contexts(history)
            for column, choice in zip(log_probs.T, tokens.T):
                column[:] = model.log_probs(contexts, choice)
        return result

    def _component_log_probs_of(self, data: StoreSet) -> np.ndarray:
        """Return log P of each token (word, mark or END) of a labelled set according to each model, (models, M)."""
        found, labels = [], np.asarray(data.labels)
        for begin, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist()):
            tokens = np.append(with_events(data.ids[begin:end], labels[begin:end], self.vocab), END)
            padded = np.concatenate([np.full(self.seen, -1), [self.vocab + self.n_labels], tokens])
            windows = np.lib.stride_tricks.sliding_window_view(padded, self.seen + 1)[1:]
            found.append(self.component_log_probs(windows[:, 1:-1], windows[:, -1:])[:, :, 0])
        return np.concatenate(found, axis=1)


def tokens_of(vocabulary: Vocabulary, labels: LabelSet) -> list[str]:
    """Return the tokens of the model in the order of their ids: words, labels, and `<s>`."""
    events = [f"<{label.name}>" for label in labels]
    taken = {*RESERVED, *events}
    # A word that is spelled like a reserved token gets a name with a space, because no word contains a space.
    words = [f"{token} word" if token in taken else token for token in vocabulary.tokens]
    words[UNK], words[END] = UNKNOWN, "</s>"
    return [*words, *events, "<s>"]


def with_events(ids: np.ndarray, labels: np.ndarray, first_event: int) -> np.ndarray:
    """Merge the ids of words and labels into one sequence, int64. Each label follows its word; label 0 is left out."""
    pairs = np.stack([ids, first_event + labels.astype(np.int64)], axis=1)
    keep = np.stack([np.ones(len(ids), bool), labels > 0], axis=1)
    return pairs[keep]


def write_text(path: Path, data: StoreSet, tokens: list[str], first_event: int) -> None:
    labels = np.asarray(data.labels)
    names = np.array([UNKNOWN if " " in token or token in RESERVED else token for token in tokens], object)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for begin, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist()):
            for start in range(begin, end, WRITE_SIZE):
                stop = min(start + WRITE_SIZE, end)
                ids = with_events(data.ids[start:stop], labels[start:stop], first_event)
                file.write(" ".join(names[ids].tolist()) + ("\n" if stop == end else " "))


def estimate(text: Path, arpa: Path, order: int, thresholds: list[int]) -> None:
    """Estimate a Kneser-Ney model with lmplz. Raises InputError if lmplz is missing or fails."""
    lmplz = shutil.which("lmplz")
    if not lmplz:
        raise InputError("no lmplz on PATH", "build it: bash utils/install_lmplz.sh; or give --arpa")
    command = [lmplz, "--order", order, "--text", text, "--arpa", arpa, "--prune", *thresholds, "--discount_fallback",
               "--memory", MEMORY, "--temp_prefix", text.parent / "lmplz"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no message")
        raise InputError(f"lmplz failed: {said}", "check memory, order and the size of the text")


def interpolation(log_probs: np.ndarray) -> np.ndarray:
    """Return the interpolation weights (models,) that maximize the probability of a text, by EM. `log_probs` (models,
    M) are the log-probabilities of the text's tokens under each model."""
    probs = np.exp(log_probs.astype(np.float64))
    weights = np.full(len(log_probs), 1 / len(log_probs))
    for _ in range(EM_ROUNDS):
        joint = weights[:, None] * probs
        new = (joint / joint.sum(axis=0)).mean(axis=1)
        done = np.abs(new - weights).max() < EM_TOLERANCE
        weights = new
        if done:
            break
    return weights
