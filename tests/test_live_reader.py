"""Pieces of text as items: what is whole comes out at once, and the rest when it is whole."""


from punc.live.input import End, LiveWord, Partial
from punc.live.reader import ItemReader


def names(items):
    return [item.word if isinstance(item, LiveWord) else item for item in items]


def test_words_come_out_with_the_blank_after_them():
    reader = ItemReader("x", "words")
    assert names(reader.feed("a b")) == ["a"]
    assert names(reader.feed("c")) == []
    assert names(reader.feed(" \n")) == ["bc", End.UTTERANCE]
    assert names(reader.feed("\r\nd")) == [End.STREAM]
    assert names(reader.end()) == ["d"]


def test_lines_come_out_with_their_end():
    reader = ItemReader("x")
    assert names(reader.feed(' {"word": "a"}\n{"partial"')) == ["a"]
    assert reader.kind == "json"
    assert names(reader.feed(': "b"}\n\n{"word": "c"}')) == [Partial("b"), End.STREAM]
    assert names(reader.end()) == ["c"]


def test_kind_of_a_short_begin_is_known_where_nothing_comes_after_it():
    reader = ItemReader("x")
    assert reader.feed(" ", whole=True) == []
    assert names(reader.feed("so i", whole=True)) == ["so"]
    assert reader.kind == "words"
    assert names(reader.end()) == ["i"]
    reader = ItemReader("x")
    assert reader.feed("so i") == []
    assert names(reader.end()) == ["so", "i"]
