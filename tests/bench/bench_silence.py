"""Measures how much accuracy is lost if labels are decided early at pauses (`punc punctuate --max-delay`).

    python tests/bench/bench_silence.py [--model MODEL] [--delays "none 1 0.5 0.3"] EARNINGS21 [CALL …]

EARNINGS21 is the folder of that name in github.com/revdotcom/speech-datasets. The input is the ASR output of Rev's
Kaldi system (output/rev/kaldi/ctm), and the reference is the human transcript (transcripts/nlp_references). Figures are
means over the calls, in percent. Each mark of the reference is moved from its word to the aligned word of the ASR
output.
"""

import argparse
import csv
import subprocess
from pathlib import Path

from processes import PUNC

import punc

METRICS = ("overall.F1", "PERIOD.P", "PERIOD.R", "COMMA.F1", "Err")


def reference(path: Path) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE))[1:]
    return " ".join(row[0] + (row[4] if row[4] in (",", ".", "?") else "") for row in rows)


def hypothesis(ctm: Path, delay: str, model: str) -> str:
    options = [] if delay == "none" else [f"--max-delay={delay}"]
    with open(ctm, "rb") as file:
        result = subprocess.run([*PUNC, "punctuate", *options, model, "-"], stdin=file, stdout=subprocess.PIPE,
                                check=True)
    return result.stdout.decode()


def main() -> None:
    options = argparse.ArgumentParser(description="Accuracy that is lost by deciding words early, at pauses.")
    options.add_argument("--model", default="en-live")
    options.add_argument("--delays", default="none 1 0.5 0.3")
    options.add_argument("earnings21", type=Path)
    options.add_argument("calls", nargs="*", default=["4366302", "4375653", "4397800"])
    args = options.parse_args()
    print(f"{'--max-delay':<12}" + "".join(f"{name:>12}" for name in METRICS))
    texts = {call: reference(args.earnings21 / f"transcripts/nlp_references/{call}.nlp") for call in args.calls}
    for delay in args.delays.split():
        scores = [punc.score(text, hypothesis(args.earnings21 / f"output/rev/kaldi/ctm/{call}.ctm", delay, args.model))
                  for call, text in texts.items()]
        means = [sum(score[name] for score in scores) / len(scores) for name in METRICS]
        print(f"{delay:<12}" + "".join(f"{mean:12.1f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
