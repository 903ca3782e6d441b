"""Stores contain the content of data directories and can join sets. Invalid input leaves no incomplete store."""

import os
import re
import shutil
import string
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import punc.tokens.store
import punc.tokens.store_set
from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.tokens.store import Store, make_store
from punc.tokens.store_set import check_numbers, flat_file, read_set, write_set
from punc.tokens.tokenizers.char import CharTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, UNK, Vocabulary

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"


@pytest.fixture
def place(tmp_path):
    """Make labels.txt and the data directories train (with labels and pauses) and test (with neither)."""
    (tmp_path / "labels.txt").write_text(LABELS)
    pauses = np.array([0.5, np.nan, 0.25], np.float32)
    write_data_dir(tmp_path / "train", [
        Utterance("a-1", "a", ["x", "y", "x"], ["O", "COMMA", "PERIOD"], pauses),
        Utterance("a-2", "a", ["z"], ["PERIOD"], pauses[:1]),
        Utterance("b-1", "b", ["x", "ä"], ["O", "O"], pauses[1:])])
    write_data_dir(tmp_path / "test", [Utterance("c", "c", ["ä", "new", "x"])])
    return tmp_path


def make(place, *names, **options):
    make_store(place / "store", [place / name for name in names or ("train", "test")], place / "labels.txt", **options)
    return Store(place / "store")


