"""Word times of aligners for `punc pauses`: TextGrids, Gentle's JSON, and directories of such files."""

import json
import time

import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.timing.pauses import TimedWord
from punc.transcripts.read import read_timing, word_times


def long(*tiers, end=3.5):
    """Return tiers (name, rows) in Praat's long format, as MFA writes them."""
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {end}",
             "tiers? <exists>", f"size = {len(tiers)}", "item []:"]
    for number, (name, rows) in enumerate(tiers, 1):
        lines += [f"    item [{number}]:", '        class = "IntervalTier"', f'        name = "{name}"',
                  "        xmin = 0", f"        xmax = {end}", f"        intervals: size = {len(rows)}"]
        for i, (begin, stop, text) in enumerate(rows, 1):
            lines += [f"        intervals [{i}]:", f"            xmin = {begin}", f"            xmax = {stop}",
                      f'            text = "{text}"']
    return "\n".join([*lines, ""])


def short(*tiers, end=3.5):
    body = "".join(f'"IntervalTier"\n"{name}"\n0\n{end}\n{len(rows)}\n' + "".join(
        f'{begin}\n{stop}\n"{text}"\n' for begin, stop, text in rows) for name, rows in tiers)
    return f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n{end}\n<exists>\n{len(tiers)}\n{body}'


LONG = long(("words", [(0, 0.5, ""), (0.5, 1.25, "hello"), (1.25, 1.5, "sp"), (1.5, 2, '""ah""'), (2, 2.5, "spn"),
                       (2.5, 3.5, "")]), ("phones", [(0, 3.5, "sil")]))
SHORT = short(("words", [(0, 0.5, ""), (0.5, 1.25, "hello"), (1.25, 1.5, "SIL"), (1.5, 2, '""ah""'), (2, 2.5, "spn"),
                         (2.5, 3.5, "<eps>")]))
WORDS = [TimedWord("rec", "1", 0.5, 0.75, "hello"), TimedWord("rec", "1", 1.5, 0.5, '"ah"'),
         TimedWord("rec", "1", 2.0, 0.5, "spn")]
# In Gentle's format (`to_json` of gentle/transcription.py): an unknown word, a word that was not heard, and a word that
# is not in the text.
ALIGNED = {
    "transcript": "So we asked Ms. Xu",
    "words": [
        {"alignedWord": "so", "case": "success", "end": 0.5, "endOffset": 2,
         "phones": [{"duration": 0.2, "phone": "s_B"}], "start": 0.25, "startOffset": 0, "word": "So"},
        {"case": "not-found-in-audio", "endOffset": 5, "startOffset": 3, "word": "we"},
        {"case": "not-found-in-transcript", "end": 0.9, "phones": [], "start": 0.8, "word": "uh"},
        {"alignedWord": "asked", "case": "success", "end": 1.5, "endOffset": 11, "phones": [], "start": 1.0,
         "startOffset": 6, "word": "asked"},
        {"alignedWord": "<unk>", "case": "success", "end": 2.5, "endOffset": 18, "phones": [], "start": 2.0,
         "startOffset": 16, "word": "Xu"}]}


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes, name: str = "rec.TextGrid"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
    return write


@pytest.mark.parametrize("content", [
    LONG, SHORT, LONG.replace("\n", "\r\n"), b"\xef\xbb\xbf" + LONG.encode(), b"\xff\xfe" + LONG.encode("utf-16-le"),
    b"\xfe\xff" + LONG.encode("utf-16-be"), SHORT.encode("utf-16"), LONG.replace("    ", "\t"),
    SHORT.replace('"ooTextFile"', '"ooTextFile short"').replace('Object class = "TextGrid"', '"TextGrid"'),
], ids=["long", "short", "CRLF", "BOM", "UTF-16", "UTF-16 BE", "short UTF-16", "tabs", "old short"])
def test_textgrid_forms(write, content):
    timing = read_timing(write(content))
    assert timing.words == WORDS
    assert timing.end == 3.5


@pytest.mark.parametrize("silence", ["", "sil", "sp", "SIL", "SP", "<eps>", " "])
def test_textgrid_silences(write, silence):
    rows = [(0, 1, silence), (1, 2, "<unk>"), (2, 2, ""), (2, 3, "Sil")]
    assert [row.word for row in read_timing(write(short(("words", rows)))).words] == ["<unk>", "Sil"]


def test_textgrid_speakers_in_time_order(write):
    path = write(short(("ann - words", [(0, 1, "a"), (2, 3, "c")]), ("bob - words", [(0.5, 2, "b"), (3, 3.5, "d")])))
    assert [(row.channel, row.word) for row in read_timing(path).words] == [
        ("ann", "a"), ("bob", "b"), ("ann", "c"), ("bob", "d")]
    assert [row.word for row in read_timing(path, channel="bob").words] == ["b", "d"]


