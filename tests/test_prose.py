"""Prose is read as words and labels, and written back.

The tests cover single tokens, clitics, capitals, casing tables, and texts whose tokens are characters.
"""

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.text.casing import Casing, read_casing
from punc.text.characters import CharacterReader, class_of, split, with_words
from punc.text.prose import Clitics, Parts, ProseWriter, TextReader, legal, written

sys.path.insert(0, str(Path(__file__).parents[1] / "utils"))

from learn_casing import learn, write_casing

CHE = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", ":", "-", "–")), Label("PERIOD", "w.", (".", ";", "!")),
                Label("QUESTION", "w?", ("?",))))
CASED = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("COMMA", "w,", (",",)), Label("CAP_COMMA", "W,", (",",)),
                  Label("PERIOD", "w.", (".",)), Label("CAP_PERIOD", "W.", (".",))))


@pytest.fixture
def clitics(tmp_path):
    (tmp_path / "clitics").write_text("# rules\ncan't cannot\ngonna gon na\nn't\n's\n'm\nl'\n")
    return Clitics(tmp_path / "clitics")


@pytest.mark.parametrize(("token", "lead", "words", "labels"), [
    # The columns: token, label for the word before it, words, their labels.
    ("word", "", "word", "O"),
    ("Word,", "", "word", "COMMA"),
    ("end.", "", "end", "PERIOD"),
    ("really?!", "", "really", "QUESTION"),
    ("(Hello!)", "", "hello", "PERIOD"),
    ("“Don’t,”", "", "don't", "COMMA"),
    ("¿Qué?", "", "qué", "QUESTION"),
    ("it's", "", "it's", "O"),
    ("'tis", "", "tis", "O"),
    ("students'", "", "students", "O"),
    ("mid-'90s", "", "mid-'90s", "O"),
    ("well-known", "", "well-known", "O"),
    ("well‑known", "", "well-known", "O"),
    ("and/or", "", "and/or", "O"),
    ("3.5%", "", "3.5%", "O"),
    (".5", "", ".5", "O"),
    ("10,000.", "", "10,000", "PERIOD"),
    ("7:30:", "", "7:30", "COMMA"),
    ("1990–2000", "", "1990–2000", "O"),
    ("$5", "", "$5", "O"),
    ("ended.¹", "", "ended", "PERIOD"),
    ("¹The", "", "the", "O"),
    ("¹²", "", "", ""),
    ("10⁶m².", "", "10⁶m²", "PERIOD"),
    ("don´t", "", "don't", "O"),
    ("`don`t′", "", "don't", "O"),
    ("AT&T", "", "at&t", "O"),
    ("U.S.", "", "u.s", "PERIOD"),
    ("pre-", "", "pre", "O"),
    ("-ing", "", "ing", "O"),
    ("-5", "", "5", "O"),
    ("word--word...", "", "word word", "COMMA PERIOD"),
    ("one,two", "", "one two", "COMMA O"),
    ("well…so", "", "well so", "O O"),
    ("soft\u00adhyphen\u200b", "", "softhyphen", "O"),
    ("-", "COMMA", "", ""),
    ("--", "COMMA", "", ""),
    ("...", "PERIOD", "", ""),
    (".,?", "QUESTION", "", ""),
    (",and", "COMMA", "and", "O"),
    ("--that", "COMMA", "that", "O"),
    ("\"", "", "", ""),
    ("♪", "", "", ""),
    ("_x_", "", "x", "O"),
    ("हिन्दी।", "", "हिन्दी", "O"),
    ("日本、", "", "日本", "O"),
    ("#0", "", "0", "O"),
    ("<s>", "", "s", "O"),
    ("maX", "", "max", "O"),
    ("X-ray", "", "x-ray", "O"),
    # A word with a joiner, one with a private-use character, and one with an unassigned character.
    ("a\u200db", "", "a\u200db", "O"),
    ("a\ue000b", "", "a\ue000b", "O"),
    ("a\u0378b", "", "a\u0378b", "O"),
])
def test_token_parts(token, lead, words, labels):
    assert TextReader(CHE).token(token) == Parts(lead, words, labels)


