"""Formats of punc prepare: modules are found by name, and files are read in parts, repaired or refused."""

from collections import Counter
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin import prepare
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.labels import Label, LabelSet
from punc.text import formats
from punc.text.abbreviations import MARK, STARTER, Abbreviations
from punc.text.file_parts import MOST, FilePart, count_lines, decode, file_parts, found, note
from punc.text.format import PrepareOptions, format_help, format_names, load_format
from punc.text.formats.mteval import documents_and_segments

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", "-")), Label("PERIOD", "w.", (".",)),
                   Label("QUESTION", "w?", ("?",))))


def reader(name="prose", **options):
    return load_format(name)(PrepareOptions(LABELS, **options))


NEW = '''"""Words separated by bars: `one|two`.

There are no marks.
"""

from punc.text.passages import Passage
from punc.text.format import TextFormat


class Format(TextFormat):
    takes = ("labels", "utt_words")

    def passages(self, text, line_start, repairs):
        words = text.strip().split("|")
        yield Passage(" ".join(words), " ".join(["O"] * len(words)))
'''


@pytest.fixture
def bars(tmp_path, monkeypatch):
    """Add a folder with a new format, `bars`, to the package `formats`. Make a label set and a file to read."""
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "bars.py").write_text(NEW)
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\n")
    (tmp_path / "in").write_text("one|two|three\n")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path / "formats")])
    return tmp_path


def test_format_file_is_found_by_its_name(bars, capsys):
    arguments = ["prepare", "--format=bars", f"--labels={bars / 'labels.txt'}", "--nj=999"]
    assert main([*arguments, "--utt-words=2", str(bars / "in"), str(bars / "out")]) == 1
    assert capsys.readouterr().err == "punc prepare: --nj does not apply to --format bars; leave it out\n"
    assert main([*arguments[:-1], "--utt-words=2", str(bars / "in"), str(bars / "out")]) == 0
    assert [u.words for u in DataDir(bars / "out").utterances()] == [["one", "two"], ["three"]]


def test_format_help_names_a_new_file(bars, capsys):
    with pytest.raises(SystemExit):
        main(["prepare", "--help"])
    shown = "  bars        Words separated by bars: `one|two`.\n              --labels --utt-words\n"
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("name", format_names())
def test_format_has_help_and_known_options(name):
    assert format_help(name)
    assert set(load_format(name).takes) <= set(PrepareOptions.__dataclass_fields__)


def test_options_not_given_are_those_of_the_command():
    options, parser = PrepareOptions(), prepare.options()
    for field in fields(PrepareOptions):
        if field.name not in ("clean", "nj"):  # the defaults of these options have other types
            assert getattr(options, field.name) == parser.get_default(field.name)
    assert (options.clean, options.nj) == ((), 1)


def test_reader_needs_a_label_set():
    with pytest.raises(InputError, match=r"^no label set; give one: --labels conf/labels.txt"):
        PrepareOptions().reader()


@pytest.mark.parametrize("size", [5, 7, 100])
@pytest.mark.parametrize(("data", "delimiter"), [
    (b"one\ntwo three four five\n\nsix", b"\n"), (b"<seg>a b</seg>\n<seg>c</SEG><seg>d", b"</seg>")])
def test_file_parts_end_with_delimiter(tmp_path, data, delimiter, size):
    for name in "ab":
        (tmp_path / name).write_bytes(data)
    parts = list(file_parts([tmp_path / "a", tmp_path / "b"], delimiter, size))
    assert b"".join(part.data for part in parts) == 2 * data
    assert [part.path for part in parts if part.first] == [str(tmp_path / "a"), str(tmp_path / "b")]
    for part, following in pairwise(parts):
        assert following.first or part.data.lower().endswith((delimiter, b" "))
        assert part.line_start == (part.first or data[part.offset - 1:part.offset] == b"\n")
        with open(part.path, "rb") as file:
            assert count_lines(file, part.offset) == data.count(b"\n", 0, part.offset)


@pytest.mark.parametrize(("raw", "text", "count"), [
    (b"\xe2\x99?you", "you", 1),  # a music note without its last byte
    (b"\xe2\x99?\xe2\x99?he", "he", 2),
    (b"caf\xe9?", "caf?", 1),
    (b"\xff\xfex", "x", 2),
    ("é?".encode(), "é?", 0),
])
def test_decode_removes_bytes_that_are_not_utf8(raw, text, count):
    repairs = Counter()
    assert decode(raw, repairs) == text
    assert sum(repairs.values()) == count


