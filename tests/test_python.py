"""The Python interface and the bundled models give the same labels as `punc punctuate`. They do not import torch, and
several threads can share a model."""

import doctest
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import punc
from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.decoding import shipped
from punc.decoding.shipped import find_model

PAGE = Path(__file__).parents[1] / "docs/python.md"
WORDS = ["so", "it", "begins", "as", "it", "must", "does", "it", "end", "i", "met", "john", "smith", "in", "new",
         "york", "what", "did", "he", "say", "he", "said", "no"]
PAUSES = np.random.default_rng(1).exponential(0.3, len(WORDS)).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    return punc.load("en")


def test_page():
    assert doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8").failed == 0


def test_labels_are_those_of_the_command(model, tmp_path):
    write_data_dir(tmp_path / "data", [Utterance("a", "a", WORDS, pauses=PAUSES)])
    main(["punctuate", "en", str(tmp_path / "data"), str(tmp_path / "out")])
    out, = DataDir(tmp_path / "out").utterances()
    found = model.labels(WORDS, PAUSES)
    assert found.names.tolist() == list(out.labels)
    assert (tmp_path / "out/text_punct").read_text() == f"a {model.punctuate(WORDS, PAUSES)}\n"
    assert found.probabilities.shape == (len(WORDS), len(model.label_names))
    assert np.allclose(found.probabilities.sum(axis=1), 1)


def test_pauses_matter_and_unknown_ones_are_none(model):
    assert not np.array_equal(model.labels(WORDS, PAUSES).probabilities, model.labels(WORDS).probabilities)
    unknown = np.full(len(WORDS), np.nan)
    assert np.array_equal(model.labels(WORDS, unknown).probabilities, model.labels(WORDS).probabilities)


def test_scale():
    plain, more = punc.load("en"), punc.load("en", scale="O=0.05,CAP=0.05")
    assert more.punctuate(WORDS).count(",") > plain.punctuate(WORDS).count(",")


def test_no_words(model):
    assert model.punctuate("") == ""
    assert model.labels([]).probabilities.shape == (0, len(model.label_names))
    assert model.stream().close() == []


@pytest.mark.parametrize("text", [
    "hello, world. how are you", "the u.s. staff at five p.m. today", "yes [soft music] so (laughs) it costs 3.5 %",
    "[music]", "see https://example.org/a.html , then ... go! <unk> now", "THIS IS LOUD, IS IT NOT", "\"quoted\" it's"])
def test_marks_in_a_text_are_replaced_as_on_the_command_line(model, text):
    command = subprocess.run([sys.executable, "-c", "from punc.bin.main import main; main()", "punctuate", "en", "-"],
                             input=text, stdout=subprocess.PIPE, text=True, check=True)
    assert model.punctuate(text) == model.punctuate(text.split()) == command.stdout.removesuffix("\n")


def test_a_pause_after_a_tag_is_not_read(model):
    plain = model.punctuate(WORDS, PAUSES)
    with_tag = model.punctuate([*WORDS[:4], "[laughs]", *WORDS[4:]], [*PAUSES[:4], 9, *PAUSES[4:]])
    assert with_tag.replace("[laughs] ", "") == plain


@pytest.mark.parametrize(("words", "pauses", "message"), [
    (["a b"], None, "word 'a b' is empty or contains a space"), ([""], None, "word '' is empty"),
    (["a", "b"], [1.0], r"2 words, but pauses of shape \(1,\)"), (["a", None], None, "word None is not a string"),
    (b"ab", None, "word 97 is not a string"), (["a", "b"], ["x", 1], "the pauses are not numbers"),
    (["a", "b"], [[1], 2], "the pauses are not numbers"), (["a", "b"], [1, 1e99], "an infinite pause")])
def test_errors(model, words, pauses, message):
    for method in model.labels, model.punctuate:
        with pytest.raises(InputError, match=message):
            method(words, pauses)


def test_labels_of_a_string_are_not_those_of_its_letters(model):
    with pytest.raises(InputError, match="the words are one string; give a list of words"):
        model.labels("hello")


def test_no_such_model():
    with pytest.raises(InputError, match="no such model"):
        punc.load("no-such")


def test_no_such_device():
    with pytest.raises(InputError, match="--device=gpu; choose auto, cpu, cuda"):
        punc.load("en", device="gpu")