@pytest.mark.parametrize(("token", "words", "labels"), [
    ("it's", "it 's", "O O"),
    ("Don’t,", "do n't", "O COMMA"),
    ("can't.", "cannot", "PERIOD"),
    ("gonna,", "gon na", "O COMMA"),
    ("l'eau", "l' eau", "O O"),
    ("shouldn't's", "should n't 's", "O O O"),
    ("'s", "'s", "O"),
    ("n't", "n't", "O"),
    ("n't,", "n't", "COMMA"),
    ("its", "its", "O"),
    ("l'", "l'", "O"),
    ("“'m,", "'m", "COMMA"),
])
def test_token_with_clitics(clitics, token, words, labels):
    assert TextReader(CHE, clitics=clitics).token(token) == Parts("", words, labels)


def test_clitics_file_without_a_rule(tmp_path):
    (tmp_path / "clitics").write_text("# none\n")
    with pytest.raises(InputError, match="no rules in the file"):
        Clitics(tmp_path / "clitics")


def rules(tmp_path, text):
    (tmp_path / "rules").write_text(text, encoding="utf-8")
    return Clitics(tmp_path / "rules")


def test_clitics_of_one_letter_keep_the_word(tmp_path):
    reader = TextReader(CHE, clitics=rules(tmp_path, "s\n"))
    assert reader.token("it’s") == Parts("", "it' s", "O O")
    assert reader.token("s") == Parts("", "s", "O")


@pytest.mark.parametrize(("word", "parts"), [
    ("gonna", ["gon", "na"]), ("Gonna", ["Gon", "na"]), ("GONNA", ["Gon", "na"]), ("gOnna", ["gon", "na"]),
    ("Don't", ["Do", "n't"]), ("l'eau's", ["l'", "eau", "'s"]), ("l'", ["l'"]), ("İ's", ["İ's"])])
def test_clitics_split(clitics, word, parts):
    assert clitics.split(word) == parts


@pytest.mark.parametrize("text", ["can't cannot\n", "n't\n", "l'\n", "gonna gon na\nl'\nd'\nn't\n's\n"])
def test_clitics_write_round_trip(tmp_path, text):
    clitics = rules(tmp_path, text)
    clitics.write(tmp_path / "written")
    assert (tmp_path / "written").read_text(encoding="utf-8") == text
    assert vars(Clitics(tmp_path / "written")) == vars(clitics)


def test_clitics_line_that_is_not_seen(tmp_path):
    with pytest.raises(InputError, match=r"rules:2: a line of invisible characters; remove it"):
        rules(tmp_path, "n't\n\u200b\n")


@pytest.mark.parametrize(("token", "lowercase", "words", "labels"), [
    ("Chris.", True, "chris", "CAP_PERIOD"),
    ("Chris", True, "chris", "CAP"),
    ("chris,", True, "chris", "COMMA"),
    ("McDonald,", False, "mcDonald", "CAP_COMMA"),
    ("It's,", True, "it 's", "CAP COMMA"),
    ("Can't", False, "cannot", "CAP"),
    ("It's,", False, "it 's", "CAP COMMA"),
])
def test_token_capitals(clitics, token, lowercase, words, labels):
    assert TextReader(CASED, lowercase, clitics).token(token) == Parts("", words, labels)


def test_token_keeps_case_without_lowercase():
    assert TextReader(CHE, lowercase=False).token("McDonald,") == Parts("", "McDonald", "COMMA")


def test_attach_keeps_capital():
    assert TextReader(CASED).attach("CAP", "PERIOD") == "CAP_PERIOD"
    assert TextReader(CASED).attach("CAP_PERIOD", "COMMA") == "CAP_PERIOD"
    assert TextReader(CASED).attach("O", "PERIOD") == "PERIOD"


def test_longest_mark_is_read():
    labels = LabelSet((Label("O", "w"), Label("DOT", "w.", (".",)), Label("DOTS", "w…", ("...",)),
                       Label("Q", "w?.", ("?.",))))
    reader = TextReader(labels)
    assert [reader.token(f"so{marks}").labels for marks in (".", "..", "...", "....", "?.")] == \
        ["DOT", "DOT", "DOTS", "DOTS", "Q"]


def test_mark_that_is_a_letter_is_not_read_in_words(clitics):
    labels = LabelSet((Label("O", "w"), Label("EX", "wX", ("X",))))
    for reader in (TextReader(labels), TextReader(labels, lowercase=False), TextReader(labels, clitics=clitics)):
        for token in ("MaX", "MaX-", "-MaX", "DOXn't", "n't"):
            lead, words, marks, _ = reader.token(token)
            assert (lead, set(marks.split())) == ("", {"O"})
            assert words.replace(" ", "").lower() == token.strip("-").lower()


