"""What systems were trained on, from their directories."""

import pytest

from punc.results.trainings import UNKNOWN, Training, collect_trainings, same_data


@pytest.fixture
def exp(tmp_path):
    confs = {"T-LSTM": "--model=t_lstm\n--train-set=train\n",
             "TA-LSTM": "--model=ta_lstm\n--text-model=exp/T-LSTM\n--train-set=calls\n",
             "on": "--model=ta_lstm\n--initial-model=exp/TA-LSTM\n--train-set=calls,more\n",
             "from-elsewhere": "--model=t_lstm\n--initial-model=/models/en\n--train-set=train\n",
             "circle": "--model=t_lstm\n--initial-model=exp/circle\n--train-set=train\n"}
    for system, conf in confs.items():
        (tmp_path / "exp" / system).mkdir(parents=True)
        (tmp_path / "exp" / system / "conf").write_text("# punc 0.1.0, torch 2, store data/store\n" + conf)
    (tmp_path / "exp/T-LSTM+half/log").mkdir(parents=True)
    (tmp_path / "exp/T-LSTM+half/log/decode_test.log").write_text(
        "# punc punctuate --nj 2 --scale O=0.5 exp/T-LSTM data/test exp/T-LSTM+half/decode_test\n# Started\n")
    (tmp_path / "exp/theirs").mkdir()
    return tmp_path / "exp"


@pytest.mark.parametrize(("system", "family", "data"), [
    ("T-LSTM", "t_lstm", "store/train"),
    ("TA-LSTM", "ta_lstm", "store/calls + store/train"),  # also that of the model below it
    ("on", "ta_lstm", "store/calls + store/more + store/train"),
    ("from-elsewhere", "t_lstm", "en + store/train"),
    ("T-LSTM+half", "t_lstm", "store/train"),  # a row of another model's output
    ("circle", "t_lstm", "store/train"),
    ("theirs", "theirs", UNKNOWN),
])
def test_collect_trainings(exp, system, family, data):
    assert collect_trainings(exp, [system]) == {system: Training(system, family, data)}


def test_same_data(exp):
    found = collect_trainings(exp, ["T-LSTM", "T-LSTM+half", "TA-LSTM", "theirs"])
    assert same_data(found, "T-LSTM", "T-LSTM+half")
    assert not same_data(found, "T-LSTM", "TA-LSTM")
    assert not same_data(found, "theirs", "theirs")  # nothing is known of it
    assert not same_data(found, "T-LSTM", "not there")


def test_collect_trainings_names_data_directories_whatever_their_words_were_cut_into(exp, monkeypatch):
    monkeypatch.chdir(exp.parent)
    for store, options in (("store_word", ""), ("store_char", ""), ("store_more", "--join=train=train,more,more\n")):
        (exp.parent / "data" / store).mkdir(parents=True)
        (exp.parent / "data" / store / "conf").write_text(
            "--token-type=word\n" + options + "# /conf/labels.txt 9 bytes 1\n"
            + "".join(f"# {exp.parent}/data/{name}/{table} 9 bytes 1\n" for name in ("train", "more")
                      for table in ("text", "utt2spk", "punct")))
        (exp / store).mkdir()
        (exp / store / "conf").write_text(
            f"# punc 0.1.0, torch 2, store data/{store}\n--model=t_lstm\n--train-set=train\n")
    found = collect_trainings(exp, ["store_word", "store_char", "store_more"])
    assert [one.data for one in found.values()] == ["data/train", "data/train", "data/more + data/train"]
    assert same_data(found, "store_word", "store_char")
    assert not same_data(found, "store_word", "store_more")
