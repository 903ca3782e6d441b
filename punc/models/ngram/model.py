"""4-gram: the hidden-event language model of Stolcke et al. 1998, as Tilk & Alumäe 2015 (section 3) have it.

An n-gram model over words and punctuation, Kneser-Ney smoothed, one for each source of text, interpolated:

    P(x | h) = Σ_k λ_k P_k(x | h)       λ by expectation maximisation on the development set

A token of punctuation is the label's name in angle brackets, `<COMMA>`; the weakest label is no token. A word
outside the vocabulary is `<UNK>`. Slots are decided by their posteriors over all label sequences.

    punc train --model ngram --train-set text1,text2 --dev-set dev data/store_word exp/4-gram

KenLM's `lmplz` (utils/install_lmplz.sh builds it) or SRILM's `ngram-count` estimates; neither is needed to punctuate.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.models.base import NonGradientModel
from punc.models.ngram.backoff import Backoff, Order, read_arpa
from punc.models.ngram.hidden_events import log_posteriors
from punc.tokens.store import END, UNK, Store, StoreSet, Vocabulary

BLOCK = 1 << 20  # tokens written at once
RESERVED = "<s>", "</s>", "<unk>", "<UNK>"  # of language models, not of a text
UNKNOWN = "<UNK>"  # as a word like others: `<unk>` is what estimation leaves for words that it never saw
EM_ROUNDS, EM_ENOUGH = 100, 1e-5


class Model(NonGradientModel):
    """Interpolated n-gram models over words and punctuation.

    order    tokens of the longest n-grams
    prune    n-grams seen this often or less are left out, for each order, the last for those above; as in lmplz
    arpa     ARPA files with commas between, instead of estimating one for each training set
    memory   of lmplz
    """

    def __init__(self, vocab: int, labels: int, order: int = 4, prune: str = "0,0,1,1", arpa: str = "",
                 memory: str = "1G"):
        super().__init__()
        if order < 1:
            raise InputError(f"--order={order}", "it is at least 1")
        try:
            thresholds = [int(count) for count in prune.split(",")][:order]
            if thresholds[0] != 0 or thresholds != sorted(thresholds):
                raise ValueError
        except ValueError:
            raise InputError(f"--prune={prune}", "write counts that begin with 0 and do not fall: 0,0,1,1") from None
        self.order, self.thresholds, self.arpa, self.memory = order, thresholds, arpa, memory
        self.words, self.n_labels = vocab, labels  # tokens: words, labels (the first is none), <s>
        self.models: list[Backoff] = []

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        files = self.arpa.split(",") if self.arpa else train_sets
        tokens = tokens_of(store.vocabulary, store.labels)
        with tempfile.TemporaryDirectory() as folder:
            for number, name in enumerate(files):
                path = name
                if not self.arpa:
                    text, path = Path(folder) / "text", Path(folder) / "arpa"
                    write_text(text, store.set(name), tokens, self.words)
                    estimate(text, path, self.order, self.thresholds, self.memory)
                model = read_arpa(path, tokens, self.order)
                for n, order in enumerate(model.orders, 1):
                    self.arrays |= {f"{number}.{n}.{field}": array for field, array in order._asdict().items()}
                print(f"{name}: {' '.join(str(len(o.keys)) for o in model.orders)} n-grams of 1 to "
                      f"{len(model.orders)} tokens", file=sys.stderr)
        self.arrays["weights"] = np.full(len(files), 1 / len(files))
        self.prepare()
        if len(files) > 1:
            logs = self._dev_logs(store.set(dev_set))
            self.arrays["weights"] = interpolation(logs)
            self.prepare()
            weights = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(files, self.arrays["weights"]))
            print(f"weights: {weights}", file=sys.stderr)

    def prepare(self) -> None:
        self.log_weights = np.log(np.maximum(self.arrays["weights"], 1e-30)).astype(np.float32)
        self.models = []
        for number in range(len(self.log_weights)):
            orders = []
            while f"{number}.{len(orders) + 1}.keys" in self.arrays:
                orders.append(Order(*(self.arrays[f"{number}.{len(orders) + 1}.{f}"] for f in Order._fields)))
            self.models.append(Backoff(self.words + self.n_labels + 1, orders))
            if not orders or len(orders[0].logs) != self.words + self.n_labels + 1:
                raise ValueError("not the unigrams of this vocabulary")
        self.seen = max(len(model.orders) for model in self.models)

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        return log_posteriors(np.asarray(data.ids), np.asarray(data.offsets), self.n_labels, self.seen, self.log_probs,
                              self.words, self.words + self.n_labels, END)

    def log_probs(self, history: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """log P(token | history), (M, K), of histories (M, H) and tokens (M, K)."""
        logs = self.component_logs(history, tokens)
        return logs[0] if len(logs) == 1 else np.logaddexp.reduce(logs + self.log_weights[:, None, None])

    def component_logs(self, history: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """The same of each of the interpolated models, (models, M, K)."""
        result = np.empty((len(self.models), *tokens.shape), np.float32)
        for logs, model in zip(result, self.models):
            contexts = model.contexts(history)
            for column, choice in zip(logs.T, tokens.T):
                column[:] = model.log_probs(contexts, choice)
        return result

    def _dev_logs(self, data: StoreSet) -> np.ndarray:
        """log P of every token of a set, words and punctuation, by each of the models, (K, M)."""
        parts = []
        for begin, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist()):
            tokens = np.append(with_events(data.ids[begin:end], data.labels[begin:end], self.words), END)
            padded = np.concatenate([np.full(self.seen, -1), [self.words + self.n_labels], tokens])
            windows = np.lib.stride_tricks.sliding_window_view(padded, self.seen + 1)[1:]
            parts.append(self.component_logs(windows[:, 1:-1], windows[:, -1:])[:, :, 0])
        return np.concatenate(parts, axis=1)


def tokens_of(vocabulary: Vocabulary, labels: LabelSet) -> list[str]:
    """The tokens of the model, in the order of their numbers: words, labels, the begin of a text."""
    events = [f"<{label.name}>" for label in labels]
    taken = {*RESERVED, *events}
    # A word that is written as something else is in a language model is given a name that cannot be in a text.
    words = [f"{token} word" if token in taken else token for token in vocabulary.tokens]
    words[UNK], words[END] = UNKNOWN, "</s>"
    return [*words, *events, "<s>"]


def with_events(ids: np.ndarray, labels: np.ndarray, first_event: int) -> np.ndarray:
    """Words with the labels that are not empty after them, as one sequence of tokens, int64."""
    pairs = np.stack([ids, first_event + labels.astype(np.int64)], axis=1)
    keep = np.stack([np.ones(len(ids), bool), labels > 0], axis=1)
    return pairs[keep]


def write_text(path: Path, data: StoreSet, tokens: list[str], first_event: int) -> None:
    """Write a labelled set as a text for estimation, a line for each stream."""
    names = np.array([UNKNOWN if " " in token or token in RESERVED else token for token in tokens], object)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for begin, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist()):
            for start in range(begin, end, BLOCK):
                part = slice(start, min(start + BLOCK, end))
                ids = with_events(data.ids[part], data.labels[part], first_event)
                file.write(" ".join(names[ids].tolist()) + ("\n" if part.stop == end else " "))


def estimate(text: Path, arpa: Path, order: int, thresholds: list[int], memory: str) -> None:
    """Estimate a Kneser-Ney model with what is there. Raises InputError where nothing is, or it does not work."""
    lmplz, srilm = shutil.which("lmplz"), shutil.which("ngram-count")
    if lmplz:
        command = [lmplz, "--order", order, "--text", text, "--arpa", arpa, "--prune", *thresholds,
                   "--discount_fallback", "--memory", memory, "--temp_prefix", text.parent / "lmplz"]
    elif srilm:
        counts = [f"-gt{n}min" for n in range(1, order + 1)]
        least = [thresholds[min(n, len(thresholds)) - 1] + 1 for n in range(1, order + 1)]
        smoothing = [f"-kndiscount{n}" for n in range(1, order + 1)]
        command = [srilm, "-order", order, "-text", text, "-lm", arpa, "-interpolate", *smoothing,
                   *(part for pair in zip(counts, least) for part in pair)]
    else:
        raise InputError("neither lmplz nor ngram-count on PATH", "build the first: bash utils/install_lmplz.sh")
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode:
        said = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
        raise InputError(f"{Path(command[0]).name} failed: {said}", "see --memory, --order and the text's size")


def interpolation(logs: np.ndarray) -> np.ndarray:
    """The weights (K,) that make a text most probable, by EM, of its tokens' log-probabilities (K, M)."""
    probs = np.exp(logs.astype(np.float64))
    weights = np.full(len(logs), 1 / len(logs))
    for _ in range(EM_ROUNDS):
        joint = weights[:, None] * probs
        new = (joint / joint.sum(axis=0)).mean(axis=1)
        done = np.abs(new - weights).max() < EM_ENOUGH
        weights = new
        if done:
            break
    return weights
