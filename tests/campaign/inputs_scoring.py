"""Kinds of inputs: texts for `punc score-text`, and experiments for `punc report`."""

import random
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from inputs_data import TABLES, make_data
from inputs_models import make_packed
from inputs_text import prose
from kind import LABELS, Kind, Read, words

from punc.bin._subcommands import run
from punc.data.labels import LabelSet
from punc.results import page, set_view
from punc.scoring.metrics import compute_flat
from punc.scoring.report import score_table, systems_json
from punc.scoring.significance import intervals
from punc.scoring.texts import ENGLISH, count_sides, read_side, text_reader

OUTPUT = ("text", "punct", "utt2spk", "spk2utt", "post.ark", "post.scp", "score/metrics.tsv", "score/counts.tsv",
          "score/labels.txt", "score/signature")
REPORTED = ("exp/RESULTS.tsv", *(f"data/test/{name}" for name in TABLES[:6]),
            *(f"exp/{system}/decode_test/{name}" for system in "ab" for name in OUTPUT),
            *(f"exp/{system}/{name}" for system in "ab" for name in ("labels.txt", "log/train.log",
                                                                     "log/score_test.log")))
LOG = "".join(f"epoch {i}: rate 0.1, loss {1 / i:.4f}, dev loss {1.5 / i:.4f}, dev F1 5{i}.10, 1,234 words/s, 10 s\n"
              for i in range(1, 5))


def kinds() -> Iterator[Kind]:
    for name, characters in (("words", False), ("characters", True)):
        yield Kind(f"score-text {name}", make_texts, partial(read_texts, characters), ("hyp",), visible, share=4)
    yield Kind("report", make_report, read_report, REPORTED, share=2)


def visible(data: bytes) -> bytes:
    return data.removeprefix(b"\xef\xbb\xbf")


def make_texts(folder: Path, rng: random.Random) -> None:
    (folder / "hyp").write_text(prose(rng), encoding="utf-8")
    if rng.randrange(8):
        (folder / "ref").write_text(" ".join(words(rng, 9)) + ".\n", encoding="utf-8")
    else:
        make_data(folder / "ref", rng)


def read_texts(characters: bool, folder: Path, rng: random.Random) -> Read:
    (folder.parent / "labels.txt").write_text(LABELS)
    labels = rng.choice((ENGLISH, LabelSet.read(folder.parent / "labels.txt")))
    reader = text_reader(labels, characters)
    hyp = read_side(folder / "hyp", labels, reader)
    ref = read_side(folder / "ref", labels, reader)
    counts = count_sides(ref.as_whole, hyp.as_whole, labels, rng.choice((100, 3)))
    with np.errstate(all="ignore"):
        measured = intervals(counts.flat, partial(compute_flat, labels=labels, collapses=[]), 5, 1)
    score_table(measured), systems_json({"x": measured}, {"x": hyp.checksum}, {})
    shown = [word for stream in hyp.streams for word in (stream.cased or stream.plain)]
    return Read(" ".join(shown).encode())  # with `characters`, too, a word in Latin letters is not split


def make_report(folder: Path, rng: random.Random) -> None:
    """Make an experiment with two systems. All inputs get copies of the same experiment."""
    made = folder.parent / "made_report"
    if not made.is_dir():
        build(made, folder.parent)
    shutil.copytree(made, folder, dirs_exist_ok=True)


def build(made: Path, place: Path) -> None:
    numbers = random.Random(1)
    make_packed("delay", place / "report_model", numbers)
    labels = f"--labels={place / 'report_model' / 'labels.txt'}"
    made.mkdir()
    (made / "in").write_text("".join(f"#doc {i}\n{' '.join(f'{w} <sil=0.5>' for w in words(numbers, 20))} .PERIOD\n"
                                     for i in range(4)))
    run("prepare", [labels, "--format=sil", "--document-prefix=#doc", "--nj=1", str(made / "in"),
                    str(made / "data/test")])
    for system in "ab":
        out = made / "exp" / system / "decode_test"
        run("punctuate", ["--nj=1", "--posteriors=true", *(["--scale=O=0.5"] if system == "b" else []),
                          str(place / "report_model"), str(made / "data/test"), str(out)])
        run("score", [labels, str(made / "data/test"), str(out), str(out / "score")])
        shutil.copy(place / "report_model" / "labels.txt", made / "exp" / system)
        (made / "exp" / system / "log").mkdir(exist_ok=True)
        (made / "exp" / system / "log/train.log").write_text(LOG)
        (made / "exp" / system / "log/score_test.log").write_text(
            f"# punc score --labels x data/test exp/{system}/decode_test exp/{system}/decode_test/score\n")
    run("results", [str(made / "exp")])


def read_report(folder: Path, rng: random.Random) -> None:
    """Make the report's page. Plots take half a second, so most pages are made without them."""
    recordings, data = rng.choice(((), ("0",))), rng.choice((None, folder / "data"))
    with np.errstate(all="ignore"), ExitStack() as stack:
        for module in (page, set_view) if rng.randrange(50) else ():
            stack.enter_context(mock.patch.object(module, "draw", return_value=""))
        page.render(folder / "exp", "Report", data, recordings).encode()