def tree(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_make_store_by_hand(place):
    store = make(place)
    assert store.vocabulary.tokens == ["<unk>", "</s>", "x", "y", "z", "ä"]
    assert (UNK, END) == (0, 1)
    assert store.labels.names == ("O", "COMMA", "PERIOD")
    assert store.token_type == "word"
    assert store.sets == ["test", "train"]
    train, test = store.set("train"), store.set("test")
    assert (train.ids.dtype, train.labels.dtype, train.pauses.dtype) == (np.int32, np.int8, np.float32)
    assert train.ids.tolist() == [2, 3, 2, 4, 2, 5]
    assert train.labels.tolist() == [0, 1, 2, 2, 0, 0]
    np.testing.assert_array_equal(train.pauses, np.float32([0.5, np.nan, 0.25, 0.5, np.nan, 0.25]))
    assert list(train.streams) == ["a", "b"]
    assert train.offsets.tolist() == [0, 4, 6]
    assert test.ids.tolist() == [5, 0, 2]
    assert test.labels is None
    assert test.pauses is None
    with pytest.raises(ValueError, match="read-only"):
        train.ids[0] = 1
    assert (place / "store/train/index").read_text() == "a 0 4\nb 4 2\n"


def test_store_checksums_are_of_what_a_training_reads(place):
    store = make(place)
    sums = store.checksums(["train"])
    assert sums == {name: zlib.crc32((store.path / name).read_bytes()) for name in (
        "vocab", "labels.txt", "train/ids.npy", "train/labels.npy", "train/pauses.npy", "train/index")}
    assert store.checksums({"test"}) == {name: zlib.crc32((store.path / name).read_bytes()) for name in (
        "vocab", "labels.txt", "test/ids.npy", "test/index")}  # the test set has neither labels nor pauses
    os.utime(place / "train/text", (1e9, 1e9))  # a new modification time of an input changes only the conf
    conf = (store.path / "conf").read_bytes()
    again = make(place)
    assert (store.path / "conf").read_bytes() != conf
    assert again.checksums(["train"]) == sums


def test_store_checksums_memory_is_flat(place):
    store = make(place)
    with open(store.path / "train/ids.npy", "ab") as file:
        file.truncate(64 << 20)
    tracemalloc.start()
    try:
        store.checksums(["train"])
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_make_store_vocab_size_and_train_sets(place):
    assert make(place, vocab_size=1).set("train").ids.tolist() == [2, 0, 2, 0, 2, 0]
    assert make(place, train="test").vocabulary.tokens[2:] == ["new", "x", "ä"]
    assert make(place, train="train,test").vocabulary.tokens[2:] == ["x", "ä", "new", "y", "z"]


def test_make_store_segments_give_the_order_of_time(place):
    train = place / "train"
    (train / "segments").write_text("a-1 rec2 5 6\na-2 rec2 1 2\nb-1 rec1 0 1\n")
    store = make(place, "train")
    words = [store.vocabulary.tokens[i] for i in store.set("train").ids]
    assert words == ["x", "ä", "z", "x", "y", "x"]
    assert store.set("train").labels.tolist() == [0, 0, 2, 0, 1, 2]
    assert store.set("train").pauses[2] == 0.5
    assert list(store.set("train").streams) == ["rec1", "rec2"]
    assert store.set("train").offsets.tolist() == [0, 2, 6]


def test_make_store_char_by_hand(place, capsys):
    (place / "train/text").write_text("a-1 X “y” x\na-2 z1\nb-1 xx\u200b ä\n")
    store = make(place, token_type="char")
    tokens = store.vocabulary.tokens
    assert store.token_type == store.tokenizer.token_type == "char"
    assert tokens == ["<unk>", "</s>", "<space>", "x", "0", "y", "z", "ä", "“", "”"]
    train, test = store.set("train"), store.set("test")
    assert [tokens[i] for i in train.ids] == [
        "x", "<space>", "“", "y", "”", "<space>", "x", "<space>", "z", "0", "</s>", "x", "x", "<space>", "ä", "</s>"]
    assert train.labels.tolist() == [-1, 0, -1, -1, -1, 1, -1, 2, -1, -1, 2, -1, -1, 0, -1, 0]
    nan = np.nan
    np.testing.assert_array_equal(train.pauses, np.float32(
        [nan, .5, nan, nan, nan, nan, nan, .25, nan, nan, .5, nan, nan, nan, nan, .25]))
    assert (list(train.streams), train.offsets.tolist()) == (["a", "b"], [0, 11, 16])
    assert [tokens[i] for i in test.ids] == ["ä", "<space>", "<space>", "x", "</s>"]  # `new`: unknown characters
    assert test.labels is None
    assert "train: 6 words, 16 characters with spaces in 2 streams, 1 left out\n" in capsys.readouterr().err


def test_make_store_subword_by_hand(place):
    store = make(place, token_type="subword", vocab_size=8)
    assert (store.token_type, len(store.tokenizer.vocabulary)) == ("subword", len(store.vocabulary))
    assert len(store.vocabulary) <= 10
    train = store.set("train")
    encodings = [store.tokenizer.encode(words) for words in (["x", "y", "x", "z"], ["x", "ä"])]
    assert train.ids.tolist() == [i for encoding in encodings for i in encoding.ids]
    slots = np.concatenate([encodings[0].slots, encodings[1].slots + len(encodings[0].ids)])
    assert train.labels[slots].tolist() == [0, 1, 2, 2, 0, 0]
    assert (np.delete(train.labels, slots) == -1).all()
    assert train.offsets.tolist() == [0, len(encodings[0].ids), len(train.ids)]


@pytest.mark.parametrize("token_type", ["char", "subword"])
def test_make_store_char_and_subword_with_a_given_vocabulary(place, token_type):
    store = make(place, token_type=token_type, vocab_size=9)
    expected = store.set("test").ids.tolist()
    make_store(place / "two", [place / "test"], place / "labels.txt", token_type=token_type,
               vocab=place / "store/vocab")
    assert Store(place / "two").set("test").ids.tolist() == expected
    make(place)  # a store of words has no token_type and no pieces.model
    assert Store(place / "store").token_type == "word"
    assert {file.name for file in (place / "store").iterdir()} == {"vocab", "labels.txt", "conf", "train", "test"}


def test_make_store_vocabulary_of_another_token_type_is_an_error(place):
    make(place)
    with pytest.raises(InputError, match=r"store/vocab:3: '<space>' is missing"):
        make_store(place / "two", [place / "test"], place / "labels.txt", token_type="char",
                   vocab=place / "store/vocab")
    with pytest.raises(InputError, match=r"store/pieces.model: no such file"):
        make_store(place / "two", [place / "test"], place / "labels.txt", token_type="subword",
                   vocab=place / "store/vocab")
    assert not (place / "two").exists()


words = st.lists(st.text(st.sampled_from("abäあ\u00a0\u3000\x1c<"), min_size=1, max_size=2), max_size=12)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abcd"), words, st.sampled_from([" ", "  ", "\t", " \t "])), min_size=1),
       st.integers(1, 200))
