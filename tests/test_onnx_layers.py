"""Layers of LSTM in ONNX Runtime have the states of torch's, and a packed model the same logits with and without."""

import builtins

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import punc.decoding.packed_model
from punc.data.labels import LabelSet
from punc.decoding.onnx_layers import OnnxLayers
from punc.decoding.pack import pack
from punc.decoding.packed_model import load_packed
from punc.models.base import create, save
from punc.tokens.vocabulary import END, Vocabulary

GATES = ("weight_ih_l{}{}", "weight_hh_l{}{}", "bias_ih_l{}{}", "bias_hh_l{}{}")


@pytest.mark.parametrize("both", [False, True])
def test_states_are_those_of_torch(both):
    pytest.importorskip("onnxruntime")
    torch.manual_seed(1)
    lstm = torch.nn.LSTM(5, 7, num_layers=2, bidirectional=both)
    layers = [[[getattr(lstm, gate.format(number, side)).detach().numpy() for gate in GATES]
               for side in ("", "_reverse")[:1 + both]] for number in range(2)]
    inputs, lengths = torch.randn(9, 4, 5), torch.tensor([9, 4, 1, 6])
    with torch.inference_mode():
        packed = pack_padded_sequence(inputs, lengths, enforce_sorted=False)
        expected = pad_packed_sequence(lstm(packed)[0], total_length=9)[0].numpy()
    found = OnnxLayers(layers).run(inputs.numpy(), lengths.numpy())
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.fixture(params=["pause_bi_lstm", "delay"])
def packed_model(request, tmp_path):
    """A packed model of random weights."""
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    vocabulary = Vocabulary(["<unk>", "</s>", *(f"w{i}" for i in range(30))])
    options = {"embedding_dim": 6, "hidden_dim": 8, "layers": 2, "dropout": 0.0}
    model = create(request.param, vocabulary, LabelSet.read(tmp_path / "labels.txt"), options)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.8)
    save(model, tmp_path / "final.pt")
    vocabulary.write(tmp_path / "vocab")
    pack(tmp_path, tmp_path / "packed")
    return load_packed(tmp_path / "packed")


def inputs():
    """Texts of 40, 39, … words with pauses, of which some are unknown, padded with END."""
    rng = np.random.default_rng(2)
    tokens = rng.integers(2, 32, (6, 40))
    for row, text in enumerate(tokens):
        text[40 - 3 * row:] = END
    return tokens, rng.choice(np.array([0, 0.1, 1, np.nan], np.float32), tokens.shape)


def test_logits_are_those_of_numpy(packed_model, monkeypatch):
    pytest.importorskip("onnxruntime")
    expected = packed_model.logits(*inputs())
    assert "_onnx_layers" not in vars(packed_model), "few tokens: not imported"
    monkeypatch.setattr(punc.decoding.packed_model, "LARGE", 1)
    found = packed_model.logits(*inputs())
    assert packed_model._onnx_layers
    for row in range(6):  # what stands in the padding is nobody's
        np.testing.assert_allclose(found[row, :40 - 3 * row], expected[row, :40 - 3 * row], atol=1e-4)


def test_without_onnxruntime(packed_model, monkeypatch):
    expected, importing = packed_model.logits(*inputs()), builtins.__import__

    def without(name, *arguments):
        if name.startswith("onnx"):
            raise ImportError(name)
        return importing(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(punc.decoding.packed_model, "LARGE", 1)
    np.testing.assert_array_equal(packed_model.logits(*inputs()), expected)
    assert packed_model._onnx_layers is None
