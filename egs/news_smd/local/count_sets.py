#!/usr/bin/env python3
"""usage: local/count_sets.py DATA-DIR …

Prints a table with a row for each data directory: how many texts, words, characters (with spaces), commas, periods and
question marks it has, and the percentage of its texts that end with a question mark.
"""

from collections import Counter
from pathlib import Path

from punc.bin.script import run_script
from punc.data.datadir import DataDir

LABELS = ("COMMA", "PERIOD", "QUESTION")


def row(path: str) -> str:
    counts, labels = Counter(), Counter()
    for utterance in DataDir(path).utterances():
        counts["texts"] += 1
        counts["words"] += len(utterance.words)
        counts["characters"] += sum(map(len, utterance.words)) + len(utterance.words) - 1
        counts["questions"] += utterance.labels[-1] == "QUESTION"
        labels.update(utterance.labels)
    numbers = [counts["texts"], counts["words"], counts["characters"], *map(labels.__getitem__, LABELS)]
    share = 100 * counts["questions"] / counts["texts"]
    return f"| `{Path(path).name}` | {' | '.join(f'{number:,}' for number in numbers)} | {share:.1f} |"


def main(*paths: str) -> None:
    print(f"| set | texts | words | characters | {' | '.join(LABELS)} | questions, % of texts |")
    print("|---" + "|---:" * (4 + len(LABELS)) + "|")
    for path in paths:
        print(row(path))


if __name__ == "__main__":
    run_script(main, __doc__)