@given(st.text(min_size=1))
def test_token_any_text_gives_words_and_a_label_each(text):
    for token in text.split():
        parts = TextReader(CHE).token(token)
        words, labels = parts.words.split(" "), parts.labels.split(" ")
        assert len(words) == len(labels)
        assert parts.words.split() == list(filter(None, words))
        assert set(labels) <= {*CHE.names, ""}
        assert (parts.words == "") == (parts.labels == "")


@given(st.text(st.sampled_from("abÉßǅİʼ’́ 日.,:;?!-…0"), min_size=1, max_size=4).filter(lambda text: " " not in text),
       st.sampled_from([CHE, CASED]), st.booleans())
def test_token_of_letters_and_a_mark_is_read_as_any_other(token, labels, lowercase):
    """Tokens of letters and a mark take a fast path. A quote before such a token prevents this, and is dropped."""
    reader = TextReader(labels, lowercase)
    assert reader.token(token)[1:] == reader.token("“" + token)[1:]


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}('[a-z]|-[a-z]{2})?", fullmatch=True), min_size=1, max_size=8)


@given(st.data(), WORDS)
def test_written_round_trip(data, words):
    for labels in (CHE, CASED):
        names = data.draw(st.lists(st.sampled_from(labels.names), min_size=len(words), max_size=len(words)))
        reader = TextReader(labels)
        parts = [reader.token(token) for token in " ".join(written(words, names, labels)).split(" ")]
        assert [part.words for part in parts] == words
        assert [part.labels for part in parts] == names


@pytest.mark.parametrize(("word", "expected"), [
    ("<s>", "s"), ("</s>", "s"), ("x</s>", "x</s>"), ("-<s>", "-s"), ("#0", "0"), ("#01", "#01"), ("#1", "#1")])
def test_legal_words(word, expected):
    assert legal(word) == expected


MARKS = (("QUOTATION", '"', ('"',)), ("COMMA", ",", (",",)), ("PERIOD", ".", (".",)), ("QUESTIONMARK", "?", ("?",)))
LABELS = LabelSet((Label("O", "w"), Label("CAP", "W"), *(
    Label(prefix + name, letter + mark, marks) for name, mark, marks in MARKS
    for prefix, letter in (("", "w"), ("CAP_", "W")))))
NAMES = {"": "O", '"': "QUOTATION", ",": "COMMA", ".": "PERIOD", "?": "QUESTIONMARK"}


def labelled(text):
    words, names = [], []
    for token in text.split():
        word = token.rstrip('",.?')
        name = NAMES[token[len(word):]]
        words.append(word.lower())
        names.append({"O": "CAP"}.get(name, f"CAP_{name}") if word[0].isupper() else name)
    return words, names


def prose(*utterances, **options):
    file = io.BytesIO()
    writer = ProseWriter(file, LABELS, **options)
    for number, (stream, text) in enumerate(utterances):
        writer.write(f"{stream}{number}", stream, *labelled(text))
    writer.close()
    return [line.partition(" ")[2] for line in file.getvalue().decode().split("\n")[:-1]]


@pytest.mark.parametrize(("text", "expected"), [
    ('The" why" guy.', 'The "why" guy.'),
    ('He whispered" come here. She came.', 'He whispered "come here." She came.'),
    ('Is it" so? Yes" no" yes.', 'Is it "so?" Yes "no" yes.'),
    ('One" two" three" four" five.', 'One "two" three "four" five.'),
    ('A Mr" Bean, said.', 'A Mr "Bean, said."'),
    ('It ends" here', 'It ends "here"'),
    ('Nothing follows"', "Nothing follows"),
    ('So" He" said.', 'So "He" said.'),
    ("Plain, text. Is it?", "Plain, text. Is it?"),
])
def test_prose_writer_pairs_quotes(text, expected):
    assert prose(("a", text)) == [expected]
    assert expected.count('"') % 2 == 0


def test_prose_writer_quotes_cross_utterances_not_streams():
    assert prose(("a", 'He said"'), ("a", 'yes, and" went. Said"'), ("b", 'no" yes'), ("b", "end"), ("c", 'x" y')) == [
        "He said", '"yes, and" went. Said', 'no "yes', 'end"', 'x "y"']


def test_prose_writer_without_quotes_is_written():
    text = "I saw Japan, and NATO. Who did? 1996 x"
    words, names = labelled(text)
    assert prose(("a", text)) == [" ".join(written(words, names, LABELS))]


@pytest.mark.parametrize(("text", "expected"), [
    ("Nato met Mcdonald. Mcdonald, nato", "NATO met McDonald. McDonald, nato"),
    ("do n't, it 's. L' eau", "don't, it's. L'eau"),
    ("n't begins", "n't begins"),
    ('say" n\'t" x', "say \"n't\" x"),
])
def test_prose_writer_casing_and_clitics(text, expected):
    options = {"casing": {"Nato": "NATO", "Mcdonald": "McDonald"}, "clitics": frozenset(("n't", "'s", "l'"))}
    assert prose(("a", text), **options) == [expected]


@pytest.mark.parametrize("text", ["I", "USA", "1996 3.5", "x" * 500, "don't don’t donʼt don＇t don´t don`t",
                                  "no capital, here. none", "ÇA Ça ß"])
def test_prose_writer_odd_words_round_trip(text):
    parts = [TextReader(LABELS).token(token) for token in text.split()]
    file = io.BytesIO()
    writer = ProseWriter(file, LABELS)
    writer.write("a", "a", [p.words for p in parts], [p.labels for p in parts])
    writer.close()
    expected = " ".join(token[:1] + token[1:].lower() for token in text.split())
    for apostrophe in "’ʼ＇´`":
        expected = expected.replace(apostrophe, "'")
    assert file.getvalue().decode() == f"a {expected}\n"
    assert len({p.words for p in parts}) == 1 or "don't" not in text


CAPITALS = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", (".",)),
                   Label("CAP_PERIOD", "W.", (".",))))


