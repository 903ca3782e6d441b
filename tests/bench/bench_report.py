"""Measures the time and memory of `punc report`.

    python tests/bench/bench_report.py [--words N] [--systems S]

The experiment is synthetic. Its two sets, a reference and ASR output, contain 20 recordings each, and N words together
(default 270,000). Its S systems (default 8) have random labels and posteriors, and are scored with confidence
intervals.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import kaldiio
import numpy as np
from processes import PUNC, measure

from punc.data.datadir import DataDir, Utterance, write_data_dir

NAMES = ("O", "COMMA", "PERIOD", "QUESTION")
LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
RECORDINGS, UTTERANCES = 20, 100


def make(place: Path, words: int, systems: int) -> Path:
    rng = np.random.default_rng(1)
    size = words // (2 * RECORDINGS * UTTERANCES)
    exp = place / "exp"
    for name in ("test_ref", "test_asr"):
        data = [Utterance(f"rec{r:02}-{u:04}", f"rec{r:02}", [f"w{n}" for n in rng.zipf(1.3, size) % 30000],
                          rng.choice(NAMES, size, p=[0.85, 0.07, 0.07, 0.01]).tolist(),
                          rng.choice(np.array([0, 0.05, 0.4, 2, np.nan], np.float32), size))
                for r in range(RECORDINGS) for u in range(UTTERANCES)]
        write_data_dir(place / "data" / name, data)
        for number in range(systems):
            out = exp / f"system{number}"
            out.mkdir(parents=True, exist_ok=True)
            (out / "labels.txt").write_text(LABELS)
            posts = {one.id: rng.dirichlet(np.ones(len(NAMES)), size).astype(np.float32) for one in data}
            for one in data:
                chosen = [NAMES.index(label) for label in one.labels]
                posts[one.id][np.arange(size), chosen] += rng.random(size) * 2
            write_data_dir(out / f"decode_{name}", [one._replace(labels=[NAMES[i] for i in posts[one.id].argmax(1)])
                                                    for one in data])
            kaldiio.save_ark(str(out / f"decode_{name}/post.ark"),
                             {one.id: posts[one.id] / posts[one.id].sum(1, keepdims=True)
                              for one in DataDir(out / f"decode_{name}").utterances()})
            subprocess.run([*PUNC, "score", "--labels", str(out / "labels.txt"), str(place / "data" / name),
                            str(out / f"decode_{name}"), str(out / f"decode_{name}/score")], check=True,
                           stdout=subprocess.DEVNULL)
    return exp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=270_000)
    parser.add_argument("--systems", type=int, default=8)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        exp, page = make(place, args.words, args.systems), place / "report.html"
        usage = measure([*PUNC, "report", "--data", place / "data", exp, page], place)
        print(f"{usage.seconds:.1f} s, {usage.cpu:.1f} s of processor time, {usage.memory >> 20} MiB, "
              f"page {page.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
