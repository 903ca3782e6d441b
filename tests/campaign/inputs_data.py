"""Kinds of inputs: data directories, Kaldi archives, stores, and the files of every tokenizer."""

import importlib.util
import os
import random
import shutil
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import kaldiio
import numpy as np
import tiny_encoder
from kind import LABELS, NAMES, Kind, Read, words

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, checksum, write_data_dir
from punc.data.kaldi_io import read_archive
from punc.data.labels import LabelSet
from punc.data.validate import validate
from punc.scoring.project import project
from punc.scoring.texts import count
from punc.tokens.store import Store, make_store
from punc.tokens.tokenizer import read_tokenizer, token_types, tokenizer_class
from punc.training.batching import stateful

TABLES = ("text", "punct", "utt2spk", "spk2utt", "pauses.scp", "pauses.ark", "turns", "segments", "wav.scp",
          "reco2file_and_channel")
ARRAYS = {"ids.npy": np.int32, "labels.npy": np.int8, "pauses.npy": np.float32, "turns.npy": np.bool_}


def kinds() -> Iterator[Kind]:
    yield Kind("data dir", make_data, read_data, TABLES, share=4)
    yield Kind("text table", make_data, read_text, ("text",), values)
    yield Kind("archive", make_archive, read_whole_archive, ("post.ark",), alter=alter_archive)
    files = [f"store/{name}" for name in ("vocab", "token_type", "pieces.model", "tokenizer.json", "labels.txt",
                                          "conf")]
    for name in known_token_types():
        yield Kind(f"store {name}", partial(make_tokens, name), read_store,
                   (*files, *(f"store/train/{file}" for file in (*ARRAYS, "index"))), alter=alter_store, share=2)
        yield Kind(f"tokenizer {name}", partial(make_tokens, name), read_tokens, tuple(files[:4]))


def known_token_types() -> list[str]:
    return [name for name in token_types() if name != "encoder" or importlib.util.find_spec("tokenizers")]


def make_data(folder: Path, rng: random.Random) -> None:
    found = []
    for spk in range(rng.randrange(1, 4)):
        for utt in range(rng.randrange(1, 3)):
            text = words(rng, rng.randrange(1, 6))
            pauses = np.array([rng.choice((0, 0.5, np.nan)) for _ in text], np.float32)
            turns = np.array([rng.randrange(4) == 0 for _ in text])
            found.append(Utterance(f"s{spk}-{utt}", f"s{spk}", text, rng.choices(NAMES, k=len(text)), pauses, turns))
    for name in ("pauses", "turns"):
        if rng.randrange(2):
            found = [one._replace(**{name: None}) for one in found]
    write_data_dir(folder, found)
    if rng.randrange(3) == 0:
        rows = [f"{one.id} r{one.stream} {i}.0 {i}.9\n" for i, one in enumerate(found)]
        (folder / "segments").write_text("".join(rows))
        streams = sorted({one.stream for one in found})
        (folder / "wav.scp").write_text("".join(f"r{one} r{one}.wav\n" for one in streams))
        (folder / "reco2file_and_channel").write_text("".join(f"r{one} r{one} A\n" for one in streams))


def values(data: bytes) -> bytes:
    return b" ".join(line.replace(b"\t", b" ").partition(b" ")[2] for line in data.split(b"\n"))


def read_text(folder: Path, rng: random.Random) -> Read:
    utterances = DataDir(folder, ignore=("punct", "pauses.scp")).utterances()
    return Read(" ".join(f"{one.id} {' '.join(one.words)}" for one in utterances).encode())


def read_data(folder: Path, rng: random.Random) -> None:
    """Read a data directory with all readers. If `DataDir` refuses it, `make_store` must refuse it, too."""
    (folder.parent / "labels.txt").write_text(LABELS)
    labels, refused = LabelSet.read(folder.parent / "labels.txt"), None
    try:
        list(DataDir(folder).utterances())
    except InputError as error:
        refused = error
    store = folder.parent / "store"
    shutil.rmtree(store, ignore_errors=True)
    kind = rng.choice(("word", "char"))
    try:
        tokenizer = tokenizer_class(kind).make([DataDir(folder)], 100)
        (folder.parent / "vocab").unlink(missing_ok=True)
        tokenizer.write(folder.parent)
        make_store(store, [folder], folder.parent / "labels.txt", kind, vocab=folder.parent / "vocab", nj=1)
        Store(store).set(folder.name)
    except InputError as error:
        if "changed while it was read" in str(error):
            raise AssertionError("a store refuses what the data directory does not") from None
    else:
        if refused:
            raise AssertionError(f"a store of what the data directory refuses: {refused}")
    checksum(folder), count(DataDir(folder), DataDir(folder), labels)
    project(folder, folder, folder.parent / "projected", labels)
    validate(folder, labels)


