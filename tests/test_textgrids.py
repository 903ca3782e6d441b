"""Times of words in TextGrids of MFA and Praat, and in JSON of Gentle: every form and every kind of mistake."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.timing.ctm import TimedWord
from punc.timing.gentle import find_gentle, index_gentle, read_gentle
from punc.timing.pauses import word_times
from punc.timing.textgrids import index_textgrids, read_textgrid


def long(*tiers, end=3.5):
    """Praat's long form of tiers (name, rows), as MFA writes it."""
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {end}",
             "tiers? <exists>", f"size = {len(tiers)}", "item []:"]
    for number, (name, rows) in enumerate(tiers, 1):
        lines += [f"    item [{number}]:", '        class = "IntervalTier"', f'        name = "{name}"',
                  "        xmin = 0", f"        xmax = {end}", f"        intervals: size = {len(rows)}"]
        for i, (begin, stop, text) in enumerate(rows, 1):
            lines += [f"        intervals [{i}]:", f"            xmin = {begin}", f"            xmax = {stop}",
                      f'            text = "{text}"']
    return "\n".join([*lines, ""])


LONG = long(("words", [(0, 0.5, ""), (0.5, 1.25, "hello"), (1.25, 1.5, "sp"), (1.5, 2, '""ah""'), (2, 2.5, "spn"),
                       (2.5, 3.5, "")]), ("phones", [(0, 3.5, "sil")]))
WORDS = [TimedWord("rec", "1", 0.5, 0.75, "hello"), TimedWord("rec", "1", 1.5, 0.5, '"ah"'),
         TimedWord("rec", "1", 2.0, 0.5, "spn")]


def intervals(*rows):
    return "".join(f'{begin}\n{end}\n"{text}"\n' for begin, end, text in rows)


def short(*tiers, end=3.5):
    """Praat's short form of tiers (name, rows)."""
    body = "".join(f'"IntervalTier"\n"{name}"\n0\n{end}\n{len(rows)}\n{intervals(*rows)}' for name, rows in tiers)
    return f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n{end}\n<exists>\n{len(tiers)}\n{body}'


SHORT = short(("words", [(0, 0.5, ""), (0.5, 1.25, "hello"), (1.25, 1.5, "SIL"), (1.5, 2, '""ah""'), (2, 2.5, "spn"),
                         (2.5, 3.5, "<eps>")]))


