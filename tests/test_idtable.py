"""IdTable against a dictionary of lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from punc.base.idtable import IdTable

numbers = st.integers(0, 2**53).map(float)


@given(st.lists(st.tuples(st.text(max_size=3), numbers, numbers)), st.text(max_size=3))
def test_rows_are_those_of_a_dictionary(rows, other):
    table, expected = IdTable(2), {}
    for id, *values in rows:
        table.add(id, *values)
        expected.setdefault(id, []).append(values)
    for id in [*expected, other]:
        assert (id in table) == (id in expected)
        assert_array_equal(table.rows(id), np.array(expected.get(id, [])).reshape(-1, 2))
    assert sorted(table.counts()) == sorted(map(len, expected.values()))
