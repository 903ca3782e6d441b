"""Units: what each tokenizer writes is read back, and the tokens of whole streams are those of their words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.base.lookup import split_lines
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.tokens.char_tokens import CharacterTokenizer
from punc.tokens.tokenizers import TOKENIZERS, WordTokenizer, encode_streams, read_tokenizer
from punc.tokens.vocabulary import END, UNK, Vocabulary

TEXT = ["so", "it", "begins", "as", "it", "must", "does", "it", "end", "another", "talk", "another", "day", "it", "is"]
VOCABULARIES = {"word": Vocabulary(["<unk>", "</s>", "so", "it"]),
                "char": Vocabulary(["<unk>", "</s>", "<space>", *"soite"])}


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    path = tmp_path_factory.mktemp("units") / "d"
    write_data_dir(path, [Utterance("a", "a", TEXT)])
    return {token_type: kind.make([DataDir(path)], 40) for token_type, kind in TOKENIZERS.items()}


@pytest.mark.parametrize("token_type", TOKENIZERS)
def test_a_tokenizer_is_read_back(token_type, tokenizers, tmp_path):
    tokenizer = tokenizers[token_type]
    tokenizer.write(tmp_path)
    found = read_tokenizer(tmp_path)
    assert (found.token_type, type(found), found.vocabulary.tokens) == (token_type, TOKENIZERS[token_type], tokenizer.vocabulary.tokens)
    words = [*TEXT, "nothing", "日本", "So"]
    for one, other in zip(found.encode(words), tokenizer.encode(words)):
        np.testing.assert_array_equal(one, other)
    assert (tmp_path / "token_type").is_file() == (token_type != "word")  # so directories of older versions are of words


@pytest.mark.parametrize("token_type", TOKENIZERS)
def test_every_word_has_a_slot_in_list_and_text(token_type, tokenizers):
    words = [*TEXT, "日本", "\u200b"]
    encoding = tokenizers[token_type].encode(words)
    assert len(encoding.slots) == len(words)
    assert (np.diff(encoding.slots) > 0).all()
    assert encoding.slots[-1] == len(encoding.ids) - 1
    text = tokenizers[token_type].text_encoder()(split_lines(("utt " + " ".join(words) + "\n").encode())[1])
    for one, other in zip(encoding, text):
        np.testing.assert_array_equal(one, other)


def test_words_that_are_not_known_are_counted():
    ids, slots, lost = WordTokenizer(VOCABULARIES["word"]).encode(["it", "is", "so", "no"])
    assert (ids.tolist(), slots.tolist(), lost) == ([3, UNK, 2, UNK], [0, 1, 2, 3], 2)


def test_latin_words_and_numbers_are_a_token_each(tmp_path):
    write_data_dir(tmp_path / "d", [Utterance("a", "a", ["日", "Tokyo", "本", "3.5", "日", "ＪＲ", "Tokyo", "Tokyo"])])
    made = TOKENIZERS["class"].make([DataDir(tmp_path / "d")], 2)
    assert made.vocabulary.tokens == ["<unk>", "</s>", "<alpha>", "<num>", "日", "本"]
    assert made.encode(["日", "x", "７", "Tokyo", "語", "<num>", "本"]).ids.tolist() == [4, 2, 3, 2, UNK, 3, 5]
    with pytest.raises(InputError, match="<alpha> and <num>"):
        TOKENIZERS["class"](VOCABULARIES["word"])


@given(st.lists(st.lists(st.sampled_from(["so", "it", "İ", "日", "ties"]), min_size=1, max_size=5), min_size=1))
def test_streams_of_characters_end_with_end(streams):
    tokenizer = CharacterTokenizer(VOCABULARIES["char"])
    bounds = np.cumsum([0, *map(len, streams)])
    encoding, offsets = encode_streams(tokenizer, [word for stream in streams for word in stream], bounds)
    for stream, begin, end in zip(streams, offsets, offsets[1:]):
        expected = tokenizer.encode(stream).ids
        expected[-1] = END
        assert encoding.ids[begin:end].tolist() == expected.tolist()
    assert (len(offsets), offsets[-1]) == (len(streams) + 1, len(encoding.ids))
    assert encoding.ids.tolist().count(END) == len(streams)


def test_streams_of_words_stay_as_they_are():
    encoding, offsets = encode_streams(WordTokenizer(VOCABULARIES["word"]), ["it", "so", "it"], [0, 1, 3])
    assert (encoding.ids.tolist(), offsets.tolist()) == ([3, 2, 3], [0, 1, 3])


@pytest.mark.parametrize(("content", "said"), [("syllable\n", "unit: 'syllable' is no token type; it is word, char, subword"),
                                               ("", "unit: '' is no token type")])
def test_another_unit_is_one_line(tmp_path, content, said):
    VOCABULARIES["word"].write(tmp_path / "vocab")
    (tmp_path / "token_type").write_text(content)
    with pytest.raises(InputError, match=said):
        read_tokenizer(tmp_path)
