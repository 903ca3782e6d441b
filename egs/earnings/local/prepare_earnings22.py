"""usage: prepare_earnings22.py DIR LABELS OUT

Writes the force-aligned transcripts of Earnings-22 (DIR/transcripts/force_aligned_nlp_references) as

OUT/train_pauses, OUT/dev               data directories with pauses
OUT/train_pauses_clean, OUT/dev_clean   the same calls without fillers, which engines leave out
OUT/earnings22.txt                      the text of the remaining calls

If fewer than half of a call's tokens have times, the call is used only as text. The other calls are sorted by name, and
every tenth is dev. Only the second stage is trained on the calls with pauses. The first stage's features and posteriors
are better on its own training text than on test calls, so a second stage trained on that text would trust them too
much.
"""

import sys
from collections import Counter
from pathlib import Path

from nlp import (
    DEV_EVERY,
    MAX_PAUSE,
    MIN_ALIGNED,
    call_files,
    division,
    listed,
    marks,
    read_nlp,
    to_call,
    utterances,
    without_fillers,
)
from spoken import spoken

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.bin.script import run_script
from punc.data.datadir import write_data_dir
from punc.data.labels import LabelSet


def prepare(directory: Path, labels: LabelSet, out: Path) -> None:
    """Write the sets. Print which calls are used only as text. Raises InputError if so few calls are aligned that there
    is no dev set."""
    calls = {call: read_nlp(path) for call, path in
             call_files(directory / "transcripts" / "force_aligned_nlp_references", ".aligned.nlp").items()}
    train, dev = division(calls)
    unaligned = [call for call in calls if call not in train and call not in dev]
    print(f"earnings22: {len(calls)} calls, {len(unaligned)} less than {MIN_ALIGNED:.0%} aligned, text only: "
          f"{listed(unaligned)}", file=sys.stderr)
    if not dev:
        raise InputError(f"only {len(train)} calls are aligned, too few for a dev set",
                         f"give {DEV_EVERY} or more", directory)
    for name, part in (("train_pauses", train), ("dev", dev)):
        chosen = {call: tokens for call, tokens in calls.items() if call in part}
        write_set(out / name, chosen, labels)
        write_set(out / f"{name}_clean", {call: without_fillers(tokens) for call, tokens in chosen.items()}, labels)
    write_text(out / "earnings22.txt", {call: calls[call] for call in unaligned})


def write_set(path: Path, calls: dict, labels: LabelSet) -> None:
    """Write a data directory with pauses. Print its size, and the names of calls with implausible pauses or times."""
    total = Counter()

    def lines():
        for call, tokens in calls.items():
            counts = Counter()
            done = to_call(tokens, labels, counts)
            if counts["long"] or counts["back"]:
                print(f"{path.name}: {call}: {counts['long']} pauses over {MAX_PAUSE:g} s and {counts['back']} times "
                      "that jump back: those pauses are unknown", file=sys.stderr)
            total.update(counts)
            yield from utterances(call, done.words, done.labels, done.pauses)

    write_data_dir(path, lines())
    print(f"{path.name}: {len(calls)} calls, {total['words']} words, {total['known']} pauses known, "
          f"{total['dropped']} of {total['tokens']} tokens dropped", file=sys.stderr)


def write_text(path: Path, calls: dict) -> None:
    """Write the text of calls: for each call, a line with its name and a line with its words and marks."""
    with atomic_file(path) as file:
        for call, tokens in calls.items():
            file.write(f"#doc {call}\n{prose(tokens)}\n")


def prose(tokens: list) -> str:
    said = spoken([token.token for token in tokens])
    return " ".join(" ".join(words) + marks(token) for token, words in zip(tokens, said))


def main(directory: Path, labels: Path, out: Path) -> None:
    prepare(directory, LabelSet.read(labels), out)


if __name__ == "__main__":
    run_script(main, __doc__)
