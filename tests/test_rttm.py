"""RTTM: the speaker of each timed word."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.timing.ctm import TimedWord
from punc.timing.rttm import Diarization, word_speakers

RTTM = """SPKR-INFO a 1 <NA> <NA> <NA> unknown ann <NA> <NA>
SPEAKER a 1 0.0 2.0 <NA> <NA> ann <NA> <NA>
SPEAKER a 1 1.5 2.5 <NA> <NA> bob <NA> <NA>
SPEAKER b 1 0.0 1.0 <NA> <NA> cy <NA> <NA>
"""


def test_speakers_whose_turn_a_word_overlaps_most(tmp_path):
    (tmp_path / "rttm").write_text(RTTM)
    found = Diarization(tmp_path / "rttm")
    begins, ends = np.array([0.1, 1.4, 1.8, 3.9, 4.5]), np.array([0.3, 1.9, 2.4, 4.4, 5.0])
    # 1.4–1.9 is 0.5 s of ann and 0.4 s of bob; 3.9–4.4 is 0.1 s of bob; 4.5–5 is nobody's.
    assert found.speakers("a", begins, ends) == ["ann", "ann", "bob", "bob", None]
    assert found.speakers("c", begins, ends) == [None] * 5
    assert ["b" in found, "c" in found] == [True, False]


def test_word_speakers_of_untimed_words_are_unknown(tmp_path):
    (tmp_path / "rttm").write_text(RTTM)
    timed = [TimedWord("a", "1", 0.1, 0.2, "so"), TimedWord("a", "1", 3.0, 0.2, "well")]
    assert word_speakers(timed, np.array([-1, 0, -1, 1]), Diarization(tmp_path / "rttm"), "a") == \
        [None, "ann", None, "bob"]


@pytest.mark.parametrize(("line", "message"), [
    ("SPEAKER a 1 0.0 x <NA> <NA> ann", ":1: not a turn; write SPEAKER"), ("SPEAKER a 1 0.0", ":1: not a turn"),
    ("SPEAKER a 1 -1 2 <NA> <NA> ann", ":1: not a turn"), ("SPEAKER a 1 nan 2 <NA> <NA> ann", ":1: not a turn"),
    ("a b c", ": no SPEAKER lines; give an RTTM")])
def test_diarization_of_something_else_is_an_error(tmp_path, line, message):
    (tmp_path / "rttm").write_text(line + "\n")
    with pytest.raises(InputError) as error:
        Diarization(tmp_path / "rttm")
    assert f"{tmp_path}/rttm{message}" in str(error.value)
