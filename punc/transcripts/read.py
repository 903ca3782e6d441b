"""Finds the format of a file by its content, and reads it."""

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from punc.base.errors import InputError
from punc.base.options import nearest
from punc.transcripts import columns, cues, lines, markup, plain, textgrid
from punc.transcripts.json_formats import json_rows, read_json
from punc.transcripts.source import Source, read_source, require_utf8
from punc.transcripts.transcript import Transcript

# What writes the formats that are no JSON and have no row in `lines`.
WRITERS = [("SRT, WebVTT, SBV", "subtitles of any program, YouTube's captions, rolling ones too"),
           ("TTML, SAMI, YouTube's srv1 and srv3", "subtitles in XML"), ("EAF", "ELAN"),
           ("TextGrid", "Praat, Montreal Forced Aligner, P2FA, MAUS"), ("CTM, STM", "Kaldi, NIST's tools"),
           ("MLF", "HTK"), ("text of Kaldi", "Kaldi: lines of an id and words"), ("text", "any")]
COLUMNS = {"CTM": columns.read_ctm_file, "STM": columns.read_stm, "text of Kaldi": columns.read_kaldi_text}
JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection: it would look at millions of objects again and again, and find no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_transcript(path: str | os.PathLike[str], form: str = "", tier: str = "", timed: bool = False) -> Transcript:
    """Read a file; arguments and errors as those of `transcript_of`."""
    return transcript_of(read_source(path), form, tier, timed)


def transcript_of(source: Source, form: str = "", tier: str = "", timed: bool = False) -> Transcript:
    """Read a transcript.

    form   the format, if it is not to be found: `text`
    tier   the tier of a TextGrid with the words
    timed  of JSON, words with times, also where a text has more, as their marks

    Raises InputError for a broken file, for one that is of no format that is known, and for one that has text of which
    no word can be read.
    """
    if form not in ("", "text"):
        raise InputError(f"--format {form}", nearest(form, ["text"]))
    with _no_collection():
        return plain.read_text(require_utf8(source)) if form else _read(source, tier, timed)


def _read(source: Source, tier: str, timed: bool) -> Transcript:
    text = source.text
    if JSON.match(text):
        return read_json(source, timed)
    if textgrid.is_textgrid(text):
        return textgrid.read_textgrid(require_utf8(source), tier)
    require_utf8(source)
    if form := cues.form_of(text):
        return cues.read_cues(source, form)
    if form := markup.form_of(text):
        return markup.read_markup(source, form)
    if text.startswith("#!MLF!#"):
        return columns.read_mlf(source)
    if row := lines.find_format(source):
        return lines.read_lines(source, row)
    plain.check_rttm(source)
    if form := columns.form_of(text):
        return COLUMNS[form](source)
    plain.check_plain(source)
    return plain.read_text(source)


def format_table() -> str:
    """All formats and what writes them, as the table of docs/after-asr.md."""
    rows = [("JSON", "; ".join(dict.fromkeys(writers for _, writers in json_rows())))]
    rows += [("JSON of others", "texts and times under common names")]
    rows += [(row.name, row.writers) for row in lines.FORMATS] + WRITERS
    return "".join(["| file | written by |\n|---|---|\n", *(f"| {name} | {writers} |\n" for name, writers in rows)])
