"""Neighbours, runs of equal items and parts end to end, compared with plain loops."""

from itertools import accumulate, chain, groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punc.base.runs import bounds_of, ends_of_runs, next_of, previous_of, ranges, starts_of_runs

PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=12)


@given(PAIRS)
def test_runs_are_those_of_groupby(pairs):
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    lengths = [len(list(run)) for _, run in groupby(pairs)]
    assert starts_of_runs(*columns).tolist() == [i == 0 for length in lengths for i in range(length)]
    assert ends_of_runs(*columns).tolist() == [i == length - 1 for length in lengths for i in range(length)]


@given(st.lists(st.integers(0, 9), max_size=6))
def test_neighbours_bounds_and_ranges(numbers):
    values = np.array(numbers, np.int64)
    assert next_of(values, -1).tolist() == [*numbers[1:], -1][:len(numbers)]
    assert previous_of(values, -1).tolist() == [-1, *numbers[:-1]][:len(numbers)]
    bounds = bounds_of(values)
    assert bounds.tolist() == bounds_of(iter(numbers)).tolist() == list(accumulate(numbers, initial=0))
    assert ranges(values, values).tolist() == list(chain.from_iterable(range(n, 2 * n) for n in numbers))
    assert (bounds.dtype, next_of(values > 3, False).dtype) == (np.int64, np.bool_)
