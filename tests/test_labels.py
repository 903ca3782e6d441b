"""Label sets: which marks are read as which label, how labels are written, and invalid or changed labels.txt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin import main as command
from punc.data.labels import Label, LabelSet, check_record
from punc.text.prose import written

CHE = """\
# label   written  marks
O         w
COMMA     w,       , : - –
PERIOD    w.       . ; !
QUESTION  w?       ?
"""
CASED = """\
O         w
CAP       W
COMMA     w,       ,
CAPCOMMA  W,       ,
PERIOD    w.       . !
CAPPERIOD W.       . !
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "labels.txt").write_text(text)
        return LabelSet.read(tmp_path / "labels.txt")
    return read


def test_read(read):
    labels = read(CHE)
    assert labels.names == ("O", "COMMA", "PERIOD", "QUESTION")
    assert [labels.index(name) for name in labels.names] == [0, 1, 2, 3]
    assert labels.marks == frozenset(",:-–.;!?")
    assert (len(labels), labels.cased, labels[2].mark, labels[0].mark) == (4, False, ".", "")
    with pytest.raises(KeyError):
        labels.index("COLON")


@pytest.mark.parametrize(("marks", "capital", "name"), [
    ("", False, "O"), (",", False, "COMMA"), ("–", False, "COMMA"), ("!", False, "PERIOD"), ("?", True, "QUESTION"),
    ("?!", False, "QUESTION"), ("!?", False, "QUESTION"), (",.", False, "PERIOD"), ('"', False, "O"),
    ('",', False, "COMMA"),
])
def test_reading(read, marks, capital, name):
    assert read(CHE).reading(marks, capital) == name


@pytest.mark.parametrize(("marks", "capital", "name"), [
    ("", False, "O"), ("", True, "CAP"), (",", False, "COMMA"), (",", True, "CAPCOMMA"), ("!,", True, "CAPPERIOD"),
    ('"', True, "CAP"), ('"', False, "O"),
])
def test_reading_with_capitals(read, marks, capital, name):
    assert read(CASED).cased
    assert read(CASED).reading(marks, capital) == name


def test_sentence_ends(read):
    text = CASED + "ELLIPSIS w...  …\nDASH w-  -\nQUOTED w.\"  \"\n"
    assert read(text).sentence_ends == {"PERIOD", "CAPPERIOD", "ELLIPSIS", "QUOTED"}


@pytest.mark.parametrize(("written", "word", "result"), [
    ("w", "west", "west"), ("w,", "west", "west,"), ("W.", "über", "Über."), ("W", "ßa", "Ssa"), ("¿w?", "w", "¿w?"),
    ("W", "džep", "Džep"), ("W,", "McX", "McX,"), ("W", "", ""), ("W?", "日本", "日本?"), ("W", "West", "West"),
])
def test_label_write(written, word, result):
    assert Label("X", written).write(word) == result


@pytest.mark.parametrize(("text", "message"), [
    ("O w\nCOMMA\n", "labels.txt:2: the line is not a label; write NAME, a pattern with one w or W, the marks"),
    ("O w\nCOMMA , ,\n", "labels.txt:2: the line is not a label"),
    ("O w\nCOMMA ww, ,\n", "labels.txt:2: the line is not a label"),
    ("O w\nCOMMA wW, ,\n", "labels.txt:2: the line is not a label"),
    ("O w\n", "labels.txt: fewer than two labels"),
    ("", "labels.txt: fewer than two labels"),
    ("O w\nC w, ,\nC w. .\n", "labels.txt: a label name occurs twice"),
    ("O w\nC w, , .\nP w. .\n", "labels.txt: mark '.' is read as two labels"),
    ("C w, ,\nO w\n", "labels.txt: the first label, C, is not empty; "),
    ("O w\r\nC w, ,\r\n", "labels.txt:1: the line has a carriage return"),
])
def test_read_wrong_label_set(read, text, message):
    with pytest.raises(InputError) as error:
        read(text)
    assert message in str(error.value)


def test_read_bytes_that_are_not_text(tmp_path):
    (tmp_path / "labels.txt").write_bytes(b"O w\nCOMMA w, , \x96\n")
    with pytest.raises(InputError, match=r"labels\.txt:2: byte 12 is not UTF-8"):
        LabelSet.read(tmp_path / "labels.txt")


NAMES = st.lists(st.text("ABCÄ日", min_size=1, max_size=3), min_size=2, max_size=5, unique=True)


@given(NAMES, st.data())
def test_write_and_read_back(tmp_path_factory, names, data):
    marks = data.draw(st.lists(st.sampled_from(",.;:!?-–。、"), min_size=len(names), max_size=len(names), unique=True))
    patterns = [data.draw(st.sampled_from(["w{}", "W{}"])).format(mark) for mark in marks]
    labels = LabelSet((Label(names[0], "w"), *map(Label, names[1:], patterns[1:], zip(marks[1:]))))
    path = tmp_path_factory.mktemp("labels") / "labels.txt"
    labels.write(path)
    assert LabelSet.read(path) == labels
    for label in labels:
        assert labels.reading(label.marks, label.capital) == label.name


