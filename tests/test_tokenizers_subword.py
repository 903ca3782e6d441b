"""Subwords: the pieces of a word depend on that word only; making the model again gives the same model."""

import string

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.tokens.tokenizers.subword import PIECES, SubwordTokenizer
from punc.tokens.vocabulary import UNK, Vocabulary


def data_dir(path, seed=0):
    """Words of two syllables each; the first syllables are more frequent."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in string.ascii_lowercase[:8] for b in "aeiou"]
    texts = (["".join(syllables[min(i, 39)] for i in rng.zipf(1.3, 2) - 1) for _ in range(40)] for _ in range(40))
    write_data_dir(path, [Utterance(f"s-{i:04d}", "s", text) for i, text in enumerate(texts)])
    return DataDir(path)


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    return SubwordTokenizer.make([data_dir(tmp_path_factory.mktemp("d") / "d")], 60)


words = st.lists(st.sampled_from(["baba", "bade", "Kaba", "b" * 300, "日本", "\u200f", "\x01", "a\u00a0b", "▁", "<unk>",
                                  "</s>", "e\u0301", "👍🏽", "ﬁ", "a\ud800"])
                 | st.text(st.characters(exclude_characters=" \t\n\r\0"), min_size=1, max_size=6), max_size=8)


def by_hand(model, words):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids, slots = [], []
    for word in words:
        ids += processor.encode(word.encode(errors="replace")) or [UNK]
        slots.append(len(ids) - 1)
    return ids, slots


@settings(deadline=None)
@given(words=words, cache=st.sampled_from([0, 3, 1 << 18]))
def test_encode_word_is_its_pieces(subwords, words, cache):
    subwords.cache = cache
    ids, slots, lost = subwords.encode(words)
    assert (ids.tolist(), slots.tolist()) == by_hand(subwords.__getstate__(), words)
    assert (ids.dtype, slots.dtype, lost) == (np.int32, np.int64, ids.tolist().count(UNK))


def test_encode_pieces_spell_the_word(subwords):
    for word in ("baba", "hubaga", "cede"):
        ids, slots, lost = subwords.encode([word])
        assert "".join(subwords.vocabulary.tokens[i] for i in ids) == f"▁{word}"
        assert (slots.tolist(), lost) == ([len(ids) - 1], 0)
    assert len(subwords.encode(["baba" * 5]).ids) > len(subwords.encode(["baba"]).ids)


def test_make_again_is_the_same_and_is_read_back(subwords, tmp_path):
    again = SubwordTokenizer.make([data_dir(tmp_path / "d")], 60, nj=2)
    assert again.__getstate__() == subwords.__getstate__()
    again.write(tmp_path)
    assert SubwordTokenizer.read(tmp_path / "vocab").__getstate__() == again.__getstate__()
    assert again.vocabulary.tokens[:2] == ["<unk>", "</s>"]
    assert 40 < len(again.vocabulary) <= 62
    rare = SubwordTokenizer.make([DataDir(tmp_path / "d")], 60, min_count=50)
    assert rare.vocabulary.tokens != again.vocabulary.tokens


def test_read_files_that_do_not_fit_is_one_line(subwords, tmp_path):
    subwords.write(tmp_path)
    Vocabulary([*subwords.vocabulary.tokens, "more"]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab: these are not the pieces of pieces.model next to it"):
        SubwordTokenizer.read(tmp_path / "vocab")
    content = (tmp_path / PIECES).read_bytes()
    piece = subwords.vocabulary.tokens[-1].encode()
    for broken in (b"no model", content.replace(piece, b"\xab" * len(piece))):
        (tmp_path / PIECES).write_bytes(broken)
        with pytest.raises(InputError, match=r"pieces.model: not a model of pieces"):
            SubwordTokenizer.read(tmp_path / "vocab")
    (tmp_path / PIECES).unlink()
    with pytest.raises(InputError, match=r"pieces.model: no such file"):
        SubwordTokenizer.read(tmp_path / "vocab")


def test_make_fewer_pieces_than_characters_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no pieces for --vocab-size=3: .*; give a larger") as caught:
        SubwordTokenizer.make([data_dir(tmp_path / "d")], 3)
    assert "\n" not in str(caught.value)
