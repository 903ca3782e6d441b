"""Documents of segments: order, times and speakers."""

import numpy as np

from punc.asr.document import Source
from punc.asr.segments import Segment, segments_document


def test_segments_are_read_by_stream_and_begin():
    source = Source("file", b"a b|c|d e", "utf-8", False)
    found = segments_document(source, "x", [Segment(0, 3, 4.0, 5.0, 1, "r", "B"), Segment(4, 5, 9.0, 9.5, 0, "r", "A"),
                                            Segment(6, 9, 1.0, 2.0, 1, "s")])
    assert found.pieces == ["c", "d", "e", "a", "b"]
    assert found.streams.tolist() == [0, 1, 1, 1, 1]
    np.testing.assert_array_equal(found.begins, [9, 1, np.nan, 4, np.nan])
    np.testing.assert_array_equal(found.ends, [9.5, np.nan, 2, np.nan, 5])
    assert [found.recordings[i] for i in found.recording.tolist()] == ["r", "s", "s", "r", "r"]
    assert [found.speakers[i] if i >= 0 else "" for i in found.speaker.tolist()] == ["A", "", "", "B", "B"]


def test_segments_none():
    found = segments_document(Source("file", b"", "utf-8", False), "x", [])
    assert (found.pieces, len(found.starts), found.recordings) == ([], 0, [])
