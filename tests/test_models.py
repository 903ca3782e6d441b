"""The neural models in punc/models learn, are saved and loaded, and give the same posteriors live as in batches.

The first tests cover all these models, also those in new files. Tests of single models follow, in the order of their
papers. Other files test encoders (test_models_encoder.py) and models without gradients (test_ngram.py,
test_word_crf.py).
"""

import inspect
import shutil
from dataclasses import fields

import numpy as np
import pytest
import torch
from conftest import save_model, streaming_logits
from equations import lstm, sigmoid, softmax
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from punc.base.errors import InputError
from punc.base.options import description
from punc.base.processor import has_bfloat16
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models import base
from punc.tokens.chunks import cut
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary
from punc.training.batching import gather
from punc.training.options import TrainingOptions
from punc.training.train import train

torch.set_num_threads(1)
LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdefgh"])
# A model gets only its own options. The batches of the toy task have 5 steps; with a larger look-ahead, they would have
# no slot.
SMALL = {"embedding_dim": 8, "hidden_dim": 16, "init_range": 0.1, "filters": 8, "delay": 2, "ngram": 4,
         "pool": 2, "dilated_layers": 2, "layers": 2, "dropout": 0.0, "embedding_std": 1.0}
TRAINING = {"optimizer": "adam", "learning_rate": 0.03, "batch_size": 10, "bptt": 5, "epochs": 5, "chunk_size": 32,
            "context": 8, "threads": 1}
WITHOUT = {"pauses": False}
NAMES = [name for name in base.names() if base.model_class(name).trained_by_gradient
         and base.model_class(name).token_types != ("encoder",)]


@pytest.fixture(scope="module")
def text_model(tmp_path_factory, toy_store):
    directory = tmp_path_factory.mktemp("text") / "exp"
    options = options_of("t_lstm", "")
    train(toy_store, directory, "t_lstm", options,
          TrainingOptions(train_set="train_after", dev_set="dev_after", **TRAINING))
    return directory


def options_of(name, text_model, **changes):
    """Return the options of a small model. They come from SMALL, `text_model` (the directory of a first stage) and
    `changes`. Options that the model does not have are left out."""
    given = {**SMALL, "text_model": str(text_model), **changes}
    return {option: given[option] for option in base.option_defaults(name) if option in given}


def make(name, text_model, **changes):
    """Return a new model with weights so large that every input matters."""
    torch.manual_seed(2)
    model = base.create(name, VOCABULARY, LABELS, options_of(name, text_model, **changes))
    for weight in model.parameters():
        torch.nn.init.uniform_(weight, -0.7, 0.7)
    return model.eval()


def data_of(lengths, seed=0):
    rng = np.random.default_rng(seed)
    n, offsets = sum(lengths), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    pauses = rng.choice(np.array([0, 0.25, 0.9, np.nan], np.float32), n)
    pauses[offsets[1:] - 1] = np.nan
    return StoreSet(rng.integers(0, 10, n).astype(np.int32), None, pauses, [*map(str, range(len(lengths)))], offsets)


def characters(lengths, seed=0):
    """Return texts without pauses. Only the last token of each text is END."""
    data = data_of(lengths, seed)
    data.ids[data.ids == END] = 2
    data.ids[data.offsets[1:] - 1] = END
    return data._replace(pauses=None)


# Each model without pauses, and with pauses if it can read them.
WITH_PAUSES = [(name, {option: True for option in ("pauses",) if option in base.option_defaults(name)})
               for name in NAMES]
PAUSES = [*((name, {}) for name in NAMES), *((name, inputs) for name, inputs in WITH_PAUSES if inputs)]


@pytest.mark.parametrize("name", base.names())
def test_model_is_documented(name):
    model = base.model_class(name)
    assert any(year in inspect.getmodule(model).__doc__ for year in map(str, range(1948, 2100)))
    arguments = list(inspect.signature(model).parameters)
    if "options" in arguments:  # **options stands for the options of the base class
        arguments = arguments[:-1] + list(inspect.signature(model.__base__).parameters)[2:]
    assert arguments[:2] == ["vocab", "labels"]
    assert sorted(base.option_defaults(name)) == sorted(arguments[2:])
    for option in base.option_defaults(name):
        assert description(model, option) != option.replace("_", " "), f"no line about {option}"
    own = {field.name for field in fields(TrainingOptions)}
    assert not set(base.option_defaults(name)) & own, "the name is one of punc train's own options"
    assert model.token_type in ("word", "char", "subword")
    assert model.lookahead is None or model.lookahead >= 0


