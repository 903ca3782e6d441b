"""Tokenizers that look words up: both ways to encode agree, and an encoder can be sent to another process."""

import pickle

import numpy as np
import pytest

from punc.base.lookup import split_lines
from punc.text.characters import CLASSES
from punc.tokens.lookup_tokenizer import LookupTokenizer, one_each
from punc.tokens.tokenizer import tokenizer_class
from punc.tokens.vocabulary import UNK

WORDS = ["so", "it", "blogging", "2011", "naïve", "so", "x"]
COUNTS = {b"so": 5, b"it": 4, b"flogging": 1}


def test_one_each():
    encoding = one_each(np.array([3, UNK, 2], np.int32))
    assert encoding.ids.tolist() == [3, UNK, 2]
    assert encoding.slots.tolist() == [0, 1, 2]
    assert encoding.lost == 1


@pytest.mark.parametrize("token_type", ["word", "class", "form", "spelled"])
def test_encode_and_text_encoder_agree(token_type):
    tokenizer = tokenizer_class(token_type).learn(COUNTS, 2)
    assert isinstance(tokenizer, LookupTokenizer)
    encoder = pickle.loads(pickle.dumps(tokenizer.text_encoder()))
    expected, found = tokenizer.encode(WORDS), encoder(split_lines(("- " + " ".join(WORDS) + "\n").encode())[1])
    assert expected.ids.tolist() == found.ids.tolist()
    assert expected.slots.tolist() == found.slots.tolist()
    assert expected.lost == found.lost


def test_unknown_words():
    learned = {name: tokenizer_class(name).learn(COUNTS, 2) for name in ("word", "class", "form", "spelled")}
    tokens = {name: [t.vocabulary.tokens[i] for i in t.encode(["blogging", "2011"]).ids] for name, t in learned.items()}
    assert tokens["word"] == ["<unk>", "<unk>"]
    assert tokens["class"] == list(CLASSES[:2])
    assert tokens["form"] == ["<form:3:a:ing>", "<unk>"]
    assert tokens["spelled"][-5:] == ["<char>"] * 4 + ["<unk>"]