def data(path, *texts):
    """Write a data directory of texts, as `punc prepare --lowercase false` does."""
    reader = TextReader(CAPITALS, lowercase=False)
    parts = [[reader.token(token) for token in text.split()] for text in texts]
    write_data_dir(path, (Utterance(f"{i:02}", f"{i:02}", [p.words for p in line], [p.labels for p in line])
                          for i, line in enumerate(parts)))
    return DataDir(path)


@pytest.mark.parametrize(("texts", "table"), [
    (["NATO and NATO met McDonald. McDonald left."], {"Mcdonald": "McDonald", "Nato": "NATO"}),
    (["The US let us go. Us US, US", "us us us us"], {}),  # `us` is more frequent than `US`
    (["my iPhone, an iPhone an iphone"], {"iphone": "iPhone"}),
    (["a McX here"], {}),  # occurs only once
    (["THE the The THE The x"], {}),  # `THE` is not more frequent than `The`
    (["I see a B here. A b I"], {}),  # words of one letter are not learned
    (["no capital in this text", "none in this one"], {}),
    (["ALL ARE CAPITALS HERE", "ALL ARE CAPITALS HERE", "1996 2.5 ALL ALL"], {}),
    (["don't Don't DON'T DON'T DON'T DON'T O'Neill O'Neill"], {"Don't": "DON'T", "O'neill": "O'Neill"}),
    (["x" + "A" * 500 + " and x" + "A" * 500], {"x" + "a" * 500: "x" + "A" * 500}),
])
def test_learn_table(texts, table, tmp_path):
    assert learn([data(tmp_path / "data", *texts)], CAPITALS) == table


def test_casing_file_round_trip(tmp_path):
    table = {"Nato": "NATO", "iphone": "iPhone", "Ça": "ÇA"}
    write_casing(tmp_path / "casing", table)
    assert read_casing(tmp_path / "casing") == table
    for line in ("Nato", "Nato NATO x", "Nato OTAN"):
        (tmp_path / "bad").write_text(f"a A\n{line}\n")
        with pytest.raises(InputError) as error:
            read_casing(tmp_path / "bad")
        assert "bad:2: " in str(error.value)


def test_learn_needs_labels_of_the_set(tmp_path):
    write_data_dir(tmp_path / "none", [Utterance("a", "a", ["x"])])
    write_data_dir(tmp_path / "other", [Utterance("a", "a", ["x"], ["NO"])])
    for name, what in (("none", "no labels"), ("other", "'NO'")):
        with pytest.raises(InputError, match=what):
            learn([DataDir(tmp_path / name)], CAPITALS)


