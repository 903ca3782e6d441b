"""CTMs: Kaldi's and NIST's formats, the index of ids, round trips, and every kind of mistake."""

import os
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.timing.pauses import TimedWord
from punc.transcripts.ctm import CtmIndex, CtmLine, ctm_rows, read_lines, write_ctm
from punc.transcripts.source import PartsDocument, Source

KALDI = "utt-1 1 0.000 0.250 hello \nutt-1 1 0.300 0.200 world \nutt-2 1 0.100 0.400 <unk> \n"
SILENCES = """\
utt 1 0.00 0.30 <eps>
utt 1 0.30 0.20 a
utt 1 0.50 1.00 <eps>
utt 1 1.50 0.20 b
utt 1 1.70 0.50 <eps>
"""
NIST = """\
;; system output
talk A 0.50 0.25 so 0.98
talk A 0.75 0.25 far NA lex speaker
;; the other side
talk B 0.60 0.30 yes 1.00
talk A * * <ALT_BEGIN>
talk A 1.00 0.20 gonna 0.5
talk A * * <ALT>
talk A 1.00 0.10 going 0.5
talk A 1.10 0.10 to 0.5
talk A * * <ALT_END>
talk A 1.40 0.20 go 0.9
"""


@pytest.fixture
def ctm(tmp_path):
    def write(content: str | bytes, name: str = "ctm"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
    return write


def words_of(timing):
    return [row.word for row in timing.words]


def test_read_ctm_kaldi(ctm):
    found = {id: timing() for id, timing in CtmIndex(ctm(KALDI)).items()}
    assert list(found) == ["utt-1", "utt-2"]
    assert found["utt-1"].words == [TimedWord("utt-1", "1", 0.0, 0.25, "hello"),
                                    TimedWord("utt-1", "1", 0.3, 0.2, "world")]
    assert found["utt-1"].end is None
    assert words_of(found["utt-2"]) == ["<unk>"]


def test_read_ctm_silences(ctm):
    timing, = (timing() for timing in CtmIndex(ctm(SILENCES)).values())
    assert words_of(timing) == ["a", "b"]
    assert timing.end == pytest.approx(2.2)


@pytest.mark.parametrize("silence", ["<eps>", "<sil>", "<SIL>", "!SIL"])
def test_ctm_silences_of_kaldi(ctm, silence):
    timing = CtmIndex(ctm(f"u 1 0 1 {silence}\nu 1 1 1 a\nu 1 2 1 {silence}\n"))["u"]()
    assert (words_of(timing), timing.end) == (["a"], 3)


def test_ctm_index_other_silences(ctm):
    path = ctm("u 1 0 1 pau\nu 1 1 1 a\n")
    assert words_of(CtmIndex(path)["u"]()) == ["pau", "a"]


def test_ctm_index_nist(ctm):
    talk = CtmIndex(ctm(NIST))["talk"]
    assert words_of(talk(channel="A")) == ["so", "far", "gonna", "go"]
    assert [row.confidence for row in talk(channel="A").words] == [0.98, None, 0.5, 0.9]
    assert words_of(talk(channel="B")) == ["yes"]
    with pytest.raises(InputError, match=r"ctm:2: 'talk' has channels A B under one id; name the channel of"):
        talk()


def test_ctm_index_finds_every_id(ctm):
    repairs = Counter()
    lines = ["b 1 0 1 x", "b 1 1 1 y", ";; note", "", "a 1 0 1 z", "b 1 2 1 w", "c\t1\t0\t1\tv"]
    sources = CtmIndex(ctm("\n".join(lines)), repairs=repairs)
    assert {id: words_of(read()) for id, read in sources.items()} == {"b": ["x", "y", "w"], "a": ["z"], "c": ["v"]}
    assert repairs["ids with lines in several places"] == 1
    assert sources["c"]().line == 7


def test_ctm_index_is_a_mapping(ctm):
    lines = ["c 1 0 1 v\n", "b 1 0 1 x\n", "a 1 0 1 z\n", "b 1 1 1 w\n"]
    sources = CtmIndex(ctm("".join(lines)))
    assert list(sources) == ["c", "b", "a"]
    assert len(sources) == 3
    assert "b" in sources
    assert "d" not in sources
    assert 5 not in sources
    with pytest.raises(KeyError, match="d"):
        sources["d"]
    assert words_of(sources["b"]()) == ["x", "w"]
    assert [sources.size(id) for id in "abc"] == [len(lines[2]), len(lines[1] + lines[3]), len(lines[0])]


def test_ctm_index_directory(ctm, tmp_path):
    ctm("one 1 0 1 a\n", "one.ctm")
    ctm("two 1 0 1 b\n", "two.ctm")
    ctm("not a ctm", "README")
    assert {id: words_of(read()) for id, read in CtmIndex(tmp_path).items()} == {"one": ["a"], "two": ["b"]}


def test_ctm_index_sorts_and_counts_lines(ctm):
    repairs = Counter()
    timing = CtmIndex(ctm("u 1 2 1 c\nu 1 0 1 a\nu 1 1 1 b\n"), repairs=repairs)["u"]()
    assert words_of(timing) == ["a", "b", "c"]
    assert +repairs == {"lines that were not in time order": 1}


def test_ctm_index_short_and_long_overlaps(ctm):
    repairs = Counter()
    path = ctm("u 1 0 1.5 a\nu 1 1 1 b\nu 1 2 1 c\n")
    assert words_of(CtmIndex(path, repairs=repairs)["u"]()) == ["a", "b", "c"]
    assert +repairs == {"overlapping words": 1}
    path = ctm("u 1 0 2.1 a\nu 1 1 1 b\n")
    with pytest.raises(InputError, match=r"ctm:2: at 1.00 s a word of 'u' overlaps the one before by more than 1 s"):
        CtmIndex(path)["u"]()


def test_ctm_index_overlap_of_a_second(ctm):
    lines = ["u 1 0 2 a\n", "u 1 1 1 b\n", "u 1 2 2 c\n", "u 1 2.9 1 d\n"]
    assert words_of(CtmIndex(ctm("".join(lines[:3])))["u"]()) == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"ctm:4: at 2.90 s a word of 'u' overlaps the one before by more than 1 s"):
        CtmIndex(ctm("".join(lines).replace("2 2 c", "2 2.1 c")))["u"]()