@pytest.mark.parametrize("name", ["en", "en-live"])
def test_stream_is_closed_once(name):
    stream = punc.load(name).stream()
    assert [marked.text for marked in stream.push("hi") + stream.close()] == ["Hi."]
    assert stream.close() == stream.decide() == []
    with pytest.raises(InputError, match="the stream is closed"):
        stream.push("hi")


@pytest.mark.parametrize("word", ["", "hi\n", " hi", "\t"])
def test_a_word_of_a_stream_has_no_spaces_around_it(model, word):
    with pytest.raises(InputError, match="is empty, or begins or ends with a space"):
        model.stream().push(word)


@pytest.mark.parametrize(("text", "expected"), [
    (["今日", "は", "いい", "天気", "です"], "今日はいい天気です"),
    (["iphone", "を", "買い", "ます"], "iphoneを買います"),
    ("今日は[笑い]いい天気です", "今日は[笑い]いい天気です"),
    ("10:30、Apple、Googleの、株です", "10:30、Apple、Googleの株です")])
def test_japanese(text, expected):
    assert punc.load("ja", scale="O=1e9").punctuate(text).removesuffix("。") == expected


def test_threads_share_a_model(model):
    rng = np.random.default_rng(2)
    texts = [rng.permutation(WORDS * 3).tolist() for _ in range(40)]
    expected = [model.punctuate(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(model.punctuate, texts)) == expected


def test_takes_no_torch():
    code = "import sys, punc; punc.load('en').punctuate('yes'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "pretrained")
    (tmp_path / "pretrained/en").mkdir(parents=True)
    (tmp_path / "pretrained/draft").mkdir()
    (tmp_path / "pretrained/en/model.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pretrained"


def test_find_model_name_wins_over_a_directory(folder):
    Path("en").mkdir()
    Path("exp").mkdir()
    assert find_model("en") == folder / "en"
    assert find_model("./en") == Path("en")
    assert find_model("exp") == Path("exp")


def test_find_model_unknown_name_is_an_error_that_lists_the_names(folder):
    with pytest.raises(InputError, match=r"draft: no such model; .* a bundled one: en$"):
        find_model("draft")


def test_shipped_does_not_import_numpy():
    code = "import sys, punc.decoding.shipped; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_page_prints_what_it_says():
    page = (Path(__file__).parents[1] / "docs/punctuate-now.md").read_text(encoding="utf-8")
    words, expected = re.search(r'echo "(.*)" \| punc punctuate en -\n```\n\n```\n(.*)\n', page).groups()
    result = subprocess.run([sys.executable, "-c", "from punc.bin.main import main; main()", "punctuate", "en", "-"],
                            input=words, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout == expected + "\n"


ENGLISH = "good morning everyone my name is john smith do you have any questions yes we do thank you", "John Smith"
SAID = {
    "de": ("guten morgen meine damen und herren mein name ist schmidt haben sie fragen ja bitte vielen dank dafür",
           "Herren"),
    "es": ("buenos días señoras y señores mi nombre es juan garcía tienen ustedes alguna pregunta sí gracias hay una",
           "Juan García"),
    "ja": ("おはようございます私の名前は田中です"
           "明日の会議は何時からですか午後三時からですありがとうございました", "田中")}


@pytest.mark.parametrize("name", shipped.shipped())
def test_shipped_model_is_whole_small_and_punctuates(name):
    directory = find_model(name)
    assert sum(path.stat().st_size for path in directory.iterdir()) <= (25_000_000 if name == "en-large" else 8_000_000)
    assert "CC BY-SA 4.0" in (directory / "README.md").read_text(encoding="utf-8")
    text, capitals = SAID.get(name, ENGLISH)
    result = subprocess.run([sys.executable, "-c", "from punc.bin.main import main; main()", "punctuate", name, "-"],
                            input=text, stdout=subprocess.PIPE, text=True, check=True)
    assert re.sub("[,.?¿、。？]", "", result.stdout.lower()).split() == text.split()
    assert capitals in result.stdout
    assert len(re.findall("[?？]|か。", result.stdout)) == 1  # か ends a question, with or without a mark
    assert len(re.findall("[.。]", result.stdout)) >= 2
