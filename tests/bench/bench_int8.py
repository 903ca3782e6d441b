"""What int8 costs and saves: a trained encoder in ONNX Runtime, in float32 and in int8, on the same texts.

    python tests/bench/bench_int8.py MODEL DATA-DIR … [--runs N]

The pieces of a set are cut into windows of the model's size that overlap by half; each slot has its label from the
middle of a window. F1 is that of all marks. Seconds are those of one processor; the ways take turns; medians.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.decoding.export import FILE, export
from punc.models.base import load
from punc.tokens.tokenizer import encode_streams
from punc.tokens.vocabulary import END

BATCH = 32


def windows(ids: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (R, size) of pieces, and the place of each in the text, -1 where another row decides it."""
    step, rows, places = size // 2, [], []
    for start in range(0, max(1, len(ids) - size + step), step):
        row, place = np.full(size, END, np.int64), np.full(size, -1)
        part = ids[start:start + size]
        row[:len(part)] = part
        first = step // 2 if start else 0
        last = len(part) if start + size >= len(ids) else step + step // 2
        place[first:last] = np.arange(start + first, start + last)
        rows.append(row)
        places.append(place)
    return np.stack(rows), np.stack(places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    model, labels = load(args.model), LabelSet.read(args.model / "labels.txt")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    sessions = {}
    with tempfile.TemporaryDirectory() as place:
        for name in ("float32", "int8"):
            export(args.model, Path(place) / name, int8=name == "int8")
            sessions[name] = onnxruntime.InferenceSession(str(Path(place) / name / FILE), options)
    for path in args.sets:
        words = [word for utterance in DataDir(path).utterances() for word in utterance.words]
        truth = np.array([labels.index(name) for u in DataDir(path).utterances() for name in u.labels])
        (ids, slots, _), _ = encode_streams(model.tokenizer, words, [0, len(words)])
        rows, places = windows(ids, model.size)
        chosen = {name: np.zeros(len(ids), np.int64) for name in sessions}
        taken: dict[str, list[float]] = {name: [] for name in sessions}
        for _ in range(args.runs):
            for name, session in sessions.items():
                begin = time.process_time()
                found = [session.run(["labels"], {"tokens": rows[low:low + BATCH]})[0]
                         for low in range(0, len(rows), BATCH)]
                taken[name].append(time.process_time() - begin)
                decided = np.concatenate(found)
                chosen[name][places[places >= 0]] = decided[places >= 0]
        medians = {name: statistics.median(values) for name, values in taken.items()}
        for name, numbers in chosen.items():
            found = numbers[slots]
            right = int(((found == truth) & (truth > 0)).sum())
            f1 = 2 * right / (int((found > 0).sum()) + int((truth > 0).sum()))
            print(f"{path.name:>12} {name:>8}: F1 {100 * f1:.2f}, {len(words) / medians[name]:,.0f} words/s, "
                  f"{medians['float32'] / medians[name]:.2f} times float32, "
                  f"{(chosen['float32'] != numbers)[slots].mean():.2%} other labels")


if __name__ == "__main__":
    main()
