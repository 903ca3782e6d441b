"""Loading a model fails with one line if its files are missing, truncated or invalid.

Other tests check how `Spelling` computes vectors from the characters of words.
"""

import pickle
import re
import zipfile

import pytest
import torch
from conftest import save_model

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.layers.spelling import MAX_LENGTH, OTHER, PADDING, Spelling, spell
from punc.models import base
from punc.tokens.vocabulary import Vocabulary

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdefgh"])


@pytest.fixture
def directory(tmp_path):
    return save_model(base.create("t_lstm", VOCABULARY, LABELS, {"embedding_dim": 8, "hidden_dim": 16}), tmp_path)


def refused(directory):
    """Load the model in a directory; it must be refused. Return the error message, which must be one line."""
    with pytest.raises(InputError) as error:
        base.load(directory)
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(directory), "DIR")


BROKEN = "DIR/final.pt: not a model file, or a truncated one; train the model again"
NO_MODEL = "DIR/final.pt: not a model file of punc; give a directory that punc train wrote"


@pytest.mark.parametrize("part", [0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_load_truncated_file(directory, part):
    path = directory / "final.pt"
    content = path.read_bytes()
    path.write_bytes(content[:int(part * len(content))])
    assert refused(directory) == BROKEN
    path.write_bytes(content[:-1])
    assert refused(directory) == BROKEN


class Malicious:
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
    # The message about a directory does not advise the user to train again, because this would not help.
    assert refused(directory) == ("DIR/final.pt: this is a directory; give a file" if kind == "directory" else BROKEN)
    assert not witness.exists()


@pytest.mark.parametrize(("content", "message"), [
    ({"weights": 1}, NO_MODEL),
    ([1, 2], NO_MODEL),
    ({"format": "punc progress 1"}, NO_MODEL),
    ({"format": "punc model 7"}, "DIR/final.pt: the format is 'punc model 7', but this version of punc reads "
                              "'punc model 1'; train it again"),
    ({"format": base.FORMAT}, "DIR/final.pt: its weights do not match its spec; train it again"),
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
    assert refused(directory) == "DIR/final.pt: its weights do not match its spec; train it again"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_load_weights_that_are_not_numbers(directory, number):
    content = torch.load(directory / "final.pt", weights_only=True)
    content["weights"]["output.weight"][1, 2] = number
    torch.save(content, directory / "final.pt")
    assert refused(directory) == ("DIR/final.pt: output.weight has weights that are NaN or infinite; train the model "
                                  "again, with a lower --learning-rate")


@pytest.mark.parametrize(("file", "text", "message"), [
    ("vocab", "<unk>\n</s>\na\n", "DIR/vocab: 3 lines, but the model has 10; copy the file that it was trained with"),
    ("labels.txt", "O w\nCOMMA w, ,\n",
     "DIR/labels.txt: 2 lines, but the model has 3; copy the file that it was trained with"),
    ("vocab", "a\nb\n", "DIR/vocab:1: '<unk>' is missing; a vocabulary begins with <unk> and </s>"),
    ("labels.txt", "O\n", "DIR/labels.txt:1: the line is not a label; "
                           "write NAME, a pattern with one w or W, the marks"),
    ("vocab", None, "DIR/vocab: no such file; make it, or give another one"),
    ("labels.txt", None, "DIR/labels.txt: no such file; make it, or give another one"),
    ("final.pt", None, "DIR/final.pt: no such file; train the model, or give another directory"),
])
def test_load_wrong_files_next_to_weights(directory, file, text, message):
    (directory / file).unlink()
    if text is not None:
        (directory / file).write_text(text)
    assert refused(directory) == message


def test_model_class_unknown_name():
    for name, remedy in (("t_lstn", "did you mean t_lstm?"), ("base", "see --help"), ("../t_lstm", "did you mean t_"),
                         ("", "see --help")):
        with pytest.raises(InputError, match=re.escape(f"no model '{name}'; {remedy}")):
            base.model_class(name)


@pytest.mark.parametrize(("option", "value"), [("hidden_dim", 4.0), ("hidden_dim", True), ("pauses", 1),
                                               ("hidden_dim", [4])])
def test_load_options_of_other_types(directory, option, value):
    """PyTorch accepts some of these values when it makes a model, but would fail in the middle of a text."""
    content = torch.load(directory / "final.pt", weights_only=True)
    content["spec"]["options"][option] = value
    torch.save(content, directory / "final.pt")
    assert refused(directory).startswith(f"DIR/final.pt: {option}={value} of t_lstm; give a value like the default, ")


torch.set_num_threads(1)
WORDS = ["<unk>", "</s>", "a", "I", "japan", "NATO", "1996-12-06", "don't", "don’t", "donʼt", "don＇t", "é", "e\u0301",
         "x" * 500, "x" * 250 + "y" * 250]


def made(words=WORDS, alphabet=64):
    torch.manual_seed(1)
    spelling = Spelling(len(words), alphabet, 5, 4)
    spelling.initialize_from_vocabulary(Vocabulary(words))
    return spelling


def test_spell_words_and_special_tokens():
    lines = dict(zip(WORDS, spell(WORDS, 64)))
    assert all(len(line) == MAX_LENGTH for line in lines.values())
    unknown, end = lines["<unk>"], lines["</s>"]
    assert unknown[1] == end[1] == PADDING
    assert {unknown[0], end[0]}.isdisjoint(number for word in WORDS[2:] for number in lines[word])
    assert [sum(number != PADDING for number in lines[word]) for word in ("a", "NATO", "1996-12-06")] == [1, 4, 10]
    assert lines["a"][0] == lines["japan"][1] != lines["NATO"][1]  # case matters
    assert lines["é"] == lines["e\u0301"]
    assert len({tuple(lines[word]) for word in ("don't", "don’t", "donʼt", "don＇t")}) == 4  # prepare merges them


def test_spell_long_word_keeps_both_ends():
    lines = dict(zip(WORDS, spell(WORDS, 64)))
    x, both = lines["x" * 500], lines["x" * 250 + "y" * 250]
    assert PADDING not in x + both
    assert both[:16] == x[:16]
    assert both[16:] == [both[16]] * 16 != x[16:]


def test_spell_rare_characters_share_a_number():
    words = [*WORDS[:2], "aaa", "bb", "c", "d"]
    assert [line[0] for line in spell(words, 2)[2:]] == [OTHER + 1, OTHER + 2, OTHER, OTHER]
    assert spell(WORDS[:2], 3) == [[1] + [PADDING] * (MAX_LENGTH - 1), [2] + [PADDING] * (MAX_LENGTH - 1)]


def test_characters_are_spelled_by_themselves():
    spelling = Spelling(6, 9, 5, 4)
    spelling.initialize_from_vocabulary(Vocabulary(["<unk>", "</s>", "aab", "<char>", "<char>a", "<char>c"]), 3)
    a, c = spelling.table[2, 0].item(), spelling.table[5, 0].item()
    assert [line[:2] for line in spelling.table[3:].tolist()] == [[PADDING, PADDING], [a, PADDING], [c, PADDING]]
    assert len({a, c, spelling.table[2, 2].item()}) == 3


@pytest.mark.parametrize("mode", [True, False])
def test_read_spelled_is_what_a_word_of_the_vocabulary_has(mode):
    words = ["<unk>", "</s>", "aab", "b", "abcd" * 8, "<char>", "<char>a", "<char>b", "<char>c", "<char>d"]
    spelling = Spelling(len(words), 2, 5, 4).train(mode)  # c and d, the rarest letters, share a vector
    spelling.initialize_from_vocabulary(Vocabulary(words), 5)
    a, b, c, d = 6, 7, 8, 9
    tokens = torch.tensor([[a, a, b, 0, b, 0, 2, c, d], [a, b, c, d] * 2 + [0]])
    rows, columns = torch.tensor([0, 0, 1]), torch.tensor([3, 5, 8])
    with torch.set_grad_enabled(mode):
        found = spelling.read_spelled(tokens, rows, columns, 5)
        torch.testing.assert_close(found[:2], spelling(torch.tensor([2, 3])))
        line = torch.tensor([[a, b, c, d] * 8 + [0]])
        whole = spelling.read_spelled(line, torch.tensor([0]), torch.tensor([32]), 5)
        torch.testing.assert_close(whole, spelling(torch.tensor([4])))
        nothing = spelling.read_spelled(torch.tensor([[2, 0]]), torch.tensor([0]), torch.tensor([1]), 5)
        torch.testing.assert_close(nothing, spelling(torch.tensor([0])))


def by_hand(spelling, word):
    characters = [number for number in spelling.table[word].tolist() if number != PADDING]
    lines = [spelling.embedding(torch.tensor([line])) for line in (characters, characters[::-1])]
    return torch.cat([lstm(line)[0][0, -1] for lstm, line in zip((spelling.forwards, spelling.backwards), lines)])


@pytest.mark.parametrize("mode", ["training", "decoding", "decoding again"])
def test_spelling_vectors_are_final_states_of_both_directions(mode):
    spelling = made().train(mode == "training")
    words = torch.tensor([[13, 2, 2, 6], [0, 1, 4, 13]])
    with torch.set_grad_enabled(mode == "training"):
        if mode == "decoding again":
            spelling(torch.tensor([4, 5, 13]))
        found = spelling(words)
        expected = torch.stack([torch.stack([by_hand(spelling, word) for word in row]) for row in words.tolist()])
    assert found.shape == (2, 4, 8)
    torch.testing.assert_close(found, expected)


def test_spelling_more_words_than_a_batch():
    words = [*WORDS[:2], *("y" * (i % 3) + str(i) for i in range(700))]
    spelling = made(words).eval()
    order = torch.randperm(len(words))
    with torch.no_grad():
        found = spelling(order)
        for place in (0, 100, 300, 650, 701):
            torch.testing.assert_close(found[place], by_hand(spelling, int(order[place])))


def test_spelling_cache_is_dropped_with_the_weights():
    spelling, words = made().eval(), torch.tensor([4])
    with torch.no_grad():
        before = spelling(words)
        spelling.train()
        spelling.embedding.weight.mul_(2)
        assert not torch.equal(spelling.eval()(words), before)
        spelling.load_state_dict(made().state_dict())
        assert torch.equal(spelling(words), before)


@pytest.mark.parametrize(("sizes", "option"), [((0, 5, 4), "alphabet"), ((5, 0, 4), "character_dim"),
                                               ((5, 5, 0), "character_hidden_dim")])
def test_spelling_invalid_sizes(sizes, option):
    with pytest.raises(InputError, match=f"^{option}=0"):
        Spelling(5, *sizes)


@pytest.mark.parametrize("number", [-1, OTHER + 1 + 64])
def test_spelling_of_a_broken_file(number):
    """A character without a vector would cause an index error in the middle of a text."""
    spelling = made()
    weights = {name: weight.clone() for name, weight in spelling.state_dict().items()}
    weights["table"][3, 0] = number
    with pytest.raises(ValueError, match="spellings with characters that the model does not have"):
        spelling.load_state_dict(weights)