def test_ctm_index_words_that_begin_together_are_in_order(ctm):
    repairs = Counter()
    assert words_of(CtmIndex(ctm("u 1 1 0 b\nu 1 1 1 a\n"), repairs=repairs)["u"]()) == ["b", "a"]
    assert not +repairs


def test_ctm_index_rounded_times_do_not_overlap(ctm):
    repairs = Counter()
    CtmIndex(ctm("u 1 0.1 0.2 a\nu 1 0.3 0.1 b\n"), repairs=repairs)["u"]()  # in binary, 0.1 + 0.2 > 0.3
    assert not +repairs


@pytest.mark.parametrize(("content", "message"), [
    ("u 1 0 1 a\nu 1 0 1\n", ":2: 4 columns; write: id channel begin duration word"),
    ("u 1 0 1 a b c d e\n", ":1: 9 columns; write"),
    ("u 1 zero 1 a\n", ":1: the begin 'zero' is not a number; write a number, such as 1.25"),
    ("u 1 0 1_0 a\n", ":1: the duration '1_0' is not a number"),
    ("u 1 nan 1 a\n", ":1: the begin 'nan' is not a number"),
    ("u 1 0 inf a\n", ":1: the duration 'inf' is not a number"),
    ("u 1 0 1 a high\n", ":1: the confidence 'high' is not a number"),
    ("u 1 0 1 a\nu 1 -0.5 1 b\n", ":2: the begin -0.5 is negative; count from the start"),
    ("u 1 0 -1 a\n", ":1: the duration -1 is negative"),
    (b"u 1 0 1 caf\xe9\n", ":1: byte 12 is not UTF-8; convert it"),
    ("u 1 0 1 a\r\n", ":1: the line has a carriage return"),
    ("u 1 0 1 a\0\n", ":1: a NUL byte"),
    ("", ": the file "),
    ("u 1 0 1 " + "x " * 5_000_000, ":1: 5000004 columns"),
], ids=range(14))
def test_read_ctm_bad_line(ctm, content, message):
    path = ctm(content)
    with pytest.raises(InputError) as error:
        [timing() for timing in CtmIndex(path).values()]
    assert str(error.value).startswith(f"{path}{message}")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_ctm_index_nothing_there(ctm, tmp_path):
    with pytest.raises(InputError, match="no such file; make it"):
        CtmIndex(tmp_path / "missing")
    with pytest.raises(InputError, match=r"no \*.ctm in this directory"):
        CtmIndex(tmp_path)
    with pytest.raises(InputError, match="the file has no timed words"):
        CtmIndex(ctm(";; only a comment\n\n"))


# Times in microseconds are read back exactly. Words and ids may have any characters except spaces and control
# characters.
names = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), min_size=1).filter(
    lambda name: not name.startswith(";;") and name not in ("<eps>", "<sil>", "<SIL>", "!SIL")
    and not name.startswith("<ALT"))
micro = st.integers(0, 10**8).map(lambda n: n / 1_000_000)
confidences = st.none() | st.integers(0, 10**6).map(lambda n: n / 1_000_000)


@given(st.dictionaries(st.tuples(names, names), st.lists(st.tuples(micro, micro, names, confidences), min_size=1),
                       min_size=1, max_size=4))
