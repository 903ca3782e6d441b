"""A packed model in NumPy has the labels of the PyTorch model with the same weights, in batches, chunks and streams."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.decoding import decode, packed
from punc.decoding.archive import checksum, read_arrays, write_arrays
from punc.decoding.pack import pack
from punc.decoding.packed_model import MODELS, load_packed
from punc.live.stepwise import streaming_logits
from punc.models.base import create, load, names, save
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import Vocabulary

torch.set_num_threads(1)
WORDS = 300
SIZES = {"embedding_dim": 20, "hidden_dim": 24, "layers": 2, "dropout": 0.0}
KINDS = [name for name in MODELS if name in names()]


def random_model(directory, name):
    """A model with large random weights, so that labels and posteriors vary, saved to a directory."""
    directory.mkdir()
    (directory / "labels.txt").write_text("O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\nPERIOD w. .\nQUESTION w? ?\n")
    torch.manual_seed(7)
    vocabulary = Vocabulary(["<unk>", "</s>", *(f"w{i}" for i in range(WORDS))])
    options = {**SIZES, "delay": 3} if "delay" in name else SIZES
    model = create(name, vocabulary, LabelSet.read(directory / "labels.txt"), options)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.8 if weight.ndim < 2 or len(weight) < 100 else 0.4)
    save(model, directory / "final.pt")
    vocabulary.write(directory / "vocab")
    return directory


@pytest.fixture(scope="module", params=KINDS)
def models(request, tmp_path_factory):
    """A PyTorch model with the weights of a packed one, and the packed one."""
    place = tmp_path_factory.mktemp("packed")
    directory = random_model(place / "exp", request.param)
    pack(directory, place / "packed")
    model = load(directory)
    weights = read_arrays(place / "packed/weights.npz")
    model.load_state_dict({name: torch.from_numpy(weights[name]) for name in model.state_dict()})
    return model, load_packed(place / "packed")


def streams(lengths, pauses, seed=1):
    rng = np.random.default_rng(seed)
    count = sum(lengths)
    seconds = rng.choice(np.array([0, 0.01, 0.02, 0.3, 1.0, 9.0, np.nan], np.float32), count) if pauses else None
    return StoreSet(rng.integers(0, WORDS + 2, count).astype(np.int32), None, seconds, [""] * len(lengths),
                    np.cumsum([0, *lengths]))


def compare(models, data, **options):
    """Both models' labels and log-posteriors; fails if they are not equal, but for rounding where two labels tie."""
    model, small = models
    labels, log_probs = decode.decode(model, data, posteriors=True, **options)
    own, own_log_probs = packed.decode(small, data, posteriors=True, **options)
    assert len(np.unique(labels)) > 3
    assert np.abs(np.exp(own_log_probs) - np.exp(log_probs)).max() < 1e-4
    best = np.sort(np.exp(log_probs), axis=1)
    assert np.array_equal(own[best[:, -1] - best[:, -2] > 2e-4], labels[best[:, -1] - best[:, -2] > 2e-4])
    assert (own == labels).mean() > 0.999


@pytest.mark.parametrize("pauses", [False, True])
def test_packed_model_equals_torch_in_batches_of_texts(models, pauses):
    data = streams([1, 2, 7, 40, 39, 3, 1, 60], pauses)
    data.ids[data.offsets[1:] - 1] = 5  # END within a text is read as padding at its end
    compare(models, data, batch_size=3)


@pytest.mark.parametrize("pauses", [False, True])
def test_packed_model_equals_torch_in_chunks_of_a_long_text(models, pauses):
    compare(models, streams([3000, 700], pauses), chunk_size=256, context=32, batch_size=5)


def test_packed_model_labels_do_not_depend_on_the_batch(models):
    data = streams([500, 11, 80], True)
    found = [packed.decode(models[1], data, chunk_size=64, context=16, batch_size=size)[0] for size in (1, 4, 32)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_packed_model_token_by_token_equals_whole_streams(models):
    small = models[1]
    if small.lookahead is None:
        with pytest.raises(ValueError, match="whole streams"):
            next(streaming_logits(small, [(2, np.nan)]))
        return
    data = streams([200], True)
    data.pauses[-1] = np.nan  # after the last word there is none
    before = np.append(np.nan, data.pauses[:-1])
    found = np.array(list(streaming_logits(small, zip(data.ids.tolist(), before.tolist()))))
    _, log_probs = packed.decode(small, data, posteriors=True, chunk_size=0)
    assert np.abs(packed.log_softmax(found) - log_probs).max() < 1e-4


def test_packed_scale_changes_labels(models):
    data = streams([400], False)
    more = np.array([1, 1, 1, 1, 1, 1e3], np.float32)
    assert (packed.decode(models[1], data, more)[0] == 5).sum() > (packed.decode(models[1], data)[0] == 5).sum()


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    place = tmp_path_factory.mktemp("broken")
    pack(random_model(place / "exp", "delay"), place / "packed")
    return place / "packed"


def test_load_packed_does_not_import_torch(directory):
    code = "import sys; from pathlib import Path; from punc.decoding.packed_model import load_packed; " \
        f"load_packed(Path({str(directory)!r})).stepper(); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("file", "change", "what"), [
    ("vocab", lambda text: text.replace(b"w9\n", b"v9\n"), "changed after"),
    ("weights.npz", lambda content: content[:-100], "changed after"),
    ("model.json", lambda text: text.replace(b"model 1", b"model 9"), "reads 'punc packed model 1'"),
    ("model.json", lambda text: b"{}", "not the description"),
    ("model.json", lambda text: text[:40], "not the description")])
def test_load_packed_broken_file_is_an_error(directory, tmp_path, file, change, what):
    for path in directory.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / file).write_bytes(change((directory / file).read_bytes()))
    with pytest.raises(InputError, match=what):
        load_packed(tmp_path)


@pytest.mark.parametrize("change", [{"layers": 3}, {"layers": 10**9}, {"lookahead": None}, {"lookahead": 1.5},
                                    {"lookahead": 10**9}, {"model": "bi_lstm"}])
def test_load_packed_weights_of_another_model_are_an_error(directory, tmp_path, change):
    for path in directory.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    spec = json.loads((directory / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**spec, **change}))
    with pytest.raises(InputError, match="weights are not those"):
        load_packed(tmp_path)


@pytest.mark.parametrize(("name", "change"), [
    ("embedding.weight", lambda array: array[:-1]), ("output.bias", lambda array: array[:-1]),
    ("output.weight", lambda array: array[:, :-1]), ("lstms.lstm.weight_hh_l0", lambda array: array[:-4]),
    ("lstms.lstm.weight_ih_l1", lambda array: array[:, 1:]), ("lstms.lstm.bias_ih_l0", lambda array: array[:, None])])
def test_load_packed_arrays_of_other_sizes_are_an_error(directory, tmp_path, name, change):
    for path in directory.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    arrays, spec = read_arrays(directory / "weights.npz"), json.loads((directory / "model.json").read_text())
    write_arrays(tmp_path / "weights.npz", {**arrays, name: change(arrays[name])})
    spec["sha256"]["weights.npz"] = checksum(tmp_path / "weights.npz")
    (tmp_path / "model.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match="weights are not those"):
        load_packed(tmp_path)