@pytest.mark.parametrize(("word", "name", "text"), [
    ("nato", "CAP", "NATO"), ("nato", "CAP_PERIOD", "NATO."), ("nato", "O", "nato"),
    ("us", "O", "us"), ("us", "CAP", "US"),
    ("iphone", "O", "iPhone"), ("iphone", "PERIOD", "iPhone."), ("iphone", "CAP_PERIOD", "iPhone."),  # with any label
    ("other", "CAP", "Other"), ("IPHONE", "O", "IPHONE"),
    ("nato's", "CAP_PERIOD", "NATO's."), ("iphone's", "O", "iPhone's"), ("us's", "O", "us's"),
    ("nat's", "CAP", "Nat's")])
def test_casing_writes_words_with_the_capitals_of_the_table(word, name, text):
    casing = Casing(CAPITALS, {"Nato": "NATO", "Us": "US", "iphone": "iPhone"})
    assert casing.write_word(word, CAPITALS[CAPITALS.index(name)]) == text
    assert casing.write(["a", word, "b"], ["CAP", name, "PERIOD"]) == ["A", text, "b."]


def test_casing_sentences_begin_with_a_capital():
    words = ["so", "it", "ends", "iphone", "users", "the", "end"]
    names = ["O", "O", "PERIOD", "O", "PERIOD", "CAP", "O"]
    expected = ["So", "it", "ends.", "iPhone", "users.", "The", "end"]
    casing = Casing(CAPITALS, {"iphone": "iPhone"}, sentences=True)
    assert casing.write(words[:3], names[:3]) + casing.write(words[3:], names[3:]) == expected
    assert casing.write(["a", "b"], ["O", "PERIOD"]) == ["a", "b."], "the stream continues"
    assert casing.write(["a", "b", "c"], ["O", "O", "PERIOD"], [0, 2]) == ["A", "b", "C."]
    assert Casing(CAPITALS, {}).write(["a", "b"], ["PERIOD", "O"]) == ["a.", "b"], "only labels give capitals"


def test_casing_without_a_table_writes_the_labels(tmp_path):
    casing = Casing.read(CAPITALS, tmp_path / "none")
    assert casing.write(["nato", "met"], ["CAP", "PERIOD"]) == ["Nato", "met."]
    (tmp_path / "casing").write_text("Nato NATO\n")
    assert Casing.read(CAPITALS, tmp_path / "casing").write(["nato"], ["CAP"]) == ["NATO"]


CHARS = LabelSet((Label("N", "w"), Label("C", "w、", ("、", "､", "，", ",")),
                   Label("P", "w。", ("。", "｡", "．", ".")), Label("E", "w！", ("！", "!")),
                   Label("Q", "w？", ("？", "?"))))
DROPPED = "、､，,。｡．.！!？?"


@pytest.mark.parametrize(("text", "tokens", "labels"), [
    ("はい、そうです。", "は い そ う で す", "N C N N N P"),
    ("ﾊｲ､ｿｳﾃﾞｽ｡", "ﾊ ｲ ｿ ｳ ﾃﾞ ｽ", "N C N N N P"),
    ("え？！", "え", "Q"),
    ("え！？", "え", "Q"),
    ("え!,", "え", "E"),
    ("。は", "は", "N"),
    ("「はい。」と", "「 は い 」 と", "N N P N N"),
    ("Twitterで3.5倍.", "Twitter で 3.5 倍", "N N N P"),
    ("１０，０００円，１，円", "１０，０００ 円 １ 円", "N C C N"),
    ("don't,T-shirt", "don't T-shirt", "C N"),
    ("ＡＢ１2c", "ＡＢ １2 c", "N N N"),
    ("www.", "www", "P"),
    ("...あ...", "あ", "P"),
    ("あ 　。い", "あ い", "P N"),
    ("見て https://t.co/a?b=1。あ", "見 て https://t.co/a?b=1 あ", "N N P N"),
    ("https://t.co/ab, あ", "https://t.co/ab あ", "C N"),
    ("葛\U000e0100城、か\u3099", "葛\U000e0100 城 か\u3099", "N C N"),
    ("👍🏽！👩‍💻。🇯🇵🇺🇸?", "👍🏽 👩‍💻 🇯🇵 🇺🇸", "E P N Q"),
    ("𠮷野家", "𠮷 野 家", "N N N"),
    ("é́t\u0301é", "é́t\u0301é", "N"),
    ("\u3099あ\u200b。\ufeff", "あ\u200b", "P"),
    ("привет", "п р и в е т", "N N N N N N"),
    ("- ' - 3-4", "- ' - 3 - 4", "N N N N N N"),
    ("", "", ""), ("。", "", ""), (" \t\u3000\0", "", "")])