TASKS = [*((name, "before" if base.model_class(name).lookahead == 0 else "after") for name in NAMES),
         *((name, "pause") for name in NAMES if "pauses" in base.option_defaults(name))]


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_model_learns_from_words_and_pauses(name, task, text_model, toy_store, tmp_path):
    options = options_of(name, text_model, pauses=task == "pause")
    train(toy_store, tmp_path, name, options,
          TrainingOptions(train_set=f"train_{task}", dev_set=f"dev_{task}", **TRAINING))
    data = Store(toy_store).set(f"dev_{task}")
    model = base.load(tmp_path)
    right = log_posteriors(model, data).argmax(axis=1) == data.labels
    assert np.bincount(data.labels).max() / len(right) < 0.8 < 0.95 < right.mean()
    assert not model.training


@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_load_gives_same_posteriors(name, inputs, text_model, tmp_path):
    model, data = make(name, text_model, **WITHOUT | inputs), data_of([40, 3])
    save_model(model, tmp_path)
    loaded = base.load(tmp_path)
    assert np.array_equal(log_posteriors(loaded, data), log_posteriors(model, data))
    assert type(loaded) is type(model)
    assert (loaded.vocabulary.tokens, loaded.labels) == (VOCABULARY.tokens, LABELS)
    save_model(loaded, tmp_path)
    assert np.array_equal(log_posteriors(base.load(tmp_path), data), log_posteriors(model, data))


@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_log_posteriors_are_distributions_that_depend_on_inputs(name, inputs, text_model):
    model, data = make(name, text_model, **WITHOUT | inputs), data_of([60])
    log_probs = log_posteriors(model, data)
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=1), 1, atol=1e-5)
    assert not np.allclose(log_probs, log_posteriors(model, data._replace(ids=data.ids[::-1])))
    still = np.allclose(log_probs, log_posteriors(model, data._replace(pauses=data.pauses[::-1])))
    assert still != bool(inputs)
    unknown = log_posteriors(model, data._replace(pauses=np.full(60, np.nan, np.float32)))
    np.testing.assert_allclose(log_posteriors(model, data._replace(pauses=None)), unknown, atol=1e-6)


@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_log_posteriors_streams_of_a_batch_are_independent(name, inputs, text_model):
    model, data = make(name, text_model, **WITHOUT | inputs), data_of([25, 1, 40, 7])
    one, four = (log_posteriors(model, data, chunk_size=0, batch_size=size) for size in (1, 4))
    np.testing.assert_allclose(one, four, atol=1e-5)
    assert np.array_equal(one.argmax(axis=1), four.argmax(axis=1))


