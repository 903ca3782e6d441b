"""`punc pack`, and what punctuates with a packed model: data directories, transcripts, standard input."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.decoding import shipped
from punc.decoding.archive import read_arrays
from punc.decoding.pack import unpack
from punc.models.base import create, save
from punc.tokens.vocabulary import Vocabulary

torch.set_num_threads(1)
WORDS = [*(f"w{i}" for i in range(60)), "nato", "iphone"]
LABELS = "O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\nPERIOD w. .\nCAP_PERIOD W. .\n"
CODE = "import sys; from punc.bin.main import main; assert not main(); sys.exit('torch' in sys.modules)"
PUNC = [sys.executable, "-c", CODE]


def make_model(directory, name, options):
    directory.mkdir()
    (directory / "labels.txt").write_text(LABELS)
    (directory / "conf").write_text(f"--model={name}\n")
    vocabulary = Vocabulary(["<unk>", "</s>", *WORDS])
    vocabulary.write(directory / "vocab")
    torch.manual_seed(3)
    model = create(name, vocabulary, LabelSet.read(directory / "labels.txt"), options)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.7)
    save(model, directory / "final.pt")
    return directory


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Packed models: en reads both ways, en-live left to right; with a casing table and a card."""
    place = tmp_path_factory.mktemp("pack")
    (place / "casing.txt").write_text("Nato NATO\niphone iPhone\n")
    (place / "card.md").write_text("# en\n")
    size = {"embedding_dim": 8, "hidden_dim": 12, "layers": 1, "dropout": 0.0}
    for name, model, options in (("en", "bi_lstm", size), ("en-live", "delay", {**size, "delay": 2})):
        directory = make_model(place / f"exp_{name}", model, options)
        assert main(["pack", f"--casing={place}/casing.txt", f"--card={place}/card.md", str(directory),
                     str(place / "models" / name)]) == 0
    return place / "models"


@pytest.fixture
def data(tmp_path):
    words = np.random.default_rng(4).choice(WORDS, 300).tolist()
    write_data_dir(tmp_path / "data", [Utterance("a", "a", words[:200]), Utterance("b", "b", words[200:])])
    return tmp_path / "data"


def texts(path):
    return [line.split(" ", 1)[1] for line in path.read_text().splitlines()]


def test_pack_writes_the_same_bytes_again(packed, tmp_path):
    source = packed.parent
    assert main(["pack", f"--casing={source}/casing.txt", f"--card={source}/card.md", str(source / "exp_en"),
                 str(tmp_path / "en")]) == 0
    names = {path.name for path in (packed / "en").iterdir()}
    assert names == {"model.json", "weights.npz", "labels.txt", "vocab", "conf", "casing.txt", "README.md"}
    assert all((tmp_path / "en" / name).read_bytes() == (packed / "en" / name).read_bytes() for name in names)


def test_pack_scale_is_part_of_the_model(packed, tmp_path):
    assert main(["pack", "--scale=O=0.5", str(packed.parent / "exp_en"), str(tmp_path / "en")]) == 0
    changed, known = (read_arrays(path / "en/weights.npz")["output.bias"] for path in (tmp_path, packed))
    np.testing.assert_allclose(changed - known, [np.log(0.5), 0, 0, 0, 0, 0], atol=1e-6)


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "a t_lstm cannot be packed; train one of bi_lstm"), (["--scale=X=2"], "no label 'X'"),
    (["--casing=none.txt"], "none.txt: no such file"), (["--card=none.md"], "none.md: no such file")])
def test_pack_errors_are_one_line(packed, tmp_path, capsys, arguments, message):
    exp = packed.parent / "exp_en" if arguments else make_model(tmp_path / "exp", "t_lstm", {})
    assert main(["pack", *arguments, str(exp), str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_punctuate_and_transcript_by_name_without_torch(packed, data, tmp_path, monkeypatch):
    folder = f"from pathlib import Path; from punc.decoding import shipped; shipped.FOLDER = Path({str(packed)!r})"
    code = f"{folder}; {CODE}"
    for command, out in (("punctuate", "out"), ("transcript", "transcript")):
        subprocess.run([sys.executable, "-c", code, command, "en", data, tmp_path / out], check=True)
    shown = texts(tmp_path / "out/text_punct")
    assert texts(tmp_path / "transcript/text") == shown
    forms = {form.strip(",.") for form in " ".join(shown).split()}
    assert forms & {"NATO", "nato"} == forms & {"NATO", "nato", "Nato"} != set()
    assert "iPhone" in forms
    assert not forms & {"iphone", "Iphone"}


@pytest.mark.parametrize("name", ["en", "en-live"])
def test_punctuate_standard_input_equals_a_data_directory(packed, data, tmp_path, name):
    assert main(["punctuate", "--nj=1", str(packed / name), str(data), str(tmp_path / "out")]) == 0
    text = "\n\n".join(texts(data / "text"))
    command = [*PUNC, "punctuate", packed / name, "-"]
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout.splitlines() == texts(tmp_path / "out/text_punct")


def test_punctuate_standard_input_without_a_model_takes_en_live(packed, monkeypatch, capfdbinary, tmp_path):
    monkeypatch.setattr(shipped, "FOLDER", packed)
    found = []
    for arguments in (["-"], ["en-live", "-"]):
        (tmp_path / "words").write_text("w1 w2 nato w3 w4")
        with open(tmp_path / "words") as words:
            monkeypatch.setattr(sys, "stdin", words)
            assert main(["punctuate", *arguments]) == 0
        found.append(capfdbinary.readouterr().out)
    assert found[0] == found[1] != b""


def test_punctuate_posteriors_and_case_rule_of_a_packed_model(packed, data, tmp_path):
    assert main(["punctuate", "--nj=1", "--case-rule=true", str(packed / "en"), str(data), str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/post.ark").stat().st_size > 300 * 6 * 4
    assert all(text[0].isupper() or text.startswith("iPhone") for text in texts(tmp_path / "out/text_punct"))


def test_punctuate_packed_model_on_a_gpu_is_an_error(packed, data, tmp_path, capsys):
    assert main(["punctuate", "--device=cuda", str(packed / "en"), str(data), str(tmp_path / "out")]) == 1
    assert "--device=cuda with a packed model; use --device cpu" in capsys.readouterr().err


def test_punctuate_unknown_model_is_an_error(data, tmp_path, capsys):
    assert main(["punctuate", "fr", str(data), str(tmp_path / "out")]) == 1
    assert "fr: no such model" in capsys.readouterr().err
    assert main(["punctuate", "en"]) == 1
    assert "missing: DATA-DIR" in capsys.readouterr().err


@pytest.mark.parametrize("change", [{"options": None}, {"hidden_dim": 10**9}, {"hidden_dim": 13}, {"hidden_dim": "12"}])
def test_unpack_options_that_are_not_the_model_s_are_an_error(packed, tmp_path, change):
    shutil.copytree(packed / "en", tmp_path / "en")
    spec = json.loads((tmp_path / "en/model.json").read_text())
    spec["options"] = {**spec["options"], **change} if "options" not in change else None
    (tmp_path / "en/model.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match=r"^\S+/en/model\.json: (its weights are not those|hidden_dim=12 )"):
        unpack(tmp_path / "en")
