"""Turns: the file `turns`, `punc turns`, RTTM, and models that read speaker changes, from data directory to labels."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin import main as command
from punc.bin.turns import read_rttm, speakers_of
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.tables import ends_of_turns
from punc.decoding.decode import log_posteriors
from punc.models.base import load
from punc.tokens.store import Store

RTTM = """SPKR-INFO a 1 <NA> <NA> <NA> unknown ann <NA> <NA>
SPEAKER a 1 0.0 2.0 <NA> <NA> ann <NA> <NA>
SPEAKER a 1 1.5 2.5 <NA> <NA> bob <NA> <NA>
SPEAKER b 1 0.0 1.0 <NA> <NA> cy <NA> <NA>
"""


def test_speakers_whose_turn_a_word_overlaps_most(tmp_path):
    (tmp_path / "rttm").write_text(RTTM)
    turns = read_rttm(tmp_path / "rttm")
    times = np.array([[0.1, 0.3], [1.4, 1.9], [1.8, 2.4], [3.9, 4.4], [4.5, 5.0]])
    # 1.4–1.9 has 0.5 s of ann and 0.4 s of bob, 3.9–4.4 has 0.1 s of bob, and nobody speaks at 4.5–5.
    assert speakers_of(turns["a"], times) == ["ann", "ann", "bob", "bob", None]
    assert speakers_of([], times) == [None] * 5
    assert list(turns) == ["a", "b"]


@pytest.mark.parametrize(("line", "message"), [
    ("SPEAKER a 1 0.0 x <NA> <NA> ann", ":1: the line is not a turn; write SPEAKER"),
    ("SPEAKER a 1 0.0", ":1: the line is not a turn"),
    ("SPEAKER a 1 -1 2 <NA> <NA> ann", ":1: the line is not a turn"),
    ("SPEAKER a 1 nan 2 <NA> <NA> ann", ":1: the line is not a turn"),
    ("a b c", ": the file has no SPEAKER lines; give an RTTM file")])
def test_diarization_of_something_else_is_an_error(tmp_path, line, message):
    (tmp_path / "rttm").write_text(line + "\n")
    with pytest.raises(InputError) as error:
        read_rttm(tmp_path / "rttm")
    assert f"{tmp_path}/rttm{message}" in str(error.value)


LABELS = "O w\nPERIOD w. .\n"


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=20))
def test_ends_of_turns_by_brute_force(speakers):
    filled, last = [], next((speaker for speaker in speakers if speaker), None)
    for speaker in speakers:
        last = speaker or last
        filled.append(last)
    assert ends_of_turns(speakers).tolist() == [a != b for a, b in pairwise([*filled, *filled[-1:]])]


def utterances(lengths, rng, turns=True):
    """Yield the utterances of streams with a PERIOD where the speaker changes. Words and pauses are random."""
    for number, length in enumerate(lengths):
        flags = rng.random(length) < 0.3
        for begin in range(0, length, 7):
            part = slice(begin, begin + 7)
            labels = [("O", "PERIOD")[int(flag)] for flag in flags[part]]
            yield Utterance(f"s{number:03}-{begin:05}", f"s{number:03}", rng.choice([*"abc"], len(labels)).tolist(),
                            labels, rng.choice(np.array([0, 0.5, np.nan], np.float32), len(labels)),
                            flags[part] if turns else None)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("turns"), np.random.default_rng(2)
    (place / "labels.txt").write_text(LABELS)
    for name, lengths in (("train", [60] * 25), ("dev", [40] * 5)):
        write_data_dir(place / name, utterances(lengths, rng))
    write_data_dir(place / "unknown", [one._replace(turns=None) for one in DataDir(place / "dev").utterances()])
    make(place / "store", place, "train", "dev")
    return place


def make(store, place, *sets, **options):
    assert command.main(["make-store", "--labels", str(place / "labels.txt"), "--nj", "1",
                         *(word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)),
                         str(store), *(str(place / name) for name in sets)]) == 0


def train(corpus, out, *options, store="store"):
    return command.main(["train", "--train-set", "train", "--dev-set", "dev", "--epochs", "6", "--batch-size", "10",
                         *options, str(corpus / store), str(out)])


SMALL = {"t_lstm": ["--embedding-dim", "4", "--hidden-dim", "6", "--init-range", "0.1", "--learning-rate", "0.3"],
         "blstm_crf": ["--characters", "false", "--embedding-dim", "4", "--hidden-dim", "6", "--layers", "1",
                       "--dropout", "0", "--chunk-size", "20", "--optimizer", "adam", "--learning-rate", "0.03"]}
SMALL["ta_lstm"] = SMALL["t_lstm"][2:]


@pytest.mark.parametrize("model", SMALL)
def test_model_learns_from_changes_of_the_speaker(model, corpus, tmp_path, capsys):
    options = SMALL[model]
    if model == "ta_lstm":
        assert train(corpus, tmp_path / "text", "--model", "t_lstm", *SMALL["t_lstm"], "--epochs", "1") == 0
        options = ["--text-model", str(tmp_path / "text"), *options]
    for out, more in (("with", ["--speaker-changes", "true"]), ("without", [])):
        assert train(corpus, tmp_path / out, "--model", model, *options, *more) == 0
    right = {}
    for out, data in (("with", "dev"), ("with", "unknown"), ("without", "dev")):
        decoded = tmp_path / f"{out}_{data}"
        assert command.main(["punctuate", "--nj", "1", "--chunk-size", "16", "--context", "8", str(tmp_path / out),
                             str(corpus / data), str(decoded)]) == 0
        pairs = [(a, b) for one, other in zip(DataDir(decoded).utterances(), DataDir(corpus / "dev").utterances())
                 for a, b in zip(one.labels, other.labels)]
        right[out, data] = sum(a == b for a, b in pairs) / len(pairs)
        assert (decoded / "turns").exists() == (data == "dev")  # turns are copied, like pauses
    assert right["with", "dev"] > 0.97
    assert max(right["with", "unknown"], right["without", "dev"]) < 0.85


def test_model_without_the_option_is_the_same_on_a_store_with_turns(corpus, tmp_path):
    """The model equals one that is trained without turns, bit for bit. Its posteriors do not depend on turns."""
    for name in ("train", "dev"):
        write_data_dir(tmp_path / name, [one._replace(turns=None) for one in DataDir(corpus / name).utterances()])
    (tmp_path / "labels.txt").write_text(LABELS)
    make(tmp_path / "store", tmp_path, "train", "dev")
    files = {path.relative_to(tmp_path / "store") for path in (tmp_path / "store").rglob("*") if path.is_file()}
    assert all(path.name != "turns.npy" for path in files)
    for path in files:
        if path.name != "conf":  # conf has the paths of the inputs
            assert (tmp_path / "store" / path).read_bytes() == (corpus / "store" / path).read_bytes()
    options = ["--model", "t_lstm", "--pauses", "true", *SMALL["t_lstm"], "--epochs", "1"]
    assert train(corpus, tmp_path / "one", *options) == train(tmp_path, tmp_path / "other", *options) == 0
    one, other = load(tmp_path / "one"), load(tmp_path / "other")
    assert all((one.state_dict()[name] == weight).all() for name, weight in other.state_dict().items())
    with_turns, without = (Store(place / "store").set("dev") for place in (corpus, tmp_path))
    np.testing.assert_array_equal(log_posteriors(one, with_turns), log_posteriors(one, without))


def test_model_that_reads_changes_cannot_be_packed(corpus, tmp_path, capsys):
    pytest.importorskip("onnx")
    assert train(corpus, tmp_path / "model", "--model", "t_lstm", "--speaker-changes", "true", "--epochs", "1") == 0
    assert command.main(["pack", str(tmp_path / "model"), str(tmp_path / "onnx")]) == 1
    assert "a model with --speaker-changes true cannot be packed; train it without" in capsys.readouterr().err


def test_training_set_without_turns_is_refused(corpus, tmp_path, capsys):
    (tmp_path / "labels.txt").write_text(LABELS)
    (tmp_path / "train").symlink_to(corpus / "unknown")
    (tmp_path / "dev").symlink_to(corpus / "dev")
    write_data_dir(tmp_path / "plain" / "train", list(DataDir(corpus / "unknown").utterances()))
    write_data_dir(tmp_path / "plain" / "dev", list(DataDir(corpus / "dev").utterances()))
    make(tmp_path / "store", tmp_path, "plain/train", "plain/dev")
    assert train(tmp_path, tmp_path / "out", "--model", "t_lstm", "--speaker-changes", "true") == 1
    assert "--speaker-changes true, but set 'train' has no turns; " in capsys.readouterr().err


def test_store_tokens_of_words_and_joined_sets_have_turns(corpus, tmp_path):
    """The flag of a word is at the space after its characters. In a joined set, words from a set without turns
    have no speaker change."""
    make(tmp_path / "char", corpus, "dev", token_type="char")
    chars, words = Store(tmp_path / "char").set("dev"), Store(corpus / "store").set("dev")
    assert chars.turns[chars.labels >= 0].tolist() == words.turns.tolist()
    assert chars.turns.sum() == words.turns.sum() > 50
    make(tmp_path / "joined", corpus, "dev", "unknown", join="both=dev,unknown")
    both = Store(tmp_path / "joined").set("both")
    assert both.turns.tolist() == [*words.turns.tolist(), *[False] * len(words.turns)]


@pytest.mark.parametrize(("line", "message"), [
    ("s000-00000 0 0 1 0 0 0", "'s000-00000' has 7 words in text but 6 flags here; "),
    ("s000-00000 0 0 2 0 0 0 0", "'2' is not 0 or 1; write 1 after the last word of a turn, else 0")])
def test_broken_turns_are_an_error(corpus, tmp_path, capsys, line, message):
    data = tmp_path / "dev"
    write_data_dir(data, list(DataDir(corpus / "dev").utterances()))
    lines = (data / "turns").read_text().splitlines()
    (data / "turns").write_text("\n".join([line, *lines[1:], ""]))
    for arguments in (["validate", str(data)], ["make-store", "--labels", str(corpus / "labels.txt"),
                                                str(tmp_path / "store"), str(data)]):
        assert command.main(arguments) == 1
        assert f"{data}/turns:1: {message}" in capsys.readouterr().err


def test_turns_of_segments_are_changes_of_utt2spk(tmp_path, capsys):
    """Turns are sorted by time, not by id. A turn of two utterances does not end between them."""
    data = tmp_path / "data"
    write_data_dir(data, [Utterance("a-1", "a", ["one", "two"]), Utterance("a-2", "a", ["three"]),
                          Utterance("b-1", "b", ["four", "five"])])
    (data / "segments").write_text("a-1 r 0 1\na-2 r 3 4\nb-1 r 1 3\n")
    assert command.main(["turns", str(data)]) == 0
    assert (data / "turns").read_text() == "a-1 0 1\na-2 0\nb-1 0 1\n"
    assert "5 words, 2 changes of speaker" in capsys.readouterr().err
    (data / "segments").write_text("a-1 r 0 1\na-2 r 1 2\nb-1 r 2 3\n")
    assert command.main(["turns", str(data)]) == 0
    assert (data / "turns").read_text() == "a-1 0 0\na-2 1\nb-1 0 0\n"


def test_turns_without_segments_are_refused(corpus, tmp_path, capsys):
    assert command.main(["turns", str(corpus / "unknown")]) == 1
    assert "without segments a stream is one speaker" in capsys.readouterr().err


def test_turns_by_rttm(tmp_path, capsys):
    """Words without times have the speaker of the previous word. The recording has two utterances."""
    data = tmp_path / "data"
    write_data_dir(data, [Utterance("r-1", "r", ["one", "um", "two"]), Utterance("r-2", "r", ["three", "four"])])
    (tmp_path / "ctm").write_text("r 1 0 1 one\nr 1 2 1 two\nr 1 3 1 three\nr 1 4 1 four\n")
    (tmp_path / "rttm").write_text("".join(f"SPEAKER r 1 {times} <NA> <NA> {name} <NA> <NA>\n" for times, name in (
        ("0 1.5", "x"), ("1.5 2.5", "y"), ("4 2", "x"))))
    assert command.main(["turns", "--rttm", str(tmp_path / "rttm"), "--times", str(tmp_path / "ctm"), str(data)]) == 0
    assert (data / "turns").read_text() == "r-1 0 1 0\nr-2 1 0\n"
    assert "5 words, 2 changes of speaker; 1 words whose speaker is not known" in capsys.readouterr().err
    (tmp_path / "rttm").write_text("SPEAKER other 1 0 1.5 <NA> <NA> x <NA> <NA>\n")
    assert command.main(["turns", "--rttm", str(tmp_path / "rttm"), "--times", str(tmp_path / "ctm"), str(data)]) == 1
    assert "no word has a speaker; give the times and the RTTM the ids" in capsys.readouterr().err
