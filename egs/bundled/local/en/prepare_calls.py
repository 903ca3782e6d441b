"""usage: prepare_calls.py CORPUS LABELS MARKS OUT

Writes Earnings-22 and Earnings-21 with capitals as data directories in OUT. The rules of utils/calls convert the words
to spoken form and divide Earnings-22 into training and dev calls. OUT contains these directories:

calls, dev_calls                training and dev calls of Earnings-22, with pauses
calls_clean, dev_calls_clean    the same calls without fillers, which engines leave out
calls_text                      all calls of Earnings-22 except the dev calls, with fillers, without pauses
earnings_ref                    the reference transcripts of Earnings-21; pauses are added later
kaldi_words, kaldi_ctm          the output of Rev's Kaldi system for Earnings-21: its words, and CTMs with their times
ENGINE                          the output of each commercial engine for Earnings-21, with its own marks and with pauses
ENGINE_words                    the same output without marks

Earnings-22 is the training and dev data. Its marks are read with the label set LABELS. Earnings-21 is the test data.
Its marks are read with MARKS, the label set of egs/earnings, so that the figures can be compared with that recipe's.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from asr_words import common, write_words
from case import capitals, cased
from nlp import Token, call_files, division, percents, read_nlp, to_call, utterances, without_fillers
from spoken import spoken

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet

ENGINES = ("amazon", "google", "microsoft", "speechmatics")


def earnings22(directory: Path, labels: LabelSet, out: Path) -> None:
    files = call_files(directory / "transcripts" / "force_aligned_nlp_references", ".aligned.nlp")
    calls = {call: read_nlp(path) for call, path in files.items()}
    train, dev = division(calls)
    for name, chosen in (("calls", train), ("dev_calls", dev)):
        write(out / name, {call: calls[call] for call in chosen}, labels)
        write(out / f"{name}_clean", {call: without_fillers(calls[call]) for call in chosen}, labels)
    write(out / "calls_text", {call: tokens for call, tokens in calls.items() if call not in dev}, labels, False)


def earnings21(directory: Path, labels: LabelSet, marks: LabelSet, out: Path) -> None:
    references = call_files(directory / "transcripts" / "nlp_references")
    kaldi = call_files(directory / "output" / "rev" / "kaldi" / "ctm", ".ctm")
    calls = common(references, {"rev/kaldi": kaldi})
    write(out / "earnings_ref", {call: read_nlp(references[call]) for call in calls}, labels, False, marks)
    write_words(out, "kaldi", {call: kaldi[call] for call in calls})
    for engine in ENGINES:
        files = call_files(directory / "output" / engine)
        if missing := [call for call in calls if call not in files]:
            raise InputError(f"no transcript of {' '.join(missing)}", "get the engine's complete output",
                             directory / "output" / engine)
        write(out / engine, {call: percents(read_nlp(files[call])) for call in calls}, labels, marks=marks)
        bare = (utterance._replace(labels=None) for utterance in DataDir(out / engine).utterances())
        write_data_dir(out / f"{engine}_words", bare)


def write(path: Path, calls: dict[str, list[Token]], labels: LabelSet, pauses: bool = True,
          marks: LabelSet | None = None) -> None:
    """Write calls as a data directory of spoken words with labels, and print its size. Do nothing if the directory has
    been written before.

    The marks are read with the label set `marks`, or with `labels` if `marks` is None. Then each label is replaced by
    the label of `labels` that has the same mark and the word's case.
    """
    if (path / "punct").is_file():
        return
    total = 0

    def lines() -> Iterator[Utterance]:
        nonlocal total
        for call, tokens in calls.items():
            done = to_call(tokens, marks or labels)
            total += len(done.words)
            names = cased(done.labels, capital_flags(tokens), labels)
            yield from utterances(call, done.words, names, done.pauses if pauses else None)

    write_data_dir(path, lines())
    print(f"{path.name}: {len(calls)} calls, {total} words", file=sys.stderr)


def capital_flags(tokens: list[Token]) -> list[bool]:
    said = spoken([token.token for token in tokens])
    return [flag for token, words in zip(tokens, said) for flag in capitals(token.token, words)]


def main(corpus: Path, labels: Path, marks: Path, out: Path) -> None:
    label_set, mark_set = LabelSet.read(labels), LabelSet.read(marks)
    earnings22(corpus / "earnings" / "earnings22", label_set, out)
    earnings21(corpus / "earnings" / "earnings21", label_set, mark_set, out)


if __name__ == "__main__":
    run_script(main, __doc__)
