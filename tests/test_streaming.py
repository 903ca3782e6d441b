"""Words punctuated as they arrive: the labels of a data directory, without delay, for any bytes."""

import io
import os
import select
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.decoding import streaming
from punc.decoding.streaming import WordStream, punctuate_streaming
from punc.models.base import NeuralModel, create, load, save
from punc.tokens.tokenizers.char import CharTokenizer
from punc.tokens.vocabulary import END, Vocabulary

WORDS = [f"w{i}" for i in range(30)]
PUNC = [sys.executable, "-c", "import sys; from punc.bin.main import main; sys.exit(main())", "punctuate"]


@pytest.fixture(scope="module")
def exp(tmp_path_factory):
    """A model with large random weights: its labels depend on many words before."""
    directory = tmp_path_factory.mktemp("streaming")
    (directory / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n")
    torch.manual_seed(1)
    vocabulary = Vocabulary(["<unk>", "</s>", *WORDS])
    save(create("t_lstm", vocabulary, LabelSet.read(directory / "labels.txt"),
                {"embedding_dim": 5, "hidden_dim": 6, "init_range": 2.0}), directory / "final.pt")
    vocabulary.write(directory / "vocab")
    return directory


class Whole(NeuralModel):
    """A model that reads whole streams: the last word of a stream decides all its labels."""

    def __init__(self, like):
        super().__init__()
        self.tokenizer, self.labels = like.tokenizer, like.labels

    def forward(self, tokens, pauses, state):
        last = tokens[:, -1:, None].expand(-1, tokens.shape[1], 4)
        return (torch.arange(4) == last % 4).float(), state


def piped(data):
    """A file descriptor from which these bytes can be read; a pipe holds 64 KiB."""
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return read


def punctuated(model, data, scale=None):
    sink, source = io.BytesIO(), piped(data)
    try:
        punctuate_streaming(model, source, sink, scale)
    finally:
        os.close(source)
    return sink.getvalue().decode()


def test_streaming_labels_are_those_of_a_data_directory(exp, tmp_path):
    words = np.random.default_rng(3).choice([*WORDS, "new", "日本", "no\u00a0break"], 400).tolist()
    write_data_dir(tmp_path / "data", [Utterance("a", "a", words[:300]), Utterance("b", "b", words[300:])])
    assert main(["punctuate", "--scale=O=0.7", str(exp), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
    expected = [line.split(" ", 1)[1] for line in (tmp_path / "out/text_punct").read_text().splitlines()]
    assert len({line[-1] for line in " ".join(expected).split()} & set(",.?")) > 1
    text = "\n \n" + " \n".join(words[:300]) + "\n\n\r\n" + "\t".join(words[300:])
    result = subprocess.run([*PUNC, "--scale=O=0.7", exp, "-"], input=text.encode(), capture_output=True, check=True)
    assert result.stdout.decode().splitlines() == expected
    assert result.stderr == b""


def test_streaming_writes_each_word_when_the_next_arrives(exp):
    process = subprocess.Popen([*PUNC, exp, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        written = b""
        for i, word in enumerate(WORDS[:20]):
            process.stdin.write(word.encode() + b" ")
            if i:
                assert select.select([process.stdout], [], [], 20)[0], f"nothing came after {word}"
                written += process.stdout.read(1 << 10)
                assert written.split()[-1].startswith(WORDS[i - 1].encode())
        process.stdin.write(b"\n\n")  # the stream ends, the input does not
        while not written.endswith(b"\n"):
            written += process.stdout.read(1 << 10)
        assert len(written.split()) == 20
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()
    assert process.returncode == 0


class Counting(NeuralModel):
    """A model whose labels count the tokens that it has read."""

    lookahead = 3

    def __init__(self, tokenizer, labels):
        super().__init__()
        self.tokenizer, self.labels, self.tokens = tokenizer, labels, []

    def stepper(self):
        self.tokens.append([])
        return self

    def step(self, token, pause):
        self.tokens[-1].append(token)
        return (np.arange(4) == len(self.tokens[-1]) % 4).astype(np.float32)


def test_streaming_characters_of_a_word_come_before_its_slot(exp):
    tokenizer = CharTokenizer(Vocabulary(["<unk>", "</s>", "<space>", *"abc"]))
    model = Counting(tokenizer, load(exp).labels)
    # Slots are tokens 3, 4 and 8 of the first text, and 2 of the other; each is decided 3 tokens later.
    assert punctuated(model, "Ab é abc\n\nc日\n".encode()) == "Ab. é? abc?\nc日,\n"
    assert model.tokens == [[3, 4, 2, 2, 3, 4, 5, END, END, END, END], [5, END, END, END, END]]


def test_streaming_model_of_whole_streams_waits_for_the_end(exp):
    model = Whole(load(exp))  # w0 is id 2, a period; w1 id 3, a question mark
    assert punctuated(model, b"w5 w1\nw0\n\nw5 w1") == "w5. w1. w0.\nw5? w1?\n"
    assert punctuated(model, b"w5 w0", np.array([1, 9, 1, 1], np.float32)) == "w5, w0,\n"


def test_streaming_scale(exp):
    assert punctuated(load(exp), b"w1 w2 x", np.array([1, 1e-30, 1e30, 1], np.float32)) == "w1. w2. x.\n"


@pytest.mark.parametrize("data", [b"", b" \n\n\t"])
def test_streaming_no_words_is_an_error(exp, data):
    with pytest.raises(InputError, match=r"^standard input has no words; pipe words into it$"):
        punctuated(load(exp), data)


def test_streaming_bad_bytes_are_replaced_and_counted(exp, capsys):
    text = punctuated(load(exp), b"w1 caf\xe9 a\0b w2 \xe2\x82")
    assert [word.rstrip(".,?") for word in text.split()] == ["w1", "caf\ufffd", "a\ufffdb", "w2", "\ufffd"]
    assert "standard input: 3 bytes or characters are not text" in capsys.readouterr().err


@given(st.lists(st.sampled_from([b"a", b"bc", "é".encode(), "\u3000".encode(), b"\xff", b"\xe2", b" ", b"\n", b"\n",
                                 b"\r\n", b"\t"])).map(b"".join), st.integers(1, 5))
def test_word_stream_is_the_same_however_the_bytes_arrive(data, size):
    expected = [[]]
    for line in data.decode(errors="replace").replace("\r", " ").replace("\t", " ").split("\n"):
        words = [word for word in line.split(" ") if word]
        expected += [] if words else [[]]
        expected[-1] += words
    source = piped(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "READ_SIZE", size)
        found = [list(stream) for stream in WordStream(source, io.BytesIO()).streams()]
    os.close(source)
    assert found == [words for words in expected if words]