def test_split_tokens_and_labels(text, tokens, labels):
    split = CharacterReader(CHARS).split(text)
    assert (" ".join(split.tokens), " ".join(split.labels)) == (tokens, labels)


@pytest.mark.parametrize(("text", "expected"), [
    ("今日は「雨」、です。", "今 日 は 「雨」、 で す。"), ("(a b)。『", "(a b)。 『"),
    ("、は 。", "、 は 。"), ("<i>そう</i>です<b>Yes", "<i> そ う </i> で す <b>Yes"), ("", "")])
def test_words_of_a_text_without_spaces(text, expected):
    words = split(text)
    assert " ".join(words) == expected
    assert with_words(text, words) == text
    assert "".join(with_words(text, ["x"] * len(words)).split()) == "x" * len(words)


@given(st.text("はA1。、「」 　\n(ﾞ😀é"))
def test_words_of_any_text_are_all_but_spaces(text):
    words = split(text)
    assert with_words(text, words) == text
    assert all(word in text for word in words)


@pytest.mark.parametrize(("text", "written"), [
    ("はい，そう｡", "はい、そう。"), ("え?!", "え？"), ("あ 。い", "あ。 い"), ("  a\tb　c\r", "  a\tb　c\r"),
    ("。あ", "あ"), ("3.5,", "3.5、"), ("", ""), (" 。 ", "  ")])
def test_write_with_own_labels(text, written):
    reader = CharacterReader(CHARS)
    split = reader.split(text)
    assert reader.write(split, split.labels) == written


SCRIPTS = ["あいうアイウ漢字々ー〜・「」", "ｱｲｳｶﾞﾊﾟﾞ", "abcXYZéａＢ'’-@#", "0123０１٣", DROPPED,
           " \t\u3000\u00a0\r\n\x0b\x85\u2028\0\x1f\ufeff",
           "𠮷👍🏽👩\u200d💻🇯🇵🇺", "\u3099\u0301\ufe0f\U000e0100\u200d\u200b\u00ad", "한국어हिन्दीกำ", "://.,https://t.co/?a"]
TEXTS = st.one_of(st.text(), st.lists(st.one_of(*(st.text(script) for script in SCRIPTS))).map("".join))


@given(TEXTS, st.randoms())
def test_write_changes_marks_only(text, rng):
    reader = CharacterReader(CHARS)
    split = reader.split(text)
    output = reader.write(split, [rng.choice(CHARS.names) for _ in split.tokens])
    assert [c for c in output if c not in DROPPED] == [c for c in text if c not in DROPPED]
    # With only the label N, no mark is added, and marks remain only inside a token, or between letters or digits.
    bare = reader.write(split, ["N"] * len(split.tokens))
    slots = zip(split.labels, split.rests[1:], split.tokens, split.tokens[1:])
    between = sum(label != "N" and not rest and class_of(left[-1]) != "" and class_of(right) != ""
                  for label, rest, left, right in slots)
    assert sum(c in DROPPED for c in bare) == between + sum(c in DROPPED for token in split.tokens for c in token)
    assert all(c not in DROPPED for token in split.tokens if len(token) < 3 for c in token)
    assert all(c not in DROPPED for rest in split.rests for c in rest)


@given(st.lists(st.tuples(st.sampled_from([*"あ漢ｱ「𠮷", "ABC", "12"]), st.sampled_from(CHARS.names))))
def test_write_then_split_round_trip(pairs):
    """A mark follows each `ABC` and `12`. Otherwise, `ABC` and another `ABC` in a row would be a single token."""
    pairs = [(token, label if token not in ("ABC", "12") else "P") for token, label in pairs]
    reader = CharacterReader(CHARS)
    split = reader.split("".join(token + CHARS[CHARS.index(label)].mark for token, label in pairs))
    assert list(zip(split.tokens, split.labels)) == pairs