def test_found_shows_the_most_frequent_examples():
    counts = Counter(words=7)
    for number in range(30):
        note(counts, "brackets", f"[{number:02}]", 30 - number)
    note(counts, "a", "x\n y" + "z" * 100)
    (what, total, forms), (other, sum_, shown) = found(counts)
    assert (what, total, forms) == ("a", 1, "x y" + "z" * 35 + "… 1")
    assert (other, sum_) == ("brackets", 465)
    assert shown.startswith("[00] 30, [01] 29, ")
    assert shown.endswith("[09] 21, …")
    assert shown.count(",") == 10


LINES = st.lists(st.sampled_from(["#doc A b", "#doc", "#note x", "#note", "so it", " #doc x", "", " ", "a #note"]),
                 min_size=1, max_size=8)


@given(LINES, st.booleans(), st.sampled_from(["#doc", ""]), st.sampled_from(["#note", ""]))
def test_streams_line_by_line(lines, line_start, document_prefix, skip_prefix):
    """Each line with the document prefix begins a stream. A part of a file may begin in the middle of a line."""
    expected, text = [(None, [])], "\n".join(lines)
    for i, line in enumerate(lines):
        if (i or line_start) and skip_prefix and line.startswith(skip_prefix):
            continue
        if (i or line_start) and document_prefix and line.startswith(document_prefix):
            expected.append((line[len(document_prefix):].strip(), []))
        else:
            expected[-1][1].append(line)
    found = reader(document_prefix=document_prefix, skip_prefix=skip_prefix).streams(text, line_start)
    found = [(name, part.split()) for name, part in found]
    expected = [(name, " ".join(some).split()) for name, some in expected]
    assert found == [expected[0], *expected[1:]][bool(len(expected) > 1 and not expected[0][1]):]


@pytest.mark.parametrize(("first", "keep_names", "stream"), [
    (True, False, ""), (True, True, "in"), (False, True, None)])
def test_first_part_of_a_file_begins_its_stream(tmp_path, first, keep_names, stream):
    part = FilePart(str(tmp_path / "in.txt"), 0, b"so it.", True, first)
    passages, repairs = reader(keep_names=keep_names).read_part(part)
    assert [(p.words, p.stream) for p in passages] == [("so it", stream)]
    assert repairs == Counter()


def test_error_names_the_line_of_the_file(tmp_path):
    content = b"a\nb\nso <sil=x>\n"
    (tmp_path / "in").write_bytes(content)
    for offset, path, where in ((0, "in", "in:3: "), (2, "in", "in:3: "), (4, "in", "in:3: "), (4, "gone", "gone: ")):
        with pytest.raises(InputError, match="'x' is not a pause") as error:
            reader("sil").read_part(FilePart(str(tmp_path / path), offset, content[offset:], True, not offset))
        assert str(error.value).startswith(f"{tmp_path}/{where}")


def test_notes_and_dots_are_counted_and_bounded(tmp_path):
    notes = " ".join(f"[{number}]" for number in range(MOST + 1))
    (tmp_path / "in").write_text(f", so {notes} it is etc.")
    counts = reader(abbreviations=Abbreviations({STARTER: ["etc."]})).prepare([tmp_path / "in"], tmp_path / "out")
    noted = [times for what, times in counts.items() if "square-brackets" in what]
    assert (sum(noted), len(noted) < MOST) == (MOST + 1, True)
    assert counts[f"{MARK}\tetc."] == 1
    assert counts["marks before a first word, dropped"] == 1
    assert (counts["words"], counts["streams"]) == (MOST + 5, 1)


def read(name, text, line_start=True, **options):
    """Return the passages of one part of a file, as tuples without pauses, and the repairs."""
    passages, repairs = reader(name, **options).read(text.encode(), line_start)
    return [(p.words, p.labels, p.lead, p.stream, p.end) for p in passages], repairs


def one(name, text, **options):
    passages, repairs = read(name, text, **options)
    assert len(passages) == 1
    return *passages[0][:3], repairs


LREC = "lines with several words, split", "lines with a label but no word; the label goes to the previous word"


