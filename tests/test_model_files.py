"""Files in the directory of a model that are missing, truncated, of another version, or not a model; unknown names."""

import pickle
import zipfile

import pytest
import torch

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.models import base
from punc.tokens.vocabulary import Vocabulary

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdefgh"])


@pytest.fixture
def directory(tmp_path):
    """The directory of a model."""
    model = base.create("t_lstm", VOCABULARY, LABELS, {"embedding_dim": 8, "hidden_dim": 16})
    base.save(model, tmp_path / "final.pt")
    VOCABULARY.write(tmp_path / "vocab")
    LABELS.write(tmp_path / "labels.txt")
    return tmp_path


def refused(directory):
    """The error message about a directory, one line."""
    with pytest.raises(InputError) as error:
        base.load(directory)
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(directory), "DIR")


BROKEN = "DIR/final.pt: not a model file, or a truncated one; train the model again"
OTHER = "DIR/final.pt: not a model file of punc; name a directory that punc train wrote"


@pytest.mark.parametrize("part", [0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_load_truncated_file(directory, part):
    path = directory / "final.pt"
    content = path.read_bytes()
    path.write_bytes(content[:int(part * len(content))])
    assert refused(directory) == BROKEN
    path.write_bytes(content[:-1])
    assert refused(directory) == BROKEN


class Malicious:
    """Runs code when it is unpickled without care."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return open, (str(self.witness), "w")


@pytest.mark.parametrize("kind", ["text", "zip", "directory", "pickle", "torch", "torch_old"])
def test_load_other_file(directory, kind):
    path, witness = directory / "final.pt", directory / "witness"
    path.unlink()
    if kind == "text":
        path.write_text("a b c\n" * 1000)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("data.pkl", "x")
    elif kind == "directory":
        path.mkdir()
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Malicious(witness)))
    else:
        content = {"format": base.FORMAT, "spec": Malicious(witness)}
        torch.save(content, path, _use_new_zipfile_serialization=kind == "torch")
    # A file that cannot be read is not a broken one: to train again would not help.
    assert refused(directory) == ("DIR/final.pt: this is a directory; name a file" if kind == "directory" else BROKEN)
    assert not witness.exists()


@pytest.mark.parametrize(("content", "message"), [
    ({"weights": 1}, OTHER),
    ([1, 2], OTHER),
    ({"format": "punc progress 1"}, OTHER),
    ({"format": "punc model 7"}, "DIR/final.pt: 'punc model 7', but this version reads 'punc model 1'; "
                                 "train the model again"),
    ({"format": base.FORMAT}, "DIR/final.pt: its weights are not those of its model; train it again"),
])
def test_load_other_content(directory, content, message):
    torch.save(content, directory / "final.pt")
    assert refused(directory) == message


@pytest.mark.parametrize("change", [lambda c: c["weights"].pop("output.weight"),
                                    lambda c: c["spec"]["options"].update(hidden_dim=3),
                                    lambda c: c["spec"]["options"].update(of_a_later_version=3),
                                    lambda c: c["spec"].update(labels=4), lambda c: c.pop("spec"),
                                    lambda c: c["spec"].update(vocabulary=10**12),
                                    lambda c: c["spec"]["options"].update(hidden_dim=10**12),
                                    lambda c: c.update(weights=[]), lambda c: c.update(spec="t_lstm"),
                                    lambda c: c["weights"].update({"output.weight": "x"})])
def test_load_weights_that_do_not_fit(directory, change):
    content = torch.load(directory / "final.pt", weights_only=True)
    change(content)
    torch.save(content, directory / "final.pt")
    assert refused(directory) == "DIR/final.pt: its weights are not those of its model; train it again"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_load_weights_that_are_no_numbers(directory, number):
    content = torch.load(directory / "final.pt", weights_only=True)
    content["weights"]["output.weight"][1, 2] = number
    torch.save(content, directory / "final.pt")
    assert refused(directory) == ("DIR/final.pt: output.weight has weights that are NaN or infinite; train the model "
                                  "again, with a lower --learning-rate")


@pytest.mark.parametrize(("file", "text", "message"), [
    ("vocab", "<unk>\n</s>\na\n", "DIR/vocab: 3 lines, but the model has 10; copy the one it was trained with"),
    ("labels.txt", "O w\nCOMMA w, ,\n",
     "DIR/labels.txt: 2 lines, but the model has 3; copy the one it was trained with"),
    ("vocab", "a\nb\n", "DIR/vocab:1: no '<unk>' here; a vocabulary begins <unk>, </s>"),
    ("labels.txt", "O\n", "DIR/labels.txt:1: not a label; write NAME, a pattern with one w or W, the marks"),
    ("vocab", None, "DIR/vocab: no such file; make it, or name another one"),
    ("labels.txt", None, "DIR/labels.txt: no such file; make it, or name another one"),
    ("final.pt", None, "DIR/final.pt: no such file; train the model, or name another directory"),
])
def test_load_wrong_files_next_to_weights(directory, file, text, message):
    (directory / file).unlink()
    if text is not None:
        (directory / file).write_text(text)
    assert refused(directory) == message


def test_model_class_unknown_name():
    for name, meant in (("t_lstn", "t_lstm"), ("base", "pause_window"), ("../t_lstm", "t_lstm"), ("", "")):
        with pytest.raises(InputError, match=f"^no model '{name}'; did you mean {meant}"):
            base.model_class(name)


@pytest.mark.parametrize(("option", "value"), [("hidden_dim", 4.0), ("hidden_dim", True), ("pauses", 1),
                                               ("hidden_dim", [4])])
def test_load_options_of_other_types(directory, option, value):
    """PyTorch takes some of these, and fails in the middle of a text."""
    content = torch.load(directory / "final.pt", weights_only=True)
    content["spec"]["options"][option] = value
    torch.save(content, directory / "final.pt")
    assert refused(directory).startswith(f"DIR/final.pt: {option}={value} of t_lstm; give a value as the default, ")