def test_label_set_of_more_labels_than_a_byte_holds(tmp_path):
    lines = ["O w", *(f"L{i} w{chr(200 + i)}" for i in range(127))]
    (tmp_path / "labels.txt").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=r"labels\.txt: more than 127 labels; use fewer"):
        LabelSet.read(tmp_path / "labels.txt")
    (tmp_path / "labels.txt").write_text("\n".join(lines[:-1]), encoding="utf-8")
    assert len(LabelSet.read(tmp_path / "labels.txt")) == 127


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
    """Make a data directory, a store, a model and its output, all with the old label set."""
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
    """Run a command. Arguments that are in FILES become paths in `place`. Return the exit status."""
    return command.main([subcommand, *(str(place / one) if one in FILES else one for one in arguments)])


def test_data_directories_have_their_label_set(place, capsys):
    for name in ("train", "decoded"):
        assert LabelSet.read(place / name / "punct.labels") == LabelSet.read(place / "labels.txt")
    (place / "asr").mkdir()
    (place / "text.txt").write_text("00000001 1 0 1 so\n00000001 1 1 1 it\n")
    assert run(place, "prepare", "--format", "ctm", "text.txt", "train") == 0
    assert not (place / "train" / "punct.labels").exists()


# Changed label sets, each with the message that commands print about data with the old label set.
REFUSED = [(LESS, "label 'QUESTION' is not in the label set, which has O COMMA PERIOD"),
           (WRITTEN, "label 'COMMA' is written w, here, but w; in the label set")]
SAID = [(MORE, "it lacks BANG"), (MARKS, "it has other marks for COMMA")]


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


@pytest.mark.parametrize(("text", "message"), [(MORE, "it lacks BANG"), (MARKS, "it has other marks for COMMA")])
def test_train_finished_model_of_another_label_set_is_refused(place, capsys, text, message):
    (place / "labels.txt").write_text(text)
    assert run(place, "make-store", "--labels", "labels.txt", "store", "train", "dev") == 0  # replaces the store
    capsys.readouterr()
    assert run(place, *TRAIN) == 1
    said = capsys.readouterr().err
    assert f"{place}/model: this directory has a model with another label set than {place}/store: {message}; "\
        "remove the " in said
    assert "final.pt is finished" not in said


def test_directory_without_a_record_is_not_compared(tmp_path):
    check_record(tmp_path, labels_of(tmp_path, OLD))


def test_check_record_broken_file_is_an_error(tmp_path):
    (tmp_path / "punct.labels").write_text("nonsense\n")
    with pytest.raises(InputError, match=r"punct\.labels:1: the line is not a label"):
        check_record(tmp_path, labels_of(tmp_path, OLD))


SPANISH = """\
O w
CAP W
COMMA w, ,
CAP_COMMA W, ,
QUESTION w? ?
CAP_QUESTION W? ?
OPEN ¿w
CAP_OPEN ¿W
CAP_OPEN_QUESTION ¿W? ?
"""


def test_marks_before_a_word_are_read_and_written(place, capsys):
    (place / "labels.txt").write_text(SPANISH)
    (place / "text.txt").write_text("Hola, ¿cómo está, Ana? ¿ Qué ? ¿No... «¿ Y tú ?, dijo?\n")
    assert run(place, "prepare", "--format", "prose", "--labels", "labels.txt", "text.txt", "dev") == 0
    words, found = ((place / "dev" / name).read_text().split()[1:] for name in ("text", "punct"))
    assert " ".join(words) == "hola cómo está ana qué no y tú dijo"
    # No label has `«` or `...`, so they are dropped. After `tú`, `?` is stronger than the comma.
    assert " ".join(found) == (
        "CAP_COMMA OPEN COMMA CAP_QUESTION CAP_OPEN_QUESTION CAP_OPEN CAP_OPEN QUESTION QUESTION")
    assert " ".join(written(words, found, LabelSet.read(place / "labels.txt"))) == (
        "Hola, ¿cómo está, Ana? ¿Qué? ¿No ¿Y tú? dijo?")


def test_reading_has_what_is_before_the_word_if_a_label_has_it(tmp_path):
    labels = labels_of(tmp_path, SPANISH)
    assert labels.openings == {"¿"}
    assert labels.reading([], opening="¿") == "OPEN"
    assert labels.reading([","], opening="¿") == "COMMA"
    assert labels.reading(["?"], capital=True, opening="¿") == "CAP_OPEN_QUESTION"
    assert labels_of(tmp_path, OLD).reading([","], opening="¿") == labels_of(tmp_path, OLD).reading([","])
