"""`punc prepare`: formats, names of streams, parts of files, processes, and errors that leave the output unchanged."""

import os
import threading

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.data.validate import validate
from punc.text.file_parts import file_parts
from punc.text.format import PrepareOptions, load_format

LABELS = "O w\nCOMMA w, , : -\nPERIOD w. . ; !\nQUESTION w? ?\n"


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    return tmp_path / "labels.txt"


def run(labels, tmp_path, name, *contents, options=()):
    inputs = []
    for i, content in enumerate(contents):
        inputs.append(tmp_path / f"in{i}")
        inputs[-1].write_bytes(content if isinstance(content, bytes) else content.encode())
    status = main(["prepare", f"--format={name}", f"--labels={labels}", "--nj=1", *options, *map(str, inputs),
                   str(tmp_path / "out")])
    return status, tmp_path / "out"


def content(directory):
    return [(u.stream, u.id.removeprefix(u.stream), " ".join(u.words), " ".join(u.labels))
            for u in DataDir(directory).utterances()]


def test_prepare_lrec_with_repairs(labels, tmp_path, capsys):
    raw = b"so\tO\r\n\tCOMMA\r\n\xe2\x99?much\tO\r\nnew york\tPERIOD\r\n"
    status, out = run(labels, tmp_path, "lrec", raw, options=["--utt-words=3", "--nj=1"])
    assert status == 0
    assert content(out) == [("00000001", "-00000001", "so much new", "COMMA O O"),
                            ("00000001", "-00000002", "york", "PERIOD")]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("out: 1 streams, 2 utterances, 4 words")
    assert [line.removeprefix("punc prepare: repaired: ") for line in lines[1:]] == [
        "1 bytes or cut characters that are not UTF-8, removed", "4 carriage returns, taken as line ends",
        "1 lines with a label but no word; the label goes to the previous word", "1 lines with several words, split"]


def test_prepare_text_in_another_encoding(labels, tmp_path, capsys):
    text = "Die Zahl.\nFährt der Zug über Köln?\n"
    status, out = run(labels, tmp_path, "prose", text.encode("latin-1"))
    assert status == 1
    assert not out.exists()
    assert capsys.readouterr().err == (f"punc prepare: {tmp_path}/in0:2: 3 bytes are not UTF-8; convert the text to "
                                       "UTF-8: iconv -f WINDOWS-1252 -t UTF-8\n")


def test_prepare_sil_with_and_without_pauses(labels, tmp_path):
    text = "a <sil=0.5> ,COMMA b <sil=-0.0> c\n<sil=1> .PERIOD"
    _, out = run(labels, tmp_path, "sil", text, options=["--utt-words=2"])
    (first, second) = DataDir(out).utterances()
    assert (first.labels, second.labels) == (["COMMA", "O"], ["PERIOD"])
    np.testing.assert_array_equal(np.concatenate([first.pauses, second.pauses]), np.array([0.5, 0, 1], np.float32))
    _, out = run(labels, tmp_path, "sil", "a ,COMMA b .PERIOD")
    assert not DataDir(out).has_pauses
    assert content(out)[0][3] == "COMMA PERIOD"


def test_prepare_documents_speakers_and_files(labels, tmp_path):
    texts = "#doc one\n#speaker x\nA b.\n#doc two\nC?", "D\n"
    _, out = run(labels, tmp_path, "prose", *texts,
                 options=["--document-prefix=#doc", "--skip-prefix=#speaker", "--prefix=x_"])
    assert content(out) == [("x_00000001_one", "-00000001", "a b", "O PERIOD"),
                            ("x_00000002_two", "-00000001", "c", "QUESTION"), ("x_00000003", "-00000001", "d", "O")]


def test_prepare_lines_as_utterances_and_as_streams(labels, tmp_path):
    text = "A b.\n\n\" \"\nC?"
    _, out = run(labels, tmp_path, "prose", text, options=["--utt-words=0"])
    assert [u[:3] for u in content(out)] == [("00000001", "-00000001", "a b"), ("00000001", "-00000004", "c")]
    _, out = run(labels, tmp_path, "prose", text, options=["--independent=true"])
    assert [u[:3] for u in content(out)] == [("00000001", "", "a b"), ("00000004", "", "c")]


def test_prepare_keep_names(labels, tmp_path):
    _, out = run(labels, tmp_path, "prose", "A b.", "C?", options=["--keep-names=true", "--utt-words=1", "--prefix=x_"])
    assert content(out) == [("x_in0", "-00000001", "a", "O"), ("x_in0", "-00000002", "b", "PERIOD"),
                            ("x_in1", "-00000001", "c", "QUESTION")]


def names(labels, tmp_path, *files):
    """Prepare files with these names. Return the streams in order, or the exit status after an error."""
    for name in files:
        (tmp_path / name).write_text(f"{name}.")
    status = main(["prepare", "--format=prose", "--keep-names=true", f"--labels={labels}",
                   *(str(tmp_path / name) for name in files), str(tmp_path / "out")])
    return [u.stream for u in DataDir(tmp_path / "out").utterances()] if status == 0 else status


