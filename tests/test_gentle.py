"""JSON of Gentle: the cases of words, the command, and every kind of mistake."""

import json

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
