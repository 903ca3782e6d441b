#!/usr/bin/env python3
"""usage: utils/join_clitics.py FILE >OUT

Joins each clitic in an IWSLT 2011 file (`word<TAB>LABEL` lines) to the previous word, because ASR systems and training
texts have `it's` where the file has `it` and `'s`. The joined word gets the label of the clitic. A clitic after a mark
is not joined, so the number of marks does not change; the script checks this.
"""

import sys
from collections import Counter
from pathlib import Path

from punc.base.files import open_input
from punc.bin.script import run_script

CLITICS = frozenset(("n't", "'s", "'m", "'re", "'ve", "'ll", "'d"))
EMPTY = "O"


def join(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join each clitic to the previous word, if that word has no mark. Return the new words and labels."""
    joined: list[tuple[str, str]] = []
    for word, label in rows:
        if word in CLITICS and joined and joined[-1][1] == EMPTY:
            word = joined.pop()[0] + word
        joined.append((word, label))
    return joined


def main(path: Path) -> None:
    with open_input(path) as file:
        lines = file.read().decode("utf-8", "ignore").splitlines()
    rows = [(word.strip(), label.strip()) for word, _, label in (line.rpartition("\t") for line in lines) if label]
    joined = join(rows)
    before, after = (Counter(label for _, label in part if label != EMPTY) for part in (rows, joined))
    assert before == after, f"{path}: {after} marks, there were {before}"
    sys.stdout.writelines(f"{word}\t{label}\n" for word, label in joined)
    print(f"{path.name}: {len(rows)} words, {len(joined)} joined, {dict(sorted(after.items()))}", file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
