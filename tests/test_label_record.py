"""A change of labels.txt: data, store and model of the old label set are noticed by each stage."""

import pytest

from punc.base.errors import InputError
from punc.bin import main as command
from punc.data.label_record import check_record, difference
from punc.data.labels import LabelSet

OLD = "O w\nCOMMA w, ,\nPERIOD w. . !\nQUESTION w? ?\n"
LESS = "O w\nCOMMA w, ,\nPERIOD w. . ! ?\n"
MORE = "O w\nCOMMA w, ,\nPERIOD w. .\nBANG w! !\nQUESTION w? ?\n"
MARKS = "O w\nCOMMA w, , -\nPERIOD w. . !\nQUESTION w? ?\n"
WRITTEN = "O w\nCOMMA w; ,\nPERIOD w. . !\nQUESTION w? ?\n"
REMEDY = "prepare it again, or give the label set that it was made with"


def labels_of(tmp_path, text):
    path = tmp_path / "given.txt"
    path.write_text(text)
    return LabelSet.read(path)


@pytest.fixture
def place(tmp_path):
    """A corpus with the old label set: data, a store, a model and its output."""
    (tmp_path / "labels.txt").write_text(f"# a comment\n{OLD}")
    (tmp_path / "text.txt").write_text("So it begins, as it must! Does it end? No.\n" * 4)
    for name in ("train", "dev"):
        run(tmp_path, "prepare", "--format", "prose", "--labels", "labels.txt", "text.txt", name)
    run(tmp_path, "make-store", "--labels", "labels.txt", "store", "train", "dev")
    run(tmp_path, *TRAIN)
    run(tmp_path, "punctuate", "--nj", "1", "model", "dev", "decoded")
    return tmp_path


FILES = ("labels.txt", "text.txt", "train", "dev", "store", "model", "decoded", "score", "asr", "projected")
TRAIN = ["train", "--model", "t_lstm", "--embedding-dim", "2", "--hidden-dim", "2", "--epochs", "1", "store", "model"]


def run(place, subcommand, *arguments):
    """The exit status of a command, in which names of FILES are in `place`."""
    return command.main([subcommand, *(str(place / one) if one in FILES else one for one in arguments)])


def test_data_directories_have_their_label_set(place, capsys):
    """Prepared, punctuated and projected ones; what is prepared without labels has none of an older run."""
    for name in ("train", "decoded"):
        assert LabelSet.read(place / name / "punct.labels") == LabelSet.read(place / "labels.txt")
    (place / "asr").mkdir()
    (place / "text.txt").write_text("00000001 1 0 1 so\n00000001 1 1 1 it\n")
    assert run(place, "prepare", "--format", "ctm", "text.txt", "train") == 0
    assert not (place / "train" / "punct.labels").exists()


# What the given label set is, and what each command that gets one says of data of the old one.
REFUSED = [(LESS, "label 'QUESTION' is not in the label set, which has O COMMA PERIOD"),
           (WRITTEN, "label 'COMMA' is written w, here, in the label set w;")]
SAID = [(MORE, "it lacks BANG"), (MARKS, "other marks are COMMA")]


@pytest.mark.parametrize("arguments", [
    ["make-store", "--labels", "labels.txt", "store", "train", "dev"], ["validate", "--labels", "labels.txt", "dev"],
    ["score", "--labels", "labels.txt", "dev", "decoded", "score"],
    ["project", "--labels", "labels.txt", "dev", "decoded", "projected"]])
def test_data_of_another_label_set_are_noticed(place, capsys, arguments):
    for text, message in REFUSED:
        (place / "labels.txt").write_text(text)
        assert run(place, *arguments) == 1
        assert f"/punct.labels: {message}; {REMEDY}" in capsys.readouterr().err
    for text, message in SAID:
        (place / "labels.txt").write_text(text)
        assert run(place, *arguments) == 0
        assert f"/punct.labels: made with another label set: {message}; prepare it again" in capsys.readouterr().err
    (place / "labels.txt").write_text(f"# another comment\n\n{OLD}")
    assert run(place, *arguments) == 0
    assert "label set" not in capsys.readouterr().err


def test_score_of_a_system_with_another_label_set_is_noticed(place, capsys):
    """The reference is prepared again, the system's output is that of the old model."""
    (place / "labels.txt").write_text(MORE)
    run(place, "prepare", "--format", "prose", "--labels", "labels.txt", "text.txt", "dev")
    assert run(place, "score", "--labels", "labels.txt", "dev", "decoded", "score") == 0
    said = capsys.readouterr().err
    assert "decoded/punct.labels: made with another label set: it lacks BANG; punctuate it with a model" in said
    assert "dev/punct.labels" not in said


def test_punctuate_data_of_another_label_set_says_so(place, capsys):
    (place / "labels.txt").write_text(MORE)
    run(place, "prepare", "--format", "prose", "--labels", "labels.txt", "text.txt", "dev")
    assert run(place, "punctuate", "--nj", "1", "model", "dev", "decoded") == 0
    assert "dev/punct.labels: the model has another label set: it lacks BANG" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "message"), [(MORE, "it lacks BANG"), (MARKS, "other marks are COMMA")])
def test_train_finished_model_of_another_label_set_is_refused(place, capsys, text, message):
    (place / "labels.txt").write_text(text)
    assert run(place, "make-store", "--labels", "labels.txt", "store", "train", "dev") == 0  # made again
    capsys.readouterr()
    assert run(place, *TRAIN) == 1
    said = capsys.readouterr().err
    assert f"{place}/model: here is a model with another label set than {place}/store: {message}; remove the " in said
    assert "final.pt is finished" not in said


def test_directory_without_a_record_is_not_compared(tmp_path):
    check_record(tmp_path, labels_of(tmp_path, OLD))


def test_check_record_broken_file_is_an_error(tmp_path):
    (tmp_path / "punct.labels").write_text("nonsense\n")
    with pytest.raises(InputError, match=r"punct\.labels:1: not a label"):
        check_record(tmp_path, labels_of(tmp_path, OLD))


@pytest.mark.parametrize(("one", "other", "said"), [
    (OLD, MORE, "it lacks BANG"), (MORE, OLD, "it also has BANG"), (OLD, MARKS, "other marks are COMMA"),
    ("O w\nA w,\nB w.\n", "O w\nB w.\nA w,\n", "the labels have another order")])
def test_difference(tmp_path, one, other, said):
    assert difference(labels_of(tmp_path, one), labels_of(tmp_path, other)) == said
