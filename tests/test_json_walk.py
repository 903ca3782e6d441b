"""JSON in places: where members and elements are, and errors with their place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.asr.document import Source
from punc.asr.json_walk import JsonWalk
from punc.base.errors import InputError

VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=10)


def walk(data):
    return JsonWalk(Source("file", data, "utf-8", False))


@given(st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=3), st.sampled_from([None, 1]),
       st.booleans())
def test_walk_finds_what_json_reads(values, indent, ascii_only):
    data = "\n".join(json.dumps(value, indent=indent, ensure_ascii=ascii_only) for value in values).encode()
    found, this = [], walk(data)

    def member(key):
        def read(at):
            end = this.elements(at, lambda at: this.skip(at)) if data[at:at + 1] == b"[" else this.skip(at)
            found[-1].append((key, json.loads(data[at:end])))
            return end
        return read

    def one(at):
        found.append([])
        keys = {key.encode().decode("latin-1"): member(key) for value in values for key in value}
        return this.members(at, {**keys, **{key: member(key) for value in values for key in value if ascii_only}})

    this.documents(one)
    assert [dict(members) for members in found] == values


@pytest.mark.parametrize(("text", "said"), [
    ('{"a": 1', "file:1: the JSON is cut short at byte 8"), ('{"a":\n "b', "file:2: the JSON is cut short at byte 1"),
    ('{"a" 1}', "file:1: not JSON at byte 6"), ('{"a": 1 "b": 2}', "file:1: not JSON at byte 9"),
    ('{"a": [1 2]}', "file:1: not JSON at byte 10"), ('{a: 1}', "file:1: not JSON at byte 2"),
    ('{"a": ' + "[" * 100_000, "file: lists within lists, too deep to read")])
def test_walk_broken_json(text, said):
    this = walk(text.encode())
    with pytest.raises(InputError) as error:
        this.documents(lambda at: this.members(at, {"a": lambda at: this.elements(at, this.skip)}))
    assert str(error.value).startswith(said)
