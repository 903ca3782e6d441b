"""The linear chain and BLSTM-CRF give the results of an enumeration of all label sequences, and nearly the same results
if texts are cut into chunks. Gradients equal finite differences."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from conftest import save_model

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import choose, decode, log_posteriors
from punc.layers.crf import LinearChain, log_partition
from punc.models import base
from punc.models.word_crf.model import log_marginals
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import encode_streams
from punc.tokens.tokenizers.spelled import SpelledTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, UNK, Vocabulary

torch.set_num_threads(1)
L = 3


def chain(labels=L, seed=0, dtype=torch.float64, scale=1.5):
    torch.manual_seed(seed)
    crf = LinearChain(labels).to(dtype)
    for weight in crf.parameters():
        torch.nn.init.normal_(weight, 0, scale)
    return crf


def drawn(rows, steps, labels=L, seed=1, dtype=torch.float64):
    return torch.randn(rows, steps, labels, generator=torch.Generator().manual_seed(seed), dtype=dtype) * 2


def score(crf, emissions, path):
    """Return C(y) of equation (2) in `punc.layers.crf`."""
    return (crf.begin[path[0]] + sum(emissions[t, y] for t, y in enumerate(path))
            + sum(crf.transitions[pair] for pair in pairwise(path)) + crf.end[path[-1]])


def all_scores(crf, emissions):
    return {path: score(crf, emissions, path) for path in product(range(L), repeat=len(emissions))}


LENGTHS = [[1], [5], [4, 1, 5, 0, 2]]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_partition_marginals_and_viterbi_match_enumeration(lengths):
    crf, emissions, sizes = chain(), drawn(len(lengths), max(lengths)), torch.tensor(lengths)
    scores = crf.scores(emissions, sizes)
    found = log_partition(scores, crf.transitions, sizes)
    marginals, best = crf.log_marginals(scores, sizes).exp(), crf.viterbi(scores, sizes)
    torch.testing.assert_close(marginals.sum(2), torch.ones_like(marginals[..., 0]))
    for row, size in enumerate(lengths):
        assert (best[row, size:] == -1).all()
        if not size:
            assert found[row] == 0
            continue
        paths = all_scores(crf, emissions[row, :size])
        whole = torch.stack([*paths.values()]).logsumexp(0)
        torch.testing.assert_close(found[row], whole)
        expected = torch.zeros(size, L, dtype=torch.float64)
        for path, value in paths.items():
            expected[torch.arange(size), list(path)] += (value - whole).exp()
        torch.testing.assert_close(marginals[row, :size], expected)
        assert tuple(best[row, :size].tolist()) == max(paths, key=paths.get)


def test_loss_ignores_context():
    """Only steps 2 and 3 (from 0) have labels, so `begin`, `end` and the scores of the other steps have no effect."""
    crf, emissions, sizes = chain(), drawn(1, 6), torch.tensor([6])
    labels = torch.tensor([[-1, -1, 1, 2, -1, -1]])
    paths = {(i, j): emissions[0, 2, i] + emissions[0, 3, j] + crf.transitions[i, j]
             for i, j in product(range(L), repeat=2)}
    expected = (torch.stack([*paths.values()]).logsumexp(0) - paths[1, 2]) / 2
    torch.testing.assert_close(crf.loss(crf.scores(emissions, sizes), labels), expected)


def test_loss_gradient_matches_autograd():
    crf, emissions, sizes = chain(), drawn(2, 5).requires_grad_(), torch.tensor([5, 2])
    labels = torch.tensor([[0, 2, 1, 1, -1], [2, 2, -1, -1, -1]])
    begin, transitions, end = (w.detach().requires_grad_() for w in (crf.begin, crf.transitions, crf.end))

    def loss(emissions, *weights):
        given = dict(zip(("begin", "transitions", "end"), weights))
        return torch.func.functional_call(Loss(crf), {f"crf.{k}": w for k, w in given.items()},
                                          (emissions, sizes, labels))

    assert torch.autograd.gradcheck(loss, (emissions, begin, transitions, end))


class Loss(torch.nn.Module):
    def __init__(self, crf):
        super().__init__()
        self.crf = crf

    def forward(self, emissions, sizes, labels):
        return self.crf.loss(self.crf.scores(emissions, sizes), labels)


@pytest.mark.parametrize("scale", [1, 80, 400])
def test_log_marginals_of_10000_slots_have_no_nan(scale):
    crf = chain(10, dtype=torch.float32, scale=scale / 4)
    emissions, sizes = (drawn(2, 10_000, 10, dtype=torch.float32) * scale).requires_grad_(), torch.tensor([10_000, 7])
    labels = torch.randint(0, 10, (2, 10_000), generator=torch.Generator().manual_seed(0))
    labels[1, 7:] = -1
    scores = crf.scores(emissions, sizes)
    loss = crf.loss(scores, labels)
    loss.backward()
    log_probs = crf.log_marginals(scores.detach(), sizes)
    assert loss > 0
    for values in (loss, emissions.grad, crf.transitions.grad, crf.begin.grad, crf.end.grad, log_probs):
        assert values.isfinite().all()
    assert crf.transitions.grad.abs().max() > 0
    torch.testing.assert_close(log_probs.exp().sum(2), torch.ones(2, 10_000), rtol=0, atol=1e-4)


def scored(n, labels, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, (n, labels)), rng.normal(0, 1.5, (labels, labels))


@pytest.mark.parametrize(("chunk_size", "context"), [(100, 40), (64, 30), (1000, 0)])
def test_log_marginals_nearly_same_in_chunks(chunk_size, context):
    offsets = np.array([0, 700, 701, 1000])
    scores, transitions = scored(1000, 4)
    whole = log_marginals(scores, transitions, offsets, chunk_size=1 << 20)
    cut = log_marginals(scores, transitions, offsets, chunk_size, context)
    np.testing.assert_allclose(np.exp(cut), np.exp(whole), atol=1e-5)
    without = log_marginals(scores, transitions, offsets, 50, 0)
    assert np.abs(np.exp(without) - np.exp(whole)).max() > 1e-3  # without context, the results differ


LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
WORDS = Vocabulary(["<unk>", "</s>", "a", "to", "the", "and", "nato"])
TEXT_LENGTHS = [5, 1, 4, 6]


def make(seed=0, **options):
    torch.manual_seed(seed)
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "layers": 2}
    model = base.create("blstm_crf", WORDS, LABELS, sizes | options)
    for weight in model.parameters():
        torch.nn.init.uniform_(weight, -0.9, 0.9)
    for weight in model.vectors.parameters():  # large, so that a label depends on the word and on its neighbours
        torch.nn.init.uniform_(weight, -4, 4)
    torch.nn.init.uniform_(model.output.weight, -4, 4)
    torch.nn.init.zeros_(model.output.bias)
    if model.chain:
        torch.nn.init.uniform_(model.chain.transitions, -2, 2)
    return model.eval()


def data_of(lengths=TEXT_LENGTHS):
    offsets = np.cumsum([0, *lengths])
    ids = np.random.default_rng(1).choice([UNK, *range(2, len(WORDS))], offsets[-1]).astype(np.int32)
    return StoreSet(ids, None, None, [*map(str, lengths)], offsets)


def emissions(model, ids):
    """Return the scores W h + b of a single complete text, (T, L), computed with the layers of the model."""
    line = torch.from_numpy(np.append(ids, END)).long().unsqueeze(0)
    inputs = model.vectors(line)
    if model.spelling:
        inputs = torch.cat([inputs, model.spelling(line)], 2)
    return model.output(model.lstms(inputs, torch.tensor([len(ids) + 1]))[0, :-1]).detach().double().numpy()


def scores(model, ids, scale=1.0):
    """Return C(y) of equation (2) in `punc.layers.crf` for each label sequence. `scale` multiplies the posterior of
    O."""
    own = emissions(model, ids) + np.log([scale, 1, 1])
    begin, follow, end = (w.detach().numpy() for w in (model.chain.begin, model.chain.transitions, model.chain.end))
    return {path: begin[path[0]] + own[range(len(path)), path].sum() + sum(follow[pair] for pair in pairwise(path))
            + end[path[-1]] for path in product(range(3), repeat=len(own))}


def texts(data):
    return [data.ids[begin:end] for begin, end in pairwise(data.offsets)]


def log_sum(values):
    return np.logaddexp.reduce(np.array([*values]))


@pytest.mark.parametrize("options", [{}, {"characters": False}, {"layers": 1}])
@pytest.mark.parametrize("scale", [None, 0.2])
def test_best_sequence_matches_enumeration(options, scale):
    model, data = make(**options), data_of()
    factors = None if scale is None else np.array([scale, 1, 1], np.float32)
    labels, log_probs = decode(model, data, factors, posteriors=True)
    best = [max(found, key=found.get) for found in (scores(model, ids, scale or 1.0) for ids in texts(data))]
    assert labels.tolist() == [label for path in best for label in path]
    assert len(set(labels.tolist())) > 1
    np.testing.assert_array_equal(log_probs, log_posteriors(model, data))
    assert decode(model, data)[1] is None


def test_log_posteriors_are_marginals():
    model, data = make(), data_of()
    found, expected = np.exp(log_posteriors(model, data)), []
    for ids in texts(data):
        paths = scores(model, ids)
        whole = log_sum(paths.values())
        expected += [[np.exp(log_sum(c for path, c in paths.items() if path[slot] == label) - whole)
                      for label in range(3)] for slot in range(len(ids))]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_decode_without_viterbi_takes_best_label_of_each_slot():
    model, data = make(), data_of([40, 30])
    own, sequence = decode(model, data, viterbi=False)[0], decode(model, data)[0]
    assert own.tolist() == choose(log_posteriors(model, data)).tolist()
    assert own.tolist() != sequence.tolist()


@pytest.mark.parametrize(("given", "factor", "viterbi"), [
    ([], None, True), (["--viterbi=false"], None, False), (["--scale=O=0.2"], 0.2, True)])
def test_punctuate_writes_best_sequence(given, factor, viterbi, tmp_path):
    model, ids = make(), data_of([40]).ids
    words = [WORDS.tokens[i] for i in ids]
    save_model(model, tmp_path)
    write_data_dir(tmp_path / "data", [Utterance("a", "a", words, None)])
    assert main(["punctuate", "--nj=1", *given, str(tmp_path), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
    factors = np.array([factor, 1, 1], np.float32) if factor else None
    expected = decode(model, data_of([40]), factors, viterbi=viterbi)[0]
    [found] = DataDir(tmp_path / "out").utterances()
    assert found.labels == [LABELS.names[label] for label in expected]


def test_best_sequence_same_for_any_chunk_and_batch_size():
    """A word influences distant labels little, through the LSTMs and the chain, so a limited context is enough."""
    model, data = make(), data_of([90, 3, 45])
    whole = decode(model, data, chunk_size=0)[0]
    assert np.array_equal(decode(model, data, chunk_size=0, batch_size=1)[0], whole)
    assert np.array_equal(decode(model, data, chunk_size=20, context=25)[0], whole)


def test_loss_is_of_whole_sequences():
    model, data = make(), data_of([4, 2])
    tokens = torch.tensor([[*data.ids[:4]], [*data.ids[4:], END, END]])
    labels = torch.tensor([[0, 2, 1, 0], [1, 1, -1, -1]])
    loss = model.loss(model(tokens, None, ())[0], labels)
    expected = 0.0
    for ids, path in zip(texts(data), ((0, 2, 1, 0), (1, 1))):
        paths = scores(model, ids)
        expected += log_sum(paths.values()) - paths[path]
    assert float(loss.detach()) == pytest.approx(expected / 6, abs=1e-5)


def test_unknown_hides_words_in_training_only():
    model = make(unknown=0.99, dropout=0.0)
    tokens = torch.from_numpy(data_of([30]).ids).long().unsqueeze(0)
    unknown = model(torch.full_like(tokens, UNK), None, ())[0]
    in_use = model(tokens, None, ())[0]
    torch.manual_seed(1)
    assert (model.train()(tokens, None, ())[0] - unknown).abs().mean() < (in_use - unknown).abs().mean() / 5
    with pytest.raises(InputError, match="unknown=1"):
        make(unknown=1)


def spelled_twins(**options):
    """Return two models with the same weights. The first one reads unknown words as characters. The second one has
    these words in its vocabulary, with the vector of `<unk>`."""
    words, rare = ["<unk>", "</s>", "a", "to", "the"], ["tot", "ahead", "h"]
    characters = ["<char>", *(f"<char>{character}" for character in "atohed")]
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "layers": 2}
    made = []
    for vocabulary in (Vocabulary([*words, *characters]), Vocabulary([*words, *rare])):
        torch.manual_seed(4)
        tokenizer = SpelledTokenizer(vocabulary) if not made else WordTokenizer(vocabulary)
        made.append(base.create("blstm_crf", vocabulary, LABELS, sizes | options, tokenizer).eval())
    spelled, plain = made
    numbers = {token.removeprefix("<char>"): spelled.spelling.table[i, 0].item()
               for i, token in enumerate(spelled.vocabulary.tokens) if i >= len(words)}
    weights = spelled.state_dict()
    for weight in weights.values():
        if weight.is_floating_point():
            torch.nn.init.uniform_(weight, -0.9, 0.9)
    for name in ("output.weight", "vectors.weight", "spelling.embedding.weight"):
        torch.nn.init.uniform_(weights[name], -4, 4)
    torch.nn.init.zeros_(weights["output.bias"])
    weights["vectors.weight"] = torch.cat([weights["vectors.weight"][:5], weights["vectors.weight"][:1].expand(3, -1)])
    table = weights["spelling.table"][:5]
    rows = [[numbers[character] for character in word] for word in rare]
    weights["spelling.table"] = torch.cat([table, torch.tensor([row + [0] * (32 - len(row)) for row in rows])])
    plain.load_state_dict(weights)
    return spelled, plain


@pytest.mark.parametrize("options", [{}, {"crf": False}])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_spelled_words_are_read_as_words_of_the_vocabulary(options, batch_size):
    models, words = spelled_twins(**options), ["tot", "a", "ahead", "h", "the", "to", "the", "h", "a", "h"]
    bounds = [0, 4, 5, 10]
    found = []
    for model in models:
        (ids, slots, _), offsets = encode_streams(model.tokenizer, words, bounds)
        data = StoreSet(ids, None, None, [*"xyz"], offsets)
        labels, log_probs = decode(model, data, posteriors=True, batch_size=batch_size)
        found.append((labels[slots].tolist(), log_probs[slots]))
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-5)
    assert found[0][0] == found[1][0]
    assert np.ptp(found[0][1], axis=0).max() > 1


@pytest.mark.parametrize("options", [{}, {"crf": False}])
def test_spelled_words_have_the_loss_and_gradients_of_words(options):
    """Only slots in the middle of the text have labels, as in a chunk with context."""
    words, names = ["tot", "a", "ahead", "h", "the", "to"], [-1, 0, 1, 2, 1, -1]
    losses, grads = [], []
    for model in spelled_twins(unknown=0.0, dropout=0.0, **options):
        ids, slots, _ = model.tokenizer.encode(words)
        labels = torch.full((1, len(ids)), -1)
        labels[0, slots] = torch.tensor(names)
        tokens = torch.from_numpy(ids).long().unsqueeze(0)
        loss = model.train().loss(model(tokens, None, ())[0], labels)
        loss.backward()
        losses.append(loss.detach())
        grads.append({name: weight.grad for name, weight in model.named_parameters() if name != "vectors.weight"})
    torch.testing.assert_close(*losses)
    for name, grad in grads[0].items():
        torch.testing.assert_close(grad, grads[1][name])


def test_hidden_word_of_a_spelled_store_keeps_its_characters():
    spelled, _ = spelled_twins(unknown=0.9999, dropout=0.0)
    tokens = torch.tensor([[2, 3, 4]])
    first, second = (spelled.train()(tokens[:, order], None, ())[0].detach() for order in ([0, 1, 2], [1, 0, 2]))
    assert not torch.allclose(first, second)


def test_spelled_words_from_store_to_text(tmp_path):
    """Words that end with y get a capital. Dev words do not occur in training, so the model must read their letters."""
    rng = np.random.default_rng(3)
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\nCAP W\nCAP_PERIOD W. .\n")
    for name, count, letters in (("train", 30, "abcd"), ("dev", 5, "bca")):
        words = ["".join(rng.choice([*letters], 4)) + rng.choice(["x", "y"]) for _ in range(count * 10)]
        labels = ["CAP" if word.endswith("y") else "O" for word in words]
        write_data_dir(tmp_path / name, [Utterance(f"{i:03}", f"{i:03}", words[i * 10:i * 10 + 10],
                                                   labels[i * 10:i * 10 + 10]) for i in range(count)])
    store, exp = str(tmp_path / "store"), str(tmp_path / "exp")
    assert main(["make-store", "--nj=1", "--token-type=spelled", "--vocab-size=20", "--train=train", "--labels",
                 str(tmp_path / "labels.txt"), store, str(tmp_path / "train"), str(tmp_path / "dev")]) == 0
    sizes = ["--embedding-dim=4", "--layers=1", "--hidden-dim=8"]
    assert main(["train", "--model=blstm_crf", *sizes, "--dropout=0", "--optimizer=adam", "--learning-rate=0.03",
                 "--batch-size=10", "--chunk-size=100", "--context=8", "--epochs=4", "--threads=1", store, exp]) == 0
    out = str(tmp_path / "out")
    assert main(["punctuate", "--nj=1", "--case-rule=true", exp, str(tmp_path / "dev"), out]) == 0
    found, expected = ([label for utterance in DataDir(path).utterances() for label in utterance.labels]
                       for path in (out, tmp_path / "dev"))
    assert np.mean([a == b for a, b in zip(found, expected)]) > 0.85  # not 1: the case rule adds some capitals