@pytest.mark.parametrize("name", NAMES)
def test_log_posteriors_character_texts_are_independent(name, text_model):
    model, data = make(name, text_model), characters([25, 1, 2, 40, 7])
    one, five = (log_posteriors(model, data, chunk_size=0, batch_size=size) for size in (1, 5))
    np.testing.assert_allclose(one, five, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_forward_in_parts_and_live_match_one_call(name, inputs, text_model):
    model, data = make(name, text_model, **WITHOUT | inputs), data_of([50])
    if model.lookahead is None:
        with pytest.raises(ValueError, match="whole streams"):
            next(streaming_logits(model, [(2, np.nan)]))
        return
    batch = gather(data, cut(data.offsets, model.lookahead, 50, 0), np.array([0]), model.lookahead)
    with torch.inference_mode():
        whole, _ = model(batch.tokens, batch.pauses, model.initial_state(1))
        for size in (1, 3, 50):
            state, parts = model.initial_state(1), []
            for tokens, pause in zip(batch.tokens.split(size, 1), batch.pauses.split(size, 1)):
                logits, state = model(tokens, pause, state)
                parts.append(logits)
            torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=0, atol=1e-5)
    if model.lookahead or not inputs:  # in live use, the pause after the newest token is unknown
        before = np.append(np.nan, data.pauses[:-1]).tolist()
        for _ in range(2):  # each stream has a fresh initial state
            found = np.array(list(streaming_logits(model, zip(data.ids.tolist(), before))))
            np.testing.assert_allclose(found, whole[0, model.lookahead:].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_lookahead_is_what_the_model_reads(name, text_model):
    model = make(name, text_model)
    if model.lookahead is None:
        return
    slot, ids = 10, data_of([30]).ids
    for further, reads in ((0, True), (1, False)):
        other = ids.copy()
        other[slot + model.lookahead + further] = 2 if ids[slot + model.lookahead + further] != 2 else 3
        a, b = (log_posteriors(model, data_of([30])._replace(ids=i))[slot] for i in (ids, other))
        assert np.allclose(a, b, atol=1e-6) != reads


@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_every_trained_weight_has_a_gradient(name, inputs, text_model):
    without = {**WITHOUT, "characters": False}  # words have one character, so a character LSTM makes no recurrent step
    model = make(name, text_model, **without | inputs).train()
    tokens = torch.randint(2, 10, (4, 6))
    logits, _ = model(tokens, torch.rand(4, 6), model.initial_state(4))
    assert logits.shape == (4, 6, 3)
    labels = torch.randint(0, 3, (4, 6))
    labels[1:, 0] = -1  # one row keeps its first label, because some weights are only used at the start of a text
    model.loss(logits, labels).backward()
    trained = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    assert trained
    assert [name for name, weight in trained.items() if weight.grad is None or not weight.grad.to_dense().any()] == []
    assert not any(weight.grad is not None for weight in model.parameters() if not weight.requires_grad)


@pytest.mark.skipif(not has_bfloat16(), reason="no bfloat16 on this processor")
@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_forward_in_bfloat16_is_nearly_the_same(name, inputs, text_model):
    model = make(name, text_model, **WITHOUT | inputs).train()
    tokens, pauses = torch.randint(2, 10, (4, 6)), torch.rand(4, 6)

    def twice():
        torch.manual_seed(1)  # so that both calls of `twice` drop the same vectors
        first, state = model(tokens, pauses, model.initial_state(4))
        return torch.cat([first, model(tokens, pauses, state)[0]], dim=1).float()

    exact = twice()
    with torch.autocast("cpu", torch.bfloat16):
        logits = twice()
    assert not torch.equal(logits, exact)
    torch.testing.assert_close(logits, exact, rtol=0.05, atol=0.15)
    model.loss(logits, torch.randint(0, 3, (4, 12))).backward()
    assert all(weight.grad.to_dense().isfinite().all() for weight in model.parameters() if weight.grad is not None)


class OnlyOn(TorchDispatchMode):
    def __init__(self, device):
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        found = {tensor.device.type for tensor in tree_leaves(result) if isinstance(tensor, torch.Tensor)}
        assert found <= {self.device}, f"{function} made a tensor on {found}"
        return result


def everything(model, tokens, pauses):
    logits, state = model(tokens, pauses, model.initial_state(len(tokens)))
    model(tokens, pauses, tuple(tensor.detach() for tensor in state))
    results = [logits, model.log_posteriors(logits, tokens)]
    return [*results, model.best_sequence(logits, tokens)] if model.sequential else results


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("name", "inputs"), PAUSES)
def test_models_make_tensors_on_the_device_of_their_inputs(name, inputs, training, text_model):
    """The default device differs from that of the inputs, so tensors made without a device are noticed."""
    changes = {"dropout": 0.5, "unknown": 0.5}
    model = make(name, text_model, **WITHOUT | changes | inputs).train(training)
    tokens, labels = torch.randint(1, 10, (4, 6)), torch.randint(0, 3, (4, 6))
    labels[1:, 0] = -1
    for pauses in (torch.rand(4, 6), None):
        with torch.set_grad_enabled(training), torch.device("meta"), OnlyOn("cpu"):
            logits = everything(model, tokens, pauses)[0]
            loss = model.loss(logits, labels)
            if training:
                loss.backward()
    assert loss.isfinite()


