"""Text that is not speech: its kinds, and what is removed. Each removed word is counted."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.labels import Label, LabelSet
from punc.text.format import PrepareOptions, load_format
from punc.text.not_speech import DECODED, ENTITIES, KEPT, KINDS, LEFT_OUT, WORDS, parse_kinds

SET = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", ":")), Label("PERIOD", "w.", (".", ";")),
                Label("QUESTION", "w?", ("?",))))
ALL = tuple(KINDS)


def read(text, clean=(), format="prose", line_start=True, **options):
    counts = Counter()
    reader = load_format(format)(PrepareOptions(SET, clean=clean, **options))
    passage = reader.passage(reader.said(text, counts, line_start), counts)
    return passage.words, passage.labels, counts


@pytest.mark.parametrize(("kind", "text", "form", "words", "left"), [
    ("tags", "so <i>much</i>", "<i>", "so much", 2),
    ("tags", "a <font color='red'>b", "<font color='red'>", "a b", 2),
    ("urls", "see https://example.com/a?b=c, then", "https://example.com", "see then", 3),
    ("urls", "see www.example.com/a/.", "www.example.com", "see", 1),
    ("urls", "(http://a.org)", "http://a.org", "", 2),
    ("square-brackets", "so [inaudible 00:01:43] much", "[inaudible 00:00:00]", "so much", 2),
    ("square-brackets", "word[12] and", "[00]", "word and", 1),
    ("square-brackets", "[a note\nof two lines] x", "[a note of two lines]", "x", 5),
    ("curly-brackets", "{noise} so", "{noise}", "so", 1),
    ("round-brackets", "so (laughs). Then", "(laughs)", "so then", 1),
    ("round-brackets", "some (of the) member(s)", "(of the)", "some member s", 2),
    ("stars", "*coughs* so", "*coughs*", "so", 1),
    ("timestamps", "00:00:43 so", "00:00:00", "so", 1),
    ("timestamps", "so 00:00:43.120 - 00:00:44.5 much", "00:00:00.000 - 00:00:00.0", "so much", 2),
    ("timestamps", "1\n00:00:01,000 --> 00:00:02,500\nso", "0 00:00:00,000 --> 00:00:00,000", "so", 3),
    ("timestamps", "x\n03:54 so", "00:00", "x so", 1),
    ("speaker-labels", "JOHN SMITH: so", "JOHN SMITH:", "so", 2),
    ("speaker-labels", "x\n**Dr. Smith:** so", "Dr. Smith:", "x so", 2),
    ("speaker-labels", "ANNA: Look: so", "ANNA:", "look so", 1),
    ("headings", "x\n\n== Works ==\nThe Trial\n\ny", "== Works ==", "x the trial y", 3),
    ("speaker-labels", ">> Speaker 1 : so", "Speaker 1 :", "so", 2),
    ("headings", "CHAPTER IV.\nso", "CHAPTER IV.", "so", 2),
    ("headings", "# The End\nso", "# The End", "so", 3),
    ("headings", "so.\n\nThe End\n\nso", "The End", "so so", 2),
])
def test_not_speech_is_counted_and_taken_out(kind, text, form, words, left):
    kept, _, counts = read(text)
    assert counts[f"{KEPT}{kind}\t{form}"] == 1
    found, _, counts = read(text, (kind,))
    assert found == words
    assert (counts[f"{LEFT_OUT}{kind}\t{form}"], counts[WORDS + kind]) == (1, left)
    assert len(kept.split()) == len(found.split()) + left


@pytest.mark.parametrize("text", [
    "It is 7:30 now.", "Then he said: yes.", "x (  ) < y", "2 * 3 * 4", "AT&T; x", "We came.\nThey went.",
    "OK.\nNO", "ratio 3:45", "the U.S.\n\nthen on\n\nwe", "a & b; c", "so.\n\nHe came.\n\nso", "日本\n\n東京\n\n大阪",
    "e.g. 12:30", "http: no", "[ ]", "so he: yes", "**bold**"])
def test_not_speech_is_not_seen_in_speech(text):
    assert not [what for what in read(text)[2] if "\t" in what]


def test_entities_are_decoded_first():
    assert read("R&amp;D &lt;b&gt;so&nbsp;much&#10;x &foo; &#39;tis", ALL)[0] == "r&d so much x &foo tis"
    words, labels, counts = read("R&amp;D, &quot;so&quot;", (ENTITIES,))
    assert (words, labels) == ("r&d so", "COMMA O")
    assert counts == {f"{DECODED}entities\t&amp;": 1, f"{DECODED}entities\t&quot;": 2}
    assert read("R&amp;D")[0] == "r&amp d"  # wrong words, but the count of kept entities warns of them


def test_marks_after_what_is_taken_out_belong_to_the_word_before():
    assert read("so much [laughs]. Is it (https://a.org/b)?", ("square-brackets", "urls"))[:2] == (
        "so much is it", "O PERIOD O QUESTION")


def test_full_width_brackets():
    counts = read("そう（笑）。", format="characters")[2]
    assert counts == {f"{KEPT}round-brackets\t（笑）": 1}
    words, _, counts = read("そう（笑）。", ("round-brackets",), "characters")
    assert (words.split(), counts[WORDS + "round-brackets"]) == (["そ", "う", "。"], 3)


def test_line_kinds_need_a_line_start():
    assert read("NAME: so", ("speaker-labels",), line_start=False)[0] == "name so"


PIECES = ["so", "it", "R&D", "U.S.", "Mr.", "word,", "[laughs]", "[inaudible 00:01:02]", "(so they say)", "*sighs*",
          "<i>", "</i>", "{x}", "https://a.org/b?c=d", "www.b.org.", "00:01:02", "01:02 ", "\n", "\n\n", "\nNAME ONE: ",
          "\nJo: ", "\nA TITLE", "\n# Head\n", "(", ")", "[", "]", "*", "<", ">", ":", "?", "5", "12:30", "—",
          "\n3\n00:00:01,5 --> 00:02:01,5"]


@given(st.lists(st.sampled_from(PIECES), max_size=15), st.sets(st.sampled_from(ALL[1:])))
def test_words_in_are_words_out_and_words_counted(pieces, clean):
    text = " ".join(pieces)
    words, _, counts = read(text, tuple(clean))
    assert len(read(text)[0].split()) == len(words.split()) + sum(counts[WORDS + kind] for kind in clean)


@given(st.text(st.sampled_from("aB \n:.[]()*<>&;#/w0:=w-"), max_size=60))
def test_any_text_is_read_and_its_lines_stay(text):
    reader = load_format("prose")(PrepareOptions(SET, clean=ALL))
    assert reader.said(text, Counter()).count("\n") >= text.count("\n") - 1
    assert read(text)[0] == read(text, ())[0]


READ_SPEECH = """CHAPTER IV.

