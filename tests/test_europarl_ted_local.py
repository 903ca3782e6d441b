"""The scripts of egs/europarl_ted on made-up text."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.text.casing import read_casing
from punc.text.prose import Clitics, ProseWriter

RECIPE = Path(__file__).parents[1] / "egs/europarl_ted"
LABELS = RECIPE / "conf/labels.txt"
SPEC = importlib.util.spec_from_file_location("europarl_ted_texts", RECIPE / "local/texts.py")
TEXTS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TEXTS)


@pytest.mark.parametrize(("line", "expected"), [
    ("as a 'bad teacher'. Today", "as a “bad teacher”. Today"),
    ("it's the citizens' rights and don't", "it's the citizens' rights and don't"),
    ("the 'citizens' right' here", "the “citizens' right” here"),
    ("'polluter pays' principle", "“polluter pays” principle"),
    ("a ‘human face’ if ‘one’ 'two'", "a “human face” if “one” “two”"),
    ("'security forces' said 'no', the peoples' way", "“security forces” said “no”, the peoples' way"),
    ("the '60s were 'good' to O'Neill", "the '60s were “good” to O'Neill"),
    ("an opening 'without an end", "an opening 'without an end"),
    ("plain, with \"double\"", "plain, with \"double\""),
])
def test_quoted_single_quotes(line, expected):
    assert TEXTS.quoted(line) == expected


@pytest.fixture
def corpus(tmp_path):
    files = {
        "europarl/europarl.en.txt": "#doc ep-2011-06-23-ch1\n#speaker A (PSE).\nMr President, (Rule 1(2)) I 'agree'.\n"
                                    "#doc ep-2011-07-05-ch1\nDev.\n#doc ep-2011-07-06-ch9\nTest.\n",
        "iwslt_ted/TED.train2012.cased.xml": '<doc docid="a_b" genre="x">\n<seg id="1"> (Laughter) Yes &amp; "no". '
                                             '</seg>\n',
        "iwslt_ted/TED.dev2012.cased.xml": '<doc docid="dev">\n<seg id="1"> Dev. </seg>\n',
        "iwslt_ted/IWSLT12.TED.MT.tst2011.en-fr.en.xml": '<doc docid="1175">\n<seg id="1">  Test,  yes. </seg>\n',
        "conll2003/train.txt": "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects V V O\n. . O O\n\nBRUSSELS N N N\n"
                               "1996-08-22 C C O\n\nHe N N N\nleft V V O\n",
        "conll2003/valid.txt": "-DOCSTART- O\n\nDev N\n", "conll2003/test.txt": "-DOCSTART- O\n\nTest N\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_texts_parts(corpus):
    out = corpus / "out"
    out.mkdir()
    subprocess.run([sys.executable, RECIPE / "local/texts.py", corpus, out], check=True, capture_output=True)
    assert {path.name: path.read_text() for path in out.iterdir()} == {
        "train_europarl.txt": "#doc ep-2011-06-23-ch1\nMr President, I “agree”.\n",
        "dev_europarl.txt": "#doc ep-2011-07-05-ch1\nDev.\n", "test_europarl.txt": "#doc ep-2011-07-06-ch9\nTest.\n",
        "train_ted.txt": '#doc a_b\nYes & "no".\n', "dev_ted.txt": "#doc dev\nDev.\n",
        "test_ted.txt": "#doc 1175\nTest, yes.\n", "train_conll.txt": "#doc 0001\nEU rejects .\nHe left\n",
        "dev_conll.txt": "#doc 0001\nDev\n", "test_conll.txt": "#doc 0001\nTest\n"}


def test_texts_missing_corpus(tmp_path):
    found = subprocess.run([sys.executable, RECIPE / "local/texts.py", tmp_path, tmp_path], capture_output=True,
                           text=True)
    assert found.returncode
    assert found.stderr.count("\n") == 1
    assert "europarl.en.txt: no such file" in found.stderr


def prepared(tmp_path, text, *options):
    (tmp_path / "raw.txt").write_text(text, encoding="utf-8")
    main(["prepare", "--format", "prose", "--labels", str(LABELS), "--clitics", str(RECIPE / "conf/clitics.txt"),
          "--nj", "1", *options, str(tmp_path / "raw.txt"), str(tmp_path / "data")])
    utterance, = DataDir(tmp_path / "data").utterances()
    return list(zip(utterance.words, utterance.labels))


@pytest.mark.parametrize(("text", "expected"), [
    ("I saw a B.", [("i", "CAP"), ("saw", "O"), ("a", "O"), ("b", "CAP_PERIOD")]),
    ("NATO, McDonald iPhone", [("nato", "CAP_COMMA"), ("mcdonald", "CAP"), ("iphone", "O")]),
    ("1996 2-1, 3.5?", [("1996", "O"), ("2-1", "COMMA"), ("3.5", "QUESTIONMARK")]),
    ("don't Don’t donʼt don＇t", [(word, label) for first in ("O", "CAP", "O", "O")
                                 for word, label in (("do", first), ("n't", "O"))]),
    ("no capital here", [("no", "O"), ("capital", "O"), ("here", "O")]),
    ("x" * 500 + ".", [("x" * 500, "PERIOD")]),
    ("the “why” guy", [("the", "QUOTATION"), ("why", "QUOTATION"), ("guy", "O")]),
    ('said, "Who?" He "Left".', [("said", "COMMA"), ("who", "CAP_QUESTIONMARK"), ("he", "CAP_QUOTATION"),
                                 ("left", "CAP_PERIOD")]),
    ('Mr " Bean " , he', [("mr", "CAP_QUOTATION"), ("bean", "CAP_COMMA"), ("he", "O")]),
])
def test_prepare_ten_labels(text, expected, tmp_path):
    assert prepared(tmp_path, text) == expected


def test_quotes_that_are_words(tmp_path):
    """Quotation marks are words, as in the recipe's texts. The word before a quotation mark has a QUOTATION label,
    unless another mark follows it. The quotation mark itself can have the label of the next mark."""
    sed = re.search(r"sed -E '([^']+)'", (RECIPE / "local/prepare_texts.sh").read_text(encoding="utf-8"))[1]
    text = subprocess.run(["sed", "-E", sed], input='#doc "a"\nThe “why” guy said, "No" , he.\n', check=True, text=True,
                          capture_output=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}).stdout
    assert text.startswith('#doc "a"\n')
    assert prepared(tmp_path, text.partition("\n")[2]) == [
        ("the", "CAP_QUOTATION"), ("ʺ", "O"), ("why", "QUOTATION"), ("ʺ", "O"), ("guy", "O"), ("said", "COMMA"),
        ("ʺ", "O"), ("no", "CAP_QUOTATION"), ("ʺ", "COMMA"), ("he", "PERIOD")]


def test_sentences_are_streams(tmp_path):
    words, names = list("abcdefg"), ["CAP_PERIOD", "CAP", "QUESTIONMARK", "COMMA", "O", "PERIOD", "O"]
    write_data_dir(tmp_path / "data", [Utterance("s-1", "s", words[:4], names[:4]),
                                       Utterance("s-2", "s", words[4:], names[4:]),
                                       Utterance("t-1", "t", ["x"], ["O"])])
    subprocess.run([sys.executable, RECIPE / "local/sentences.py", LABELS, tmp_path / "data", tmp_path / "out"],
                   check=True)
    found = [(stream, *("".join(part) for u in utterances for part in (u.words, u.labels)))
             for stream, utterances in DataDir(tmp_path / "out").streams()]
    assert [words for _, words, _ in found] == ["a", "bc", "def", "g", "x"]
    assert len({stream for stream, _, _ in found}) == 5


def guess_case(tmp_path, *directories):
    return subprocess.run([sys.executable, RECIPE / "local/guess_case.py", LABELS, tmp_path / "cased", tmp_path / "out",
                           *directories], capture_output=True, text=True)


def test_guess_case_by_word_and_sentence(tmp_path):
    """Inside sentences of the cased text, `bob` always has a capital, and `may` in half of the cases. In the output,
    each sentence begins with a capital."""
    write_data_dir(tmp_path / "cased", [
        Utterance("s-1", "s", ["the", "bob", "may", "the"], ["CAP", "CAP_COMMA", "CAP_QUOTATION", "PERIOD"]),
        Utterance("s-2", "s", ["the", "bob", "may"], ["CAP", "CAP", "O"])])
    write_data_dir(tmp_path / "a", [
        Utterance("s-1", "s", ["the", "may", "bob", "bob"], ["O", "COMMA", "O", "QUESTIONMARK"]),
        Utterance("s-2", "s", ["may", "1996"], ["PERIOD", "O"]),
        Utterance("t-1", "t", ["1996", "the"], ["O", "PERIOD"])])
    assert guess_case(tmp_path, tmp_path / "a").returncode == 0
    assert [(u.id, u.stream, " ".join(u.labels)) for u in DataDir(tmp_path / "out").utterances()] == [
        ("a-s-1", "a-s", "CAP COMMA CAP CAP_QUESTIONMARK"), ("a-s-2", "a-s", "CAP_PERIOD O"),
        ("a-t-1", "a-t", "O PERIOD"),
        ("cased-s-1", "cased-s", "CAP CAP_COMMA CAP_QUOTATION PERIOD"), ("cased-s-2", "cased-s", "CAP CAP O")]


@pytest.mark.parametrize(("labels", "message"), [
    (None, "a: no labels; add the file punct"),
    (["COMA"], "a/punct: utterance 's-1' has label 'COMA', which is not in the label set; "
               "give the --labels that it was made with"),
])
def test_guess_case_wrong_labels(labels, message, tmp_path):
    write_data_dir(tmp_path / "cased", [Utterance("s-1", "s", ["a"], ["O"])])
    write_data_dir(tmp_path / "a", [Utterance("s-1", "s", ["a"], labels)])
    done = guess_case(tmp_path, tmp_path / "a")
    assert done.returncode
    assert done.stderr.splitlines()[1:] == [f"{RECIPE}/local/guess_case.py: {tmp_path}/{message}"]
    assert not (tmp_path / "out").exists()


def test_learn_casing_restores_prose(tmp_path):
    text = 'NATO met "McDonald" and don\'t. NATO, McDonald'
    prepared(tmp_path, text, "--lowercase", "false")
    (tmp_path / "data").rename(tmp_path / "cased")
    prepared(tmp_path, text)
    run = [sys.executable, RECIPE.parents[1] / "utils/learn_casing.py", LABELS, tmp_path / "cased", tmp_path / "casing"]
    subprocess.run(run, check=True)
    assert (tmp_path / "casing").read_text() == "Mcdonald McDonald\nNato NATO\n"
    (tmp_path / "more").write_text("# English\ni I\n")
    subprocess.run([*run, tmp_path / "more"], check=True)
    assert (tmp_path / "casing").read_text() == "Mcdonald McDonald\nNato NATO\ni I\n"
    with open(tmp_path / "prose", "wb") as file:
        writer = ProseWriter(file, LabelSet.read(LABELS), read_casing(tmp_path / "casing"),
                             Clitics(RECIPE / "conf/clitics.txt").tokens)
        for utterance in DataDir(tmp_path / "data").utterances():
            writer.write(utterance.id, utterance.stream, utterance.words, utterance.labels)
        writer.close()
    assert (tmp_path / "prose").read_text().partition(" ")[2] == text + "\n"