def test_loss_by_hand():
    """The loss is the mean of −log p over slots. Steps without a slot do not count."""
    logits, labels = torch.randn(2, 3, 3), torch.tensor([[0, -1, 2], [1, 1, -1]])
    log_probs = logits.log_softmax(2)
    losses = [-float(log_probs[at]) for at in ((0, 0, 0), (0, 2, 2), (1, 0, 1), (1, 1, 1))]
    assert float(base.NeuralModel().loss(logits, labels)) == pytest.approx(sum(losses) / 4, rel=1e-5)


# The models of Tilk & Alumäe 2015, with the equations in section 2.3.

def peephole_step(x, h, c, input_weight, hidden_weight, peepholes):
    """Compute one step of the LSTM of Sak et al. 2014, equations (1)-(6), for one vector `x`."""
    i, f, g, o = np.split(x @ input_weight + h @ hidden_weight, 4)
    c = sigmoid(f + peepholes[1] * c) * c + sigmoid(i + peepholes[0] * c) * np.tanh(g)
    return sigmoid(o + peepholes[2] * c) * np.tanh(c), c


def by_the_equations(weights, ids, pauses, text_pauses, second, pauses2, tell=False):
    """Return the posteriors of each slot. First stage: y0 = tanh(W0 x0), y1 = LSTM(y0), y2 = softmax(W2 y1). Second
    stage: y3 = LSTM(y1), y4 = softmax(W4 y3)."""
    w = {name: weight.double().numpy() for name, weight in weights.items()}
    prefix = "text." if second else ""
    size, size2 = w[prefix + "output.weight"].shape[1], w["output.weight"].shape[1]
    h1, c1, h3, c3 = np.zeros(size), np.zeros(size), np.zeros(size2), np.zeros(size2)
    result = []
    for step, word in enumerate([*ids.tolist(), END]):  # step t decides slot t − 1 from the word after this slot
        pause = 0.0 if step == 0 or np.isnan(pauses[step - 1]) else float(pauses[step - 1])
        one_hot = np.zeros(len(VOCABULARY))
        one_hot[word] = 1
        y = np.tanh(one_hot @ w[prefix + "embedding.weight"])
        h1, c1 = peephole_step(np.append(y, pause) if text_pauses else y, h1, c1, w[prefix + "lstm.input_weight"],
                      w[prefix + "lstm.hidden_weight"], w[prefix + "lstm.peepholes"])
        y = h1
        if second:
            h3, c3 = peephole_step(np.append(y, pause) if pauses2 else y, h3, c3, w["lstm.input_weight"],
                          w["lstm.hidden_weight"], w["lstm.peepholes"])
            y = h3
        if step:
            result.append(softmax(w["output.weight"] @ y))
    return np.array(result)


