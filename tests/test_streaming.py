"""Words that are punctuated as they arrive get the same labels as in files. They are written without delay, and the
input may contain any bytes."""

import json
import os
import re
import select
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import PUNC, piped, random_model
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.decoding.pack import pack
from punc.live.input import End, LiveWord
from punc.live.session import LiveOptions
from punc.live.streaming import LiveFormat, LiveReader, punctuate_lines, punctuate_streaming
from punc.models.base import NeuralModel, load
from punc.tokens.tokenizers.class_ import ClassTokenizer
from punc.tokens.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(30)]
LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
PUNCTUATE = [*PUNC, "punctuate"]


@pytest.fixture(scope="module")
def exp(tmp_path_factory):
    return random_model(tmp_path_factory.mktemp("streaming"), LABELS, WORDS)


@pytest.fixture(scope="module")
def packed(exp, tmp_path_factory):
    """Pack the model, so that commands start faster."""
    place = tmp_path_factory.mktemp("packed") / "model"
    pack(exp, place)
    return place


class Whole(NeuralModel):
    """A model that reads complete streams. The last word determines all labels."""

    def __init__(self, like):
        super().__init__()
        self.tokenizer, self.labels = like.tokenizer, like.labels

    def forward(self, tokens, pauses, state):
        last = tokens[:, -1:, None].expand(-1, tokens.shape[1], 4)
        return (torch.arange(4) == last % 4).float(), state


def punctuated(model, data, scale=None, options=None, form=None):
    return piped(punctuate_streaming, model, data, scale, None, options, form).decode()


def test_streaming_labels_are_those_of_a_data_directory(packed, tmp_path):
    words = np.random.default_rng(3).choice([*WORDS, "new", "日本"], 400).tolist()
    write_data_dir(tmp_path / "data", [Utterance("a", "a", words[:300]), Utterance("b", "b", words[300:])])
    assert main(["punctuate", "--scale=O=0.7", str(packed), str(tmp_path / "data"), str(tmp_path / "out")]) == 0
    expected = [line.split(" ", 1)[1] for line in (tmp_path / "out/text_punct").read_text().splitlines()]
    assert len({line[-1] for line in " ".join(expected).split()} & set(",.?")) > 1
    text = "\n \n" + " \n".join(words[:300]) + "\n\n\r\n" + "\t".join(words[300:])
    command = [*PUNCTUATE, "--scale=O=0.7", packed, "-"]
    result = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    assert result.stdout.decode().splitlines() == expected
    assert result.stderr == b""


@pytest.mark.parametrize(("tag", "text"), [
    ("[door slams]", "w1 w2 [door slams] w3 w4\n"), ("[a", "w1 [a w2 w3 w4\n"), ("[a b]", "w1 w2 w3 w4 [a b]\n"),
    ("[" + "x " * 50, "w1 [" + "x " * 50 + "w2 w3 w4\n")])
def test_streaming_words_in_square_brackets_are_all_written(exp, tag, text):
    """Complete tags are written unchanged, and the model does not read them. Incomplete tags are words."""
    written = punctuated(load(exp), text.encode())
    assert re.findall(r"[^\s,.?]+", written) == text.split()
    if tag.endswith("]"):
        assert tag in written
        assert written.replace(f" {tag}", "") == punctuated(load(exp), text.replace(f" {tag}", "").encode())