def test_make_store_equals_the_data_directory(tmp_path_factory, utterances, block):
    place = tmp_path_factory.mktemp("p")
    utterances = sorted((stream, text, blank) for stream, text, blank in utterances)
    rows = [(f"{stream}-{i:03d}", stream, text, blank) for i, (stream, text, blank) in enumerate(utterances)]
    (place / "d").mkdir()
    (place / "labels.txt").write_text(LABELS)
    label = dict(zip("abäあ\u00a0\u3000\x1c<", ["O", "COMMA", "PERIOD", *["O"] * 5]))
    for name, column in ("text", str), ("punct", lambda word: label[word[0]]):
        lines = (blank.join([key, *map(column, text)]) + "\n" for key, _, text, blank in rows)
        (place / "d" / name).write_text("".join(lines), encoding="utf-8")
    (place / "d/utt2spk").write_text("".join(f"{key} {stream}\n" for key, stream, _, _ in rows))
    expected = list(DataDir(place / "d").utterances())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(punc.tokens.store_set, "ENCODE_BYTES", block)
        if not any(u.words for u in expected):
            with pytest.raises(InputError, match="the set has no words"):
                make(place, "d")
            return
        store = make(place, "d", nj=1)
    found = store.set("d")
    assert [store.vocabulary.tokens[i] for i in found.ids] == [word for u in expected for word in u.words]
    assert [store.labels.names[i] for i in found.labels] == [name for u in expected for name in u.labels]
    streams = {u.stream: 0 for u in expected}
    for u in expected:
        streams[u.stream] += len(u.words)
    assert list(found.streams) == list(streams)
    assert np.diff(found.offsets).tolist() == list(streams.values())


@pytest.mark.parametrize("token_type", ["word", "char", "subword"])
def test_make_store_does_not_depend_on_nj(place, monkeypatch, token_type):
    letters = np.array(list(string.ascii_lowercase))
    rng = np.random.default_rng(0)
    write_data_dir(place / "long", [Utterance(f"{i:04d}", f"{i:04d}"[:2], list(rng.choice(letters, 20)), ["O"] * 20)
                                    for i in range(300)])
    monkeypatch.setattr(punc.tokens.store_set, "ENCODE_BYTES", 1000)
    make(place, "long", "train", nj=1, token_type=token_type)
    one = tree(place / "store")
    (place / "store/conf").unlink()
    make(place, "long", "train", nj=3, token_type=token_type)
    assert tree(place / "store") == one


def test_make_store_finished_store_is_not_made_again(place, capsys):
    make(place)
    before = {file: file.stat().st_mtime_ns for file in (place / "store").rglob("*")}
    make(place)
    assert {file: file.stat().st_mtime_ns for file in (place / "store").rglob("*")} == before
    assert "finished" in capsys.readouterr().err
    text = (place / "train/text").read_text()
    (place / "train/text").write_text(text.replace("z", "q"))
    os.utime(place / "train/text", (1, 1))
    assert "q" in make(place).vocabulary.tokens
    assert len(make(place, vocab_size=1).vocabulary) == 3


def test_make_store_removes_files_of_an_earlier_store(place):
    make(place)
    (place / "store/test/mine").write_text("a file of the user")
    (place / "train/punct").unlink()
    store = make(place, "train")
    assert store.sets == ["train"]
    assert store.set("train").labels is None
    assert (place / "store/test/mine").exists()


def test_make_store_killed_while_renaming_leaves_no_store(place, monkeypatch):
    make(place)
    calls = []

    def replace(*names):
        calls.append(names)
        if len(calls) == 4:  # after the vocabulary and the label set have been written, and one file has been renamed
            raise KeyboardInterrupt
        os.rename(*names)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        make(place, "test")
    monkeypatch.undo()
    with pytest.raises(InputError, match="unfinished"):
        Store(place / "store")
    assert make(place, "test").sets == ["test"]


