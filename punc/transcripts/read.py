"""Finds the format of a file by its content, and reads it."""

import os
import re

from punc.base.errors import InputError
from punc.base.options import nearest
from punc.transcripts import columns, cues, lines, markup, plain, textgrid
from punc.transcripts.json_formats import read_json
from punc.transcripts.source import RAW, Source, read_source
from punc.transcripts.transcript import Transcript

COLUMNS = {"CTM": columns.read_ctm_file, "STM": columns.read_stm, "text of Kaldi": columns.read_kaldi_text}
JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")


def read_transcript(path: str | os.PathLike[str], form: str = "", tier: str = "", timed: bool = False) -> Transcript:
    """Read a file; arguments and errors as those of `transcript_of`."""
    return transcript_of(read_source(path), form, tier, timed)


def transcript_of(source: Source, form: str = "", tier: str = "", timed: bool = False) -> Transcript:
    """Read a transcript.

    form   the format, if it is not to be found: `text`
    tier   the tier of a TextGrid with the words
    timed  of JSON, words with times, also where a text has more, as their marks

    Raises InputError for a broken file, one of no known format, and one with a text of which no word can be read.
    """
    if form not in ("", "text"):
        raise InputError(f"--format {form}", nearest(form, ["text"]))
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
    if plain.RTTM.match(text):  # which looks like an STM
        raise source.error("an RTTM: it says who speaks, and has no words", "give it to punc turns")
    if form := columns.form_of(text):
        return COLUMNS[form](source)
    plain.check_plain(source)
    return plain.read_text(source)


