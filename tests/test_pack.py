"""`punc pack`: packed models give the same labels as the PyTorch models, in batches and live, and do not need torch."""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import UTILS, random_model, save_model, streaming_logits
from test_models import NAMES, data_of, make

import punc
from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.data.transitions import TRANSITIONS, Transitions, write_transitions
from punc.decoding import shipped
from punc.decoding.decode import decode
from punc.decoding.pack import pack, unpack
from punc.decoding.packed import checksum, load_packed
from punc.models import base
from punc.tokens.store_set import StoreSet

pytest.importorskip("onnx")
torch.set_num_threads(1)
WORDS = [*(f"w{i}" for i in range(60)), "nato", "iphone"]
LABELS = "O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\nPERIOD w. .\nCAP_PERIOD W. .\n"
CODE = "import sys; from punc.bin.main import main; assert not main(); sys.exit('torch' in sys.modules)"
PUNC = [sys.executable, "-c", CODE]


def make_model(directory, name, options):
    random_model(directory, LABELS, WORDS, name, options, std=0.7)
    (directory / "conf").write_text(f"--model={name}\n")
    return directory


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Make packed models with a casing table and a model card. `en` is bidirectional; `en-live` reads left to right."""
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
    assert names == {"model.json", "model.onnx", "labels.txt", "vocab", "conf", "casing.txt", "README.md"}
    assert all((tmp_path / "en" / name).read_bytes() == (packed / "en" / name).read_bytes() for name in names)


def test_pack_scale_is_part_of_the_model(packed, tmp_path):
    assert main(["pack", "--scale=O=0.5", str(packed.parent / "exp_en"), str(tmp_path / "en")]) == 0
    changed, known = (unpack(path / "en").output.bias for path in (tmp_path, packed))
    np.testing.assert_allclose((changed - known).detach(), [np.log(0.5), 0, 0, 0, 0, 0], atol=1e-6)


@pytest.mark.parametrize(("arguments", "message"), [
    (["--scale=O=2"], "--scale does not apply to a t_lstm; give --scale to punc punctuate"),
    (["--scale=X=2"], "no label 'X'"),
    (["--casing=none.txt"], "none.txt: no such file"), (["--card=none.md"], "none.md: no such file")])
def test_pack_errors_are_one_line(packed, tmp_path, capsys, arguments, message):
    exp = make_model(tmp_path / "exp", "t_lstm", {}) if "t_lstm" in message else packed.parent / "exp_en"
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
    written = texts(tmp_path / "transcript/text")
    assert [text.rstrip(".,?") for text in written] == [text.rstrip(".,?") for text in shown]
    assert all(text[-1] in ".?" for text in written), "a text ends with the end of a sentence"
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


@pytest.mark.parametrize(("model", "options"), [("bi_lstm", {}), ("delay", {"delay": 2})])
def test_transitions_of_a_model_decide_in_files_in_python_and_live(model, options, data, tmp_path):
    """The transitions of this model forbid the same label twice in a row."""
    size = {"embedding_dim": 8, "hidden_dim": 12, "layers": 1, "dropout": 0.0}
    exp = make_model(tmp_path / "exp", model, size | options)
    labels = LabelSet.read(exp / "labels.txt")
    write_transitions(exp / TRANSITIONS, Transitions(-50 * np.eye(len(labels)), np.zeros(len(labels))), labels)
    assert main(["pack", str(exp), str(tmp_path / "packed")]) == 0
    words = [word for text in texts(data / "text") for word in text.split()][:200]
    stream = punc.load(tmp_path / "packed").stream()
    live = [marked.label for word in words for marked in stream.push(word)] + [m.label for m in stream.close()]
    in_python = punc.load(tmp_path / "packed").labels(words).names.tolist()
    for name in ("exp", "packed"):
        assert main(["punctuate", "--nj=1", str(tmp_path / name), str(data), str(tmp_path / f"out_{name}")]) == 0
    in_files = [text.split() for text in texts(tmp_path / "out_packed/punct")]
    assert in_files == [text.split() for text in texts(tmp_path / "out_exp/punct")]
    assert in_files[0][:-2] == in_python[:-2]
    assert in_python[-1] in labels.sentence_ends  # the last label of a text ends a sentence
    assert live[-1] in labels.sentence_ends
    for found in (live, in_python, *in_files):
        assert len(set(found)) > 1
        assert all(label != after for label, after in pairwise(found))


def test_punctuate_leaves_nothing_in_the_home_of_a_user(packed, tmp_path):
    """By default, ONNX Runtime writes a machine identifier for its telemetry to the home directory."""
    env = os.environ | {"HOME": str(tmp_path)}
    env.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run([*PUNC, "punctuate", str(packed / "en-live"), "-"], input=b"w1 w2\n", env=env, check=True,
                          capture_output=True)
    assert done.stdout
    assert not list(tmp_path.iterdir())


def test_punctuate_packed_model_on_a_gpu_is_an_error(packed, data, tmp_path, capsys):
    assert main(["punctuate", "--device=cuda", str(packed / "en"), str(data), str(tmp_path / "out")]) == 1
    assert "--device=cuda does not apply to a packed model; use --device cpu" in capsys.readouterr().err


@pytest.mark.parametrize("change", [{"options": None}, {"hidden_dim": 10**9}, {"hidden_dim": 13}, {"hidden_dim": "12"}])
def test_unpack_options_that_are_not_the_model_s_are_an_error(packed, tmp_path, change):
    shutil.copytree(packed / "en", tmp_path / "en")
    spec = json.loads((tmp_path / "en/model.json").read_text())
    spec["options"] = {**spec["options"], **change} if "options" not in change else None
    (tmp_path / "en/model.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match=r"^\S+/en/model\.json: (its weights do not match|hidden_dim=12 )"):
        unpack(tmp_path / "en")


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    """Return the directory of a T-LSTM with random weights, which some models need as their first stage."""
    place = tmp_path_factory.mktemp("text")
    save_model(make("t_lstm", ""), place)
    return place


def with_pauses(name):
    return {"pauses": True} if "pauses" in base.option_defaults(name) else {}


def small_set(lengths):
    """Return streams of `lengths` tokens with pauses, some of them unknown. No stream ends with END, which would be
    read as padding."""
    data = data_of(lengths)
    data.ids[data.offsets[1:] - 1] = 5
    return data


@pytest.mark.parametrize("name", NAMES)
def test_packed_model_has_the_labels_and_posteriors_of_torch(name, text_model, tmp_path):
    data = small_set([50, 1, 9, 130])
    (tmp_path / "exp").mkdir()
    made = make(name, text_model, **with_pauses(name))
    save_model(made, tmp_path / "exp")
    pack(tmp_path / "exp", tmp_path / "packed")
    small = load_packed(tmp_path / "packed")
    assert made.lookahead is None or small.reads_pauses == made.reads_pauses
    if name in ("blstm_crf", "ta_lstm"):  # the file has only weights that decoding needs
        with pytest.raises(InputError, match="its weights do not match its spec; use the model from before"):
            unpack(tmp_path / "packed")
        model = made
    else:
        model = unpack(tmp_path / "packed")
    posteriors = not small.sequential
    for sizes in ({"batch_size": 3}, {"chunk_size": 32, "context": 8}):
        expected, log_probs = decode(model, data, posteriors=posteriors, **sizes)
        labels, found = decode(small, data, posteriors=posteriors, **sizes)
        assert labels.tolist() == expected.tolist()
        if posteriors:
            np.testing.assert_allclose(found, log_probs, rtol=0, atol=1e-4)
    if small.sequential:
        with pytest.raises(InputError, match="no posteriors; give --posteriors false and no --scale"):
            decode(small, data, posteriors=True)
    if small.lookahead is not None:
        pauses = np.append(np.nan, data.pauses[:49])  # the pause before each token
        _, log_probs = decode(small, StoreSet(data.ids[:50], None, np.append(data.pauses[:49], np.nan), [""],
                                              np.array([0, 50])), posteriors=True)
        live = list(streaming_logits(small, zip(data.ids[:50].tolist(), pauses.tolist())))
        np.testing.assert_allclose(live, log_probs, rtol=0, atol=1e-5)


def test_packed_weights_are_close_and_packed_again_the_same(tmp_path):
    exp = make_model(tmp_path / "exp", "delay", {"embedding_dim": 80, "hidden_dim": 40, "layers": 1})
    pack(exp, tmp_path / "1")
    first, model = unpack(tmp_path / "1"), base.load(exp)
    for (name, found), weight in zip(first.state_dict().items(), model.state_dict().values()):
        step = weight.abs().amax(dim=-1, keepdim=True) / 127 if weight.numel() >= 4096 and weight.dim() == 2 else 0
        assert ((found - weight).abs() <= step * 0.5001).all(), name
    assert not torch.equal(first.embedding.weight, model.embedding.weight)
    pack(tmp_path / "1", tmp_path / "2")
    again = unpack(tmp_path / "2").state_dict()
    for name, weight in first.state_dict().items():
        torch.testing.assert_close(again[name], weight, rtol=1e-6, atol=0)
    assert (tmp_path / "1/model.onnx").stat().st_size < sum(w.numel() for w in model.parameters()) + 40_000


@pytest.mark.parametrize("name", ["bi_lstm", "delay"])
def test_lstm_is_packed_with_products_in_int8(tmp_path, name):
    import onnx
    exp = make_model(tmp_path / "exp", name, {"embedding_dim": 48, "hidden_dim": 40, "layers": 2, "pauses": True})
    assert main(["pack", "--int8", "true", str(exp), str(tmp_path / "int8")]) == 0
    pack(tmp_path / "int8", tmp_path / "float")
    kinds = [[node.op_type for node in onnx.load(tmp_path / kind / "model.onnx").graph.node]
             for kind in ("int8", "float")]
    assert [found.count("DynamicQuantizeLSTM") for found in kinds] == [found.count("LSTM") for found in kinds[::-1]]
    data = small_set([50, 1, 9, 130])
    models = [base.load(exp), load_packed(tmp_path / "int8"), load_packed(tmp_path / "float")]
    rows = [np.exp(decode(model, data, posteriors=True)[1]) for model in models]
    assert 0 < np.abs(rows[1] - rows[0]).mean() < 0.03
    assert 0 < np.abs(rows[1] - rows[2]).mean() < 0.03
    assert np.mean(rows[1].argmax(1) == rows[0].argmax(1)) > 0.9


@pytest.mark.parametrize(("file", "change", "what"), [
    ("vocab", lambda text: text.replace(b"w9\n", b"v9\n"), "changed after"),
    ("model.onnx", lambda content: content[:-100], "changed after"),
    ("model.json", lambda text: text.replace(b"model 2", b"model 9"), "reads 'punc packed model 2'"),
    ("model.json", lambda text: text.replace(b'"vocab"', b'"../en/vocab"'), "is not a file of this directory"),
    ("model.json", lambda text: b"{}", "does not describe a packed model"),
    ("model.json", lambda text: text[:40], "does not describe a packed model")])
def test_load_packed_broken_file_is_an_error(packed, tmp_path, file, change, what):
    shutil.copytree(packed / "en-live", tmp_path / "m")
    (tmp_path / "m" / file).write_bytes(change((tmp_path / "m" / file).read_bytes()))
    with pytest.raises(InputError, match=what):
        load_packed(tmp_path / "m")


@pytest.mark.parametrize("change", [{"lookahead": None}, {"lookahead": 1.5}, {"lookahead": 3}, {"lookahead": 10**9}])
def test_load_packed_description_of_another_model_is_an_error(packed, tmp_path, change):
    shutil.copytree(packed / "en-live", tmp_path / "m")
    spec = json.loads((tmp_path / "m/model.json").read_text())
    (tmp_path / "m/model.json").write_text(json.dumps({**spec, **change}))
    with pytest.raises(InputError, match="weights do not match"):
        load_packed(tmp_path / "m")


@pytest.mark.parametrize("file", ["vocab", "labels.txt", "model.onnx"])
def test_load_packed_file_of_another_model_is_an_error(packed, tmp_path, file):
    """A file that does not belong to the model is refused even if model.json contains its checksum."""
    shutil.copytree(packed / "en-live", tmp_path / "m")
    text = (tmp_path / "m" / file).read_bytes()
    (tmp_path / "m" / file).write_bytes(b"no model" if file == "model.onnx" else text[:text.rindex(b"\n", 0, -1) + 1])
    spec = json.loads((tmp_path / "m/model.json").read_text())
    spec["sha256"][file] = checksum(tmp_path / "m" / file)
    (tmp_path / "m/model.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match="weights do not match"):
        load_packed(tmp_path / "m")


@pytest.mark.parametrize("name", ["en", "en-live"])
def test_packed_weights_of_another_shape_are_an_error(packed, tmp_path, name):
    """ONNX Runtime notices some wrong shapes only during computation."""
    import onnx
    shutil.copytree(packed / name, tmp_path / "m")
    graph = onnx.load(tmp_path / "m/model.onnx")
    lstm = next(node for node in graph.graph.node if node.op_type == "LSTM")
    made = {output: node for node in graph.graph.node for output in node.output}
    recurrent = lstm.input[2]
    while recurrent in made:  # skips operations such as DequantizeLinear
        recurrent = made[recurrent].input[0]
    weights = next(one for one in graph.graph.initializer if one.name == recurrent)
    array = onnx.numpy_helper.to_array(weights)
    weights.CopyFrom(onnx.numpy_helper.from_array(array[:, :-8].copy(), weights.name))
    onnx.save(graph, tmp_path / "m/model.onnx")
    spec = json.loads((tmp_path / "m/model.json").read_text())
    spec["sha256"]["model.onnx"] = checksum(tmp_path / "m/model.onnx")
    (tmp_path / "m/model.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match=r"cannot be computed|not those of its model"):
        decode_tokens(load_packed(tmp_path / "m"))


def decode_tokens(model):
    tokens = np.full((1, 20), 2)
    return model.decode_batch(tokens, np.zeros(tokens.shape, np.float32), posteriors=not model.sequential)


def test_docs_onnx_as_printed(monkeypatch, capsys):
    root = Path(__file__).parents[1]
    monkeypatch.chdir(root)
    scope = {}
    for code, printed in re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", (root / "docs/onnx.md").read_text(), re.S):
        exec(code, scope)
        assert capsys.readouterr().out == printed


def test_pack_what_cannot_be_packed(packed, tmp_path, monkeypatch, capsys):
    exp = packed.parent / "exp_en"
    with pytest.raises(InputError, match="OUT-DIR has a trained model"):
        pack(exp, exp)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/README.md").write_text("mine")
    with pytest.raises(InputError, match="OUT-DIR exists and has no packed model"):
        pack(exp, tmp_path / "notes")
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["README.md"]
    with pytest.raises(InputError, match="no such file"):
        pack(tmp_path / "none", tmp_path / "out")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["pack", str(exp), str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.endswith(f"onnx is not installed; bash {UTILS.parent}/utils/setup.sh --train\n")
    assert not (tmp_path / "out").exists()