@pytest.mark.parametrize("pauses", [False, True])
def test_t_lstm_matches_equations(pauses):
    model, data = make("t_lstm", "", pauses=pauses), data_of([40])
    expected = by_the_equations(model.state_dict(), data.ids, data.pauses, pauses, False, False)
    np.testing.assert_allclose(np.exp(log_posteriors(model, data)), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("text_pauses", [False, True])
def test_ta_lstm_matches_equations(pauses, text_pauses, tmp_path):
    save_model(make("t_lstm", "", pauses=text_pauses), tmp_path)
    model, data = make("ta_lstm", tmp_path, pauses=pauses), data_of([40])
    expected = by_the_equations(model.state_dict(), data.ids, data.pauses, text_pauses, True, pauses)
    np.testing.assert_allclose(np.exp(log_posteriors(model, data)), expected, rtol=0, atol=1e-5)


def size(model):
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def test_t_lstm_and_ta_lstm_have_number_of_weights_of_the_paper(tmp_path):
    """The paper's models have 100 tanh units, 100 LSTM blocks in each stage, and no biases. The second stage of
    TA-LSTM-p reads 101 numbers per step. The vocabulary has 1,002 tokens here, but 100,002 in the paper."""
    vocabulary = Vocabulary(["<unk>", "</s>", *map(str, range(1000))])
    blocks = 4 * 100 * 100 + 3 * 100  # recurrent weights of cell and gates, and peepholes
    for pauses in (False, True):
        model = base.create("t_lstm", vocabulary, LABELS, {"pauses": pauses})
        assert size(model) == 1002 * 100 + 4 * 100 * (100 + pauses) + blocks + 3 * 100
        assert not [name for name, _ in model.named_parameters() if "bias" in name]
        assert max(float(weight.detach().abs().max()) for weight in model.parameters()) <= 0.005
    save_model(base.create("t_lstm", vocabulary, LABELS, {}), tmp_path)
    for pauses, inputs in ((True, 101), (False, 100)):
        model = base.create("ta_lstm", vocabulary, LABELS, {"text_model": str(tmp_path), "pauses": pauses})
        assert model.lstm.input_weight.shape == (inputs, 400)
        assert size(model) == 4 * 100 * inputs + blocks + 3 * 100


def test_ta_lstm_first_stage_is_unchanged_and_saved(text_model, toy_store, tmp_path):
    stage1, directory = tmp_path / "stage1", tmp_path / "stage2"
    shutil.copytree(text_model, stage1)
    train(toy_store, directory, "ta_lstm", {"text_model": str(stage1), "hidden_dim": 4, "init_range": 0.1},
          TrainingOptions(train_set="train_pause", dev_set="dev_pause", **TRAINING | {"epochs": 2}))
    first = base.load(stage1).state_dict()
    shutil.rmtree(stage1)
    second = base.load(directory)
    inside = {name.removeprefix("text."): weight for name, weight in second.state_dict().items() if "text." in name}
    assert inside.keys() == first.keys()
    assert all(torch.equal(inside[name], first[name]) for name in first)
    assert np.isfinite(log_posteriors(second, data_of([10]))).all()


@pytest.mark.parametrize(("case", "message"), [
    ("none", "text_model=; give the directory of a trained t_lstm"),
    ("missing", "DIR/final.pt: no such file; train the model, or give another directory"),
    ("vocabulary", "the vocabulary of text_model=DIR differs from that of the store; "
                   "make the store with the vocabulary of that model: punc make-store --vocab=DIR/vocab"),
    ("kind", "text_model=DIR is a ta_lstm; give the directory of a trained t_lstm"),
])
def test_ta_lstm_invalid_first_stages(case, message, text_model, tmp_path):
    vocabulary = VOCABULARY
    if case == "vocabulary":
        shutil.copytree(text_model, tmp_path, dirs_exist_ok=True)
        vocabulary = Vocabulary([*VOCABULARY.tokens[:-2], "h", "g"])
    if case == "kind":
        save_model(make("ta_lstm", text_model), tmp_path)
    with pytest.raises(InputError) as error:
        base.create("ta_lstm", vocabulary, LABELS, {"text_model": "" if case == "none" else str(tmp_path)})
    assert str(error.value) == message.replace("DIR", str(tmp_path))


# The models of Che et al. 2016 (section 2.2).

def window_logits(name, weights, image, pool):
    w = {key: weight.double().numpy() for key, weight in weights.items()}
    if name == "window_dnn":
        values = image.reshape(-1)
    elif name == "window_cnn1":
        values = []
        for number in range(sum(key.startswith("filters.") for key in w) // 2):
            filters, bias = w[f"filters.{number}.weight"], w[f"filters.{number}.bias"]  # (F, n, h), (F,)
            height = filters.shape[2]
            values += [max(np.tanh((image[at:at + height].T * kernel).sum() + b)
                           for at in range(len(image) - height + 1)) for kernel, b in zip(filters, bias)]
        values = np.array(values)
    else:
        planes = convolved(image[None], w, 0)
        planes = np.array([[[plane[i:i + pool, j:j + pool].max() for j in range(0, plane.shape[1], pool)]
                            for i in range(0, plane.shape[0], pool)] for plane in planes])
        values = convolved(convolved(planes, w, 3), w, 5).reshape(-1)
    layers = sum(key.startswith("classifier.") for key in w) // 2
    for number in range(layers):
        values = w[f"classifier.layers.{number}.weight"] @ values + w[f"classifier.layers.{number}.bias"]
        values = sigmoid(values) if number < layers - 1 else values
    return values


def convolved(planes, w, number):
    """Return the tanh of each filter's output at each pixel of the planes (C, m, n), which are padded with zeros."""
    filters, bias = w[f"convolutions.{number}.weight"], w[f"convolutions.{number}.bias"]
    size, (_, rows, columns) = filters.shape[2], planes.shape
    around = np.pad(planes, ((0, 0), (size // 2, size // 2), (size // 2, size // 2)))
    return np.tanh([[[(around[:, i:i + size, j:j + size] * kernel).sum() + b for j in range(columns)]
                     for i in range(rows)] for kernel, b in zip(filters, bias)])


WINDOW_MODELS = [(name, {"window": window, "slot_word": slot_word, "filters": 3, **extra})
                 for name, extras in (("window_dnn", [{}]), ("window_cnn1", [{}]),
                                      ("window_cnn2", [{}, {"pool": 3}, {"pool": 1}]))
                 for extra in extras for window, slot_word in ((5, 0), (4, 1))]


@pytest.mark.parametrize(("name", "options"), WINDOW_MODELS)
def test_window_models_match_equations(name, options):
    model, data = make(name, "", embedding_dim=7, hidden_dim=6, **options), data_of([12])
    last = (options["slot_word"] or 3) - 1
    assert model.lookahead == options["window"] - 1 - last
    weights = model.state_dict()
    vectors, ids = weights["input.vectors.weight"].double().numpy(), data.ids
    places = [range(slot - last, slot - last + options["window"]) for slot in range(12)]
    windows = [vectors[[ids[i] if 0 <= i < 12 else END for i in place]] for place in places]
    expected = [softmax(window_logits(name, weights, window, options.get("pool", 2))) for window in windows]
    np.testing.assert_allclose(np.exp(log_posteriors(model, data)), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "sizes"), [
    ("window_dnn", [(2048, 250), (4096, 2048), (2048, 4096), (3, 2048)]),
    ("window_cnn1", [*((128, 50, h) for h in (1, 2, 3, 4)), (4096, 512), (2048, 4096), (3, 2048)]),
    ("window_cnn2", [(64, 1, 3, 3), (128, 64, 3, 3), (128, 128, 3, 3), (4096, 128 * 3 * 25), (2048, 4096), (3, 2048)]),
])
def test_window_models_have_sizes_of_the_paper(name, sizes):
    model = base.create(name, VOCABULARY, LABELS, {})
    assert [weight.shape for key, weight in model.named_parameters() if key.endswith("weight")] == [(10, 50), *sizes]
    assert model.lookahead == 2


WINDOW_NAMES = ("window_dnn", "window_cnn1", "window_cnn2")


@pytest.mark.parametrize("name", WINDOW_NAMES)
def test_word_vectors_are_saved_with_the_model(name, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {number} 0.5\n" for number, word in enumerate(VOCABULARY.tokens[2:])))
    options = options_of(name, "", embedding_dim=2)
    model = base.create(name, VOCABULARY, LABELS, {**options, "vectors": str(path)})
    expected = torch.tensor([[0, 0], [0, 0], *([(i - 3.5) / 5.25 ** .5, 0] for i in range(8))])
    torch.testing.assert_close(model.input.vectors.weight.detach(), expected)
    assert "input.vectors.weight" not in [name for name, weight in model.named_parameters() if weight.requires_grad]
    save_model(model, tmp_path)
    path.unlink()
    loaded = base.load(tmp_path)
    assert torch.equal(loaded.input.vectors.weight, model.input.vectors.weight)
    assert np.array_equal(log_posteriors(loaded, data_of([40])), log_posteriors(model.eval(), data_of([40])))
    with pytest.raises(InputError, match="no such file"):
        base.create(name, VOCABULARY, LABELS, {**options, "vectors": str(path)})


# The models of Gale & Parthasarathy 2017 (section 2.3).

def stacked(weights, inputs):
    """Return the outputs of stacked LSTM layers, each with weights [W, U, a, b], for a sequence of vectors."""
    for layer in weights:
        inputs = lstm(inputs, *layer)
    return inputs


def highway(x, weight, bias):
    h, t = np.split(weight @ x + bias, 2)
    return np.maximum(h, 0) * sigmoid(t) + x * (1 - sigmoid(t))


def convolved_at(t, vector, filters, bias):
    """Return the outputs of all kernels at step t. `filters` contains an array (kernels, w, E) for each width w."""
    return np.tanh([sum(kernel[i] @ vector(t - (len(kernel) - 1) // 2 + i) for i in range(len(kernel)))
                    for width in filters for kernel in width] + bias)


def dilated_at(t, layer, vector, w):
    """Return the output at step t of the first `layer` dilated convolutions, each followed by a highway layer."""
    if not layer:
        return vector(t)
    at = [int(key.split(".")[1]) for key in w if key.endswith("both.weight")][2 * layer - 2]  # odd indices: highways
    dilation = 2 ** (layer - 1)
    before, here, after = (dilated_at(place, layer - 1, vector, w)
                           for place in (t - dilation // 2, t, t + (dilation + 1) // 2))
    both = w[f"convolutions.{at}.both.weight"] @ np.append(before, after) + w[f"convolutions.{at}.both.bias"]
    candidate, gate = np.split(both, 2)
    project = w.get(f"convolutions.{at}.project.weight", np.eye(len(candidate)))
    return highway(project @ here + np.tanh(candidate) * sigmoid(gate),
                   w[f"convolutions.{at + 1}.both.weight"], w[f"convolutions.{at + 1}.both.bias"])


def hidden_by_hand(name, options, w, text):
    """Return the outputs of the LSTM layers at all tokens of a text that ends with END."""
    size = len(text)

    def vector(t):
        return w["embedding.weight"][text[t] if 0 <= t < size else END]

    def layers(prefix):
        inside = [key for key in w if key.startswith(prefix) and "weight_ih" in key]
        return [[w[key.replace("weight_ih", part)] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                for key in inside]

    if name == "bi_lstm":
        found = [vector(t) for t in range(size)]
        for ahead, back in zip(layers("lstms.forwards"), layers("lstms.backwards")):
            found = np.concatenate([stacked([ahead], found), stacked([back], found[::-1])[::-1]], axis=1)
        return found
    if name == "delay":
        delay = options["delay"]
        return stacked(layers("lstms"), [vector(t) for t in range(size + delay)])[delay:]
    if name == "ngram_lstm":
        n = options["ngram"]
        inputs = [np.concatenate([vector(t - (n - 1) // 2 + i) for i in range(n)]) for t in range(size)]
    elif name == "dilated_cnn":
        inputs = [dilated_at(t, options["dilated_layers"], vector, w) for t in range(size)]
    else:
        filters = [w[key] for key in w if key.startswith("filters.weights")]
        inputs = [convolved_at(t, vector, filters, w["filters.bias"]) for t in range(size)]
        if name == "cnn_ngram":  # outside the text, the nearest character is read
            n = options["pool"]
            inputs = [np.max([inputs[min(max(t - (n - 1) // 2 + i, 0), size - 1)] for i in range(n)], axis=0)
                      for t in range(size)]
        inputs = [highway(x, w["highway.both.weight"], w["highway.both.bias"]) for x in inputs]
    return stacked(layers("lstms"), inputs)


CHARACTER_MODELS = [("delay", {"delay": 3, "layers": 3}), ("delay", {"delay": 0}), ("ngram_lstm", {"ngram": 4}),
                    ("ngram_lstm", {"ngram": 5}), ("ngram_lstm", {"ngram": 1}),
                    ("cnn_feature", {"filters": 2}), ("cnn_ngram", {"filters": 2, "pool": 4}),
                    ("cnn_ngram", {"filters": 3, "pool": 3}),
                    ("dilated_cnn", {"dilated_layers": 1}), ("dilated_cnn", {"dilated_layers": 3}),
                    ("bi_lstm", {"layers": 1}), ("bi_lstm", {"layers": 3})]


@pytest.mark.parametrize(("name", "options"), CHARACTER_MODELS)
def test_character_models_match_equations(name, options):
    """The last token of a character text is END. END is added after the last word of a word text."""
    model = make(name, "", embedding_dim=3, hidden_dim=4, **options)
    w = {key: weight.double().numpy() for key, weight in model.state_dict().items()}
    for data in (characters([9, 3, 4, 2]), data_of([8, 1, 3])):
        words = data.pauses is not None
        if words:
            data.ids[data.ids == END] = 2
        expected = []
        for begin, end in zip(data.offsets, data.offsets[1:]):
            hidden = hidden_by_hand(name, options, w, [*data.ids[begin:end].tolist(), *[END] * words])
            expected += [softmax(w["output.weight"] @ h + w["output.bias"]) for h in hidden[:end - begin]]
        np.testing.assert_allclose(np.exp(log_posteriors(model, data)), expected, rtol=0, atol=1e-5)


def lstm_size(inputs, token_types):
    """Return the number of weights of an LSTM layer, which has four gates, each with PyTorch's two biases."""
    return 4 * token_types * (inputs + token_types + 2)


@pytest.mark.parametrize(("name", "lookahead", "between", "lstms"), [
    ("delay", 8, 0, (15, 200, 200, 200)),
    ("ngram_lstm", 10, 0, (300, 200, 200, 200)),
    ("cnn_feature", 3, 15 * 7650 + 1650 + 2 * 1650 * 1651, (1650, 100, 100)),
    ("cnn_ngram", 5, 15 * 7650 + 1650 + 2 * 1650 * 1651, (1650, 100, 100)),
    ("dilated_cnn", 16, 15 * 32 + 64 * 31 + 4 * 64 * 65 + 5 * 64 * 33, (32, 128, 128)),
    ("bi_lstm", None, 0, (15, 200, 200, 200)),
])
def test_character_models_have_sizes_of_the_paper(name, lookahead, between, lstms):
    model = base.create(name, VOCABULARY, LABELS, {})
    directions = 2 if name == "bi_lstm" else 1
    inputs = [lstms[0], *(directions * token_types for token_types in lstms[1:])]
    expected = 10 * 15 + between + 3 * (inputs[-1] + 1)
    expected += directions * sum(lstm_size(*pair) for pair in zip(inputs, lstms[1:]))
    assert (size(model), model.lookahead) == (expected, lookahead)


@pytest.mark.parametrize("name", ["delay", "ngram_lstm", "cnn_feature", "cnn_ngram", "dilated_cnn", "bi_lstm"])
def test_dropout_only_in_training_and_every_rate_matters(name):
    tokens = torch.randint(2, 10, (4, 12))
    kinds = [option for option in base.option_defaults(name) if option.endswith("dropout")]
    for kind in kinds:
        model = make(name, "", **{kind: 0.5})
        in_use = model(tokens, None, model.initial_state(4))[0]
        assert torch.equal(in_use, model(tokens, None, model.initial_state(4))[0])
        assert not torch.allclose(model.train()(tokens, None, model.initial_state(4))[0], in_use, atol=0.01)
        with pytest.raises(InputError, match=f"^{kind}=1.5 is out of range; "):
            make(name, "", **{kind: 1.5})


@pytest.mark.parametrize(("name", "options", "message"), [
    ("delay", {"delay": -1}, "delay=-1 is out of range; give 0 or more"),
    ("ngram_lstm", {"ngram": 0}, "ngram=0 is out of range; give 1 or more"),
    ("cnn_ngram", {"pool": 0}, "pool=0 is out of range; give 1 or more"),
    ("dilated_cnn", {"dilated_layers": 0}, "dilated_layers=0 is out of range; give 1 or more"),
    ("window_cnn2", {"pool": 0}, "pool=0 is out of range; give 1 or more"),
    ("dilated_cnn", {"filters": 0}, "filters=0 is out of range; give 1 or more")])
def test_models_invalid_sizes(name, options, message):
    with pytest.raises(InputError) as error:
        base.create(name, VOCABULARY, LABELS, options)
    assert str(error.value) == message