def test_write_ctm_round_trip(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("ctm") / "ctm"
    rows = []
    for (id, channel), words in content.items():
        time = 0.0
        for gap, duration, word, confidence in words:
            rows.append(TimedWord(id, channel, round(time + gap, 6), duration, word, confidence))
            time = rows[-1].begin + duration
    write_ctm(path, rows)
    lines = [CtmLine(path, 1, line) for line in path.read_text().split("\n")]
    assert [row.word for row in ctm_rows(lines)] == rows


def test_write_ctm_form(tmp_path):
    write_ctm(tmp_path / "ctm", [TimedWord("u", "1", 0.3, 1, "so,"), TimedWord("u", "1", 12.345, 0.1, "far.", 0.5)])
    assert (tmp_path / "ctm").read_text() == "u 1 0.30 1.00 so,\nu 1 12.345 0.10 far. 0.50\n"


def test_write_ctm_failure_leaves_old_file(tmp_path):
    def words():
        yield TimedWord("u", "1", 0, 1, "new")
        raise InputError("broken", "fix it")
    (tmp_path / "ctm").write_text("old\n")
    with pytest.raises(InputError):
        write_ctm(tmp_path / "ctm", words())
    assert (tmp_path / "ctm").read_text() == "old\n"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("text", ["a\x0bb 1 0 1 x\n", "a 1 0 1 x\x0cy\n", "a 1 0 1 x\x01\n", "\x0b\na 1 0 1 x\n"])
def test_ctm_control_character_is_an_error(tmp_path, text):
    (tmp_path / "ctm").write_text(text)
    with pytest.raises(InputError, match="ctm:1: the line has a control character"):
        [index() for index in CtmIndex(tmp_path / "ctm").values()]


ALTERNATIVES = ("a 1 * * <ALT_BEGIN>\na 1 0 1 one\na 1 * * <ALT>\na 1 0 1 two\na 1 1 1 three\na 1 * * <ALT_END>\n"
                "a 1 2 1 four\n")


def test_ctm_later_alternatives_are_counted(tmp_path):
    (tmp_path / "ctm").write_text(ALTERNATIVES)
    repairs = Counter()
    assert words_of(CtmIndex(tmp_path / "ctm", repairs=repairs)["a"]()) == ["one", "four"]
    assert repairs["words of later alternatives, left out"] == 2


def test_ctm_alternatives_without_an_end(tmp_path):
    (tmp_path / "ctm").write_text("a 1 0 1 x\n" + ALTERNATIVES.replace("a 1 * * <ALT_END>\n", ""))
    with pytest.raises(InputError, match="ctm:2: alternatives without an end; write a line <ALT_END>"):
        CtmIndex(tmp_path / "ctm")["a"]()


def test_ctm_index_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "ctm")
    with pytest.raises(InputError, match="ctm: not a file; write the CTM to a file, because it is read twice"):
        CtmIndex(tmp_path / "ctm")


@pytest.mark.parametrize("value", ["1e9", "1e308", "9" * 5000])
def test_ctm_invalid_time(tmp_path, value):
    (tmp_path / "ctm").write_text(f"a 1 {value} 1 x\n")
    with pytest.raises(InputError, match=r"ctm:1: the begin .* is no"):
        CtmIndex(tmp_path / "ctm")["a"]()


@pytest.mark.parametrize("text", [
    "a 1 0 0.5 one \na 1 0.5 0.5 two \n",                    # get_train_ctm.sh: a space at the end, no confidence
    "a\t1  0 0.5 one\na 1 0.5 0.5 two",                      # no final newline
    ";; made by hand\na 1 0 0.5 one\n\n;; more\na 1 0.5 0.5 two\n",
    "a 1 0 0.5 one\na 1 0.5 0.5 two 0.7\n",                  # an additional column
    "a 0 0.5 one 0.9\na 0.5 0.5 two 0.7\n",                  # no channels
    "a 1 0.5 0.5 two\na 1 0 0.5 one\n",                      # not sorted by time
    "a 1 * * <ALT_BEGIN>\na 1 0 0.5 one\na 1 * * <ALT>\na 1 0 0.5 won\na 1 * * <ALT_END>\na 1 0.5 0.5 two\n",
])
def test_lines_of_an_id_are_texts_of_a_document(tmp_path, text):
    (tmp_path / "ctm").write_text(text)
    lines = CtmIndex(tmp_path / "ctm").lines("a")
    content = "".join(line.text for line in lines)
    document = PartsDocument(Source("", content, "utf-8"))
    texts = sorted(read_lines(lines, document), key=lambda text: text.begin)
    assert [(text.text, text.begin, text.end) for text in texts] == [("one", 0, 0.5), ("two", 0.5, 1)]
    for one in texts:
        document.put(one.place, one.text.upper())
    assert document.content() == content.replace("one", "ONE").replace("two", "TWO")


def test_lines_of_an_id_in_several_places_and_channels(tmp_path):
    (tmp_path / "ctm").write_text("a 1 0 1 x\nb 1 0 1 y\na 1 1 1 z\nc A 0 1 u\nc B 0 1 v")
    index = CtmIndex(tmp_path / "ctm")
    assert [(line.number, line.text) for line in index.lines("a")] == [(1, "a 1 0 1 x\n"), (3, "a 1 1 1 z\n")]
    assert [line.number for line in index.lines("c", "B")] == [5]
    assert index.where("c") == (tmp_path / "ctm", 4)
    with pytest.raises(InputError, match="ctm:4: 'c' has channels A B under one id"):
        index.lines("c")
