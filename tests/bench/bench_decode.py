"""Speed of punctuating, next to the machine's rate of matrix products in the same run.

    python tests/bench/bench_decode.py [--words N] [--runs N] [--nj N] [--exp EXP-DIR] [--data DATA-DIR]

Whole files: `punc punctuate DATA-DIR OUT-DIR` as a process, text in to text out, on N words (default 2,000,000). They
are the words of --data, repeated, or drawn with Zipf frequencies. The time without start-up is the time minus that of
a directory of 1000 words. Word by word: the words go one by one through the model in this process; the latency of a
word is the time that it takes. The model is that of --exp, or an untrained T-LSTM of full size: 100,000 words, 100
units, 100 blocks. Medians of the runs.
"""

import argparse
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import chain, cycle, islice
from pathlib import Path

import numpy as np
import torch
from machine import gflops
from processes import PUNC

from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.live.stream import streaming_logits
from punc.models.base import NeuralModel, create, load, save
from punc.tokens.vocabulary import Vocabulary

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
UTTERANCE = 50  # words
STREAM = 10_000  # words


def make_model(directory: Path, source: Path | None, size: int = 100_000) -> Path:
    """An untrained T-LSTM of full size that knows the words of the data."""
    directory.mkdir()
    (directory / "labels.txt").write_text(LABELS)
    words = chain((word for utterance in DataDir(source).utterances() for word in utterance.words) if source else (),
                  (f"word{i}" for i in range(size)))
    vocabulary = Vocabulary(["<unk>", "</s>", *islice(dict.fromkeys(words), size)])
    vocabulary.write(directory / "vocab")
    save(create("t_lstm", vocabulary, LabelSet.read(directory / "labels.txt"), {}), directory / "final.pt")
    return directory


def make_data(path: Path, n_words: int, source: Path | None) -> Path:
    """A data directory of about `n_words` words, in streams of STREAM words."""
    words = _words(source, n_words)
    names = (f"{i // (STREAM // UTTERANCE):07}-{i:09}" for i in range(max(1, n_words // UTTERANCE)))
    write_data_dir(path, (Utterance(name, name[:7], list(islice(words, UTTERANCE))) for name in names))
    return path


def _words(source: Path | None, n_words: int) -> Iterator[str]:
    if source:
        return cycle([word for utterance in DataDir(source).utterances() for word in utterance.words][:n_words])
    chances = 1 / np.arange(1, 100_001)
    drawn = np.random.default_rng(0).choice(100_000, min(n_words, 1_000_000), p=chances / chances.sum())
    return cycle([f"word{i}" for i in drawn.tolist()])


def whole(exp: Path, data: Path, out: Path, nj: int, *options: str) -> tuple[float, float]:
    """Seconds of one `punc punctuate`, and the processor seconds of all its processes."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*PUNC, "punctuate", f"--nj={nj}", *options, exp, data, out], check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def word_by_word(model: NeuralModel, words: list[str]) -> np.ndarray:
    """Seconds for each word of one stream: look-up, model, choice, writing."""
    forms = [label.write for label in model.labels]
    times = np.empty(len(words) + 1)

    def tokens() -> Iterator[tuple[int, float]]:
        for i, word in enumerate(words):
            times[i] = time.perf_counter()
            yield int(model.tokenizer.encode((word,)).ids[0]), np.nan
        times[-1] = time.perf_counter()

    for word, logits in zip(words, streaming_logits(model, tokens())):
        forms[int(logits.argmax())](word)
    return np.diff(times)


def main() -> None:
    options = argparse.ArgumentParser(description="Speed of punctuating.")
    options.add_argument("--words", type=int, default=2_000_000)
    options.add_argument("--streaming-words", type=int, default=200_000)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--nj", type=int, default=2)
    options.add_argument("--exp", type=Path)
    options.add_argument("--data", type=Path)
    args = options.parse_args()
    rows = [(f"matrix product, {n} thread{'s' * (n > 1)}", f"{gflops(n):8.0f} GFLOP/s") for n in (1, 2)]
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        exp = args.exp or make_model(place / "exp", args.data)
        data, little = (make_data(place / f"data{n}", n, args.data) for n in (args.words, 1000))
        seconds, start = [], []
        for run in range(args.runs):
            start.append(whole(exp, little, place / f"start{run}", args.nj))
            seconds.append(whole(exp, data, place / f"out{run}", args.nj))
        torch.set_num_threads(1)
        model = load(exp)
        words = list(islice(_words(args.data, args.streaming_words), args.streaming_words))
        latencies = [word_by_word(model, words) for _ in range(args.runs)]
    (total, busy), (first, _) = (map(statistics.median, zip(*measured)) for measured in (seconds, start))
    rows += [(f"whole file, --nj {args.nj}, with start-up", f"{args.words / total:8,.0f} words/s"),
             (f"whole file, --nj {args.nj}, without", f"{args.words / (total - first):8,.0f} words/s"),
             ("start-up", f"{first:8.2f} s"),
             ("whole file, processor time", f"{1e6 * busy / args.words:8.2f} µs a word, with start-up"),
             ("word by word", f"{statistics.median(len(t) / t.sum() for t in latencies):8,.0f} words/s")]
    for name, part in (("median", 50), ("99th percentile", 99), ("slowest", 100)):
        seconds = statistics.median(np.percentile(t, part) for t in latencies)
        rows.append((f"latency, {name}", f"{1e6 * seconds:8,.0f} µs"))
    for name, value in rows:
        print(f"{name:<36}{value}")


if __name__ == "__main__":
    main()
