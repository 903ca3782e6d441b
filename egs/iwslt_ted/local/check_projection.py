#!/usr/bin/env python3
"""usage: local/check_projection.py CORPUS-DIR LABELS-FILE

Compares two sets of labels for the ASR output of test2011: those from `punc project` and those published.

The published test2011asr was not made by projection alone: a person wrote its commas and question marks into the ASR
source (…SLT…comma.xml), and its periods are where the segments of this source end. So three of the printed figures
matter. The agreement on all labels and the agreement without commas measure the projection. The third figure shows
where the differences come from: it counts the differing slots whose published label is the label in the ASR source.
Such a label does not come from an alignment.

The rules of `punc.timing.align` agree best with the published labels: 137 of 12,822 slots differ. If the unpaired words
in a stretch of errors are always its last words, 217 slots differ; if they are always its first words, 141. If words
that are inserted between two matched words come before the mark, not after it, 189 slots differ.
"""

import tempfile
from pathlib import Path

import numpy as np

from punc.bin._subcommands import run
from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.timing.align import align_words, project_labels

ASR_SOURCE = "IWSLT12.TED.SLT.tst2011.en-fr.en.system0.comma.xml"
CLITICS = ("n't", "'s", "'m", "'re", "'ve", "'ll", "'d")  # the published files separate these endings from the word


def read(path: Path, labels: LabelSet) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return all words of a data directory, their label numbers, and an array that is 1 at the last word of each
    utterance and 0 at all others."""
    utterances = list(DataDir(path).utterances())
    words = [word for u in utterances for word in u.words]
    numbers = np.array([labels.index(name) for u in utterances for name in u.labels])
    ends = np.zeros(len(words), int)
    ends[np.cumsum([len(u.words) for u in utterances]) - 1] = 1
    return words, numbers, ends


def main(corpus: Path, labels_file: str) -> None:
    labels = LabelSet.read(labels_file)
    comma, period = labels.index("COMMA"), labels.index("PERIOD")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "clitics").write_text("\n".join(CLITICS) + "\n")
        for part in ("test2011", "test2011asr"):
            run("prepare", ["--format=lrec", f"--labels={labels_file}", f"{corpus / part}", f"{work / part}"])
        run("prepare", ["--format=mteval", f"--labels={labels_file}", f"--clitics={work / 'clitics'}",
                        f"{corpus / ASR_SOURCE}", f"{work / 'source'}"])
        run("project", [f"--labels={labels_file}", *(f"{work / part}" for part in ("test2011", "test2011asr", "out"))])
        words, published, _ = read(work / "test2011asr", labels)
        _, projected, _ = read(work / "out", labels)
        source_words, source, segment_ends = read(work / "source", labels)

    differ = projected != published
    print(f"all labels          {100 * np.mean(~differ):.2f} % of {len(words)} slots agree, {differ.sum()} differ")
    bare = np.where(projected == comma, 0, projected) != np.where(published == comma, 0, published)
    print(f"commas left out     {100 * np.mean(~bare):.2f} % agree, {bare.sum()} differ")
    confusion = np.zeros((len(labels), len(labels)), int)
    np.add.at(confusion, (published, projected), 1)
    print("\npublished \\ projected" + "".join(f"{name:>10}" for name in labels.names))
    for name, row in zip(labels.names, confusion):
        print(f"{name:<21}" + "".join(f"{n:>10}" for n in row))

    # The labels of the ASR source, with a period after each segment that ends without a mark or with a comma.
    by_hand = project_labels(align_words(source_words, words), np.maximum(source, segment_ends * period))
    print(f"\nASR source's marks and segment ends = published: {100 * np.mean(by_hand == published):.2f} %")
    for what, slots in (("differing slots", differ), ("of them with a comma", differ & ~bare),
                        ("of them without", bare)):
        print(f"{what:<21}{slots.sum():>5}, {(slots & (by_hand == published)).sum()} published as in the ASR source")
    rest = differ & (by_hand != published)
    print(f"left unexplained     {rest.sum():>5}, {100 * np.mean(rest):.2f} % of all slots")


if __name__ == "__main__":
    run_script(main, __doc__)