@pytest.mark.parametrize(("text", "words", "labels", "lead", "repairs"), [
    ("so\tO\nmuch\tCOMMA\n", "so much", "O COMMA", "", {}),
    ("so\tO\r\nmuch\tCOMMA\r\n", "so much", "O COMMA", "", {"carriage returns, taken as line ends": 2}),
    ("so\tO\n\tCOMMA\nmuch\tO\n", "so much", "COMMA O", "", {LREC[1]: 1}),
    ("so\tQUESTION\n\tCOMMA\n\tPERIOD\n", "so", "QUESTION", "", {LREC[1]: 2}),
    ("\tCOMMA\n\tPERIOD\nso\tO\n", "so", "O", "PERIOD", {LREC[1]: 2}),
    ("new york\tCOMMA\n\tPERIOD\n", "new york", "O PERIOD", "", {LREC[0]: 1, LREC[1]: 1}),
    ("new\u00a0york\tCOMMA\n", "new york", "O COMMA", "", {LREC[0]: 1}),
    ("so\nmuch COMMA\n", "so much", "O COMMA", "", {"lines without a tab, taken as words": 1,
                                                    "lines without a tab, taken as words and a label": 1}),
    ("COMMA\nso much DASH\n", "COMMA so much DASH", "O O O O", "", {"lines without a tab, taken as words": 2}),
    ("a b c\tCOMMA\nd e PERIOD", "a b c d e", "O O COMMA O PERIOD", "", {
        LREC[0]: 1, "lines without a tab, taken as words and a label": 1}),
    ("so\tO\n\n\nmuch\tO", "so much", "O O", "", {}),
    ("<s>\tO\n#0\tO\n", "s 0", "O O", "", {}),
    ("\ufeffso\tO\n", "so", "O", "", {}),
])
def test_lrec_lines(text, words, labels, lead, repairs):
    assert one("lrec", text) == (words, labels, lead, Counter(repairs))


@pytest.mark.parametrize(("name", "text", "line", "what"), [
    ("lrec", "so\tO\nmuch\tDASH\n", 2, "label 'DASH'"),
    ("lrec", "dash\tDOT,\n", 1, "label 'DOT,'"),
    ("lrec", "xa\tPERIOD\na\tPERIO\n", 2, "label 'PERIO'"),
    ("lrec", "\nb\tPERIO", 2, "label 'PERIO'"),
    ("lrec", "so\tO\nmuch\t\n", 2, "label ''"),
    ("lrec", "a\tO\n\n\0\n", 3, "NUL"),
    ("prose", "so\0\n", 1, "NUL"),
    ("sil", "so\nmuch <sil=x> more", 2, "'x' is not a pause"),
    ("sil", "so <sil=inf>", 1, "'inf' is not a pause"),
    ("sil", "so <sil=>", 1, "'' is not a pause"),
    ("mteval", "<doc>\n<seg>so</seg>\n<seg>much", 3, "without its </seg>"),
    ("mteval", "<doc>\n<seg>so\n<seg>much</seg>", 2, "without its </seg>"),
    ("mteval", "<doc>\n<seg>so</seg>\n<SEG>so\n<seg>much", 3, "without its </seg>"),
    ("mteval", "<doc>\n<seg so <b>much</b></seg>", 2, "without its </seg>"),
])
def test_error_names_line(name, text, line, what):
    with pytest.raises(InputError) as error:
        read(name, text)
    assert what in error.value.what
    assert error.value.line == line


@pytest.mark.parametrize(("text", "words", "labels", "lead"), [
    ("Thank you so much, Chris.", "thank you so much chris", "O O O COMMA PERIOD", ""),
    ("so , much .", "so much", "COMMA PERIOD", ""),
    ("so -- much ... ?", "so much", "COMMA QUESTION", ""),
    ("so \" , \" . much", "so much", "PERIOD O", ""),
    (", so much", "so much", "O O", "COMMA"),
    ("- . so", "so", "O", "PERIOD"),
    ("so ,much", "so much", "COMMA O", ""),
    ("one--two .", "one two", "COMMA PERIOD", ""),
    ("so\u00a0much\u2028more", "so much more", "O O O", ""),
    ("\" ( )", "", "", ""),
])
def test_prose_passage(text, words, labels, lead):
    assert one("prose", text) == (words, labels, lead, Counter())


@pytest.mark.parametrize(("text", "words", "labels", "lead"), [
    ("Thank you,so\u3000much. Chris", "Thank you so much Chris", "O COMMA O PERIOD O", ""),
    ("日本、ＡＢ\n3.5.", "日 本 、 ＡＢ 3.5", "O O O O PERIOD", ""),
    (", 日", "日", "O", "COMMA"),
    ("?.", "", "", "QUESTION"),
    ("\u3000", "", "", ""),
])
def test_characters_passage(text, words, labels, lead):
    assert one("characters", text) == (words, labels, lead, Counter())