@pytest.mark.parametrize(("file", "content", "where", "what"), [
    ("train/punct", b"a-1 O COMMA PERIOD\na-2 QUESTION\nb-1 O O\n", "train/punct:2", "'QUESTION' is not in the label"),
    ("train/punct", b"a-1 O COMMA\na-2 O\nb-1 O O\n", "train/punct:1", "3 words in text but 2 labels"),
    ("train/punct", b"a-1 O COMMA O\na-2 O\n", "train/punct", "no line for 'b-1'"),
    ("train/text", b"", "train/text", "empty"),
    ("train/text", b"a-1 x y x\na-2 z\r\nb-1 x x\n", "train/text:2", "carriage return"),
    ("train/text", b"a-2 z\na-1 x y x\nb-1 x x\n", "train/text:2", "out of order"),
    ("train/utt2spk", b"a-1 b\na-2 b\nb-1 a\n", "train/utt2spk:3", "comes after"),
    ("train/pauses.scp", b"a-1 no.ark:4\na-2 no.ark:5\nb-1 no.ark:6\n", "train/pauses.scp:1", "no.ark"),
    ("test/text", b"c\n", "test/text", "the set has no words"),
    ("labels.txt", b"O w\n", "labels.txt", "two labels"),
    ("vocab", b"<unk>\n</s>\na\na\n", "vocab:4", "twice"),
    ("vocab", b"a\nb\n", "vocab:1", "<unk>")])
@pytest.mark.parametrize("exists", [False, True])
def test_make_store_bad_input_is_one_line_and_changes_nothing(place, capsys, file, content, where, what, exists):
    options = ["--vocab", str(place / "vocab")] if file == "vocab" else []
    arguments = ["make-store", "--labels", str(place / "labels.txt"), *options, str(place / "store"),
                 str(place / "train"), str(place / "test")]
    if exists:
        make(place)
    (place / file).write_bytes(content)
    before = tree(place)
    capsys.readouterr()
    assert main(arguments) == 1
    error = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("train: ")]
    assert len(error) == 1
    assert error[0].startswith(f"punc make-store: {place / where}")
    assert what in error[0]
    assert tree(place) == before


@pytest.mark.parametrize(("options", "what"), [
    ({"vocab_size": 0}, "vocab-size=0"), ({"min_count": 0}, "min-count=0"),
    ({"nj": 0}, "nj=0"), ({"token_type": "syllable"}, "no token type .syllable."),
    ({"train": "dev"}, "'dev'")])
def test_make_store_wrong_option_is_an_error(place, options, what):
    with pytest.raises(InputError, match=what):
        make(place, **options)


@pytest.mark.parametrize("name", ["conf", "vocab", "labels.txt"])
def test_make_store_set_with_the_name_of_a_file(place, name):
    (place / "dir").mkdir()
    (place / "train").rename(place / "dir" / name)
    with pytest.raises(InputError, match=f"'{name}' is already a set or file of the store"):
        make(place, f"dir/{name}")
    with pytest.raises(InputError, match="'test' is already a set or file of the store"):
        make(place, "test", "test")


@pytest.mark.parametrize("target", ["train", "labels.txt"])
def test_make_store_target_that_is_not_a_store_is_kept(place, target):
    before = tree(place)
    with pytest.raises(InputError, match="not a store"):
        make_store(place / target, [place / "train"], place / "labels.txt")
    assert tree(place) == before


@pytest.mark.parametrize("name", ["final.pt", "best.pt", "model.json"])
def test_make_store_target_with_a_model_is_kept(place, name):
    (place / "exp").mkdir()
    for file in ("vocab", "labels.txt", "conf", name):
        (place / "exp" / file).write_text("the model's\n")
    before = tree(place)
    with pytest.raises(InputError, match="not a store"):
        make_store(place / "exp", [place / "train"], place / "labels.txt")
    assert tree(place) == before


@pytest.mark.parametrize(("path", "said"), [("no", "no such directory; make it: punc make-store"),
                                            ("train", "not a store, or an unfinished one; make it: punc make-store")])
def test_store_not_a_store_is_an_error(place, path, said):
    with pytest.raises(InputError, match=said):
        Store(place / path)


