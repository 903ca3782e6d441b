"""Overlapping windows: each token's output is that of a window in which it has enough around it."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.layers import overlapping
from punc.layers.overlapping import in_windows
from punc.tokens.vocabulary import END


@settings(deadline=None, max_examples=100)
@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=4), size=st.integers(3, 20), overlap=st.integers(0, 8),
       at_once=st.integers(1, 9), more=st.booleans())
def test_in_windows_gives_each_token_its_surroundings(lengths, size, overlap, at_once, more):
    """A layer that returns the tokens around each one sees `overlap` true ones on either side."""
    overlap = min(overlap, (size - 1) // 2)
    width = max(lengths)
    tokens = torch.full((len(lengths), width), END)
    for row, length in enumerate(lengths):
        tokens[row, :length] = torch.arange(length) + 2
    seen = []

    def read(window, values):
        assert window.shape[1] <= max(size, 0)
        assert len(window) <= max(at_once, len(lengths))
        assert (values is None) != more
        assert (values is None or torch.equal(values[..., 0], 2 * window))
        seen.append(len(window))
        padded = torch.nn.functional.pad(window, (overlap, overlap), value=-1)
        return torch.stack([padded[:, i:i + window.shape[1]] for i in range(2 * overlap + 1)], dim=2).float()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlapping, "AT_ONCE", at_once)
        found = in_windows(read, tokens, 2 * tokens.unsqueeze(2) if more else None, size, overlap)
    assert found.shape == (len(lengths), width, 2 * overlap + 1)
    found = torch.where(found == END, -1, found)  # past the end of a text
    for row, length in enumerate(lengths):
        whole = torch.nn.functional.pad(tokens[row, :length], (overlap, overlap), value=-1)
        for t in range(length):
            assert torch.equal(found[row, t].long(), whole[t:t + 2 * overlap + 1])
    if width > size:  # no window of padding alone is read, and windows depend on the text alone
        step = size - 2 * overlap
        assert sum(seen) == sum(max(1, -(-(length - 2 * overlap) // step)) for length in lengths)
