"""Kaldi's float vectors: round trips, the same values as with kaldiio, archive paths, and what is refused."""

import io
import os
import pickle

import kaldiio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.kaldi_io import VectorReader, archive_path, read_archive, read_array, read_posteriors, write_vector
from punc.timing.pauses import write_pauses

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


class Planted:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_archive_runs_no_code(tmp_path):
    """kaldiio would unpickle the content after PKL."""
    content = b"utt PKL" + pickle.dumps(Planted(tmp_path / "ran"))
    (tmp_path / "x.ark").write_bytes(content)
    with pytest.raises(InputError, match=r"'utt' at byte .* is not a float vector or matrix"):
        list(read_archive(tmp_path / "x.ark"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [np.nan, np.inf, -0.25])
def test_posteriors_that_are_invalid(tmp_path, number):
    fine, other = np.eye(2, 3, dtype=np.float32), np.full((2, 3), 0.25, np.float32)
    other[1, 1] = number
    kaldiio.save_ark(str(tmp_path / "post.ark"), {"a": fine, "b": np.zeros((0, 0), np.float32), "c": other})
    found = read_posteriors(tmp_path / "post.ark")
    assert [next(found)[0], next(found)[0]] == ["a", "b"]
    with pytest.raises(InputError, match=r"post.ark: 'c' has numbers that are not posteriors; punctuate again"):
        next(found)


@given(arrays(np.float32, array_shapes(max_dims=2, max_side=4), elements=st.floats(width=32)))
def test_archive_of_kaldiio_round_trip(array):
    content = io.BytesIO()
    for key in ("a", "bé"):
        content.write(f"{key} ".encode())
        kaldiio.matio.write_array(content, array)
    content.seek(0)
    for key in ("a", "bé"):
        assert content.read(len(key.encode()) + 1).decode().strip() == key
        np.testing.assert_array_equal(read_array(content, len(content.getvalue())), array)


def test_archive_of_double_matrices(tmp_path):
    kaldiio.save_ark(str(tmp_path / "x.ark"), {"m": np.eye(2), "n": np.arange(3.0)})
    found = dict(read_archive(tmp_path / "x.ark"))
    np.testing.assert_array_equal(found["m"], np.eye(2, dtype=np.float32))
    np.testing.assert_array_equal(found["n"], np.arange(3, dtype=np.float32))


def test_reader_refuses_kaldis_text_form(tmp_path):
    (tmp_path / "x.ark").write_text("a  [ 0 0.5 1 ]\n")
    with pytest.raises(InputError, match=r"no float vector .*; make the archive again, in Kaldi's binary form"):
        VectorReader(tmp_path / "x.scp").read(f"{tmp_path}/x.ark:2", 1)


@pytest.mark.parametrize(("content", "said"), [
    (b"\0BFV \x04\xff\xff\xff\x7f", "it is shorter"), (b"\0BFV \x04\xff\xff\xff\xff", "it is shorter"),
    (b"\0BFM \x04\xff\xff\xff\x7f\x04\xff\xff\xff\x7f", "it is shorter"),
    (b"\0BFM \x04\xff\xff\xff\xff\x04\x05\0\0\0", "it is shorter"),
    (b"\0BFM \x04\xff\xff\xff\xff\x04\0\0\0\0", "it is shorter"),
    (b"\0BFV \x04\x03\0\0\0" + bytes(8), "it is shorter"),
    (b"\0BFV \x08\x01\0\0\0\0\0\0\0", "no int32"), (b"\0BFV ", "no int32"), (b"\0BCM \0\0\0\0", "not a float vector"),
    (b"\0BXX \x04\x01\0\0\0\0\0\0\0", "not a float vector"), (b"", "not a float vector"),
    (b" [ 1 2 ]\n", "not a float vector"),
    (b"\0BDV \x04\x01\0\0\0" + np.array([1e39]).tobytes(), "beyond float32")])
def test_array_refuses(content, said):
    with pytest.raises(ValueError, match=said):
        read_array(io.BytesIO(content), len(content))


@pytest.mark.parametrize("key", [b"k" * 80, b"X\xff"])
def test_archive_key_in_a_message(tmp_path, key):
    (tmp_path / "x.ark").write_bytes(key + b" none")
    with pytest.raises(InputError) as error:
        list(read_archive(tmp_path / "x.ark"))
    assert f": '{key[:60].decode(errors='replace')}' at byte " in str(error.value)


def test_readers_do_not_wait_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "x.ark")
    with pytest.raises(InputError, match="cannot read the archive"):
        VectorReader(tmp_path / "x.scp").read(f"{tmp_path}/x.ark:0", 1)
    with pytest.raises(InputError, match="cannot be read"):
        list(read_archive(tmp_path / "x.ark"))


@pytest.mark.parametrize("offset", ["9" * 30, "9" * 5000, "²", "-1", "1_0"])
def test_reader_invalid_offset(tmp_path, offset):
    index = write(tmp_path)
    with pytest.raises(InputError) as error:
        VectorReader(index).read(f"{tmp_path}/x.ark:{offset}", 7)
    assert str(error.value).startswith(f"{index}:7: '{tmp_path}/x.ark:")
    assert len(str(error.value)) < 400 + len(str(index))


def test_archive_of_a_larger_array_than_is_read(tmp_path, monkeypatch):
    """Matrices are read as a whole, so a large one could fill the memory."""
    kaldiio.save_ark(str(tmp_path / "a.ark"), {"utt": np.zeros((40, 5), np.float32)})
    assert len(list(read_archive(tmp_path / "a.ark"))) == 1
    monkeypatch.setattr("punc.data.kaldi_io.LARGEST", 300)
    with pytest.raises(InputError, match="is not a float vector or matrix of at most 2 GiB; make"):
        list(read_archive(tmp_path / "a.ark"))


@pytest.mark.parametrize(("name", "said"), [("a|b/x", "it has '|'"), ("|x", "it has '|'"), ("a\nb/x", r"it has '\n'"),
                                            ("a\rb", r"it has '\r'"), (" a/x", "it has ' '"),
                                            ("a\udcff", "it is not UTF-8")])
def test_archive_path_that_cannot_be_read_back(name, said):
    with pytest.raises(InputError) as error:
        archive_path(name)
    assert error.value.what == f"an index cannot contain this name, because {said}"


@pytest.mark.parametrize("name", ["a|b", "a\nb"])
def test_data_dir_whose_index_could_not_be_read_is_not_written(tmp_path, name):
    utterance = Utterance("u", "u", ["w"], None, np.array([0.5], np.float32))
    with pytest.raises(InputError, match="an index cannot contain this name"):
        write_data_dir(tmp_path / name, [utterance])
    assert list(tmp_path.iterdir()) == []
    write_data_dir(tmp_path / name, [utterance._replace(pauses=None)])
    with pytest.raises(InputError, match="an index cannot contain this name"):
        write_pauses(tmp_path / name, [("u", np.zeros(1))])
    assert not DataDir(tmp_path / name).has_pauses
