"""Converts recognised calls, given as CTMs, to spoken form, and writes them as data directories and CTMs."""

import sys
from collections.abc import Iterator
from pathlib import Path

from nlp import listed, utterances
from spoken import words_of

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.data.datadir import write_data_dir
from punc.timing.pauses import TimedWord
from punc.transcripts.ctm import CtmIndex


def common(references: dict[str, Path], ctms: dict[str, dict[str, Path]]) -> list[str]:
    """Return the calls that have a reference and the output of all systems. Raises InputError if there are none."""
    calls = [call for call in references if all(call in files for files in ctms.values())]
    for system, files in ctms.items():
        missing, extra = [c for c in references if c not in files], [c for c in files if c not in references]
        if missing:
            print(f"{system}: no CTM of {len(missing)} calls, left out of the test: {listed(missing)}", file=sys.stderr)
        if extra:
            print(f"{system}: no reference of {len(extra)} calls, left out: {listed(extra)}", file=sys.stderr)
    if not calls:
        raise InputError("no call has a reference and all CTMs", "give the references and CTMs the same names",
                         next(iter(references.values())).parent)
    return calls


def write_words(out: Path, name: str, files: dict[str, Path]) -> None:
    """Write ASR output in spoken form: a data directory OUT/NAME_words, and a directory OUT/NAME_ctm with a CTM for
    each call."""
    def lines():
        with atomic_dir(out / f"{name}_ctm", f"{max(files)}.ctm", ["*.ctm"]) as tmp:
            for call, path in files.items():
                words = []
                with open(tmp / f"{call}.ctm", "w", encoding="utf-8") as ctm:
                    for word, said in timed_words(path):
                        share = word.duration / max(len(said), 1)
                        words += said
                        # Dropped words remain in the CTM, because their time is not silence.
                        for i, part in enumerate(said or (word.word,)):
                            ctm.write(f"{call} 1 {word.begin + i * share:.3f} {share:.3f} {part}\n")
                yield from utterances(call, words)

    write_data_dir(out / f"{name}_words", lines())


def timed_words(path: Path) -> Iterator[tuple[TimedWord, tuple[str, ...]]]:
    """Yield a CTM's words in time order, each with its spoken words. Raises InputError if the CTM is invalid."""
    index = CtmIndex(path)
    for id in index:
        for word in index[id]().words:
            yield word, words_of(word.word)[0]
