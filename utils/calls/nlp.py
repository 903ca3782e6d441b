"""Reads Rev's `.nlp` transcripts: a header, then one token per line with its mark and times, separated by `|`."""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from spoken import TITLES, spoken

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.datadir import Utterance
from punc.data.labels import LabelSet
from punc.timing.pauses import slot_pauses

UTT_WORDS = 50
MAX_PAUSE = 60.0  # s; longer pauses are music on hold or alignment errors, so they count as unknown
MAX_OVERLAP = 1.0  # s; if a word overlaps the previous word by more, the alignment is wrong, and the pause is unknown
FILLERS = frozenset(("um", "uh", "er", "ah", "hm", "hmm", "mm", "mhm", "mmm", "mm-hmm", "uh-huh"))
MIN_ALIGNED = 0.5  # minimum fraction of a call's tokens with a time; other calls are used only as text without pauses
DEV_EVERY = 10
ABBREVIATION = re.compile(r"'(\d+:ABBREVIATION)'")


class Token(NamedTuple):
    """A token as written, the marks after it, its begin and end in seconds (NaN: no time), and its line number."""

    token: str
    mark: str
    begin: float
    end: float
    line: int


class Call(NamedTuple):
    """A call in spoken form: its words, their labels, and the pauses after them in seconds (NaN: unknown)."""

    words: list[str]
    labels: list[str]
    pauses: np.ndarray


def read_nlp(path: str | os.PathLike) -> list[Token]:
    """Read the tokens of a transcript. The letters of an abbreviation are joined into one token, but U and S stay
    separate, because `us` is a word. (So USA becomes U and SA; Earnings-21 and Earnings-22 contain it twice.)

    Raises InputError if the header lacks a required column, if a line has more or fewer columns than the header, if a
    time is invalid, or if there is no token.
    """
    tokens, letters = [], ""
    with open_input(path) as file:
        plain = (line.replace(b"\r\n", b"\n") for line in file)
        lines = (decode_line(line, path, number).split("|") for number, line in enumerate(plain, 1))
        header = next(lines, [])
        missing = [name for name in ("token", "ts", "endTs", "punctuation") if name not in header]
        if missing:
            raise InputError(f"no column '{missing[0]}'", "give a .nlp file with its header line", path, 1)
        indices = [header.index(name) for name in ("token", "punctuation", "ts", "endTs")]
        tags = header.index("tags") if "tags" in header else None
        for line, row in enumerate(lines, 2):
            if row == [""]:
                continue
            if len(row) != len(header):
                raise InputError(f"{len(row)} columns, the first line has {len(header)}", "fix the line", path, line)
            token, mark, begin, end = (row[index] for index in indices)
            found = ABBREVIATION.search(row[tags]) if tags is not None and len(token) == 1 else None
            new = Token(token, mark, *_times(begin, end, path, line), line)
            if found and found[1] == letters and tokens[-1].token.lower() + token.lower() != "us":
                new = new._replace(token=tokens[-1].token + token, mark=tokens[-1].mark + mark, begin=tokens[-1].begin)
                tokens.pop()
            letters = found[1] if found else ""
            tokens.append(new)
    if not tokens:
        raise InputError("no token", "the transcript is empty; get it again", path)
    return tokens


def _times(begin: str, end: str, path: str | os.PathLike, line: int) -> tuple[float, float]:
    """Return begin and end in seconds, or NaN for both if either is empty. Raises InputError if they are not numbers,
    or if the end is before the begin."""
    try:
        times = (float(begin), float(end)) if begin and end else (math.nan, math.nan)
        if any(map(math.isinf, times)) or times[1] < times[0]:
            raise ValueError
    except ValueError:
        raise InputError(f"'{begin}' to '{end}' is not a time", "write begin and end in seconds, or nothing", path,
                         line) from None
    return times


def aligned(tokens: Sequence[Token]) -> float:
    """Return what fraction of the tokens have a time."""
    return sum(token.begin == token.begin for token in tokens) / len(tokens)


def division(calls: Mapping[str, Sequence[Token]]) -> tuple[list[str], list[str]]:
    """Divide the calls in which at least MIN_ALIGNED of the tokens have a time. Return the calls for training, and the
    calls for dev (every tenth)."""
    usable = [call for call, tokens in calls.items() if aligned(tokens) >= MIN_ALIGNED]
    dev = usable[DEV_EVERY - 1::DEV_EVERY]
    return [call for call in usable if call not in dev], dev