def test_streaming_writes_each_word_when_the_next_arrives(exp):
    process = subprocess.Popen([*PUNCTUATE, exp, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        written = b""
        for i, word in enumerate(WORDS[:20]):
            process.stdin.write(word.encode() + b" ")
            if i:
                assert select.select([process.stdout], [], [], 20)[0], f"nothing came after {word}"
                written += process.stdout.read(1 << 10)
                assert written.split()[-1].startswith(WORDS[i - 1].encode())
        process.stdin.write(b"\n\n")  # ends the stream, but not the input
        while not written.endswith(b"\n"):
            written += process.stdout.read(1 << 10)
        assert len(written.split()) == 20
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()
    assert process.returncode == 0


def test_streaming_model_of_whole_streams_waits_for_the_end(exp):
    model = Whole(load(exp))  # the last word decides all labels: w0 (id 2) gives periods, w1 (id 3) question marks
    assert punctuated(model, b"w5 w1\nw0\n\nw5 w1") == "w5. w1. w0.\nw5? w1?\n"
    assert punctuated(model, b"w5 w0", np.array([1, 9, 1, 1], np.float32)) == "w5, w0,\n"


@pytest.mark.parametrize("data", [b"", b" \n\n\t"])
def test_streaming_no_words_is_an_error(exp, data):
    with pytest.raises(InputError, match=r"^standard input has no words; pipe words into it$"):
        punctuated(load(exp), data)


SRT = b"1\n00:00:01,000 --> 00:00:02,000\nw5 w1\n"


@pytest.mark.parametrize(("data", "form"), [
    (SRT, "SRT"), (b"\xef\xbb\xbfWEBVTT\n\n00:01.000 --> 00:02.000\nw1\n", "WebVTT")])
def test_streaming_subtitles_are_not_read_as_words(exp, data, form):
    with pytest.raises(InputError, match=f"^standard input looks like {form}, not like words; use punc transcript"):
        punctuated(load(exp), data)


@pytest.mark.parametrize("indent", [None, 1])
def test_streaming_an_array_is_not_read_as_words(exp, indent):
    with pytest.raises(InputError, match=r"^standard input has no words; pipe words into it$"):
        punctuated(load(exp), json.dumps([{"word": "w1"}, {"word": "w2"}], indent=indent).encode())


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
    for kind in ("words", "auto"):
        assert streams_of(LiveReader(kind), data, size) == [words for words in expected if words]


def streams_of(reader, data, size):
    """Read `size` bytes at a time. Return the words of each stream that has words."""
    items = [item for begin in range(0, len(data), size) for item in reader.feed(data[begin:begin + size])]
    found = [[]]
    for item in items + reader.end():
        if isinstance(item, LiveWord):
            found[-1].append(item.word)
        elif item is End.STREAM:
            found.append([])
    return [words for words in found if words]


def test_reader_keeps_lines_whole_however_the_bytes_arrive():
    ctm = "\ufeff;; a comment\r\n\na 1 0.5 0.25 hé 0.9\r\na 1 0.75 0.1 <eps>\nb 1 .5 1 x\n"
    words = '{"word": "hé", "start": 0.5, "end": 0.75}\n\n{"partial": "a"}\n{"text": "b  c"}'
    for text in (ctm, words):
        whole = LiveReader()
        expected = whole.feed(text.encode()) + whole.end()
        assert sum(isinstance(item, LiveWord) for item in expected) >= 2
        for size in (1, 2, 3, 7):
            reader, data, found = LiveReader(), text.encode(), []
            for begin in range(0, len(data), size):
                found += reader.feed(data[begin:begin + size])
            assert found + reader.end() == expected


def test_bad_lines_are_left_out_and_named(exp, capsys):
    lines = ['{"word": "w1"}', '{"wo', '{"word": 3}', '{"word": "w2"}', "[]", '{"word": " "}', "w3", '{"word": "w4"',
             *["x"] * 9]
    assert plain(punctuated(load(exp), "\n".join(lines).encode()).encode()) == [b"w1", b"w2"]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "standard input:2: not JSON, or only a part of it; write one object a line; it is left out"
    assert said[1].startswith("standard input:3: a word is not an object with 'word'; write {")
    assert (len(said), said[-1]) == (11, "standard input: 15 lines or objects were left out")
    punctuated(load(exp), b"a 1 0 1 w1\na 1 x 1 w2\na 1 1\n")
    assert [line.split(";")[0] for line in capsys.readouterr().err.splitlines()] == [
        "standard input:2: the begin 'x' is not a number", "standard input:3: 3 columns"]


def test_objects_over_several_lines(exp, capsys):
    lines = ["{", '  "result" : [{', '      "word" : "w1"', "    }],", '  "text" : "w1"', "}",
             "{", '  "partial" : "w2"', "}", "{", '  "text" : "lost', "{", '  "text" : "w2 w3"', "}",
             '{"text": "w4"}', "{", '  "text" : "lost"']
    out = punctuated(load(exp), "\n".join(lines).encode())
    assert [word.rstrip(".,?") for word in out.split()] == ["w1", "w2", "w3", "w4"]
    said = [line.split("; ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == [f"standard input:{number}: not JSON, or only a part of it" for number in (10, 16)]


def test_a_long_word_takes_no_time(exp):
    reader = LiveReader()
    items = [item for _ in range(200) for item in reader.feed(b"x" * (1 << 16))] + reader.feed(b" y ")
    assert [len(item.word) for item in items] == [200 << 16, 1]


PAGE = Path(__file__).parents[1] / "docs/live.md"
WORDS_LIVE = [b"how", b"are", b"you", b"i", b"am", b"fine"]  # en-live reads four words past a slot
LIVE = [*PUNCTUATE, "en-live", "-"]


def plain(out):
    return [word.rstrip(b".,?").lower() for word in out.split()]


def test_signal_ends_live_input_with_all_words_out():
    for number, status, line in ((signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"terminated")):
        with subprocess.Popen(LIVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              bufsize=0) as process:
            process.stdin.write(b" ".join(WORDS_LIVE))
            out = process.stdout.read(3)  # the first output shows that the process is reading
            process.send_signal(number)
            rest, error = process.communicate(timeout=30)
        assert plain(out + rest) == WORDS_LIVE
        assert rest.endswith(b"\n")
        assert (error, process.returncode) == (b"punc punctuate: " + line + b"\n", status)


def test_closed_pipe_ends_live_input_without_a_message():
    with subprocess.Popen(LIVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          bufsize=0) as process:
        process.stdin.write(b" ".join(WORDS_LIVE))
        process.stdout.read(3)
        process.stdout.close()
        process.stdin.write(b" and you ")
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


def test_silence_decides_the_words_that_wait():
    with subprocess.Popen([*LIVE, "--max-delay=0.05", "--output=json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          bufsize=0) as process:
        process.stdin.write(b"how are you ")
        words = [json.loads(process.stdout.readline())["word"] for _ in range(3)]
        process.stdin.write(b"fine ")
        words.append(json.loads(process.stdout.readline())["word"])
        process.stdin.close()
        assert json.loads(process.stdout.read()) == {"eof": 1}
    assert words == ["how", "are", "you", "fine"]


def test_times_decide_as_silence_does(exp):
    model = load(exp)
    lines = [{"word": f"w{i}", "start": i + 0.7 * (i > 4), "end": i + 0.9} for i in range(9)]
    data = "\n".join(map(json.dumps, lines)).encode()
    for delay, cut in ((0.5, 5), (2.0, 9)):
        found = punctuated(model, data, None, LiveOptions(max_delay=delay)).split()
        alone = punctuated(model, " ".join(f"w{i}" for i in range(cut)).encode()).split()
        assert found[:cut] == alone
        assert len(found) == 9


def test_utterance_ends(exp):
    model = load(exp)
    data = b'{"text": "w1 w2 w3"}\n{"text": "w4 w5"}\n'
    whole = punctuated(model, b"w1 w2 w3 w4 w5\n")
    assert punctuated(model, data) == punctuated(model, b"w1 w2 w3\nw4 w5\n") == whole
    alone = punctuated(model, b"w1 w2 w3\n\nw4 w5")
    assert alone.count("\n") == 2
    ends = LiveOptions(utterance_end="end")
    assert punctuated(model, data, None, ends) == punctuated(model, b"w1 w2 w3\nw4 w5", None, ends) == alone
    decided = punctuated(model, data, None, LiveOptions(utterance_end="decide"))
    assert decided.split()[:3] == alone.split()[:3], "as if the stream ended there"
    assert decided.split()[3:] == whole.split()[3:], "but the stream continues"


def test_max_delay_with_a_model_of_whole_streams_is_an_error(exp):
    with pytest.raises(InputError, match=r"^--max-delay does not apply to a model that reads whole streams; "):
        punctuated(Whole(load(exp)), b"w1", None, LiveOptions(max_delay=1.0))


def test_output_of_a_ctm_has_labels_and_times(exp):
    out = punctuated(load(exp), b"a 1 0.5 0.25 w1 0.9\na 1 0.8 0.1 <eps>\na 1 1 0.5 w2\nb 1 0.1 0.2 w3\n", None, None,
                     LiveFormat(output="json"))
    lines = [json.loads(line) for line in out.splitlines()]
    keys = ("word", "start", "end", "conf", "id")
    assert [tuple(line.get(key) for key in keys) for line in lines] == [
        ("w1", 0.5, 0.75, 0.9, "a"), ("w2", 1.0, 1.5, None, "a"), (None,) * 5, ("w3", 0.1, 0.3, None, "b"), (None,) * 5]
    assert all(set(line) >= {"text", "label", "probability"} for line in lines if "word" in line)
    assert lines[2] == lines[4] == {"eof": 1}


def test_output_keeps_all_members_of_a_json_word(exp):
    words = [{"word": "w1", "start": "0.5", "end": -1, "conf": 1e999, "x": [0]}, {"word": "w2", "start": 1, "end": 2}]
    data = json.dumps(words[0]).replace("Infinity", "1e999") + "\n" + json.dumps({"result": [words[1], {"word": " "}]})
    found = [json.loads(line, parse_constant=pytest.fail) for line in punctuated(
        load(exp), data.encode(), None, None, LiveFormat(output="json")).splitlines()]
    assert [{key: word[key] for key in words[0] if key in word} for word in found] == [
        words[0] | {"conf": None}, words[1], {}]


def test_output_of_the_page():
    block = re.search(r"```sh\n(echo .+?)\n```\n\n```\n(.+?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    words = re.search(r'"(.+?)"', block[1])[1]
    found = subprocess.run([*LIVE, "--output=json"], input=words.encode(), capture_output=True, check=True)
    begin, end = block[2].split("…\n")
    assert found.stdout.decode().startswith(begin)
    assert found.stdout.decode().endswith(end + "\n")


# A character model punctuates lines that already have marks. All characters other than marks stay unchanged.

JAPANESE = LabelSet((Label("N", "w"), Label("C", "w、", ("、", ",")), Label("P", "w。", ("。", "."))))
CLASSES = Vocabulary(["<unk>", "</s>", "<alpha>", "<num>", "は", "す"])
MARKS = "、,。."


class Knowing(NeuralModel):
    """Writes 、 after は, and 。 after す and after Latin words."""

    def __init__(self, lookahead=None):
        super().__init__()
        self.lookahead = lookahead
        self.vocabulary, self.labels = CLASSES, JAPANESE
        self.tokenizer = ClassTokenizer(CLASSES)

    def forward(self, tokens, pauses, state):
        label = torch.tensor([0, 0, 2, 0, 1, 2])[tokens]
        return 9.0 * torch.nn.functional.one_hot(label, 3), ()


def marked(text, scale=None):
    return piped(punctuate_lines, Knowing(), text, scale)


def test_lines_of_subtitles_are_not_read_as_text():
    with pytest.raises(InputError, match=r"^standard input looks like SRT, not like words; use punc transcript"):
        marked(SRT)


@pytest.mark.parametrize(("text", "expected"), [
    ("これはペンです\n", "これは、ペンです。\n"),
    ("これは。ペン、です\nはい", "これは、ペンです。\nは、い"),
    ("\n \nこれは　Pen 3.5\r\n\n", "\n \nこれは、　Pen。 3.5\r\n\n"),
    ("。\nす", "\nす。"),
    ("す" * 3000, "す。" * 3000)])
def test_lines_marks_are_replaced(text, expected):
    assert marked(text.encode()).decode() == expected


def test_lines_bytes_that_are_not_utf8_stay():
    assert marked("は".encode() + b"\xff\xe3\x81\n\x80" + "す".encode()) == \
        "は、".encode() + b"\xff\xe3\x81\n\x80" + "す。".encode()


def test_lines_scale():
    assert marked("これはす".encode(), np.array([1, 1e-9, 1], np.float32)).decode() == "これはす。"


@pytest.mark.parametrize("text", ["", "\n \n", "、"])
def test_lines_without_characters_are_an_error(text):
    with pytest.raises(InputError, match="standard input has no characters; pipe lines"):
        marked(text.encode())


@given(st.lists(st.one_of(st.text(), st.text("はす、。x3.4 \n\u3000\ud83d".replace("\ud83d", "😀")))).map("".join))
def test_lines_all_but_marks_stay(text):
    text = f"は{text}"
    output = marked(text.encode()).decode()
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
