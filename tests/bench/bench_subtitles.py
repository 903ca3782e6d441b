"""Speed and memory of `utils/punctuate_ctm.sh`: CTM in; text, CTM, subtitles and paragraphs out.

    python tests/bench/bench_subtitles.py [--words N] [--runs R] [--nj N] [--exp EXP-DIR] [--ids recordings|utterances]

The CTM has N words (default 1,000,000) with confidences, of 50,000 types with Zipf frequencies, in recordings of
10,000 words and utterances of 15 s. The model is that of --exp, or a TA-LSTM-p of the paper's size (100 units, 100
blocks, twice) with random weights. A factor of O lets it mark about one slot in seven, because the time depends on the
number of marks, not on the weights. The table has the whole time with start-up, the time of all processors, and how
much of that the model takes, measured in this process with one thread. Medians of the runs. Memory is the largest sum
over all processes; a page that they share counts once.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from machine import gflops
from processes import measure

from punc.data.labels import LabelSet
from punc.decoding.decode import log_posteriors
from punc.decoding.spans import GROUP
from punc.decoding.transcript import DECODING
from punc.models.base import create, load, save
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import Vocabulary

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
SCRIPT = Path(__file__).parents[2] / "utils/punctuate_ctm.sh"
TYPES = 50_000
RECORDING = 10_000  # words
UTTERANCE = 15  # s
MARKS = 1 / 7  # of the slots


def make_model(place: Path) -> Path:
    """An untrained TA-LSTM-p that knows all words."""
    vocabulary = Vocabulary(["<unk>", "</s>", *(f"word{i}" for i in range(TYPES))])
    for name in ("text", "exp"):
        (place / name).mkdir()
        vocabulary.write(place / name / "vocab")
        (place / name / "labels.txt").write_text(LABELS)
    labels = LabelSet.read(place / "exp/labels.txt")
    torch.manual_seed(1)
    save(create("t_lstm", vocabulary, labels, {}), place / "text/final.pt")
    save(create("ta_lstm", vocabulary, labels, {"text_model": str(place / "text")}), place / "exp/final.pt")
    return place / "exp"


def words(count: int, rng: np.random.Generator) -> np.ndarray:
    return np.exp(rng.random(count) * np.log(TYPES)).astype(np.int64)


def make_data(place: Path, count: int, utterances: bool, recording: int) -> None:
    """A data directory and its CTM, with `recording` words per recording; times in frames of 10 ms."""
    rng = np.random.default_rng(0)
    place.mkdir()
    with open(place / "ctm", "w") as ctm, open(place / "segments", "w") as segments, \
            open(place / "utt2spk", "w") as speakers:
        for number, first in enumerate(range(0, count, recording)):
            size, name = min(recording, count - first), f"rec{number:05}"
            durations = rng.integers(5, 60, size)
            silences = np.where(rng.random(size) < 0.25, rng.exponential(40, size), 0).astype(np.int64)
            begins = np.cumsum(durations + silences) - durations
            of = begins // (100 * UTTERANCE)
            for i in range(int(of[-1]) + 1):
                segments.write(f"{name}-{i:05} {name} {UTTERANCE * i} {UTTERANCE * i + UTTERANCE}\n")
                speakers.write(f"{name}-{i:05} {name}\n")
            if utterances:
                begins = begins - of * 100 * UTTERANCE
            ids = [f"{name}-{i:05}" for i in of.tolist()] if utterances else [name] * size
            columns = begins / 100, durations / 100, words(size, rng), rng.random(size)
            ctm.writelines(f"{id} 1 {begin:.2f} {duration:.2f} word{word} {confidence:.2f}\n" for id, begin, duration,
                           word, confidence in zip(ids, *(column.tolist() for column in columns)))


def decoding(exp: Path) -> tuple[float, float]:
    """Processor seconds per word in the model, and the factor of O that gives MARKS."""
    torch.set_num_threads(1)
    model, rng, streams = load(exp), np.random.default_rng(1), GROUP // RECORDING - 1
    ids, pauses = (words(streams * RECORDING, rng) + 2).astype(np.int32), rng.random(streams * RECORDING)
    data = StoreSet(np.minimum(ids, len(Vocabulary.read(exp / "vocab")) - 1), None, pauses.astype(np.float32),
                    [""] * streams, np.arange(streams + 1) * RECORDING)
    begin = time.process_time()
    log_probs = log_posteriors(model, data, DECODING.chunk_size)
    seconds = (time.process_time() - begin) / len(ids)
    return seconds, float(np.exp(np.quantile(log_probs[:, 1:].max(axis=1) - log_probs[:, 0], 1 - MARKS)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--words", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--nj", type=int, default=2)
    options.add_argument("--exp", type=Path)
    options.add_argument("--ids", choices=("recordings", "utterances"), default="recordings")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        exp = args.exp or make_model(place)
        alone, factor = decoding(exp)
        command = ["bash", SCRIPT, "--nj", str(args.nj), *([] if args.exp else ["--scale", f"O={factor:.6f}"])]
        for name, count in (("data", args.words), ("little", 100 * args.nj)):
            make_data(place / name, count, args.ids == "utterances", min(RECORDING, count // args.nj))
        rows = {"data": [], "little": []}
        for _ in range(args.runs):
            for name, measured in rows.items():
                shutil.rmtree(place / "out", ignore_errors=True)
                usage = measure([*command, place / name, place / name / "ctm", exp, place / "out"], place / name)
                measured.append((usage.seconds, usage.cpu, usage.memory, gflops(1)))
                if name == "data":
                    cues = sum(file.read_text().count(" --> ") for file in (place / "out/srt").iterdir())
    (seconds, busy, peak, rate), (start, first, *_) = (map(statistics.median, zip(*runs)) for runs in rows.values())
    work = (busy - first) / args.words
    print(f"{args.words:,} words, {cues:,} cues, --nj {args.nj}; matrix product, 1 thread: {rate:.0f} GFLOP/s")
    for what, value in (("whole, with start-up", f"{args.words / seconds:10,.0f} words/s, {seconds:.1f} s"),
                        ("start-up (a few words)", f"{start:10.1f} s, {first:.1f} s of processor time"),
                        ("all processors", f"{1e6 * busy / args.words:10.2f} µs a word, with start-up"),
                        ("of that, the model", f"{1e6 * alone:10.2f} µs a word"),
                        ("of that, start-up", f"{1e6 * first / args.words:10.2f} µs a word"),
                        ("of that, reading and writing", f"{1e6 * (work - alone):10.2f} µs a word"),
                        ("memory", f"{peak >> 20:10,} MiB at most")):
        print(f"{what:<30}{value}")


if __name__ == "__main__":
    main()
