"""Words and speakers of texts, tables of speakers, and texts that are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.text.survey import cut_text, read_speakers, survey


def test_survey_words_and_speakers(tmp_path):
    (tmp_path / "a.txt").write_text("#speaker Anna B\nSo it is.\n#speaker  Carl \nNo.\n#doc x y\n#speaker\n")
    (tmp_path / "b.txt").write_text("One line\n")
    for nj in (1, 2):
        found = survey([tmp_path / "a.txt", tmp_path / "b.txt"], "#speaker", nj)
        assert found == ({"a": 4, "b": 2}, {"a": {"Anna B", "Carl"}, "b": set()})
    assert survey([tmp_path / "a.txt"], "", 1).speakers == {"a": set()}


def test_read_speakers_of_texts_and_utterances(tmp_path):
    table = tmp_path / "speakers"
    table.write_text("talk anna carl\ntalk-1-0001 dora\ntalk-1_b eva\ntalk-2-0001 finn\nother nobody\n")
    assert read_speakers(table, ["talk", "talk-1"]) == {"talk": {"anna", "carl", "finn"}, "talk-1": {"dora", "eva"}}
    pieces = read_speakers(table, ["talk-1_001", "talk-1_002"])
    assert pieces == {"talk-1_001": {"dora", "eva"}, "talk-1_002": {"dora", "eva"}}


@pytest.mark.parametrize(("content", "message"), [
    ("talk\n", "speakers:1: 'talk' has no speaker; write: TEXT SPEAKER"),
    ("tall anna\n", "speakers: no line is of a text; write: TEXT SPEAKER, as 'talk anna'")])
def test_read_speakers_mistake(tmp_path, content, message):
    (tmp_path / "speakers").write_text(content)
    with pytest.raises(InputError) as error:
        read_speakers(tmp_path / "speakers", ["talk"])
    assert str(error.value).endswith(message)


@given(st.lists(st.sampled_from(["one two three\n", "\n", "#speaker a\n", "four\n", "x " * 30 + "\n"]), max_size=40),
       st.integers(1, 20))
def test_cut_text_loses_nothing(tmp_path_factory, lines, words):
    folder = tmp_path_factory.mktemp("cut")
    lines.append("the end\n")
    (folder / "talk.txt").write_text("".join(lines))
    (folder / "out").mkdir()
    found = cut_text(folder / "talk.txt", folder / "out", words)
    assert [path.name for path in found] == [f"talk_{i:03d}.txt" for i in range(1, len(found) + 1)]
    texts = [path.read_text() for path in found]
    kept = "".join(lines)
    assert kept.startswith("".join(texts))
    assert not kept[len("".join(texts)):].replace("#speaker a", "").strip()  # no words
    sizes = list(survey(found, "", 1).words.values())
    assert all(size >= words for size in sizes[:-1])


def test_cut_text_at_paragraphs(tmp_path):
    (tmp_path / "talk.txt").write_text("a b\nc\n\nd e f\ng\n#speaker x\nh\ni j\nk l m n\no\n")
    assert [path.read_text() for path in cut_text(tmp_path / "talk.txt", tmp_path, 3)] == [
        "a b\nc\n", "\nd e f\ng\n", "#speaker x\nh\ni j\nk l m n\n", "o\n"]
