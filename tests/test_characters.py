"""Characters as tokens: a table of texts and what they say; writing changes marks only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.data.labels import Label, LabelSet
from punc.text.characters import CharacterReader, class_of

LABELS = LabelSet((Label("N", "w"), Label("C", "w、", ("、", "､", "，", ",")),
                   Label("P", "w。", ("。", "｡", "．", ".")), Label("E", "w！", ("！", "!")),
                   Label("Q", "w？", ("？", "?"))))
MARKS = "、､，,。｡．.！!？?"


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
    split = CharacterReader(LABELS).split(text)
    assert (" ".join(split.tokens), " ".join(split.labels)) == (tokens, labels)


@pytest.mark.parametrize(("text", "written"), [
    ("はい，そう｡", "はい、そう。"), ("え?!", "え？"), ("あ 。い", "あ。 い"), ("  a\tb　c\r", "  a\tb　c\r"),
    ("。あ", "あ"), ("3.5,", "3.5、"), ("", ""), (" 。 ", "  ")])
def test_write_with_own_labels(text, written):
    reader = CharacterReader(LABELS)
    split = reader.split(text)
    assert reader.write(split, split.labels) == written


def test_split_lead_is_marks_before_first_token():
    assert CharacterReader(LABELS).split("、！あ。").lead == ["、", "！"]
    assert CharacterReader(LABELS).split("？").lead == ["？"]


SCRIPTS = ["あいうアイウ漢字々ー〜・「」", "ｱｲｳｶﾞﾊﾟﾞ", "abcXYZéａＢ'’-@#", "0123０１٣", MARKS,
           " \t\u3000\u00a0\r\n\x0b\x85\u2028\0\x1f\ufeff",
           "𠮷👍🏽👩\u200d💻🇯🇵🇺", "\u3099\u0301\ufe0f\U000e0100\u200d\u200b\u00ad", "한국어हिन्दीกำ", "://.,https://t.co/?a"]
TEXTS = st.one_of(st.text(), st.lists(st.one_of(*(st.text(script) for script in SCRIPTS))).map("".join))


@given(TEXTS, st.randoms())
def test_write_changes_marks_only(text, rng):
    reader = CharacterReader(LABELS)
    split = reader.split(text)
    output = reader.write(split, [rng.choice(LABELS.names) for _ in split.tokens])
    assert [c for c in output if c not in MARKS] == [c for c in text if c not in MARKS]
    # A mark stays only inside a token, between two letters or two digits; with no label, nothing is added.
    bare = reader.write(split, ["N"] * len(split.tokens))
    assert sum(c in MARKS for c in bare) == sum(c in MARKS for token in split.tokens for c in token)
    assert all(c not in MARKS for token in split.tokens if len(token) < 3 for c in token)
    assert all(c not in MARKS for rest in split.rests for c in rest)


@given(TEXTS)
def test_split_tokens_fit_a_data_directory(text):
    split = CharacterReader(LABELS).split(text)
    assert len(split.tokens) == len(split.labels) == len(split.rests) - 1
    assert all(len(token.split()) == 1 and not any(c.isspace() for c in token) for token in split.tokens)
    assert "".join(split.tokens).split() == ["".join(split.tokens)] * bool(split.tokens)


@given(st.lists(st.tuples(st.sampled_from([*"あ漢ｱ「𠮷", "ABC", "12"]), st.sampled_from(LABELS.names))))
def test_write_then_split_round_trip(pairs):
    """Texts in which no two words or numbers touch: these would be one token."""
    pairs = [(token, label if token not in ("ABC", "12") else "P") for token, label in pairs]
    reader = CharacterReader(LABELS)
    split = reader.split("".join(token + LABELS[LABELS.index(label)].mark for token, label in pairs))
    assert list(zip(split.tokens, split.labels)) == pairs


@pytest.mark.parametrize(("token", "expected"), [
    ("Twitter", "<alpha>"), ("ｗｗｗ", "<alpha>"), ("é", "<alpha>"), ("https://t.co/1", "<alpha>"), ("12", "<num>"),
    ("３", "<num>"), ("3.5", "<num>"), ("あ", ""), ("п", ""), (".", ""), ("👍", ""), ("", "")])
def test_class_of(token, expected):
    assert class_of(token) == expected
