"""Kinds of inputs: word times in CTMs, TextGrids and Gentle's JSON; CTMs with data directories; decode directories."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from inputs_text import ctm, fifth_column
from inputs_transcripts import MAKERS, timed
from kind import Kind, Read, named, word, words

from punc.bin.find_ctm import find_ctm
from punc.data.datadir import Utterance
from punc.decoding.kaldi_groups import ctm_groups
from punc.timing.pauses import Channels, stream_pauses
from punc.transcripts.ctm import CtmIndex
from punc.transcripts.read import word_times
from punc.transcripts.transcript import words_of, write

SECONDS = r"(\d+(?:\.\d+)?) *\n"
WHOLE = re.compile(rf'^ *(?:xmin = )?{SECONDS} *(?:xmax = )?{SECONDS} *(?:text = )?"([^"\s]*)" *$',
                   re.MULTILINE | re.ASCII)


def kinds() -> Iterator[Kind]:
    yield Kind("times ctm", make_ctm, read_times, ("ctm",), fifth_column)
    yield Kind("times TextGrid", make_textgrid, read_times, ("a.TextGrid",), textgrid_words)
    yield Kind("times Gentle", make_gentle, read_times, ("a.json",), gentle_words)
    yield Kind("transcript", make_transcript, read_transcript,
               ("ctm", "data/utt2spk", "data/segments", "data/reco2file_and_channel"), fifth_column)
    yield Kind("decode dir", make_decode, read_decode, ("decode/scoring_kaldi/best_wer",))


def make_ctm(folder: Path, rng: random.Random) -> None:
    (folder / "ctm").write_text(ctm(rng))


def make_textgrid(folder: Path, rng: random.Random) -> None:
    content = MAKERS["TextGrid"](timed(rng))
    (folder / "a.TextGrid").write_text(content, encoding=rng.choice(("utf-8", "utf-16")))


def textgrid_words(data: bytes) -> bytes:
    """Return the texts of the complete intervals in a TextGrid's word tier."""
    whole = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "ignore")
    text = whole.rpartition('"words"')[2].partition('"phones"')[0]
    return " ".join(found[3] for found in WHOLE.finditer(text) if float(found[1]) < float(found[2])).encode()


def make_gentle(folder: Path, rng: random.Random) -> None:
    made, time = [], 0.0
    for one in words(rng, rng.randrange(1, 10)):
        heard = not made or rng.randrange(4) > 0
        times = {"case": "success", "start": time, "end": time + 0.25} if heard else {"case": "not-found"}
        made.append({"word": one, "alignedWord": one, "phones": [{"duration": 0.1, "phone": "a_B"}], **times})
        time += 0.25 + rng.random()
    content = {"transcript": "x", "words": made}
    (folder / "a.json").write_text(json.dumps(content, indent=rng.choice((None, 1))))


def gentle_words(data: bytes) -> bytes:
    try:
        found = [word["word"] for word in json.loads(data)["words"]
                 if "start" in word and all(0 <= word[time] < 1e6 for time in ("start", "end"))]
        return " ".join(found).encode("utf-8", "replace")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return b""


def read_times(folder: Path, rng: random.Random) -> Read:
    repairs: Counter[str] = Counter()
    sources = word_times(next(folder.iterdir()), repairs=repairs)
    found = []
    for id in sources:
        timing = sources[id]()
        found += [row.word for row in timing.words]
        text = [row.word for row in timing.words] + ["more"]
        pauses = stream_pauses([Utterance("u", id, text)], sources, Channels(), Counter())
        if any(map(len, pauses)) and (np.isinf(pauses[0]).any() or (pauses[0] < 0).any()):
            raise AssertionError("a pause that is none")
    return Read(" ".join([*found, *sources]).encode(), named(repairs))


def make_transcript(folder: Path, rng: random.Random) -> None:
    data, kind = folder / "data", rng.randrange(3)
    data.mkdir()
    utts = [(f"spk{i}-{j}", f"spk{i}", f"rec{i}", j * 20.0, j * 20 + 19.5) for i in range(3) for j in range(2)]
    (data / "utt2spk").write_text("".join(f"{utt} {spk}\n" for utt, spk, *_ in utts))
    (data / "text").write_text("".join(f"{utt} x\n" for utt, *_ in utts))
    if kind:
        (data / "segments").write_text("".join(f"{utt} {rec} {a} {b}\n" for utt, _, rec, a, b in utts))
        (data / "reco2file_and_channel").write_text("".join(f"rec{i} file{i} A\n" for i in range(3)))
    ids = [f"file{i} A" for i in range(3)] if kind == 1 else [f"{utt} 1" for utt, *_ in utts]
    lines = []
    for id in ids:
        for i, text in enumerate(words(rng, 5)):
            lines.append(f"{id} {i * 0.5} 0.4 {text}\n")
    (folder / "ctm").write_text("".join(lines))


def read_transcript(folder: Path, rng: random.Random) -> Read:
    found: list[str] = []
    index = CtmIndex(folder / "ctm")
    for group in ctm_groups(folder / "data", index):
        words = words_of(group.transcript.texts)
        found += words.texts
        lines = write(group.transcript, words, [f"{word}." for word in words.texts])
        if lines.replace(".", "") != group.transcript.document.content().replace(".", ""):
            raise AssertionError("other lines with new marks")
    return Read(" ".join(found).encode(), named(index.repairs))


def make_decode(folder: Path, rng: random.Random) -> None:
    for name in ("score_9_0.0", "score_10_0.5"):
        (folder / "decode" / name).mkdir(parents=True)
        (folder / "decode" / name / "test.ctm").write_text(f"a 1 0 1 {word(rng)}\n")
    (folder / "decode/scoring_kaldi").mkdir()
    (folder / "decode/scoring_kaldi/best_wer").write_text("%WER 12.34 [ 1 / 8, 0 ins ] exp/decode/wer_10_0.5\n")


def read_decode(folder: Path, rng: random.Random) -> None:
    find_ctm(folder / "decode", "test")
