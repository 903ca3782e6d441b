"""Shares of jobs: each item in one share, in order, equal in words; streams stay whole; files joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.decoding.shares import check_job, concatenate, count_blanks, share


def shares(sizes, jobs, total=None, streams=None):
    return [list(share(enumerate(sizes), lambda item: item[1], sum(sizes) if total is None else total, job, jobs,
                       streams)) for job in range(1, jobs + 1)]


@given(st.lists(st.integers(0, 90), max_size=40), st.integers(1, 9), st.integers(0, 5000))
def test_share_each_item_is_in_one_share_in_order(sizes, jobs, total):
    assert [item for part in shares(sizes, jobs, total) for item in part] == list(enumerate(sizes))


@given(st.lists(st.integers(1, 90), min_size=1, max_size=40), st.integers(1, 9))
def test_share_is_equal_but_for_an_item(sizes, jobs):
    for part in shares(sizes, jobs):
        assert abs(sum(size for _, size in part) - sum(sizes) / jobs) <= max(sizes)


@given(st.lists(st.lists(st.integers(0, 90), min_size=1, max_size=5), max_size=9), st.integers(1, 9))
def test_share_streams_stay_whole(lengths, jobs):
    names = [str(number) for number, of_stream in enumerate(lengths) for _ in of_stream]
    parts = shares([n for of_stream in lengths for n in of_stream], jobs, streams=lambda item: (names[item[0]],) * 2)
    assert sum(map(len, parts)) == len(names)
    of = [job for job, part in enumerate(parts) for _ in part]
    assert len({*zip(names, of)}) == len(lengths)


def test_share_ends_when_it_is_complete():
    def items():
        yield from range(10)
        raise AssertionError("the rest belongs to other jobs")
    assert list(share(items(), lambda item: 1, 10, 1, 2)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("job", "jobs"), [(0, 3), (4, 3), (-1, 1), (1, 0)])
def test_check_job_outside(job, jobs):
    with pytest.raises(InputError, match=f"^--job={job} is not one of --n={jobs} jobs; give a number from 1 to --n$"):
        check_job(job, jobs, "--n")


def test_count_blanks_is_the_number_of_words(tmp_path):
    (tmp_path / "text").write_text("a one two\nb\nc\tthree four\n")
    assert count_blanks(tmp_path / "text") == 4


def test_concatenate(tmp_path):
    (tmp_path / "a").write_bytes(b"1\n")
    (tmp_path / "b").write_bytes(b"")
    concatenate([tmp_path / "a", tmp_path / "b", tmp_path / "a"], tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == b"1\n1\n"
    with pytest.raises(InputError, match="none: no such file"):
        concatenate([tmp_path / "none"], tmp_path / "d")
