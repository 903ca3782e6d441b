"""Words that are split as the training text was: their labels are put together, in data directories, text and live."""

import numpy as np
import pytest
import torch

from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.decoding.part_labels import PartLabels
from punc.live.stream import decode_words
from punc.live.words import LiveWriter, open_stream
from punc.models.base import create, load, save
from punc.text.casing import Casing
from punc.tokens.store import Store

RULES = "# how the text was split\nwon't will not\nl'\nn't\n's\n"
CASED = "O w\nCAP W\nCOMMA w, ,\nCAP_COMMA W, ,\nPERIOD w. .\n"
PLAIN = "O w\nCOMMA w, ,\nPERIOD w. . !\n"
SPLIT = ["so", "it", "is", "n't", "here", "it", "'s", "there", "he", "will", "not", "go", "l'", "eau", "is", "it", "so",
         "is"]
WHOLE = ["so", "it", "isn't", "here", "it's", "there", "he", "won't", "go", "l'eau", "is", "it", "so", "is"]
LASTS = [0, 1, 3, 4, 6, 7, 8, 10, 11, 13, 14, 15, 16, 17]  # of WHOLE in SPLIT
FIRSTS = [0, 1, 2, 4, 5, 7, 8, 9, 11, 12, 14, 15, 16, 17]


@pytest.fixture
def make(tmp_path):
    """(labels, model, **options) → the directory of a model of random weights, on a store of split text."""
    def model(labels, name, **options):
        (tmp_path / "labels.txt").write_text(labels)
        (tmp_path / "rules").write_text(RULES)
        write_data_dir(tmp_path / "train", [Utterance("a", "a", SPLIT, ["O"] * len(SPLIT))])
        assert main(["make-store", f"--labels={tmp_path}/labels.txt", f"--clitics={tmp_path}/rules",
                     str(tmp_path / "store"), str(tmp_path / "train")]) == 0
        store = Store(tmp_path / "store")
        torch.manual_seed(5)
        made = create(name, store.vocabulary, store.labels, options, store.tokenizer)
        for weight in made.parameters():
            torch.nn.init.uniform_(weight, -1, 1)
        out = tmp_path / "exp"
        out.mkdir()
        save(made, out / "final.pt")
        store.tokenizer.write(out)
        store.labels.write(out / "labels.txt")
        return out
    return model


MODELS = [("delay", {"delay": 1, "embedding_dim": 6, "hidden_dim": 8, "layers": 1}),
          ("bi_lstm", {"embedding_dim": 6, "hidden_dim": 8, "layers": 1}),
          ("blstm_crf", {"embedding_dim": 6, "hidden_dim": 8, "layers": 1, "characters": False})]


@pytest.mark.parametrize("labels", [PLAIN, CASED], ids=["plain", "cased"])
@pytest.mark.parametrize(("name", "options"), MODELS, ids=[name for name, _ in MODELS])
def test_words_have_the_labels_of_their_parts(make, tmp_path, labels, name, options):
    model = load(make(labels, name, **options))
    parts, rows = decode_words(model, SPLIT, None, posteriors=True)
    words, joined = decode_words(model, WHOLE, None, posteriors=True)
    assert decode_words(model, WHOLE, None)[0].tolist() == words.tolist()
    names = np.array(model.labels.names)
    assert set(names[parts]) >= {"O"} or len(set(parts.tolist())) > 1
    alone = [i for i, (first, last) in enumerate(zip(FIRSTS, LASTS)) if first == last]
    assert words[alone].tolist() == parts[LASTS][alone].tolist()
    assert np.array_equal(joined[alone], rows[LASTS][alone])
    np.testing.assert_allclose(np.exp(joined).sum(1), 1, atol=1e-5)
    if labels == PLAIN:
        assert words.tolist() == parts[LASTS].tolist()
    elif name == "blstm_crf":
        capital = [model.labels[number].capital for number in parts[FIRSTS]]
        assert [model.labels[number].mark for number in words] == [model.labels[number].mark for number in parts[LASTS]]
        assert all(model.labels[number].capital == one or model.labels[number].mark == "."  # no CAP_PERIOD in the set
                   for number, one in zip(words, capital))
    # A data directory has the same words with the same labels, and so has text that comes word by word.
    write_data_dir(tmp_path / "data", [Utterance("a", "a", WHOLE)])
    assert main(["punctuate", "--nj=1", str(tmp_path / "exp"), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
    utterance, = DataDir(tmp_path / "out").utterances()
    assert utterance.words == WHOLE
    assert utterance.labels == names[words].tolist()
    stream = open_stream(model, LiveWriter(model, Casing(model.labels, {})))
    found = [marked for word in WHOLE for marked in stream.push(word)] + stream.close()
    assert [(marked.word, marked.label) for marked in found] == list(zip(WHOLE, names[words]))
    # If the speaker falls silent, words that wait have the labels of a text that ends there; the others are the same.
    for at in range(1, len(WHOLE)) if model.lookahead is not None else ():
        stream = open_stream(model, LiveWriter(model, Casing(model.labels, {})))
        found = [marked for word in WHOLE[:at] for marked in stream.push(word)]
        before, early = len(found), stream.decide()
        found += early + [marked for word in WHOLE[at:] for marked in stream.push(word)] + stream.close()
        assert [marked.word for marked in found] == WHOLE
        expected = words.copy()
        expected[before:at] = decode_words(model, WHOLE[:at], None)[0][before:]
        assert [marked.number for marked in found] == expected.tolist()


def test_part_labels_by_hand(tmp_path):
    (tmp_path / "labels").write_text(CASED)
    labels = LabelSet.read(tmp_path / "labels")
    parts = PartLabels(labels)
    together = [[labels.names[number] for number in row] for row in parts.together]
    assert together[labels.index("CAP_COMMA")] == ["CAP", "CAP", "CAP_COMMA", "CAP_COMMA", "PERIOD"]
    assert together[labels.index("PERIOD")] == ["O", "O", "COMMA", "COMMA", "PERIOD"]
    first, last = np.array([[.1, .6, .1, .1, .1]]), np.array([[.2, .1, .3, .3, .1]])
    # Capital 0.7; no mark 0.3, comma 0.6, period 0.1, which has no capital in this set.
    expected = np.array([.3 * .3, .7 * .3, .3 * .6, .7 * .6, .3 * .1])
    np.testing.assert_allclose(np.exp(parts.log_probs(np.log(first), np.log(last)))[0], expected / expected.sum(),
                               rtol=1e-6)


def test_clitics_go_from_the_store_to_a_packed_model(make, tmp_path):
    directory = make(CASED, "delay", delay=1, embedding_dim=6, hidden_dim=8, layers=1)
    assert sorted((directory / "clitics").read_text().split()) == sorted(RULES.split("\n", 1)[1].split())
    assert main(["pack", str(directory), str(tmp_path / "packed")]) == 0
    (tmp_path / "in").write_text(" ".join(WHOLE) + "\n")
    outputs = []
    for model in (directory, tmp_path / "packed"):
        write_data_dir(tmp_path / "data", [Utterance("a", "a", WHOLE)])
        assert main(["punctuate", "--nj=1", str(model), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
        outputs.append((tmp_path / "out/punct").read_bytes())
    assert outputs[0] == outputs[1]
