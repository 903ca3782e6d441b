"""Arrays on disk: small, close to what was written, the same bytes each time; broken files are errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays

from punc.base.errors import InputError
from punc.decoding.archive import checksum, quantize, read_arrays, write_arrays


@given(numpy_arrays(np.float32, (3, 5), elements=st.integers(-999999, 999999).map(lambda n: n / 1e4)))
def test_quantize_error_is_at_most_half_a_step(matrix):
    found, scale = quantize(matrix)
    assert found.dtype == np.int8
    assert (np.abs(found * scale[:, None] - matrix) <= scale[:, None] * 0.5001).all()
    assert (np.abs(found).max(axis=1)[np.abs(matrix).max(axis=1) > 0] == 127).all()


def test_read_arrays_gives_what_was_written(tmp_path):
    rng = np.random.default_rng(1)
    large, row, small = rng.normal(size=(200, 50)), rng.normal(size=9), rng.normal(size=(4, 5))
    large[7] = 0
    write_arrays(tmp_path / "a.npz", {"large": large, "row": row, "small": small})
    found = read_arrays(tmp_path / "a.npz")
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(found["row"], row.astype(np.float32))
    np.testing.assert_array_equal(found["small"], small.astype(np.float32))
    assert np.abs(found["large"] - large).max() < 0.02
    assert not found["large"][7].any()
    assert (tmp_path / "a.npz").stat().st_size < large.size + 4 * 200 + 2000


def test_write_arrays_same_bytes_in_any_order(tmp_path):
    arrays = {"b": np.ones((100, 100)), "a": np.arange(3)}
    write_arrays(tmp_path / "1.npz", arrays)
    write_arrays(tmp_path / "2.npz", dict(reversed(arrays.items())))
    assert checksum(tmp_path / "1.npz") == checksum(tmp_path / "2.npz")


def test_written_arrays_are_read_again_as_the_same_bytes(tmp_path):
    """So a model that was unpacked and packed again does not change."""
    write_arrays(tmp_path / "1.npz", {"a": np.random.default_rng(2).normal(size=(100, 90))})
    write_arrays(tmp_path / "2.npz", read_arrays(tmp_path / "1.npz"))
    with np.load(tmp_path / "1.npz") as one, np.load(tmp_path / "2.npz") as two:
        np.testing.assert_array_equal(one["a"], two["a"])


@pytest.mark.parametrize("content", [b"", b"not an archive", None])
def test_read_arrays_broken_file_is_an_error(tmp_path, content):
    write_arrays(tmp_path / "a.npz", {"a": np.ones((100, 100))})
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(whole[:3000] if content is None else content)
    with pytest.raises(InputError, match="not an archive"):
        read_arrays(tmp_path / "a.npz")


@pytest.mark.parametrize(("shape", "name"), [((7,), "a"), ((100, 100), "a.scale")])
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_read_arrays_numbers_that_are_none_are_an_error(tmp_path, shape, name, number):
    array = np.ones(shape)
    write_arrays(tmp_path / "a.npz", {"a": array, "b": array})
    read_arrays(tmp_path / "a.npz")
    array.flat[3] = number
    with np.errstate(invalid="ignore"):
        write_arrays(tmp_path / "a.npz", {"a": array, "b": np.ones(5)})
    with pytest.raises(InputError, match=f"a.npz: {name} has weights that are NaN or infinite; pack the model again"):
        read_arrays(tmp_path / "a.npz")


def test_read_arrays_runs_no_code_and_names_a_missing_file(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}], object))  # a pickle
    with pytest.raises(InputError, match="not an archive"):
        read_arrays(tmp_path / "a.npz")
    with pytest.raises(InputError, match="no such file"):
        read_arrays(tmp_path / "b.npz")


def test_read_arrays_that_are_compressed_or_no_weights(tmp_path):
    """Compressed zeros may be a thousand times as large as the file."""
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(1 << 20, np.float32))
    np.savez(tmp_path / "text.npz", x=np.array(["a"]))
    for name in ("bomb", "text"):
        with pytest.raises(InputError, match="not an archive of arrays, or a truncated one"):
            read_arrays(tmp_path / f"{name}.npz")