def test_prepare_keep_names_in_kaldis_order(labels, tmp_path, capsys):
    assert names(labels, tmp_path, "b.txt", "a.txt", "a-1.txt", "a b.txt", "ä.v2.txt") == \
        ["a", "a-1", "a_b", "b", "ä.v2"]
    validate(tmp_path / "out")
    capsys.readouterr()
    assert names(labels, tmp_path, "a-0.txt", "a.txt") == 1
    assert "'a' and 'a-0' cannot be sorted" in capsys.readouterr().err
    assert names(labels, tmp_path, "a b.txt", "a_b.txt") == 1
    assert "two streams would be called 'a_b'; " in capsys.readouterr().err


def test_prepare_mteval_with_clitics(labels, tmp_path):
    (tmp_path / "clitics").write_text("'s\n")
    text = "<doc docid='t'><seg>It's R&D -- yes.</seg><seg>No</seg></doc>"
    _, out = run(labels, tmp_path, "mteval", text, options=[f"--clitics={tmp_path / 'clitics'}"])
    assert content(out) == [("00000001_t", "-00000001", "it 's r&d yes", "O O COMMA PERIOD"),
                            ("00000001_t", "-00000002", "no", "O")]


PROSE = "".join(f"{'#doc d' if i % 17 == 5 else 'It is'} {i}, (well) -- é\u00a0{i % 7}.5 !\n{', ' * (i % 3)}\n"
                for i in range(400))
FILES = {
    "prose": PROSE.encode() + "é".encode()[:1] + b" " + b"long " * 500 + b"\n- end.",
    "lrec": "".join(f"w{i % 50}\t{['O', 'COMMA', 'PERIOD'][i % 3]}\r\n" + "\tQUESTION\r\n" * (i % 11 == 3)
                    for i in range(900)).encode(),
    "sil": ("w <sil=0.5> ,COMMA x <sil=-0.1> " * 300 + "\n .PERIOD y" * 50).encode(),
    "mteval": "".join(f"<doc docid='{i}'>\n<seg>A, b -- {i}.</seg><SEG>\n- c\n</SEG></doc>"
                      for i in range(99)).encode(),
}


def parts_of(monkeypatch, size):
    monkeypatch.setattr("punc.text.format.file_parts", lambda paths, end: file_parts(paths, end, size))


