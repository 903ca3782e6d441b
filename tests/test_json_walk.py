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


@given(st.lists(VALUES, max_size=6), st.integers(0, 40), st.sampled_from([None, 1]))
def test_blocks_have_all_elements(values, size, indent):
    data, blocks = json.dumps([values, 1], indent=indent).encode(), []
    this = walk(data)
    this.documents(lambda at: this.elements(at, lambda at: this.blocks(at, size, blocks.append)))
    assert all(blocks)  # none is empty
    elements = [element for block in blocks for element in block]
    assert [element.value for element in elements] == values
    assert [json.loads(data[start:stop]) for _, start, stop in elements] == values
    for block in blocks[:-1]:  # it ends with the element that makes it longer than `size`
        assert block[-1].stop - block[0].start > size
    for block in blocks:
        assert len(block) == 1 or block[-2].stop - block[0].start <= size


@pytest.mark.parametrize(("text", "said"), [
    ("[1, 2", "file:1: the JSON is cut short at byte 6"), ("[1,\n2 3]", "file:2: not JSON at byte 7"),
    ("[1, ", "file:1: the JSON is cut short at byte 5"), ("[,1]", "file:1: not JSON at byte 2"),
    ("[1,]", "file:1: not JSON at byte 4"), ("[", "file:1: the JSON is cut short at byte 2")])
def test_blocks_of_broken_json(text, said):
    this = walk(text.encode())
    with pytest.raises(InputError) as error:
        this.documents(lambda at: this.blocks(at, 100, lambda block: None))
    assert str(error.value).startswith(said)


def test_blocks_skip_what_is_no_list():
    this = walk(b'{"a": [1]} [ ] "b"')
    this.documents(lambda at: this.blocks(at, 100, lambda block: pytest.fail("no element")))


@given(st.text(max_size=9), st.booleans())
def test_string_is_kept_and_other_values_are_skipped(text, ascii_only):
    string = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "replace")
    spans = []
    assert walk(string + b" ").string(0, spans) == len(string)
    assert spans == [(1, len(string) - 1)]
    assert walk(b'["a"]').string(0, spans) == 5
    assert len(spans) == 1
