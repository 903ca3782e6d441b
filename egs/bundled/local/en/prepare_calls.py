"""usage: prepare_calls.py CORPUS LABELS MARKS OUT

Writes Earnings-22 and Earnings-21 with capitals as data directories in OUT. By the rules of utils/calls, the words are
converted to spoken form and the calls are divided into sets:

calls, dev_calls                training and dev calls of Earnings-22, with pauses
calls_clean, dev_calls_clean    these calls without fillers, which engines leave out
calls_text                      all calls of Earnings-22 except dev, with fillers, without pauses
earnings_ref                    the references of Earnings-21; pauses are added later
kaldi_words, kaldi_ctm          the output of Rev's Kaldi system: its words, and CTMs with their times
ENGINE, ENGINE_words            each engine's output with pauses: with its own marks, and without marks

Earnings-22 is the training data and is read with the label set LABELS. Earnings-21 is the test data and is read with
the label set MARKS of egs/earnings, so that the figures of the two recipes can be compared.
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
    """Write calls as a data directory of spoken words with labels of the set `labels`, and print its size. Do nothing
    if the directory exists. Marks are read with the label set `marks` (default: `labels`); capitals are added to the
    labels.
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
