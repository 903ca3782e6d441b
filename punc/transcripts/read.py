"""Detects the formats of transcripts, and reads them. Also reads the word times in a file or directory."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Set
from pathlib import Path

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.options import nearest
from punc.timing.pauses import TimedWord, Timing
from punc.transcripts import columns, cues, lines, markup, plain, textgrid
from punc.transcripts.ctm import CtmIndex
from punc.transcripts.json_formats import read_json
from punc.transcripts.source import RAW, Source, read_source
from punc.transcripts.transcript import Transcript, words_of

JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
ENDINGS = (".textgrid", ".json", ".mlf", ".eaf")  # in a directory, files with these endings may have word times


def read_transcript(path: StrPath, form: str = "", tier: str = "", timed: bool = False) -> Transcript:
    """Read a file. For the arguments and errors, see `transcript_of`."""
    return transcript_of(read_source(path), form, tier, timed)


def transcript_of(source: Source, form: str = "", tier: str = "", timed: bool = False) -> Transcript:
    """Read a transcript.

    form   `text`, or empty to detect the format from the content
    tier   the name of the tier with the words, in a TextGrid
    timed  in JSON, prefer words with times to a text without times, even if the text has marks or more words

    Raises InputError for a broken file, an unknown format, and a file with text but no word that can be read.
    """
    if form not in ("", "text"):
        raise InputError(f"unknown --format {form}", nearest(form, ["text"]))
    text = source.text
    if not form and JSON.match(text):
        return read_json(source, timed)
    if found := RAW.search(text):
        raise source.not_utf8(found.start())
    if form:
        return plain.read_text(source)
    if '"TextGrid"' in text[:200]:
        return textgrid.read_textgrid(source, tier)
    if form := cues.form_of(text):
        return cues.read_cues(source, form)
    if form := markup.form_of(text):
        return markup.read_markup(source, form)
    if text.startswith("#!MLF!#"):
        return columns.read_mlf(source)
    if row := lines.find_format(source):
        return lines.read_lines(source, row)
    if plain.RTTM.match(text):  # before `reader_of`, because an RTTM looks like an STM
        raise source.error("this is an RTTM file, which has speakers and no words", "give it to punc turns")
    if read := columns.reader_of(text):
        return read(source)
    plain.check_plain(source)
    return plain.read_text(source)


def word_times(path: StrPath, tier: str = "",
               repairs: Counter[str] | None = None) -> Mapping[str, Callable[..., Timing]]:
    """Map each id under `path` to a function that reads the id's timing.

    If `path` is a file with one of ENDINGS, or a directory that contains such files, the ids are the file names without
    the ending. If a directory has files with several of these endings, only the files with the ending that comes first
    in ENDINGS are read. If there are no files with these endings, `CtmIndex` reads `path`. Raises InputError if two
    files have the same id, and whenever `CtmIndex` does. The functions raise InputError like `read_timing`.
    """
    path = Path(path)
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    for ending in ENDINGS:
        if files := [file for file in found if file.suffix.lower() == ending]:
            name, number = Counter(file.stem for file in files).most_common(1)[0]
            if number > 1:
                raise InputError(f"{number} files are called '{name}'", "keep one for each id", path)
            return {file.stem: functools.partial(read_timing, file, tier) for file in files}
    return CtmIndex(path, repairs)


def read_timing(path: StrPath, tier: str = "", channel: str = "", known: Set[str] = frozenset()) -> Timing:
    """Return the timed words of a file in time order. If a speaker of the file is called `channel` or like another of
    the `known` channels, return only the words of the speaker `channel`. Raises InputError like `read_transcript`, and
    for wrong or missing times."""
    transcript = read_transcript(path, tier=tier, timed=True)
    words = words_of(transcript.texts)
    timed = np.isfinite(words.begins) & np.isfinite(words.ends)
    if len(words.texts) and not timed.any():
        raise InputError(f"{transcript.format} without word times", "give files with word times", path)
    if not {channel, *known}.isdisjoint(words.speakers):
        timed &= np.array([*map(channel.__eq__, words.speakers), False])[words.speaker]
    rows = []
    for i in np.flatnonzero(timed).tolist():
        begin, end = float(words.begins[i]), float(words.ends[i])
        if not 0 <= begin <= end:
            raise InputError(f"'{words.texts[i][:30]}' is from {begin:g} to {end:g} s", "fix it: 0 ≤ begin ≤ end", path)
        speaker = words.speakers[words.speaker[i]] if words.speaker[i] >= 0 else "1"
        rows.append(TimedWord(Path(path).stem, speaker, begin, end - begin, words.texts[i]))
    of = words.of[words.first]
    for i in np.flatnonzero(~timed & (np.bincount(of)[of] > 1)).tolist():
        if not transcript.texts[of[i]].times:
            raise InputError(f"'{words.texts[i][:30]}' is one of several words with one time",
                             "give word times; select the tier of a TextGrid with --tier", path)
    rows.sort(key=lambda row: row.begin)
    return Timing(rows, None if np.isnan(transcript.end) else transcript.end, path)
