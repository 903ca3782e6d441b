"""Documents: bytes that are read and written again, and errors of bytes that are no text."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_asr_formats import document

from punc.asr.document import read_source, texts_at, write_document
from punc.asr.formats import srt, text
from punc.base.errors import InputError


@pytest.mark.parametrize(("encoding", "bom"), [("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"),
                                               ("utf-16-be", b"\xfe\xff")])
def test_read_source_encodings_come_back(tmp_path, encoding, bom):
    raw = bom + "1\r\n00:00:01,000 --> 00:00:02,000\nhé you\r\n".encode(encoding)
    (tmp_path / "a").write_bytes(raw)
    found = srt.read(read_source(tmp_path / "a"))
    assert (found.pieces, found.bom) == (["hé", "you"], bool(bom))
    file = io.BytesIO()
    write_document(file, found, found.pieces)
    assert file.getvalue() == raw
    file = io.BytesIO()
    write_document(file, found, ["Hé,", "you."])
    assert file.getvalue()[len(bom):].decode(encoding).endswith("\nHé, you.\r\n")


@pytest.mark.parametrize(("raw", "said"), [
    (b"a\nb \xe9\n", "a:2: not UTF-8; convert it: iconv"), (b"\xff\xfea", "a:1: not UTF-16; convert it"),
    (b"a\nb\0c", "a:2: a NUL byte; remove it")])
def test_read_source_bytes_that_are_no_text(tmp_path, raw, said):
    (tmp_path / "a").write_bytes(raw)
    with pytest.raises(InputError, match=said):
        read_source(tmp_path / "a")


@given(st.text("ab \n\té", max_size=30), st.data())
def test_write_document_changes_only_words(content, data):
    found = document(content) if text.recognises(content.encode()) else document("a")
    new = [data.draw(st.sampled_from([piece, piece + ".", "x"])) for piece in found.pieces]
    file = io.BytesIO()
    write_document(file, found, new)
    assert file.getvalue().decode().split() == new
    assert "".join(file.getvalue().decode().split(" ")).count("\n") == found.data.count(b"\n")
    assert texts_at(found.data, found.starts, found.stops) == [piece.encode() for piece in found.pieces]