Mr. J. R. Green met Dr. Brown of the U.S. Army at 3.30 p.m. on Monday, i.e. late. It cost $3.50... or so.
He lived in the U.S. He liked figs, etc. They left at 10.45 a.m. Then No. 5 came. He said no. It was 1999.
"""
CONVERSATION = """ANNA: Hello (laughs), this is Anna. [inaudible 00:00:43] Yes?
BOB: *coughs* I see, Mrs. Gray. [crosstalk] Well... so it is.
00:01:02 ANNA: Bye.
"""
TEXT_ONLY = """Fish &amp; chips cost &pound;5. See https://example.com/a?b=c, or www.example.org.
<p>It&#39;s all</p> we have at AT&amp;T.
"""


@pytest.mark.parametrize(("text", "clean", "words", "periods", "said"), [
    (READ_SPEECH, "headings",
     "mr j r green met dr brown of the u.s army at 3.30 p.m on monday i.e late it cost $3.50 or so "
     "he lived in the u.s he liked figs etc they left at 10.45 a.m then no 5 came he said no it was 1999",
     ["late", "so", "u.s", "etc", "a.m", "came", "no", "1999"],
     ["left out: 1 headings, 2 words: CHAPTER IV. 1", "dots that are not marks: ... 1, dr. 1, i.e. 1",
      "dots of abbreviations, numbers and ellipses that are marks: a.m. 1, etc. 1, no. 1"]),
    (CONVERSATION, "square-brackets,round-brackets,stars,timestamps,speaker-labels",
     "hello this is anna yes i see mrs gray well so it is bye", ["anna", "gray", "is", "bye"],
     ["left out: 2 square-brackets, 3 words: [crosstalk] 1, [inaudible 00:00:00] 1",
      "left out: 3 speaker-labels, 3 words: ANNA: 2, BOB: 1", "left out: 1 stars, 1 words: *coughs* 1",
      "left out: 1 timestamps, 1 words: 00:00:00 1", "left out: 1 round-brackets, 1 words: (laughs) 1",
      "2 dots that are not marks: ... 1, mrs. 1"]),
    (TEXT_ONLY, "entities,tags,urls", "fish & chips cost £5 see or it's all we have at at&t", ["£5", "or", "at&t"],
     ["decoded: 4 entities: &amp; 2, &#39; 1, &pound; 1", "left out: 2 tags, 2 words: </p> 1, <p> 1",
      "left out: 2 urls, 4 words: https://example.com 1, www.example.org 1"]),
])
def test_prepare_with_traps(tmp_path, capsys, text, clean, words, periods, said):
    (tmp_path / "in").write_text(text)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. . ; !\nQUESTION w? ?\n")
    command = ["prepare", "--format=prose", f"--labels={tmp_path / 'labels.txt'}", "--nj=1", str(tmp_path / "in"),
               str(tmp_path / "out")]
    assert main(command) == 0
    warned = capsys.readouterr().err
    assert warned.count("punc prepare: perhaps not speech: ") == len(clean.split(","))
    for kind in clean.split(","):
        assert f"; --clean {kind} {'decodes them' if kind == 'entities' else 'leaves them out'}\n" in warned
    assert main([*command[:-2], "--abbreviations=punc/text/abbreviations.txt", f"--clean={clean}", *command[-2:]]) == 0
    lines = capsys.readouterr().err
    assert "perhaps" not in lines
    for line in said:
        assert line in lines
    [utterance] = DataDir(tmp_path / "out").utterances()
    assert " ".join(utterance.words) == words
    assert [word for word, label in zip(utterance.words, utterance.labels) if label == "PERIOD"] == periods


def test_parse_kinds():
    assert parse_kinds("") == ()
    assert parse_kinds("tags,urls") == ("tags", "urls")
    with pytest.raises(InputError, match=r"--clean does not know .laughter.; name some of entities, tags, "):
        parse_kinds("tags,laughter")
