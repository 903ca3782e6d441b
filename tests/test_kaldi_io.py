"""Kaldi float vectors: round trips, kaldiio as the other reader, and what is refused."""

import pickle

import kaldiio
import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.kaldi_io import VectorReader, write_vector

VECTORS = {"a": [0.5, np.nan, 0.0], "bé": [], "c": [1e-3]}


def write(folder, name="x.ark"):
    with open(folder / name, "wb") as ark, open(folder / "x.scp", "w", encoding="utf-8") as index:
        for key, values in VECTORS.items():
            index.write(f"{key} {folder / name}:{write_vector(ark, key, np.array(values))}\n")
    return folder / "x.scp"


def locations(index):
    return [line.split(" ", 1)[1] for line in index.read_text(encoding="utf-8").splitlines()]


def test_vectors_round_trip(tmp_path):
    index = write(tmp_path)
    with VectorReader(index) as reader:
        for line, (location, values) in enumerate(zip(locations(index), VECTORS.values()), 1):
            vector = reader.read(location, line)
            assert vector.dtype == np.float32
            np.testing.assert_array_equal(vector, np.array(values, np.float32))


def test_write_vector_is_read_by_kaldiio(tmp_path):
    for (key, vector), expected in zip(kaldiio.load_ark(str(write(tmp_path).with_name("x.ark"))), VECTORS.items()):
        assert key == expected[0]
        np.testing.assert_array_equal(vector, np.array(expected[1], np.float32))


def test_write_vector_bytes_are_kaldis(tmp_path):
    write(tmp_path)
    begin = b"a \0BFV \x04\x03\0\0\0" + np.array(VECTORS["a"], "<f4").tobytes()
    assert (tmp_path / "x.ark").read_bytes().startswith(begin)


def test_reader_archive_of_a_moved_directory(tmp_path):
    (tmp_path / "old").mkdir()
    index = write(tmp_path / "old")
    lines = locations(index)
    (tmp_path / "old").rename(tmp_path / "new")
    assert VectorReader(tmp_path / "new" / "x.scp").read(lines[0], 1)[0] == 0.5


@pytest.mark.parametrize("location", ["x.ark", "cat x.ark |:0", "gone.ark:2", "x.ark:9999", "x.ark:0", "x.ark:3"])
def test_reader_refuses(tmp_path, location):
    index = write(tmp_path)
    with pytest.raises(InputError) as error:
        VectorReader(index).read(location, 7)
    assert str(error.value).startswith(f"{index}:7: ")


def test_reader_truncated_archive(tmp_path):
    index = write(tmp_path)
    ark = tmp_path / "x.ark"
    ark.write_bytes(ark.read_bytes()[:-2])
    with pytest.raises(InputError, match="broken"):
        VectorReader(index).read(locations(index)[2], 3)


@pytest.mark.parametrize("flag", [b"PKL", b"NPY", b"RIFF"])
def test_reader_opens_no_other_format(tmp_path, flag):
    (tmp_path / "x.ark").write_bytes(flag + pickle.dumps(print))
    with pytest.raises(InputError, match="no float vector"):
        VectorReader(tmp_path / "x.scp").read("x.ark:0", 1)


def test_reader_refuses_matrices_and_integers(tmp_path):
    with open(tmp_path / "x.ark", "wb") as ark:
        kaldiio.save_ark(ark, {"m": np.zeros((2, 2), np.float32)})
    with pytest.raises(InputError, match="no float vector"):
        VectorReader(tmp_path / "x.scp").read("x.ark:2", 1)
    with open(tmp_path / "x.ark", "wb") as ark:
        kaldiio.save_ark(ark, {"m": np.zeros(2, np.int32)})
    with pytest.raises(InputError, match="no float vector"):
        VectorReader(tmp_path / "x.scp").read("x.ark:2", 1)