@pytest.mark.parametrize("content", [LONG, SHORT], ids=["long", "short"])
def test_textgrid_cut_short_anywhere(write, content):
    for size in range(len(content) - 1):
        with pytest.raises(InputError) as error:
            read_timing(write(content[:size]))
        assert "\n" not in str(error.value)
    assert read_timing(write(content[:-1])).words == WORDS


@pytest.mark.parametrize(("content", "message"), [
    (LONG.replace("hello", "good morning"), ": 'good' is one of several words with one time; give word times"),
    (LONG.replace("xmax = 1.25", "xmax = 0.25"), ":20: an interval from 0.5 to 0.25 s; fix its times"),
    (short(("words", [(0, 1, "a"), (-2, 2, "b")])), ":16: the time -2 is negative"),
    (short(("words", [(0, 1, "a"), ("nan", 2, "b")])), ":18: a text whose interval has no times"),
    (short(("words", [(1, 2, "a"), (0, 3, "b")])), ":16: an interval from 0 to 3 s; fix its times"),
    (short(("words", [(0, 1, "a")]), end="1e308"), ":5: the end 1e308 is not a time of a recording"),
    (SHORT.replace("IntervalTier", "TextTier"), ": no tier of words; give one with --tier: no tier of intervals"),
    (LONG.replace("size = 2", "size = 3"), ": 2 tiers, but the file says that it has 3"),
    (LONG.replace("size = 1", "size = 0"), "tier 'phones' has 1 intervals, but its size is 0"),
    ("", ": the file is empty"), ('"TextGrid" ' + 30_000 * "1", " tiers, but the file says that it has")])
def test_textgrid_mistakes(write, content, message):
    begin = time.process_time()
    with pytest.raises(InputError) as error:
        read_timing(write(content))
    assert message in str(error.value)
    assert time.process_time() - begin < 2


def test_files_of_a_directory(write, tmp_path):
    write(SHORT, "ann/one.TextGrid")
    write(SHORT, "bob/two.textgrid")
    write("", "bob/notes.txt")
    sources = word_times(tmp_path)
    assert sorted(sources) == ["one", "two"]
    assert sources["two"]().words[0] == WORDS[0]._replace(id="two")
    write(SHORT, "bob/one.TextGrid")
    with pytest.raises(InputError, match="2 files are called 'one'; keep one"):
        word_times(tmp_path)
    write(json.dumps(ALIGNED), "json/a.json")
    assert list(word_times(tmp_path / "json")) == list(word_times(tmp_path / "json/a.json")) == ["a"]
    write("a 1 0 1 x\n", "ctms/b.ctm")
    assert list(word_times(tmp_path / "ctms")) == ["a"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \*.ctm in this directory"):
        word_times(tmp_path / "empty")


def test_gentle_words_with_a_time(write):
    timing = read_timing(write(json.dumps(ALIGNED), "talk.json"), channel="1")
    assert [(word.word, word.begin, round(word.duration, 3)) for word in timing.words] == [
        ("So", 0.25, 0.25), ("uh", 0.8, 0.1), ("asked", 1.0, 0.5), ("Xu", 2.0, 0.5)]
    assert {word.id for word in timing.words} == {"talk"}
    assert timing.end is None


def test_command_pauses_of_gentle(write, tmp_path, capsys):
    words = ["so", "we", "asked", "ms", "xu"]
    write_data_dir(tmp_path / "data", [Utterance("talk-1", "talk", words, ["O"] * 5)])
    write(json.dumps(ALIGNED), "times/talk.json")
    assert main(["pauses", str(tmp_path / "data"), str(tmp_path / "times")]) == 0
    assert "WER of the timed words 40.0%" in capsys.readouterr().err  # `ms` is deleted, and `we` is substituted (`uh`)
    pauses = next(DataDir(tmp_path / "data").utterances()).pauses
    assert [round(float(pause), 3) for pause in pauses[:2]] == [0.3, 0.1]


@pytest.mark.parametrize(("content", "message"), [
    ('{"words": [{"wo', "the JSON is cut short"), ("[" * 100_000, "too deep"),
    ('{"words": [{"word": "a", "case": "success", "start": 2, "end": 1}]}', "'a' is from 2 to 1 s; fix it"),
    ('{"words": [{"word": "a", "case": "not-found-in-audio"}]}', "without word times; give files with word times")])
def test_json_mistakes(write, content, message):
    with pytest.raises(InputError, match=message):
        read_timing(write(content, "talk.json"))
