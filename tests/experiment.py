"""Makes a small experiment for the tests of `punc report`: two systems on test_ref, one of them also on ASR output."""

import numpy as np

from punc.bin.score import main as score
from punc.data.datadir import DataDir, Utterance, write_data_dir

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"
NAMES = ("O", "COMMA", "PERIOD")
LOG = """# punc train --config conf/B.conf data/store exp/B
epoch 1: rate 0.1, loss 0.5, dev loss 0.6, dev F1 50.00, 3,645 words/s, 3.6 s
epoch 2: rate 0.05, loss 0.4, dev loss 0.55, dev F1 52.50, 2,973 words/s, 4.5 s
"""
# A word that changes the page's title if the page does not escape it.
HOSTILE = "<script>document.title='broken'</script>"


def posteriors(labels, rng):
    """Return random posteriors, float32 (slots, labels), that are highest for the given labels."""
    found = rng.dirichlet(np.ones(len(NAMES)), len(labels)).astype(np.float32)
    chosen = [NAMES.index(name) for name in labels]
    found[np.arange(len(labels)), chosen] += 1
    return found / found.sum(1, keepdims=True)


def worsened(labels, rng, share):
    return [str(rng.choice(NAMES)) if rng.random() < share else name for name in labels]


def make_experiment(place, streams=3, words=40, utterances=2):
    """Write PLACE/data and PLACE/exp, with scores. Return PLACE/exp."""
    import kaldiio

    rng = np.random.default_rng(7)
    reference, recognised = [], []
    for stream in range(streams):
        for number in range(utterances):
            text = rng.choice([*"abcdefg"], words).tolist()
            text[3] = HOSTILE
            labels = [str(name) for name in rng.choice(NAMES, words, p=[0.8, 0.1, 0.1])]
            pauses = rng.choice(np.array([0, 0.05, 0.4, 2, np.nan], np.float32), words)
            name = f"rec{stream:02}"
            reference.append(Utterance(f"{name}-{number}", name, text, labels, pauses))
            heard = [*text[:5], "wrong", *text[6:-1]]  # one substituted word; the last word is missing
            recognised.append(Utterance(f"{name}-{number}", name, heard, labels[:-1], pauses[:-1]))
    exp = place / "exp"
    for name, data in (("test_ref", reference), ("test_asr", recognised)):
        write_data_dir(place / "data" / name, data)
        for system, share in (("A", 0.3), ("B", 0.1)):
            if system == "A" and name == "test_asr":
                continue
            decoded = exp / system / f"decode_{name}"
            decoded.parent.mkdir(parents=True, exist_ok=True)
            (exp / system / "labels.txt").write_text(LABELS)
            write_data_dir(decoded, [one._replace(labels=worsened(one.labels, rng, share)) for one in data])
            if system == "B":
                kaldiio.save_ark(str(decoded / "post.ark"),
                                 {one.id: posteriors(one.labels, rng) for one in DataDir(decoded).utterances()})
            score(["--labels", str(exp / system / "labels.txt"), str(place / "data" / name),
                   str(decoded), str(decoded / "score")])
    (exp / "B" / "log").mkdir()
    (exp / "B" / "log" / "train.log").write_text(LOG)
    return exp