def test_characters_lines_as_utterances():
    assert read("characters", "日本.\n\n?\n本", utt_words=0)[0] == [
        ("日 本", "O PERIOD", "", None, True), ("", "", "", None, True), ("", "", "QUESTION", None, True),
        ("本", "O", "", None, False)]


def test_prose_million_marks_is_fast():
    assert one("prose", "so " + ", " * 1_000_000 + "? much")[:2] == ("so much", "QUESTION O")


def test_prefixes_begin_streams_and_skip_lines():
    text = "zero.\n#doc A b\none,\n#speaker X.\n#note #doc\ntwo\n#doc B\n\n#doc C\nthree"
    assert read("prose", text, document_prefix="#doc", skip_prefix="#speaker")[0] == [
        ("zero", "PERIOD", "", None, False), ("one #note #doc two", "COMMA O O O", "", "A b", False),
        ("", "", "", "B", False), ("three", "O", "", "C", False)]
    assert read("lrec", "#doc A\nx\tO\n#doc B\ny\tO\n", document_prefix="#doc")[0] == [
        ("x", "O", "", "A", False), ("y", "O", "", "B", False)]


def test_prose_lines_as_utterances():
    assert read("prose", "one,\n\n, two\nthr", utt_words=0)[0] == [
        ("one", "COMMA", "", None, True), ("", "", "", None, True), ("two", "O", "COMMA", None, True),
        ("thr", "O", "", None, False)]


@pytest.mark.parametrize(("text", "line_start", "speakers"), [
    ("A: one\nB: two", True, [("one", None, "A"), ("two", None, "B")]),
    ("A: one\nB: two", False, [("a one", None, None), ("two", None, "B")]),
    ("x\n#doc D\nA: one", False, [("x", None, None), ("one", "D", "A")]),
])
def test_prose_speaker_at_the_beginning_of_a_line(text, line_start, speakers):
    prose = reader("prose", speaker="([A-Z]):", document_prefix="#doc")
    passages, _ = prose.read(text.encode(), line_start)
    assert [(p.words, p.stream, p.speaker) for p in passages if p.words] == speakers


def test_prose_ellipses_with_spaces_are_one_token():
    text = "So . . . it is . . . He"
    words = Abbreviations({"begins": ["he"]})
    assert one("prose", text, abbreviations=words)[:2] == ("so it is he", "O O PERIOD O")
    assert one("prose", text)[:2] == ("so it is he", "PERIOD O PERIOD O")


def test_segments_begin_where_a_line_does():
    passage = one("mteval", "<seg>ANN: so it is</seg>", clean=("speaker-labels",))
    assert passage[0] == "so it is"
    assert passage[3]["words left out: speaker-labels"] == 1


def test_prose_remove():
    assert one("prose", "So (Applause) much.", remove=r"\([A-Z]\w+\)")[:2] == ("so much", "O PERIOD")


def test_mteval_documents_and_segments():
    text = """<?xml version="1.0"?><mteval><srcset><doc docid="A-1" x="y"><title>Not, this.</title>
    <seg id="1"> R&amp;D & Q&quot;A: yes, &lt;so&gt;. </seg><hl><SEG id=2>
    much <b>more</b> </SEG></hl><seg></seg></doc><DOC DOCID=B><seg>end?</seg></DOC>"""
    assert read("mteval", text)[0] == [
        ("r&d & q a yes so", "O O O O COMMA PERIOD", "", "A-1", True), ("much more", "O O", "", None, True),
        ("", "", "", None, True), ("end", "QUESTION", "", "B", True)]


def test_mteval_documents_without_names():
    text = "<doc><seg>a</seg><doc docid=''><seg>b</seg><seg>c</seg><doc docid='D d'><seg>d</seg>"
    assert [row[3] for row in read("mteval", text)[0]] == ["", "", None, "D d"]
    assert list(documents_and_segments(text + "<seg>e &amp; <b>f</b></seg><doc docid=G>")) == [
        ("", "a"), ("", "b"), ("", "c"), ("D d", ""), ("", "d"), ("", "e & <b>f</b>"), ("G", "")]


