"""Lines of text punctuated by a model that knows the marks: all but the marks comes out as it was."""

import io
import os
import threading

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.labels import Label, LabelSet
from punc.live.streaming import punctuate_lines
from punc.models import base
from punc.tokens.tokenizers.class_ import ClassTokenizer
from punc.tokens.vocabulary import Vocabulary

torch.set_num_threads(1)
LABELS = LabelSet((Label("N", "w"), Label("C", "w、", ("、", ",")), Label("P", "w。", ("。", "."))))
VOCABULARY = Vocabulary(["<unk>", "</s>", "<alpha>", "<num>", "は", "す"])
MARKED = {"は": "、", "す": "。"}
MARKS = "、,。."


class Knowing(base.NeuralModel):
    """Writes 、 after は and 。 after す, and after Latin words."""

    def __init__(self, lookahead=None):
        super().__init__()
        self.lookahead = lookahead
        self.vocabulary, self.labels, self.tokenizer = VOCABULARY, LABELS, ClassTokenizer(VOCABULARY)

    def forward(self, tokens, pauses, state):
        label = torch.tensor([0, 0, 2, 0, 1, 2])[tokens]
        return 9.0 * torch.nn.functional.one_hot(label, 3), ()


def punctuated(text, scale=None):
    """The output for these bytes from a pipe."""
    source, into = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(into, text), os.close(into)))
    writer.start()
    sink = io.BytesIO()
    try:
        punctuate_lines(Knowing(), source, sink, scale)
    finally:
        writer.join()
        os.close(source)
    return sink.getvalue()


@pytest.mark.parametrize(("text", "expected"), [
    ("これはペンです\n", "これは、ペンです。\n"),
    ("これは。ペン、です\nはい", "これは、ペンです。\nは、い"),
    ("\n \nこれは　Pen 3.5\r\n\n", "\n \nこれは、　Pen。 3.5\r\n\n"),
    ("。\nす", "\nす。"),
    ("す" * 3000, "す。" * 3000)])
def test_lines_marks_are_replaced(text, expected):
    assert punctuated(text.encode()).decode() == expected


def test_lines_bytes_that_are_not_utf8_stay():
    assert punctuated("は".encode() + b"\xff\xe3\x81\n\x80" + "す".encode()) == \
        "は、".encode() + b"\xff\xe3\x81\n\x80" + "す。".encode()


def test_lines_scale():
    assert punctuated("これはす".encode(), np.array([1, 1e-9, 1], np.float32)).decode() == "これはす。"


@pytest.mark.parametrize("text", ["", "\n \n", "、"])
def test_lines_without_characters_are_an_error(text):
    with pytest.raises(InputError, match="standard input has no characters; pipe lines"):
        punctuated(text.encode())


@settings(deadline=None)
@given(st.lists(st.one_of(st.text(), st.text("はす、。x3.4 \n\u3000\ud83d".replace("\ud83d", "😀")))).map("".join))
def test_lines_all_but_marks_stays(text):
    text = f"は{text}"
    output = punctuated(text.encode()).decode()
    assert [c for c in output if c not in MARKS] == [c for c in text if c not in MARKS]


def test_lines_are_written_before_the_input_ends():
    source, into = os.pipe()
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as sink, os.fdopen(into, "wb", 0) as pipe:
        thread = threading.Thread(target=punctuate_lines, args=(Knowing(), source, sink))
        thread.start()
        pipe.write("これは\nです".encode())
        assert os.read(reading, 100).decode() == "これは、\n"
        pipe.close()
        thread.join()
    assert os.read(reading, 100).decode() == "です。"
    os.close(reading)
    os.close(source)


def test_characters_option_with_a_data_directory_is_an_error(tmp_path, capsys):
    assert main(["punctuate", "--characters=true", str(tmp_path), "data", "out"]) == 1
    assert "--characters with a DATA-DIR" in capsys.readouterr().err