@pytest.mark.parametrize("name", [*FILES, "prose lines", "characters lines"])
def test_prepare_output_does_not_depend_on_parts(labels, tmp_path, monkeypatch, name):
    (tmp_path / "in").write_bytes(FILES["prose" if "lines" in name else name])
    document_prefix, utt_words = "#doc" if name == "prose" else "", 0 if "lines" in name else 7
    name = name.removesuffix(" lines")
    options = PrepareOptions(LabelSet.read(labels), document_prefix=document_prefix, utt_words=utt_words)
    expected = load_format(name)(options).prepare([tmp_path / "in"], tmp_path / "whole")
    for size in (100, 999):
        parts_of(monkeypatch, size)
        assert load_format(name)(options).prepare([tmp_path / "in"], tmp_path / f"cut{size}") == expected
        for file in ("text", "punct", "utt2spk", "spk2utt", *(["pauses.ark"] if name == "sil" else [])):
            assert (tmp_path / f"cut{size}" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert validate(tmp_path / "whole", LabelSet.read(labels))["words"] == expected["words"] > 300


def test_prepare_output_does_not_depend_on_processes(labels, tmp_path, monkeypatch):
    (tmp_path / "in").write_bytes(FILES["prose"])
    parts_of(monkeypatch, 1500)

    def prepare(nj):
        return load_format("prose")(PrepareOptions(LabelSet.read(labels), nj=nj)).prepare(
            [tmp_path / "in"], tmp_path / f"nj{nj}")

    assert prepare(1) == prepare(3)
    assert (tmp_path / "nj1" / "text").read_bytes() == (tmp_path / "nj3" / "text").read_bytes()
    (tmp_path / "in").write_bytes(FILES["prose"] + b"\nso\0\n")
    with pytest.raises(InputError) as error:  # raised in a worker
        prepare(3)
    assert error.value.line == FILES["prose"].count(b"\n") + 2
    assert (tmp_path / "nj1" / "text").read_bytes() == (tmp_path / "nj3" / "text").read_bytes()


@pytest.mark.parametrize("line", [1, 30, 77, 99])
def test_prepare_error_has_its_line_in_the_file(labels, tmp_path, monkeypatch, line):
    lines = [b"so it is.\n"] * 100
    lines[line - 1] = b"so\0\n"
    (tmp_path / "in").write_bytes(b"".join(lines))
    parts_of(monkeypatch, 100)
    with pytest.raises(InputError) as error:
        load_format("prose")(PrepareOptions(LabelSet.read(labels))).prepare([tmp_path / "in"], tmp_path / "out")
    assert error.value.line == line


@pytest.mark.parametrize("name", ["prose", "lrec", "mteval"])
def test_prepare_long_line(labels, tmp_path, name):
    words = b"word, " * 700_000
    raw = {"prose": words, "lrec": words + b"\tO\nx\tO\n", "mteval": b"<doc><seg>" + words + b"</seg></doc>"}[name]
    status, out = run(labels, tmp_path, name, raw, options=["--utt-words=50"])
    assert status == 0
    assert validate(out)["words"] == 700_000 + (name == "lrec")


@pytest.mark.parametrize(("name", "text", "options", "message"), [
    ("lrec", "so\tO\nmuch\tDASH\n", ["--nj=2"], "in0:2: label 'DASH' is not in the label set; "),
    ("lrec", "so\tO\nx\0\tO\n", [], "in0:2: a NUL byte; "),
    ("lrec", "", [], "in0: the file is empty; "),
    ("prose", "( ) \n", [], "out: there are no utterances to write; "),
    ("sil", "so <sil=a>", ["--nj=2"], "in0:1: 'a' is not a pause; "),
    ("mteval", "<seg>so", [], "in0:1: a <seg> without its </seg>; "),
    ("mteval", "no segments", [], "out: there are no utterances to write; "),
    ("prose", "so", ["--nj=0"], "--nj=0 is out of range; give 1 or more"),
    ("prose", "so", ["--utt-words=-1"], "--utt-words -1; give 0 or more for --format prose"),
    ("lrec", "so\tO\n", ["--utt-words=0"], "--utt-words 0; give 1 or more for --format lrec"),
    ("prose", "so", ["--keep-names=true", "--document-prefix=#doc"], "--keep-names, but a file has several streams; "),
    ("prose", "so", ["--remove=("], "--remove '(' is not a regular expression: "),
    ("prose", "so", ["--prefix=a b"], "an id cannot begin with --prefix 'a b'; "),
    ("prose", "so", ["--lang=en"], "unknown option --lang; did you mean --"),
    ("prose", "so", ["--clitics=gone"], "gone: no such file; "),
    ("prose", "so", ["--labels="], "no label set; give one: --labels conf/labels.txt"),
    ("prose", "so", ["--independent=true", "--document-prefix=#"], "--independent cannot be combined with "
     "--document-prefix; "),
    ("lrec", "so\tO\n", ["--independent=true"], "--independent does not apply to --format lrec; leave it out"),
    ("lrec", "so\tO\n", ["--lowercase=false"], "--lowercase does not apply to --format lrec; leave it out"),
    ("characters", "so", ["--clitics=rules"], "--clitics does not apply to --format characters; leave it out"),
    ("mteval", "<seg>so</seg>", ["--keep-names=true"], "--keep-names does not apply to --format mteval; leave it out"),
    ("mteval", "<seg>so</seg>", ["--utt-words=7"], "--utt-words does not apply to --format mteval; leave it out"),
    ("sil", "so", ["--remove=x"], "--remove does not apply to --format sil; leave it out"),
    ("words", "so", [], "argument --format: invalid choice: 'words' (choose from "),
])
def test_prepare_error_is_one_line_and_leaves_output(labels, tmp_path, capsys, name, text, options, message):
    assert run(labels, tmp_path, "prose", "old words.")[0] == 0
    capsys.readouterr()
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    status, out = run(labels, tmp_path, name, text, options=options)
    assert status == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert error.startswith("punc prepare: ")
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_prepare_missing_input(labels, tmp_path, capsys):
    assert main(["prepare", "--format=prose", f"--labels={labels}", str(tmp_path / "gone"), str(tmp_path / "out")]) == 1
    assert "gone: no such file; " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_prepare_sil_from_a_pipe_keeps_the_pauses(labels, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("so <sil=0.5> much <sil=0.25> .PERIOD",))
    writer.start()
    status = main(["prepare", "--format=sil", f"--labels={labels}", "--nj=1", str(tmp_path / "pipe"),
                   str(tmp_path / "out")])
    writer.join()
    assert status == 0
    [utterance] = DataDir(tmp_path / "out").utterances()
    np.testing.assert_array_equal(utterance.pauses, np.array([0.5, 0.25], np.float32))


def test_text_without_marks_is_reported(tmp_path, capfd):
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\n")
    for last, warned in (("so", True), ("so.", False)):
        (tmp_path / "text").write_text("how are you " * 40 + last)
        assert main(["prepare", "--format=prose", f"--labels={tmp_path}/labels.txt", str(tmp_path / "text"),
                     str(tmp_path / "data")]) == 0
        assert ("is the input punctuated text?" in capfd.readouterr().err) == warned