@pytest.mark.parametrize("missing", ["conf", "vocab"])
def test_store_without_one_of_its_files_is_unfinished(place, missing):
    (make(place).path / missing).unlink()
    with pytest.raises(InputError, match="unfinished"):
        Store(place / "store")


def test_make_store_conf_by_hand(place):
    make(place)
    (place / "rules").write_text("n't\n")
    inputs = ["labels.txt", "store/vocab", "rules", *(f"train/{name}" for name in DataDir(place / "train").tables),
              *(f"test/{name}" for name in DataDir(place / "test").tables)]
    for i, name in enumerate(inputs):
        os.utime(place / name, ns=(i, 1000 + i))
    make_store(place / "two", [place / "train", place / "test"], place / "labels.txt", vocab=place / "store/vocab",
               train="train,test", joins=["all=train,train", "twice=test,test"], clitics=str(place / "rules"))
    assert (place / "two/conf").read_text() == "".join([
        "--token-type=word\n--vocab-size=100000\n--min-count=1\n--train=train,test\n",
        f"--vocab={place / 'store/vocab'}\n--join=all=train,train\n--join=twice=test,test\n",
        f"--clitics={place / 'rules'}\n",
        *(f"# {place / name} {os.path.getsize(place / name)} bytes {1000 + i}\n" for i, name in enumerate(inputs))])
    store = Store(place / "two")
    assert store.set("all").ids.tolist() == 2 * store.set("train").ids.tolist()
    assert store.sets == ["all", "test", "train", "twice"]


def test_make_store_keeps_the_rules_of_clitics(place):
    (place / "rules").write_text("'s\n")
    make(place, token_type="form", clitics=str(place / "rules"))
    assert (place / "store/clitics").read_text() == "'s\n"
    with pytest.raises(InputError, match="--clitics does not apply to char tokens; leave it out; "
                                         "it is for word, class, form"):
        make(place, token_type="char", clitics=str(place / "rules"))


def test_make_store_labels_that_the_label_set_lacks(place):
    (place / "train/punct.labels").write_text(LABELS + "QUESTION w? ?\n")
    with pytest.raises(InputError, match="'QUESTION' is not in the label set"):
        make(place)


def test_make_store_text_that_changes_while_it_is_read(place, monkeypatch):
    def change(folder, data, *rest):
        write_set(folder, data, *rest)
        os.utime(data.path / "text", (1, 1))

    monkeypatch.setattr(punc.tokens.store, "write_set", change)
    with pytest.raises(InputError, match="train/text: "):
        make(place)
    assert not (place / "store").exists()


def cut(path):
    os.truncate(path, path.stat().st_size - 1)


@pytest.mark.parametrize(("file", "change"), [
    ("ids.npy", cut), ("labels.npy", cut), ("pauses.npy", cut), ("ids.npy", lambda path: os.truncate(path, 20)),
    ("ids.npy", lambda path: path.write_bytes(b"")), ("ids.npy", lambda path: path.unlink()),
    ("ids.npy", lambda path: path.write_bytes(b"not an array")),
    ("ids.npy", lambda path: np.save(path, np.zeros(6))),
    ("ids.npy", lambda path: np.save(path, np.zeros((6, 1), "i4"))),
    ("labels.npy", lambda path: np.save(path, np.zeros(5, np.int8))),
    ("index", lambda path: path.write_text("a 0 4\n")), ("index", lambda path: path.write_text("a 0 4\nb 4\n")),
    ("index", lambda path: path.write_text("a 1 3\nb 4 2\n")),
    ("index", lambda path: path.write_text("a 0 4\nb x 2\n")),
    ("index", lambda path: path.write_bytes(b"a 0 4\n\xff 4 2\n")), ("index", lambda path: path.write_text("")),
    ("index", lambda path: path.write_text("a 0 7\nb 7 -1\n")),
    ("index", lambda path: path.write_text(f"a 0 {'9' * 30}\nb 4 2\n")),
    ("ids.npy", lambda path: np.save(path, np.array([1, 2, 3, 9999, 2, 2], "i4"))),
    ("ids.npy", lambda path: np.save(path, np.array([1, 2, 3, -1, 2, 2], "i4"))),
    ("labels.npy", lambda path: np.save(path, np.array([0, 0, 0, 3, 0, 0], np.int8))),
    ("labels.npy", lambda path: np.save(path, np.array([0, 0, 0, -2, 0, 0], np.int8))),
    ("ids.npy", lambda path: np.savez(path.open("wb"), np.zeros(6, "i4"))),
    ("ids.npy", lambda path: np.save(path, np.zeros(6, object))),
    ("ids.npy", lambda path: path.write_bytes(path.read_bytes().replace(b"(6,)", b"(6,]")))])
