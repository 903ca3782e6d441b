"""ONNX Runtime computes the labels of every neural model; docs/onnx.md works as printed."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from test_models import NAMES, data_of, make, write

from punc.base.errors import InputError
from punc.bin.main import main
from punc.decoding import export as module
from punc.decoding.decode import decode
from punc.decoding.export import export
from punc.models import base
from punc.tokens.vocabulary import END

PAGE = Path(__file__).parents[1] / "docs/onnx.md"


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    """Directory of a T-LSTM of random weights, for models that have a first stage."""
    place = tmp_path_factory.mktemp("text")
    write(make("t_lstm", ""), place)
    return place


def with_pauses(name):
    return {"pauses": True} if "pauses" in base.option_names(name) else {}


@pytest.mark.parametrize("name", NAMES)
def test_traceable_is_forward(name, text_model):
    """Without ONNX: the operations that are exported compute what `forward` computes, from the start of a stream on."""
    model = make(name, text_model, **with_pauses(name))
    tokens, pauses = torch.randint(2, 10, (3, 12)), torch.rand(3, 12).masked_fill(torch.rand(3, 12) < 0.3, torch.nan)
    with torch.inference_mode():
        expected, _ = model(tokens, pauses, model.initial_state(3))
        if model.lookahead is None:
            found, _ = model.traceable(tokens, pauses, ())
        else:
            state, steps = model.traceable_state(3), []
            for step in range(12):
                logits, state = model.traceable(tokens[:, step:step + 1], pauses[:, step:step + 1], state)
                steps.append(logits)
            found = torch.cat(steps, dim=1)
    slots = slice(model.lookahead or 0, None)
    torch.testing.assert_close(found[:, slots], expected[:, slots], rtol=0, atol=1e-5)


def computed(directory, data):
    """The outputs of ONNX Runtime for each word of streams, as docs/onnx.md says: labels, and log-posteriors if any."""
    session = pytest.importorskip("onnxruntime").InferenceSession(directory / "model.onnx")
    facts, inputs = session.get_modelmeta().custom_metadata_map, session.get_inputs()
    known = {value.name for value in inputs}

    def run(tokens, pauses, state):
        feed = {"tokens": np.array(tokens, np.int64), "pauses": np.array(pauses, np.float32), **state}
        return session.run(None, {name: feed[name] for name in feed if name in known})

    found = []
    for begin, end in zip(data.offsets, data.offsets[1:]):
        ids, pauses = data.ids[begin:end], data.pauses[begin:end]
        if not facts["lookahead"]:
            found.append([output[0] for output in run([ids], [pauses], {})])
            continue
        ahead = int(facts["lookahead"])
        state = {value.name: np.zeros([1 if isinstance(size, str) else size for size in value.shape],
                                      "int64" if "int64" in value.type else "float32")
                 for value in inputs if value.name.startswith("state")}
        steps = []
        for token, pause in zip([*ids, *[END] * ahead], [*[np.nan] * ahead, *pauses]):
            label, log_probs, *after = run([token], [pause], state)
            state = dict(zip(state, after))
            steps.append((label, log_probs))
        found.append([np.concatenate(column) for column in zip(*steps[ahead:])])
    return [np.concatenate(column) for column in zip(*found)]


@pytest.mark.parametrize("name", NAMES)
def test_onnx_runtime_gives_the_labels_of_every_neural_model(name, text_model, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    model, data = make(name, text_model, **with_pauses(name)), data_of([50, 1, 9])
    (tmp_path / "exp").mkdir()
    write(model, tmp_path / "exp")
    export(tmp_path / "exp", tmp_path / "onnx")
    assert sorted(path.name for path in (tmp_path / "onnx").glob("[!.]*")) == ["labels.txt", "model.onnx", "vocab"]
    expected, posteriors = decode(model, data, posteriors=True)
    labels, *log_probs = computed(tmp_path / "onnx", data)
    assert labels.tolist() == expected.tolist()
    for found in log_probs:
        np.testing.assert_allclose(found, posteriors, rtol=0, atol=1e-4)
    assert log_probs or len(set(labels.tolist())) > 1


def test_docs_onnx_as_printed(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    for model, out in re.findall(r"^punc export (\S+) (\S+)$", page, re.M):
        assert main(["export", model, out]) == 0
    capsys.readouterr()
    scope = {}
    for code, printed in re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", page, re.S):
        exec(code, scope)
        assert capsys.readouterr().out == printed


def test_export_what_cannot_be_exported(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_packages", lambda: (None, None))
    write(make("delay", ""), tmp_path)
    with pytest.raises(InputError, match="OUT-DIR has a model of punc"):
        export(tmp_path, tmp_path)
    with pytest.raises(InputError, match="no such file"):
        export(tmp_path / "none", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_export_without_onnx_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"onnx is not installed; pip install 'punc-toolkit\[onnx\]'"):
        export(tmp_path, tmp_path / "out")