def test_mteval_parts_end_with_segments(tmp_path):
    """Parts end where segments end, so each part can be read alone, and large files do not need more memory."""
    (tmp_path / "in").write_text("<doc docid='x'>" + "<seg>so,\nmuch</SEG>\n" * 20)
    mteval = reader("mteval", utt_words=3)
    assert mteval.has_utterances
    parts = list(file_parts([tmp_path / "in"], mteval.delimiter, 60))
    assert len(parts) > 5
    assert [p.words for part in parts for p in mteval.read_part(part)[0]] == ["so much"] * 20


def test_sil_pauses_and_marks():
    text = "Tere <sil=0.080> ,COMMA õhtust ?QUESTIONMARK <sil=-0.000> !EXCLAMATIONMARK ja .PERIOD <sil=3.5> ++x++ x"
    (passage,), repairs = reader("sil").read(text.encode())
    assert passage[:2] == ("tere õhtust ja ++x++ x", "COMMA QUESTION PERIOD O O")
    np.testing.assert_array_equal(passage.pauses, np.array([0.08, 0, 3.5, np.nan, np.nan], np.float32))
    assert not np.signbit(passage.pauses[1])
    assert repairs == {"negative pauses, taken as 0": 1, "marks that the label set does not read, dropped": 1}


def test_sil_leading_pause_and_mark():
    (passage,), _ = reader("sil").read(b"<sil=0.5> .PERIOD so <sil=-1.5>")
    assert (passage.words, passage.lead, passage.lead_pause, passage.pauses.tolist()) == ("so", "PERIOD", 0.5, [0.0])


STREAMS = "labels document_prefix skip_prefix utt_words keep_names prefix nj"


@pytest.mark.parametrize(("name", "options"), [
    ("characters", f"{STREAMS} remove clean independent"),
    ("ctm", "lowercase utt_words"),
    ("lrec", STREAMS),
    ("mteval", "labels lowercase clitics abbreviations remove clean independent prefix nj"),
    ("prose", f"{STREAMS} lowercase clitics abbreviations remove clean independent speaker"),
    ("sil", f"{STREAMS} lowercase"),
    ("trs", "labels lowercase clitics abbreviations remove clean"),
])
def test_options_that_apply_to_each_format(name, options):
    assert set(load_format(name).takes) == set(options.split())


def test_sil_words_that_look_like_marks():
    """`.COMPANY` is a word, because no mark has the name COMPANY. Marks that the label set lacks are dropped."""
    (passage,), repairs = reader("sil").read(b"so 'CAUSE $MILLION .COMPANY ,COMMA x ;SEMICOLON ?QUESTION")
    assert (passage.words, passage.labels) == ("so 'cause $million .company x", "O O O COMMA QUESTION")
    assert repairs == {"marks that the label set does not read, dropped": 1}


@pytest.mark.parametrize(("texts", "pauses"), [
    (["a b", "c"], False), (["a <sil=1>"], True), (["a", "b <sil=0.5> c"], True), (["a", None], True)])
def test_sil_has_pauses_if_a_file_has_or_cannot_be_searched(tmp_path, texts, pauses):
    paths = [tmp_path / str(i) for i in range(len(texts))]
    for path, text in zip(paths, texts):
        if text is not None:
            path.write_text(text)
    assert reader("sil").has_pauses(paths) is pauses


@pytest.mark.parametrize("value", ["1e308", "1e9", "9" * 5000])
def test_sil_invalid_pause(value):
    with pytest.raises(InputError, match="is not a pause"):
        read("sil", f"so <sil={value}>")


@pytest.mark.parametrize(("text", "words", "outside"), [
    ("<doc><title>two words</title><seg>so</seg>more</doc>", "so", 3),
    ("one</seg> two <seg>so</seg></seg>", "so", 2),
    ("<seg>5 < 6 and 7 > 3</seg>", "5 6 and 7 3", 0),
    ("<seg>so <b>much</b> <![CDATA[a b]]></seg>", "so much a b", 0),
    ("<doc so <seg>much</seg>", "much", 2),
    ("I <seg>so</seg>", "so", 1),
    ("a <seg>b</seg> c d <doc>e <seg>f</seg> g", "b f", 5),
    ("<![CDATA[ not this ]]><seg>so<i>much</i></seg>", "so much", 2),
])
def test_mteval_words_outside_of_segments_are_counted(text, words, outside):
    passages, repairs = read("mteval", text)
    assert " ".join(passage[0] for passage in passages) == words
    assert repairs == {"words outside a <seg>, left out": outside}