def percents(tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens of an ASR engine's output. A `%` in the column of marks becomes part of the token."""
    return [token._replace(token=token.token + "%" * ("%" in token.mark)) for token in tokens]


def without_fillers(tokens: Iterable[Token]) -> list[Token]:
    """Remove `FILLERS`. Their marks move to the previous token, and their time becomes part of the pause after it."""
    kept: list[Token] = []
    for token in tokens:
        if token.token.lower().rstrip("-") not in FILLERS:
            kept.append(token)
        elif kept:
            kept[-1] = kept[-1]._replace(mark=kept[-1].mark + token.mark)
    return kept


def marks(token: Token) -> str:
    """Return the marks after a token. The period of a title such as `Mr.` is left out: it does not end a sentence."""
    return token.mark.replace(".", "") if token.token.lower() in TITLES else token.mark


def to_call(tokens: Sequence[Token], labels: LabelSet, counts: Counter | None = None) -> Call:
    """Convert tokens to spoken words. The mark of a dropped token moves to the previous word, which keeps the stronger
    of the two marks.

    A pause is known if the words on both sides have times, and the tokens dropped between them have times, too. But it
    is unknown if it is longer than `MAX_PAUSE`, or if the words on both sides overlap by more than `MAX_OVERLAP`. The
    time of dropped tokens does not count as a pause. The words of a token share its time equally. The numbers of
    tokens, dropped tokens, words, known pauses, pauses that are too long, and overlaps that are too long are added to
    `counts`.
    """
    counts = Counter() if counts is None else counts
    words, names, times, matched, broken = [], [], [], [], []
    for token, said in zip(tokens, spoken([token.token for token in tokens])):
        timed = token.begin == token.begin
        edges = np.linspace(token.begin, token.end, max(len(said), 1) + 1).tolist() if timed else []
        label = labels.reading(marks(token))
        counts["tokens"] += 1
        if not said:
            counts["dropped"] += 1
            if words:
                names[-1] = labels.strongest((names[-1], label))
                if not timed:
                    broken.append(len(words) - 1)
        matched += [len(times) + i if timed else -1 for i in range(len(said))]
        times += pairwise(edges)
        words += said
        names += [labels.names[0]] * (len(said) - 1) + [label] if said else []
    pauses = slot_pauses(np.array(times).reshape(-1, 2), np.array(matched, int))
    pauses[broken] = np.nan
    _forget_impossible(pauses, np.array(times).reshape(-1, 2), np.array(matched, int), counts)
    counts.update(words=len(words), known=int(np.isfinite(pauses).sum()))
    return Call(words, names, pauses)


def _forget_impossible(pauses: np.ndarray, times: np.ndarray, matched: np.ndarray, counts: Counter) -> None:
    """Set a pause to NaN if it is too long, or if the words on both sides overlap too much."""
    with np.errstate(invalid="ignore"):
        long = pauses > MAX_PAUSE
    here, following = matched[:-1], matched[1:]
    both = (here >= 0) & (following >= 0)
    back = np.zeros(len(pauses), bool)
    back[:-1][both] = times[following[both], 0] < times[here[both], 1] - MAX_OVERLAP
    counts.update(long=int(long.sum()), back=int(back.sum()))
    pauses[long | back] = np.nan


def utterances(call: str, words: Sequence[str], labels: Sequence[str] | None = None,
               pauses: np.ndarray | None = None) -> Iterator[Utterance]:
    """Cut a call into utterances of `UTT_WORDS` words. The boundaries are arbitrary."""
    for start in range(0, len(words), UTT_WORDS):
        part = slice(start, start + UTT_WORDS)
        yield Utterance(f"{call}-{start // UTT_WORDS + 1:05d}", call, list(words[part]),
                        None if labels is None else list(labels[part]), None if pauses is None else pauses[part])


def call_files(directory: Path, ending: str = ".nlp") -> dict[str, Path]:
    """Return {call: file} for the files of a directory, in C-locale order. Raises InputError if there are none.

    A call is named after its file; `_` replaces each run of characters that are not ASCII letters or digits.
    """
    files = {re.sub(r"[^A-Za-z0-9]+", "_", path.name.removesuffix(ending)): path
             for path in Path(directory).glob(f"*{ending}")}
    if not files:
        raise InputError(f"no *{ending} in this directory", "give the directory of the corpus; README.md says which",
                         directory)
    return dict(sorted(files.items(), key=lambda item: item[0].encode() + b"-"))


def listed(names: Iterable[str]) -> str:
    return " ".join(names) or "none"
