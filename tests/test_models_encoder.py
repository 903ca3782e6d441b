"""Encoders of each kind learn, are saved with everything they need, and read texts of any length."""

import json
import shutil
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from conftest import LABELS, save_model, toy_utterances
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoder import KINDS, make_encoder

from punc.base.errors import InputError
from punc.data.datadir import write_data_dir
from punc.decoding.decode import log_posteriors
from punc.decoding.packed import load_packed
from punc.models import base
from punc.models.encoder import in_windows
from punc.tokens.store import Store, make_store
from punc.tokens.vocabulary import END
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.train import train

# `importorskip` would import transformers in each process that collects the tests.
pytestmark = pytest.mark.skipif(not find_spec("transformers"), reason="no transformers (the extra encoder)")
torch.set_num_threads(1)
SMALL = {"window": 24, "overlap": 4, "dropout": 0.0, "attention_dropout": 0.0}
TRAINING = {"optimizer": "adamw", "learning_rate": 0.01, "epsilon": 1e-8, "batch_size": 8, "chunk_size": 20,
            "context": 2, "epochs": 3, "warmup": 0.2, "max_grad_norm": 1.0}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("encoders"), np.random.default_rng(5)
    (place / "labels.txt").write_text(LABELS)
    for task in ("after", "before", "pause"):
        for name, words in (("train", 3000), ("dev", 600)):
            write_data_dir(place / f"{name}_{task}", toy_utterances(task, [words // 3] * 3, rng))
    for kind in KINDS:
        make_encoder(kind, place / kind)
    return place


@pytest.fixture(scope="module")
def stores(place):
    def store(kind):
        if not (place / f"store_{kind}").is_dir():
            sets = [path.parent for path in sorted(place.glob("*_*/text"))]
            make_store(place / f"store_{kind}", sets, place / "labels.txt", token_type="encoder", vocab=place / kind,
                       nj=1, train="train_before")
        return place / f"store_{kind}"
    return store


def learn(stores, place, out, kind, task, model="encoder", training=None, **options):
    """Train a model and load it again. Return the fraction of the dev set's slots that it labels correctly."""
    given = {"encoder": str(place / kind), **SMALL, **options} if model == "encoder" else options
    train(stores(kind), out, model, given, TrainingOptions(train_set=f"train_{task}", dev_set=f"dev_{task}",
                                                           **TRAINING | (training or {})))
    return right(base.load(out), Store(stores(kind)).set(f"dev_{task}"))


def right(model, data):
    slots = data.labels >= 0
    return (log_posteriors(model, data).argmax(axis=1) == data.labels)[slots].mean()


def posteriors(packed, tokens):
    return np.exp(load_packed(packed).decode_batch(tokens, None)[1])


def create(stores, place, kind, **options):
    """Return a new model in which the weights of the output layer are large enough to matter."""
    torch.manual_seed(2)
    store = Store(stores(kind))
    model = base.create("encoder", store.vocabulary, store.labels, {"encoder": str(place / kind), **SMALL, **options},
                        store.tokenizer)
    torch.nn.init.uniform_(model.output.weight, -0.7, 0.7)
    return model.eval()


@pytest.mark.parametrize("kind", KINDS)
def test_encoder_learns_and_its_directory_is_whole(stores, place, kind, tmp_path):
    shutil.copytree(place / kind, tmp_path / "away")
    given = {"encoder": str(tmp_path / "away"), **SMALL}
    train(stores(kind), tmp_path / "exp", "encoder", given,
          TrainingOptions(train_set="train_before", dev_set="dev_before", **TRAINING))
    shutil.rmtree(tmp_path / "away")
    data = Store(stores(kind)).set("dev_before")
    model = base.load(tmp_path / "exp")
    assert right(model, data) > 0.95
    base.save(model, tmp_path / "exp/final.pt")
    assert np.array_equal(log_posteriors(base.load(tmp_path / "exp"), data), log_posteriors(model, data))


@pytest.mark.parametrize("kind", KINDS)
def test_encoder_windows_and_batches_do_not_matter(stores, place, kind):
    """A text may be longer than the encoder can read at once. Its posteriors depend neither on the other texts in a
    batch nor on padding."""
    model, data = create(stores, place, kind), Store(stores(kind)).set("dev_before")
    lengths = [90, 3, 25, 1, 21]
    offsets = np.cumsum([0, *lengths])
    texts = data._replace(ids=np.asarray(data.ids[:offsets[-1]]), labels=None, pauses=None, offsets=offsets,
                          streams=[*map(str, range(len(lengths)))])
    assert max(lengths) > 64 > model.size
    one, five = (log_posteriors(model, texts, chunk_size=0, batch_size=size) for size in (1, 5))
    np.testing.assert_allclose(one, five, rtol=0, atol=1e-4)
    np.testing.assert_allclose(np.exp(one).sum(axis=1), 1, atol=1e-5)
    changed = texts._replace(ids=texts.ids.copy())
    changed.ids[5] = changed.ids[6]
    differs = np.abs(log_posteriors(model, changed, chunk_size=0) - one).max(axis=1) > 1e-6
    assert differs[4:7].any()
    assert not differs[90:].any()


def test_encoder_reads_what_transformers_computes(stores, place):
    """For a text, the model computes the same vectors as `transformers` does with special pieces around the text."""
    from transformers import AutoModel
    model = create(stores, place, "bert")
    tokens = torch.tensor([[9, 8, 7, 9, 10], [9, 7, 1, 1, 1]])
    net = AutoModel.from_pretrained(place / "bert").eval()
    with torch.inference_mode():
        found = model.features(tokens, None)
        for row, ids in zip(found, ([2, 7, 6, 5, 7, 8, 3], [2, 7, 5, 3])):
            expected = net(input_ids=torch.tensor([ids])).last_hidden_state[0, 1:-1]
            torch.testing.assert_close(row[:len(ids) - 2], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_encoder_traceable_is_forward(stores, place, kind):
    """The batch has texts of different lengths, some longer than the window of ModernBERT's local attention."""
    model = create(stores, place, kind, window=0)
    tokens = torch.randint(2, 12, (3, 40), generator=torch.Generator().manual_seed(1))
    tokens[1, 20:], tokens[2, 1:] = 1, 1
    with torch.inference_mode():
        expected, found = model(tokens, None, ())[0], model.traceable(tokens, None, ())[0]
    for row, length in enumerate((40, 20, 1)):
        torch.testing.assert_close(found[row, :length - 1], expected[row, :length - 1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "deberta-v2", "modernbert", "mpnet"])
def test_encoder_is_packed(stores, place, kind, tmp_path):
    """Posteriors are compared for a text that is longer than the window. `pack` itself compares only labels."""
    pytest.importorskip("onnx")
    from punc.decoding.pack import pack
    model = create(stores, place, kind, dropout=0.1, pauses=kind == "bert")
    save_model(model, tmp_path / "exp")
    pack(tmp_path / "exp", tmp_path / "onnx")
    assert (tmp_path / "onnx/tokenizer.json").is_file()
    data = Store(stores(kind)).set("dev_before")
    data = data._replace(offsets=data.offsets[[0, -1]], streams=["0"], pauses=None)
    assert len(data.ids) > 64 > model.size
    found, expected = (log_posteriors(some, data, chunk_size=size, context=8)
                       for some, size in ((load_packed(tmp_path / "onnx"), 0), (model, model.size - 16)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.1)


def test_encoder_is_packed_with_products_in_int8(stores, place, tmp_path, capfd):
    """An encoder layer multiplies by six matrices, by five of them in int8. Posteriors hardly change. The packed model
    can be packed again without int8 products."""
    onnx = pytest.importorskip("onnx")
    from punc.bin.main import main
    from punc.decoding.pack import pack
    make_encoder("bert", place / "wide", hidden_size=64, intermediate_size=256)
    store = Store(stores("bert"))
    torch.manual_seed(2)
    model = base.create("encoder", store.vocabulary, store.labels, {"encoder": str(place / "wide"), **SMALL},
                        store.tokenizer).eval()
    with torch.no_grad():  # random weights, because the exporter merges equal ones, such as a new model's biases
        for weight in model.parameters():
            weight += 0.02 * torch.randn_like(weight)
    save_model(model, tmp_path / "exp")
    assert main(["pack", "--int8", "true", str(tmp_path / "exp"), str(tmp_path / "int8")]) == 0
    assert capfd.readouterr().err.strip().endswith("the same labels before products are computed in int8")
    file = onnx.load(tmp_path / "int8/model.onnx")
    kinds = [node.op_type for node in file.graph.node]
    assert kinds.count("MatMulInteger") == 2 * 5
    assert [opset.domain for opset in file.opset_import] == [""], "only standard operators"
    tokens = np.random.default_rng(0).integers(7, 15, (4, 20))
    with torch.inference_mode():
        expected = model(torch.from_numpy(tokens), None, ())[0].softmax(2).numpy()
    assert np.abs(posteriors(tmp_path / "int8", tokens) - expected).mean() < 0.02
    pack(tmp_path / "int8", tmp_path / "again")  # weights keep their 7 bits, but products are in 32 bits
    assert np.abs(posteriors(tmp_path / "again", tokens) - expected).mean() < 0.02
    assert 0 < np.abs(posteriors(tmp_path / "again", tokens) - posteriors(tmp_path / "int8", tokens)).mean() < 0.02


@pytest.mark.parametrize("kind", ["bert", "roberta", "modernbert"])
def test_encoder_learns_from_pauses(stores, place, kind, tmp_path):
    assert learn(stores, place, tmp_path, kind, "pause", pauses=True) > 0.95


def test_encoder_pauses_begin_as_nothing(stores, place):
    model, tokens = create(stores, place, "bert", pauses=True), torch.tensor([[9, 8, 7, 9, 10]])
    pauses = torch.tensor([[0.0, 0.3, torch.nan, 5.0, 0.1]])
    with torch.inference_mode():
        expected = create(stores, place, "bert")(tokens, None, ())[0]
        torch.testing.assert_close(model(tokens, pauses, ())[0], expected)
        torch.nn.init.normal_(model.pause_input.weight)
        assert not torch.allclose(model(tokens, pauses, ())[0], expected)
        torch.testing.assert_close(model(tokens, None, ())[0], model(tokens, torch.full_like(pauses, torch.nan), ())[0])


def test_encoder_rate_of_output(stores, place):
    model = create(stores, place, "bert", output_rate=4)
    rates = {name: model.rate_of(name) for name, _ in model.named_parameters()}
    assert rates["output.weight"] == 4
    assert {rates[name] for name in rates if name.startswith("encoder.")} == {1}
    updates = Optimizer(model, "adamw", 0.1)
    assert {group["lr"] for part in updates._parts for group in part.param_groups} == {0.4, 0.1}


@pytest.mark.parametrize(("kind", "below"), [("bert", "embeddings"), ("mpnet", "relative_attention_bias")])
def test_encoder_frozen_layers(stores, place, kind, below):
    model = create(stores, place, kind, frozen_layers=1)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert trained == {name for name, _ in model.named_parameters() if ".layer.1." in name or name.startswith("output")}
    assert any(below in name for name, weight in model.named_parameters() if not weight.requires_grad)


@pytest.mark.parametrize("stage", ["lstm", "linear"])
def test_ta_encoder_learns_from_pauses(stores, place, stage, tmp_path):
    learn(stores, place, tmp_path / "text", "bert", "before", training={"epochs": 1})
    before = base.load(tmp_path / "text").state_dict()
    training = {"learning_rate": 0.03}
    learn(stores, place, tmp_path / "exp", "bert", "pause", "ta_encoder", training, text_model=str(tmp_path / "text"),
          hidden_dim=16, stage=stage)
    shutil.rmtree(tmp_path / "text")
    model = base.load(tmp_path / "exp")
    assert right(model, Store(stores("bert")).set("dev_pause")) > 0.95
    after = model.text.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_encoder_runs_no_code_of_the_directory(stores, place, tmp_path):
    shutil.copytree(place / "bert", tmp_path / "bert")
    config = json.loads((tmp_path / "bert/config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    (tmp_path / "bert/config.json").write_text(json.dumps(config))
    (tmp_path / "bert/evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    store = Store(stores("bert"))
    options = {"encoder": str(tmp_path / "bert"), **SMALL}
    model = base.create("encoder", store.vocabulary, store.labels, options, store.tokenizer)
    assert not (tmp_path / "ran").exists()
    assert "auto_map" not in model.spec["options"]["encoder"]["config"]
    (tmp_path / "bert/model.safetensors").rename(tmp_path / "bert/pytorch_model.bin")
    with pytest.raises(InputError, match=r"bert: no model.safetensors; save the encoder's weights as safetensors"):
        base.create("encoder", store.vocabulary, store.labels, options, store.tokenizer)


@pytest.mark.parametrize(("change", "message"), [
    ({"encoder": ""}, "encoder= is not a directory; give the directory of an encoder"),
    ({"encoder": "nowhere"}, "encoder=nowhere is not a directory"),
    ({"window": 8}, "window=8 is too small for overlap=4; give a larger window, or a smaller overlap"),
    ({"dropout": 1.0}, "dropout=1.0 is out of range; give at least 0 and less than 1")])
def test_encoder_wrong_options_are_one_line(stores, place, change, message):
    with pytest.raises(InputError, match=message):
        create(stores, place, "bert", **change)


def test_encoder_of_other_pieces_or_kinds(stores, place, tmp_path):
    store = Store(stores("bert"))
    with pytest.raises(InputError, match="pieces"):
        base.create("encoder", store.vocabulary, store.labels, {"encoder": str(place / "roberta")}, store.tokenizer)
    shutil.copytree(place / "bert", tmp_path / "gpt2")
    config = json.loads((tmp_path / "gpt2/config.json").read_text())
    (tmp_path / "gpt2/config.json").write_text(json.dumps(config | {"model_type": "gpt2"}))
    with pytest.raises(InputError, match=r"config.json: encoders of the kind gpt2 are not supported; choose from bert"):
        base.create("encoder", store.vocabulary, store.labels, {"encoder": str(tmp_path / "gpt2")}, store.tokenizer)
    (tmp_path / "gpt2/config.json").write_text(json.dumps(config | {"hidden_size": 32}))
    with pytest.raises(InputError, match=r"its weights do not fit its config.json"):
        base.create("encoder", store.vocabulary, store.labels, {"encoder": str(tmp_path / "gpt2")}, store.tokenizer)


def test_load_huge_encoder_is_refused(stores, place, tmp_path):
    model = create(stores, place, "bert")
    model.spec["options"]["encoder"]["config"]["intermediate_size"] = 10**9
    save_model(model, tmp_path)
    with pytest.raises(InputError, match="its weights do not match its spec"):
        base.load(tmp_path)


@pytest.mark.parametrize("start", ["x", [0.5], [-1], [10**5]])
def test_load_encoder_with_other_special_pieces(stores, place, tmp_path, start):
    model = create(stores, place, "bert")
    model.spec["options"]["encoder"]["start"] = start
    save_model(model, tmp_path)
    with pytest.raises(InputError, match=r"final.pt: the tokenizer has special pieces that the encoder does not have; "
                                         "use the"):
        base.load(tmp_path)


@settings(deadline=None, max_examples=100)
@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=4), size=st.integers(3, 20), overlap=st.integers(0, 8),
       at_once=st.integers(1, 9), more=st.booleans())
def test_in_windows_gives_each_token_its_surroundings(lengths, size, overlap, at_once, more):
    """Each token is read together with the `overlap` tokens before it and the `overlap` tokens after it. At the ends of
    a text, there are fewer."""
    overlap = min(overlap, (size - 1) // 2)
    width = max(lengths)
    tokens = torch.full((len(lengths), width), END)
    for row, length in enumerate(lengths):
        tokens[row, :length] = torch.arange(length) + 2
    seen = []

    def read(window, values):
        assert window.shape[1] <= max(size, 0)
        assert len(window) <= max(at_once, len(lengths))
        assert (values is None) != more
        assert (values is None or torch.equal(values[..., 0], 2 * window))
        seen.append(len(window))
        padded = torch.nn.functional.pad(window, (overlap, overlap), value=-1)
        return torch.stack([padded[:, i:i + window.shape[1]] for i in range(2 * overlap + 1)], dim=2).float()

    found = in_windows(read, tokens, 2 * tokens.unsqueeze(2) if more else None, size, overlap, at_once)
    assert found.shape == (len(lengths), width, 2 * overlap + 1)
    found = torch.where(found == END, -1, found)  # after the end of a text, `whole` has −1 instead of END
    for row, length in enumerate(lengths):
        whole = torch.nn.functional.pad(tokens[row, :length], (overlap, overlap), value=-1)
        for t in range(length):
            assert torch.equal(found[row, t].long(), whole[t:t + 2 * overlap + 1])
    if width > size:  # no window consists of padding only, and the windows of a text do not depend on other texts
        step = size - 2 * overlap
        assert sum(seen) == sum(max(1, -(-(length - 2 * overlap) // step)) for length in lengths)
