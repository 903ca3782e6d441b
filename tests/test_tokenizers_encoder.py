"""`EncoderTokenizer` splits each word as the encoder's own tokenizer splits it in running text. A word's slot is
after its last piece.
"""

import json
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoder import KINDS, make_encoder

from punc.base.errors import InputError
from punc.data.datadir import Utterance, write_data_dir
from punc.tokens.store import Store, make_store
from punc.tokens.tokenizers.encoder import FIRST, EncoderTokenizer
from punc.tokens.vocabulary import SPECIALS, Vocabulary

pytestmark = pytest.mark.skipif(not find_spec("transformers"), reason="no transformers (the extra encoder)")
WORDS = st.lists(st.text("abcdefgh日é'\u200b", min_size=1, max_size=6), max_size=12)


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    place = tmp_path_factory.mktemp("encoders")
    return {kind: make_encoder(kind, place / kind) for kind in ("bert", "roberta", "deberta-v2")}


@pytest.fixture(scope="module")
def tokenizers(directories):
    return {kind: EncoderTokenizer.read(directory) for kind, directory in directories.items()}


def test_encode_by_hand(tokenizers):
    bert = tokenizers["bert"]
    ids, slots, lost = bert.encode(["cab", "bad", "BADGE", "[SEP]", "日", "a[MASK]"])
    assert [bert.vocabulary.tokens[i] for i in ids] == ["c", "##a", "##b", "bad", "bad", "##ge", *["[UNK]"] * 3]
    assert (slots.tolist(), lost) == ([2, 3, 5, 6, 7, 8], 3)
    assert (bert.start, bert.end) == ([2], [3])
    roberta = tokenizers["roberta"]
    assert roberta.vocabulary.tokens[roberta.encode(["ab"]).ids[0]].startswith("Ġ")  # Ġ is the space before a word
    assert bert.encode([]).ids.tolist() == []


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2"])
@settings(deadline=None, max_examples=60)
@given(words=WORDS)
def test_encode_words_are_those_of_the_text(tokenizers, directories, kind, words):
    from tokenizers import Tokenizer
    ours, theirs = tokenizers[kind], Tokenizer.from_file(str(directories[kind] / "tokenizer.json"))
    theirs.no_truncation()
    theirs.no_padding()
    ids, slots, _ = ours.encode(words)
    assert len(slots) == len(words)
    assert (not words or slots[-1] == len(ids) - 1)
    known = [word for word in words if theirs.encode(" " + word, add_special_tokens=False).ids]
    whole = theirs.encode("".join(f" {word}" for word in known), add_special_tokens=False).ids
    assert (ours.encode(known).ids - FIRST).tolist() == whole
    parts = [ours.encode([word]).ids.tolist() for word in words]
    assert [i for part in parts for i in part] == ids.tolist()
    assert all(parts)


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2"])
def test_vocabulary_is_the_pieces_and_is_read_back(tokenizers, kind, tmp_path):
    ours = tokenizers[kind]
    assert ours.vocabulary.tokens[:FIRST] == [*SPECIALS]
    ours.write(tmp_path)
    again = EncoderTokenizer.read(tmp_path / "vocab")
    assert (again.vocabulary.tokens, again.start, again.end) == (ours.vocabulary.tokens, ours.start, ours.end)
    assert again.encode(["babe", "x"]).ids.tolist() == ours.encode(["babe", "x"]).ids.tolist()


def test_read_older_files(tmp_path):
    """If a directory has vocab.txt but no tokenizer.json, `transformers` makes the tokenizer."""
    make_encoder("bert", tmp_path)
    tokens = EncoderTokenizer.read(tmp_path).vocabulary.tokens[FIRST:]
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join([*tokens, ""]))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer", "do_lower_case": true}')
    again = EncoderTokenizer.read(tmp_path)
    assert again.vocabulary.tokens[FIRST:] == tokens
    found = [again.vocabulary.tokens[i] for i in again.encode(["Cab", "badge"]).ids]
    assert found == ["c", "##a", "##b", "bad", "##ge"]


def test_make_store_of_an_encoders_pieces(directories, tmp_path):
    write_data_dir(tmp_path / "train", [Utterance("s-1", "s", ["cab", "bad"], ["O", "COMMA"], None)])
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    make_store(tmp_path / "store", [tmp_path / "train"], tmp_path / "labels.txt", token_type="encoder",
               vocab=directories["bert"], nj=1)
    store = Store(tmp_path / "store")
    assert store.set("train").labels.tolist() == [-1, -1, 0, 1]
    assert store.checksums({"train"})["tokenizer.json"]
    make_store(tmp_path / "again", [tmp_path / "train"], tmp_path / "labels.txt", token_type="encoder",
               vocab=tmp_path / "store/vocab", nj=1)
    assert (tmp_path / "again/vocab").read_bytes() == (tmp_path / "store/vocab").read_bytes()
    with pytest.raises(InputError, match="give the encoder's directory: --vocab DIR"):
        make_store(tmp_path / "none", [tmp_path / "train"], tmp_path / "labels.txt", token_type="encoder", nj=1)


def test_read_wrong_files_is_one_line(tokenizers, tmp_path):
    with pytest.raises(InputError, match=r"not the directory of an encoder: it has no config.json"):
        EncoderTokenizer.read(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"no tokenizer.json, and transformers cannot make one"):
        EncoderTokenizer.read(tmp_path)
    tokenizers["bert"].write(tmp_path)
    Vocabulary([*tokenizers["bert"].vocabulary.tokens, "more"]).write(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"vocab: the pieces differ from those in tokenizer.json"):
        EncoderTokenizer.read(tmp_path / "vocab")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer.json: not a tokenizer"):
        EncoderTokenizer.read(tmp_path / "vocab")


def test_read_a_huge_id_is_one_line(tokenizers):
    """One piece gets the id 1,000,000,000. A vocabulary with all ids up to it would fill the memory."""
    content = json.loads(tokenizers["bert"].__getstate__())
    content["model"]["vocab"]["a"] = 10**9
    with pytest.raises(InputError, match=r"^piece 1000000000 is beyond the limit of .*; give an encoder.s directory"):
        EncoderTokenizer(json.dumps(content).encode())


def test_read_json_as_the_package_reads_it(tokenizers):
    """A file that the package `tokenizers` accepts is read, even if Python's JSON parser refuses it."""
    content = tokenizers["bert"].__getstate__()
    broken = content.replace(b'"version": "1.0"', b'"version": "1.0","1.0"', 1)
    assert broken != content
    try:
        read = EncoderTokenizer(broken)
    except InputError:  # some versions of the package refuse the file
        return
    assert read.vocabulary.tokens == tokenizers["bert"].vocabulary.tokens


def test_kinds_have_tiny_encoders():
    from punc.layers.pretrained import KINDS as SUPPORTED
    assert sorted(SUPPORTED) == sorted(KINDS)