@pytest.fixture
def grid(tmp_path):
    def write(content: str | bytes, name: str = "rec.TextGrid"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
    return write


@pytest.mark.parametrize("content", [
    LONG, SHORT, LONG.replace("\n", "\r\n"), b"\xef\xbb\xbf" + LONG.encode(), b"\xff\xfe" + LONG.encode("utf-16-le"),
    b"\xfe\xff" + LONG.encode("utf-16-be"),
    SHORT.encode("utf-16"), LONG.replace("    ", "\t"), SHORT.replace('"ooTextFile"', '"ooTextFile short"')
    .replace('Object class = "TextGrid"', '"TextGrid"'),
], ids=["long", "short", "CRLF", "BOM", "UTF-16", "UTF-16 BE", "short UTF-16", "tabs", "old short"])
def test_read_textgrid_forms(grid, content):
    timing = read_textgrid(grid(content))
    assert timing.words == WORDS
    assert timing.end == 3.5


@pytest.mark.parametrize("silence", ["", "sil", "sp", "SIL", "SP", "<eps>", " "])
def test_read_textgrid_silences(grid, silence):
    assert read_textgrid(grid(short(("words", [(0, 1, silence), (1, 2, "a")])))).words[0].word == "a"


def test_read_textgrid_words_that_look_like_silences(grid):
    rows = [(0, 1, "spn"), (1, 2, "<unk>"), (2, 3, "Sil")]
    assert [row.word for row in read_textgrid(grid(short(("words", rows)))).words] == ["spn", "<unk>", "Sil"]


def test_read_textgrid_tier_by_name(grid):
    path = grid(short(("words", [(0, 1, "a")]), ("ORT-MAU", [(0, 1, "b")])))
    assert read_textgrid(path, "ORT-MAU").words[0].word == "b"
    with pytest.raises(InputError, match="no tier 'Words'; name one with --tier: words, ORT-MAU"):
        read_textgrid(path, "Words")


def test_read_textgrid_speakers_in_time_order(grid):
    path = grid(short(("ann - words", [(0, 1, "a"), (2, 3, "c")]), ("bob - words", [(0.5, 2, "b"), (3, 3.5, "d")])))
    assert [(row.channel, row.word) for row in read_textgrid(path).words] == [
        ("ann", "a"), ("bob", "b"), ("ann", "c"), ("bob", "d")]
    assert [row.word for row in read_textgrid(path, channel="bob").words] == ["b", "d"]


def test_index_textgrids_of_a_directory(grid, tmp_path):
    grid(SHORT, "ann/one.TextGrid")
    grid(SHORT, "bob/two.textgrid")
    grid("", "bob/notes.txt")
    sources = index_textgrids(tmp_path)
    assert sorted(sources) == ["one", "two"]
    assert sources["two"]().words[0] == WORDS[0]._replace(id="two")
    grid(SHORT, "bob/one.TextGrid")
    with pytest.raises(InputError, match="2 TextGrids are called 'one'; keep one"):
        index_textgrids(tmp_path)


def test_index_textgrids_nothing_there(tmp_path):
    with pytest.raises(InputError, match=r"no \*.TextGrid here; name"):
        index_textgrids(tmp_path)


@pytest.mark.parametrize("content", [LONG, SHORT], ids=["long", "short"])
def test_read_textgrid_cut_short_anywhere(grid, content):
    """Cut after any byte, a TextGrid is an error of one line; only the last line end may be missing."""
    whole = content.encode()
    for size in range(len(whole) - 1):
        path = grid(whole[:size])
        with pytest.raises(InputError) as error:
            read_textgrid(path)
        assert str(error.value).startswith(f"{path}: ")
        assert "\n" not in str(error.value)
    assert read_textgrid(grid(whole[:-1])).words == WORDS


@pytest.mark.parametrize(("content", "message"), [
    (b"", ": the file is empty; make it again"),
    ("not a TextGrid\n", ": a broken TextGrid, or cut short (TextGridError); make it again"),
    (LONG.replace("hello", "caf\xe9").encode("latin-1"), ":22: byte 24 is not UTF-8; convert it"),
    (LONG.replace("hello", "a\0"), ":22: a NUL byte; remove it"),
    (LONG.encode("utf-16")[:-1], ": not UTF-16, though it begins so; save it as UTF-8"),
    (LONG.replace("hello", "good morning"), ": 'good morning' is more than one word; name the tier"),
    (LONG.replace("xmax = 1.25", "xmax = 0.25"), ":20: an interval from 0.5 to 0.25 s; fix it: begin ≥ 0, end ≥ begin"),
    (short(("words", [(0, 1, "a"), (-2, 2, "b")])), ":16: an interval from -2 to 2 s; fix it: begin ≥ 0, end ≥ begin"),
    (short(("words", [(0, 1, "a"), ("nan", 2, "b")])), ":16: an interval from nan to 2 s; fix it: begin ≥ 0, end"),
    (short(("words", [(0, 1, "a"), (1, "+1_0e-1", "b")])), ":16: an interval from 1 to 1 s; fix it: begin ≥ 0, end"),
    (short(("words", [(0, 1, "a")]), end=1e9), ": the end 1e+09 is no time of a recording; fix the xmax of the file"),
    (SHORT.replace("IntervalTier", "TextTier"), ": no tier 'words'; name one with --tier: "),
    (short(("words", [(0, 2, "a"), (1, 3, "b")])), ": a broken TextGrid, or cut short (ValueError)"),
    (short(("words", [(0, 1, "a")])).replace("\n0\n3.5\n", "\n0\n1e308\n", 1),
     ": the end 1e+308 is no time of a recording; fix the xmax of the file"),
    (LONG.replace("xmax = 1.25", "xmax = 1.2.5"), ": a broken TextGrid, or cut short (ValueError)"),
])
def test_read_textgrid_bad_file(grid, content, message):
    path = grid(content)
    with pytest.raises(InputError) as error:
        read_textgrid(path)
    assert str(error.value).startswith(f"{path}{message}")
    assert "\n" not in str(error.value)


def test_read_word_of_no_length(tmp_path):
    """The library leaves it out."""
    (tmp_path / "x.TextGrid").write_text(short(("words", [(0, 1, "a"), (1, 1, "b")])))
    with pytest.raises(InputError, match="an interval from 1 to 1 s; fix it"):
        read_textgrid(tmp_path / "x.TextGrid")


def test_read_size_that_is_too_small(tmp_path):
    """The library leaves out the intervals behind it."""
    begin, _, end = LONG.rpartition("intervals: size = ")  # of the last tier: others would be out of step
    (tmp_path / "x.TextGrid").write_text(f"{begin}intervals: size = 0\n" + end.partition("\n")[2])
    with pytest.raises(InputError, match="intervals, but the sizes of the tiers say"):
        read_textgrid(tmp_path / "x.TextGrid")


def test_read_textgrid_number_of_30000_digits(grid):
    begin = time.process_time()
    with pytest.raises(InputError):
        read_textgrid(grid(30_000 * "1"))
    assert time.process_time() - begin < 2  # not 10 s: digits are not tried in all ways


def test_read_textgrid_nothing_of_no_length(grid):
    """The library leaves out an empty interval of no length, too; no word is lost."""
    path = grid(short(("words", [(0, 0.25, "a"), (0.25, 0.25, ""), (0.25, 0.5, "b")]), end=0.5))
    timing = read_textgrid(path)
    assert ([row.word for row in timing.words], timing.end) == (["a", "b"], 0.5)


def test_read_textgrid_of_an_empty_recording(grid):
    timing = read_textgrid(grid(short(("words", []), end=0)))
    assert (timing.words, timing.end) == ([], 0)


# As Gentle writes it (`to_json` of gentle/transcription.py): a word that it does not know, one that it has not heard,
# and one that the text does not have.
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


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_read_gentle_words_with_a_time(tmp_path):
    timing = read_gentle(write(tmp_path / "talk.json", ALIGNED), channel="1")
    assert [(word.word, word.begin, round(word.duration, 3)) for word in timing.words] == [
        ("So", 0.25, 0.25), ("uh", 0.8, 0.1), ("asked", 1.0, 0.5), ("Xu", 2.0, 0.5)]
    assert {word.id for word in timing.words} == {"talk"}
    assert timing.end is None


@given(st.lists(st.tuples(st.text("abzéя語'-", min_size=1, max_size=5), st.integers(0, 50),
                          st.sampled_from(["success", "not-found-in-audio", "not-found-in-transcript"]))))
def test_read_gentle_has_every_timed_word(tmp_path_factory, rows):
    words, expected = [], []
    for number, (word, tenths, case) in enumerate(rows):
        words.append({"word": word, "case": case})
        if case != "not-found-in-audio":
            words[-1] |= {"start": number, "end": number + tenths / 10}
            expected.append(TimedWord("a", "1", number, number + tenths / 10 - number, word))
    assert read_gentle(write(tmp_path_factory.mktemp("gentle") / "a.json", {"words": words})).words == expected


def test_index_gentle_is_chosen_by_the_files(tmp_path):
    write(tmp_path / "a.json", ALIGNED)
    write(tmp_path / "b.JSON", ALIGNED)
    assert [file.name for file in find_gentle(tmp_path)] == ["a.json", "b.JSON"]
    assert list(word_times(tmp_path)) == ["a", "b"]
    assert list(word_times(tmp_path / "a.json")) == ["a"]


def test_command_pauses_of_gentle(tmp_path, capsys):
    words = ["so", "we", "asked", "ms", "xu"]
    write_data_dir(tmp_path / "data", [Utterance("talk-1", "talk", words, ["O"] * 5)])
    (tmp_path / "times").mkdir()
    write(tmp_path / "times/talk.json", ALIGNED)
    assert main(["pauses", str(tmp_path / "data"), str(tmp_path / "times")]) == 0
    assert "WER of the timed words 40.0%" in capsys.readouterr().err  # ms is not there, and uh stands for we
    pauses = next(DataDir(tmp_path / "data").utterances()).pauses
    assert [round(float(pause), 3) for pause in pauses[:2]] == [0.3, 0.1]


@pytest.mark.parametrize(("content", "message"), [
    ("", "not JSON of Gentle, or cut short"), ("[]", "not JSON of Gentle"), ("{}", "not JSON of Gentle"),
    ('{"words": [{"wo', "cut short"), ('{"words": [1]}', "not JSON of Gentle"), ("[" * 100_000, "not JSON of Gentle"),
    ('{"words": [{"case": "success", "start": 0, "end": 1}]}', "not JSON of Gentle"),
    ('{"words": [{"word": "a", "case": "success"}]}', "'a' is from None to None s; fix it"),
    ('{"words": [{"word": "a", "case": "success", "start": 2, "end": 1}]}', "'a' is from 2 to 1 s"),
    ('{"words": [{"word": "a", "case": "success", "start": NaN, "end": 1}]}', "'a' is from nan to 1 s"),
    ('{"words": [{"word": "a", "case": "success", "start": "0", "end": 1}]}', "'a' is from 0 to 1 s")])
def test_read_gentle_mistake(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as error:
        read_gentle(write(tmp_path / "talk.json", content))
    assert str(error.value).startswith(str(tmp_path / "talk.json"))


def test_index_gentle_mistakes(tmp_path):
    with pytest.raises(InputError, match=r"no \*.json here"):
        index_gentle(tmp_path)
    write(tmp_path / "a.json", ALIGNED)
    write(tmp_path / "a.JSON", ALIGNED)
    with pytest.raises(InputError, match="2 files are called 'a'"):
        index_gentle(tmp_path)


def test_read_gentle_half_a_surrogate_pair(tmp_path):
    (tmp_path / "a.json").write_text('{"words": [{"word": "a\\ud835b", "case": "success", "start": 1, "end": 2}]}')
    assert [row.word for row in read_gentle(tmp_path / "a.json").words] == ["a?b"]