def make_archive(folder: Path, rng: random.Random) -> None:
    arrays = {f"u{i}": np.random.default_rng(rng.randrange(99)).random(rng.choice([(3,), (2, 4), (0,)]),
                                                                      dtype=np.float32) for i in range(3)}
    kaldiio.save_ark(str(folder / "post.ark"), arrays)


def alter_archive(folder: Path, rng: random.Random) -> None:
    content = (folder / "post.ark").read_bytes()
    kind = rng.choice((b"FV ", b"DV ", b"FM ", b"DM ", b"CM ", b"CM2", b"SV ", b"IV ", b"PKL", b"NPY"))
    size = rng.choice((-1, 0, 1, 2**31 - 1, -2**31, 65536))
    header = b"u9 \0B" + kind + rng.choice((b"\x04", b"\x08", b"")) + struct.pack("<i", size)
    header += rng.choice((b"", b"\x04" + struct.pack("<i", rng.choice((-1, 0, 2**31 - 1, 4)))))
    (folder / "post.ark").write_bytes(rng.choice((header + content, content + header, header + bytes(64))))


def read_whole_archive(folder: Path, rng: random.Random) -> None:
    for _, array in read_archive(folder / "post.ark"):
        if array.dtype != np.float32:
            raise AssertionError("not float32")


def make_tokens(name: str, folder: Path, rng: random.Random) -> None:
    """Make a store with a tokenizer. All inputs get copies of the same store."""
    made = folder.parent / f"made_{name}"
    if not made.is_dir():
        random_numbers = random.Random(1)
        write_data_dir(made / "train", [Utterance(f"u{i}", f"u{i}", text, ["O"] * (len(text) - 1) + ["PERIOD"],
                                                  np.zeros(len(text), np.float32), np.zeros(len(text), bool))
                                        for i in range(5) for text in [words(random_numbers, 30)]])
        (made / "labels.txt").write_text(LABELS)
        vocab = None
        if name == "encoder":  # words are split by the tokenizer of an encoder
            vocab = made / "encoder"
            tiny_encoder.write_tokenizer("roberta", vocab)
        make_store(made / "store", [made / "train"], made / "labels.txt", name, vocab_size=60, vocab=vocab, nj=1)
    shutil.copytree(made / "store", folder / "store")


def read_tokens(folder: Path, rng: random.Random) -> None:
    tokenizer = read_tokenizer(folder / "store")
    text = [*words(rng, 20), "\u0301", "3.14", "ＡＢ", "x" * 300, "ß", "\U0001f600"]
    encoding = tokenizer.encode(text)
    if len(encoding.slots) != len(text) or len(encoding.ids) <= encoding.slots[-1]:
        raise AssertionError("not a slot for each word")
    if encoding.ids.min() < 0 or encoding.ids.max() >= len(tokenizer.vocabulary):
        raise AssertionError("tokens that the vocabulary does not have")


def alter_store(folder: Path, rng: random.Random) -> None:
    train, name = folder / "store/train", rng.choice([*ARRAYS])
    array = np.load(train / name)
    choice = rng.randrange(7)
    if choice == 0:
        (folder / "store/conf").write_text(rng.choice(("--unit=word\n", "", "word\n", "--token-type\n")))
        return
    if choice == 1:
        array[rng.randrange(len(array))] = rng.choice((-1, -2, 100, 127))
    elif choice == 2:
        array = np.zeros(len(array), rng.choice((np.float64, np.int64, "S4", "U2", np.bool_, object)))
    elif choice == 3:
        array = array[:rng.randrange(len(array))]
    elif choice == 4:
        array = array.reshape(-1, 1)
    elif choice == 5:
        np.savez(train / "x.npz", array)
        os.replace(train / "x.npz", train / name)
        return
    else:
        index = (train / "index").read_text().replace("30", rng.choice(("-30", "0", "9" * 30, "٣", "31")))
        (train / "index").write_text(index)
    np.save(train / name, array)


def read_store(folder: Path, rng: random.Random) -> None:
    store = Store(folder / "store")
    for name in store.sets:
        data = store.set(name)
        store.checksums([name])
        list(data.streams)
        for batch in stateful(data, 1, 4, 8):
            if batch.tokens.max() >= len(store.vocabulary) or batch.labels.max() >= len(store.labels):
                raise AssertionError("numbers that the store does not have")