def test_store_broken_set_is_an_error(place, file, change):
    store = make(place)
    change(place / "store/train" / file)
    with pytest.raises(InputError, match=r"store/train[^;]*; make .*again") as caught:
        store.set("train")
    assert "\n" not in str(caught.value)


def test_make_store_of_a_directory_whose_name_is_not_text(place, caplog):
    caplog.set_level("ERROR", logger="punc")
    path = place / os.fsdecode(b"a\xff")
    shutil.copytree(place / "train", path)
    make_store(place / "store", [path], place / "labels.txt", nj=1)
    assert Store(place / "store").sets == [path.name]


def test_joined_sets_stand_end_to_end(place):
    write_data_dir(place / "talk", [Utterance("t", "t", ["z", "x"], ["O", "PERIOD"], None, np.array([True, False]))])
    store = make(place, "train", "talk", joins=["all=talk,train,talk", "twice=talk,talk"])
    joined, twice, talk, train = map(store.set, ("all", "twice", "talk", "train"))
    assert joined.ids.tolist() == [*talk.ids, *train.ids, *talk.ids]
    assert joined.labels.tolist() == [0, 2, *train.labels, 0, 2]
    unknown = [np.nan, np.nan]
    np.testing.assert_array_equal(joined.pauses, np.float32([*unknown, *train.pauses, *unknown]))
    assert joined.turns.tolist() == [True, *[False] * 7, True, False]
    assert (list(joined.streams), joined.offsets.tolist()) == (["t", "a", "b", "t"], [0, 2, 6, 8, 10])
    assert (twice.pauses, len(twice.ids)) == (None, 4)
    assert len(make(place, "train", "talk", joins=["all=talk"]).set("all").ids) == 2  # with different joins


@pytest.mark.parametrize(("join", "message"), [
    ("all=none", "no set 'none'"), ("train=test", "'train' cannot name"), ("=test", "'' cannot name"),
    ("a/b=test", "'a/b' cannot name"), ("all=train,test", "'test' has no labels, but other sets of 'all' have labels")])
def test_joined_sets_mistake(place, join, message):
    with pytest.raises(InputError, match=message):
        make(place, joins=[join])


UTTERANCES = [Utterance("a-1", "a", ["x", "y"]), Utterance("a-2", "a", ["z"]), Utterance("b-1", "b", ["x", "x"])]


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\n")
    return LabelSet.read(tmp_path / "labels.txt")


@pytest.fixture
def line_by_line(monkeypatch):
    monkeypatch.setattr(punc.tokens.store_set, "ENCODE_BYTES", 1)


def written(path, utterances):
    write_data_dir(path, utterances)
    return DataDir(path)


def rewritten(data, **tables):
    for name, lines in tables.items():
        (data.path / name).write_text("".join(f"{line}\n" for line in lines))
    return DataDir(data.path)


def tokenizer(kind, *tokens):
    return kind(Vocabulary(["<unk>", "</s>", *tokens]))


def test_write_set_counts_over_blocks(tmp_path, labels, line_by_line):
    data = written(tmp_path / "data", UTTERANCES)
    write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x", "y"), labels)
    assert (tmp_path / "set/index").read_text() == "a 0 3\nb 3 2\n"


@pytest.mark.parametrize(("text", "said"), [
    (["a-2 x", "a-1 y"], "text:2: .*order"), (["a-1 x", "a-1 y"], "text:2: .*'a-1'")])
