"""Formats of punctuated text: parts of files and the passages they give, repairs, and text that cannot be repaired."""

from collections import Counter

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.text.abbreviations import Abbreviations
from punc.text.file_parts import file_parts
from punc.text.format import PrepareOptions, load_format
from punc.text.formats.mteval import documents_and_segments
from punc.text.text_format import TextFormat

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", "-")), Label("PERIOD", "w.", (".",)),
                   Label("QUESTION", "w?", ("?",))))


def reader(name: str, **options) -> TextFormat:
    return load_format(name)(PrepareOptions(LABELS, **options))


def read(name, text, line_start=True, **options):
    """(passages as tuples without pauses, repairs) of one part of a file."""
    passages, repairs = reader(name, **options).read(text.encode(), line_start)
    return [(p.words, p.labels, p.lead, p.stream, p.end) for p in passages], repairs


def one(name, text, **options):
    passages, repairs = read(name, text, **options)
    assert len(passages) == 1
    return *passages[0][:3], repairs


LREC = "lines with several words, split", "lines with a label and no word, given to the word before"


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


def test_lrec_repeated_broken_line_is_repaired_each_time():
    assert one("lrec", "a b\tO\n" * 5 + "\tCOMMA\n")[3] == Counter({LREC[0]: 5, LREC[1]: 1})


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


def test_prefix_inside_a_line_begins_no_stream():
    assert read("prose", "#doc A\n#doc B\n", line_start=False, document_prefix="#doc")[0] == [
        ("#doc a", "O O", "", None, False), ("", "", "", "B", False)]


def test_prose_lines_as_utterances():
    assert read("prose", "one,\n\n, two\nthr", utt_words=0)[0] == [
        ("one", "COMMA", "", None, True), ("", "", "", None, True), ("two", "O", "COMMA", None, True),
        ("thr", "O", "", None, False)]


def test_prose_lines_as_utterances_end_with_the_text():
    assert read("prose", "one,\ntwo\n", utt_words=0)[0] == [("one", "COMMA", "", None, True),
                                                          ("two", "O", "", None, True)]


@pytest.mark.parametrize(("text", "line_start", "speakers"), [
    ("A: one\nB: two", True, [("one", None, "A"), ("two", None, "B")]),
    ("A: one\nB: two", False, [("a one", None, None), ("two", None, "B")]),
    ("x\n#doc D\nA: one", False, [("x", None, None), ("one", "D", "A")]),
])
def test_prose_speaker_at_the_beginning_of_a_line(text, line_start, speakers):
    prose = reader("prose", speaker="([A-Z]):", document_prefix="#doc")
    passages, _ = prose.read(text.encode(), line_start)
    assert [(p.words, p.stream, p.speaker) for p in passages if p.words] == speakers


def test_prose_ellipses_with_blanks_are_one_token():
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
    """So each part can be read alone, and memory does not grow with the file."""
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
    """Any other option is refused on the command line."""
    assert set(load_format(name).takes) == set(options.split())


def test_memo_forgets_above_limit(monkeypatch):
    monkeypatch.setattr("punc.text.passages.MEMORY", 3)
    prose = reader("prose")
    for text in ("a, b c d .", "a. b , e f g", "a , b"):
        expected = reader("prose").read(text.encode())
        assert prose.read(text.encode()) == expected
        assert len(prose._memo) <= 3


def test_sil_words_that_look_like_marks():
    """Only the names of marks are marks; so is what the label set names."""
    (passage,), repairs = reader("sil").read(b"so 'CAUSE $MILLION .COMPANY ,COMMA x ;SEMICOLON ?QUESTION")
    assert (passage.words, passage.labels) == ("so 'cause $million .company x", "O O O COMMA QUESTION")
    assert repairs == {"marks that the label set does not read, dropped": 1}


@pytest.mark.parametrize("name", [
    "COMMA", "PERIOD", "QUESTIONMARK", "EXCLAMATIONMARK", "COLON", "SEMICOLON", "DASH", "COMM"])
def test_sil_names_of_marks(name):
    """These names are marks whatever the labels are called, and so are the labels' names."""
    labels = LabelSet((Label("NONE", "w"), Label("COMM", "w,", (",",))))
    passages, _ = load_format("sil")(PrepareOptions(labels)).read(f"So ,{name} much ~{name}".encode())
    assert [passage[:2] for passage in passages] == [("so much", "COMM NONE")]


def test_sil_leading_marks_and_case():
    assert one("sil", "So much", lowercase=False) == ("So much", "O O", "", Counter())
    assert one("sil", ".PERIOD ,COMMA So <sil=0>") == ("so", "O", "PERIOD", Counter())


@pytest.mark.parametrize(("texts", "pauses"), [
    (["a b", "c"], False), (["a <sil=1>"], True), (["a", "b <sil=0.5> c"], True), (["a", None], True)])
def test_sil_has_pauses_if_a_file_has_or_cannot_be_searched(tmp_path, texts, pauses):
    paths = [tmp_path / str(i) for i in range(len(texts))]
    for path, text in zip(paths, texts):
        if text is not None:
            path.write_text(text)
    assert reader("sil").has_pauses(paths) is pauses


@pytest.mark.parametrize("value", ["1e308", "1e9", "9" * 5000])
def test_sil_pause_that_is_none(value):
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