def test_write_set_order_of_neighbouring_blocks(tmp_path, labels, line_by_line, text, said):
    data = written(tmp_path / "data", [Utterance("a-1", "a", ["x"]), Utterance("a-2", "a", ["y"])])
    data = rewritten(data, text=text, utt2spk=[f"{line.split()[0]} a" for line in text])
    with pytest.raises(InputError) as caught:
        write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x", "y"), labels)
    assert re.search(said, str(caught.value))


def test_write_set_streams_of_neighbouring_blocks(tmp_path, labels, line_by_line):
    """The utterance ids are sorted, but the streams are not: b, b, a."""
    data = rewritten(written(tmp_path / "data", UTTERANCES), utt2spk=["a-1 b", "a-2 b", "b-1 a"])
    with pytest.raises(InputError, match="data/utt2spk"):
        write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x"), labels)


def test_write_set_segments_may_be_in_any_order_of_ids(tmp_path, labels, line_by_line):
    data = written(tmp_path / "data", UTTERANCES)
    data = rewritten(data, segments=["a-1 r2 0 1", "a-2 r1 3 4", "b-1 r1 0 1"])
    write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x", "y", "z"), labels)
    found = read_set(tmp_path / "set")
    assert (list(found.streams), found.ids.tolist()) == (["r1", "r2"], [2, 2, 4, 2, 3])


def test_write_set_ends_each_stream_of_characters(tmp_path, labels):
    """The unknown word z is left out, so the space after it is the only token of stream b. Stream c has no words."""
    data = written(tmp_path / "data", [
        UTTERANCES[0], Utterance("a-2", "a", ["z"]), Utterance("b-1", "b", ["z"]), Utterance("c-1", "c", []),
        Utterance("d-1", "d", ["x"])])
    write_set(tmp_path / "set", data, tokenizer(CharTokenizer, "<space>", "x", "y"), labels)
    found = read_set(tmp_path / "set")
    assert found.ids.tolist() == [3, 2, 4, 2, END, END, 3, END]
    assert found.offsets.tolist() == [0, 5, 6, 6, 8]


def test_read_set_has_turns(tmp_path, labels):
    data = rewritten(written(tmp_path / "data", UTTERANCES), turns=["a-1 0 1", "a-2 0", "b-1 1 0"])
    write_set(tmp_path / "set", data, tokenizer(WordTokenizer), labels)
    found = read_set(tmp_path / "set")
    assert found.turns is not None
    assert found.turns.tolist() == [False, True, False, True, False]


@pytest.fixture
def store_set(tmp_path, labels):
    write_set(tmp_path / "set", written(tmp_path / "data", UTTERANCES), tokenizer(WordTokenizer, "x", "y", "z"), labels)
    return tmp_path / "set"


@pytest.mark.parametrize("index", [
    b"a 0 3 0\nb 3 2\n", b"a 0 3 0\nb 3 2 0\n", b"a 0\nb 3\n",
    b"\xc3 0 3\n\xa4 3 2\n"])  # each id is invalid UTF-8, but both joined are valid
def test_read_set_broken_index(store_set, index):
    (store_set / "index").write_bytes(index)
    with pytest.raises(InputError, match="set/index: the lines are not STREAM OFFSET LENGTH; make the store again"):
        read_set(store_set)


@pytest.mark.parametrize("bad", range(5))
def test_check_numbers_reads_all_blocks(store_set, monkeypatch, bad):
    monkeypatch.setattr(punc.tokens.store_set, "CHECKED", 2)
    check_numbers(store_set, 5, 2)
    ids = np.load(store_set / "ids.npy")
    ids[bad] = 5
    np.save(store_set / "ids.npy", ids)
    with pytest.raises(InputError, match=r"ids\.npy: a number that is not from 0 to 4"):
        check_numbers(store_set, 5, 2)


def test_flat_file_is_an_array_of_what_was_written(tmp_path):
    with flat_file(tmp_path / "a.npy", np.float32) as file:
        for part in ([0.5, np.nan], [], [-1.0]):
            file.write(np.array(part, np.float32).tobytes())
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.array([0.5, np.nan, -1], np.float32))


def test_make_store_name_with_a_line_end(place):
    (place / "train").rename(place / "a\nb")
    with pytest.raises(InputError, match="--train=a b contains a line end"):
        make(place, "a\nb")
