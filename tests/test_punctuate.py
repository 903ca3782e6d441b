"""Punctuating data directories: labels, written files, options, and errors that leave the output unchanged."""

import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise

import kaldiio
import numpy as np
import pytest
import torch
from conftest import content, piped, random_model

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.data.transitions import best_sequences, case_rules
from punc.decoding import spans, worker
from punc.decoding.decode import choose, log_posteriors
from punc.decoding.options import DecodingOptions
from punc.decoding.pack import pack
from punc.live.streaming import punctuate_streaming
from punc.models.base import load
from punc.tokens.store import make_store
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import read_tokenizer
from punc.training.options import TrainingOptions
from punc.training.train import train
from punc.transcripts.ctm import CtmIndex

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
WORDS = [f"w{i}" for i in range(30)]


def make_model(directory, labels=LABELS, **options):
    return random_model(directory, labels, WORDS, options=options)


@pytest.fixture(scope="module")
def exp(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def packed(exp, tmp_path_factory):
    """Pack the model, so that processes start faster."""
    place = tmp_path_factory.mktemp("packed") / "model"
    pack(exp, place)
    return place


def utterances(lengths, pauses=False, seed=0):
    """Yield utterances of streams a, b, … with these numbers of words. The model does not know 3 of the 33 words."""
    random = np.random.default_rng(seed)
    for stream, of_stream in zip("abcdef", lengths):
        for i, n in enumerate(of_stream):
            words = [*WORDS, "new", "é", "日本"][:33]
            yield Utterance(f"{stream}-{i:04}", stream, [words[k] for k in random.integers(0, len(words), n)], None,
                            random.random(n).astype(np.float32) if pauses else None)


def make_data(path, lengths=((3, 5, 0, 1), (40,), (7, 20)), pauses=False):
    write_data_dir(path, utterances(lengths, pauses))
    return path


@pytest.fixture
def data(tmp_path):
    return make_data(tmp_path / "data")


def run(*arguments):
    return main(["punctuate", *map(str, arguments)])


def streams_in_one_go(exp, data, scale=None):
    model, labels = load(exp), {}
    for stream, of_stream in DataDir(data).streams():
        ids = model.vocabulary.ids([word for u in of_stream for word in u.words])
        pauses = None if of_stream[0].pauses is None else np.concatenate([u.pauses for u in of_stream])
        log_probs = log_posteriors(model, StoreSet(ids, None, pauses, [stream], np.array([0, len(ids)])), chunk_size=0)
        labels[stream] = [model.labels.names[i] for i in choose(log_probs, scale)]
    return labels


def labels_of(out):
    return {stream: [label for u in of_stream for label in u.labels] for stream, of_stream in DataDir(out).streams()}


def test_punctuate_labels_are_those_of_whole_streams(exp, data, tmp_path, capsys):
    assert run(exp, data, tmp_path / "out") == 0
    found, expected = labels_of(tmp_path / "out"), streams_in_one_go(exp, data)
    assert found == expected
    assert len({label for labels in found.values() for label in labels}) > 1, "a test of one label tests nothing"
    for name in ("text", "utt2spk", "spk2utt"):
        assert (tmp_path / "out" / name).read_bytes() == (data / name).read_bytes()
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'out'}: 76 words: O ")
    label_set = LabelSet.read(exp / "labels.txt")
    for line, utterance in zip((tmp_path / "out/text_punct").read_text().splitlines(),
                               DataDir(tmp_path / "out").utterances()):
        pairs = zip(utterance.words, utterance.labels)
        assert line.split() == [utterance.id, *(label_set[label_set.index(n)].write(word) for word, n in pairs)]


@pytest.mark.parametrize(("pauses", "nj"), [(False, 1), (True, 2)])
def test_punctuate_spans_of_long_streams_give_the_same(tmp_path, monkeypatch, pauses, nj):
    exp = make_model(tmp_path / "exp", pauses=pauses)
    random = np.random.default_rng(2)
    lengths = [random.integers(0, 30, 100).tolist(), [3], [500, *[10] * 50], [20] * 30]
    data = make_data(tmp_path / "data", lengths, pauses)
    run("--chunk-size=16", "--context=40", exp, data, tmp_path / "whole")
    used, original = [], spans.spans
    monkeypatch.setattr(spans, "spans", lambda *a: (used.append(span) or span for span in original(*a)))
    monkeypatch.setattr(spans, "GROUP", 400)
    run("--chunk-size=16", "--context=40", f"--nj={nj}", exp, data, tmp_path / "spans")
    assert content(tmp_path / "spans")["punct"] == content(tmp_path / "whole")["punct"]
    assert len(used) > 10
    assert max(len(span.ids) for span in used) < 700
    a, b = (kaldiio.load_scp(str(tmp_path / name / "post.scp")) for name in ("whole", "spans"))
    for key in a:
        np.testing.assert_allclose(a[key], b[key], atol=1e-5)


@pytest.fixture(scope="module", params=[("char", "after"), ("subword", "before")])
def learned(request, toy_store, tmp_path_factory):
    place, (token_type, task) = tmp_path_factory.mktemp("learned"), request.param
    sets = [toy_store.parent / f"train_{task}", toy_store.parent / f"dev_{task}"]
    make_store(place / "store", sets, toy_store.parent / "labels.txt", token_type=token_type, nj=1)
    train(place / "store", place / "exp", "t_lstm", {"embedding_dim": 8, "hidden_dim": 16, "init_range": 0.1},
          TrainingOptions(train_set=sets[0].name, dev_set=sets[1].name, optimizer="adam", learning_rate=0.03,
                          batch_size=10, bptt=8, epochs=4, threads=1))
    return place / "exp", sets[1]


def test_punctuate_characters_and_subwords_with_any_cuts(learned, tmp_path, monkeypatch):
    exp, data = learned
    run("--chunk-size=0", exp, data, tmp_path / "whole")
    found = [label for u in DataDir(tmp_path / "whole").utterances() for label in u.labels]
    expected = [label for u in DataDir(data).utterances() for label in u.labels]
    assert len(found) == len(expected) == 600
    assert np.mean([a == b for a, b in zip(found, expected)]) > 0.95
    assert (tmp_path / "whole/text").read_bytes() == (data / "text").read_bytes()
    matrices = kaldiio.load_scp(str(tmp_path / "whole/post.scp"))
    assert sum(len(matrices[u.id]) for u in DataDir(data).utterances()) == 600
    # Short utterances allow the stream to be cut.
    words = [word for u in DataDir(data).utterances() for word in u.words]
    write_data_dir(tmp_path / "cut", [Utterance(f"a-{i:04d}", "a", words[i:i + 7]) for i in range(0, 600, 7)])
    run("--chunk-size=0", exp, tmp_path / "cut", tmp_path / "one")
    cases = ["--chunk-size=20"], ["--chunk-size=16", "--context=60"], ["--chunk-size=33"]
    for number, options in enumerate(cases):
        for group in (1 << 18, 200):
            monkeypatch.setattr(spans, "GROUP", group)
            run(*options, "--nj=1", exp, tmp_path / "cut", tmp_path / f"{number}-{group}")
            assert content(tmp_path / f"{number}-{group}")["punct"] == content(tmp_path / "one")["punct"]


def test_punctuate_words_of_several_tokens_as_they_come(learned, tmp_path):
    exp, _ = learned
    words = np.random.default_rng(4).choice(["abc", "ha", "defgh", "b"], 60).tolist()
    write_data_dir(tmp_path / "data", [Utterance("a", "a", words)])
    run("--chunk-size=0", exp, tmp_path / "data", tmp_path / "out")
    expected = (tmp_path / "out/text_punct").read_text().removeprefix("a ")
    assert {".", ","} & {*expected}
    found = piped(punctuate_streaming, load(exp), f"{' '.join(words)}\n".encode(), None, None, None, None)
    assert found.decode() == expected


def test_load_token_type_file_missing_or_unknown_is_an_error(learned, data, tmp_path, capsys):
    exp = tmp_path / "exp"
    shutil.copytree(learned[0], exp)
    token_type = (exp / "token_type").read_text().strip()
    assert (exp / "pieces.model").is_file() == (token_type == "subword")
    (exp / "token_type").unlink()
    assert run("--nj=1", exp, data, tmp_path / "out") == 1
    assert f"exp: its tokens are word, the model's are {token_type}; copy vocab, token_type" in capsys.readouterr().err
    (exp / "token_type").write_text("nothing\n")
    assert run(exp, data, tmp_path / "out") == 1
    assert "token_type: no token type 'nothing'; choose from char, class, encoder, form, spelled, subword, word" in \
        capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_punctuate_pauses_are_read_and_kept(tmp_path):
    exp, data = make_model(tmp_path / "exp", pauses=True), make_data(tmp_path / "data", pauses=True)
    run(exp, data, tmp_path / "out")
    assert labels_of(tmp_path / "out") == streams_in_one_go(exp, data)
    for before, after in zip(DataDir(data).utterances(), DataDir(tmp_path / "out").utterances(), strict=True):
        np.testing.assert_array_equal(before.pauses, after.pauses)
    assert str(tmp_path / "out" / "pauses.ark") in (tmp_path / "out" / "pauses.scp").read_text()
    for name in ("pauses.scp", "pauses.ark"):
        (data / name).unlink()
    run(exp, data, tmp_path / "out")  # there are no pauses now, so OUT-DIR must not keep the old ones
    assert not (tmp_path / "out" / "pauses.scp").exists()
    assert labels_of(tmp_path / "out") == streams_in_one_go(exp, data)


def test_punctuate_segments_order_streams_and_tables_stay_sorted(exp, tmp_path):
    data = make_data(tmp_path / "data", [(5, 6, 7)])
    (data / "segments").write_text("a-0000 rec 20 30\na-0001 rec 0 10\na-0002 rec 10 20\n")
    run(exp, data, tmp_path / "out")
    order = [u.id for u in DataDir(tmp_path / "out").utterances()]
    assert order == ["a-0001", "a-0002", "a-0000"]
    assert labels_of(tmp_path / "out") == streams_in_one_go(exp, data)
    for name in ("text", "punct", "text_punct", "post.scp"):
        lines = (tmp_path / "out" / name).read_text().splitlines()
        assert [line.split()[0] for line in lines] == ["a-0000", "a-0001", "a-0002"], name


def test_punctuate_posteriors_are_before_scaling(exp, data, tmp_path):
    run("--scale=O=0.01", exp, data, tmp_path / "out")
    matrices = kaldiio.load_scp(str(tmp_path / "out" / "post.scp"))
    model = load(exp)
    for _, of_stream in DataDir(data).streams():
        ids = model.vocabulary.ids([word for u in of_stream for word in u.words])
        log_probs = log_posteriors(model, StoreSet(ids, None, None, ["x"], np.array([0, len(ids)])))
        found = np.concatenate([matrices[u.id].reshape(-1, 4) for u in of_stream])
        np.testing.assert_allclose(found, np.exp(log_probs), atol=1e-6)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    assert matrices["a-0002"].shape == (0, 0)
    run("--posteriors=false", exp, data, tmp_path / "out")
    assert not list((tmp_path / "out").glob("post.*")), "files of the previous run are removed"


def test_punctuate_scale(exp, data, tmp_path):
    factors = np.array([0.5, 1, 1, 2.5], np.float32)
    run("--scale", "O=0.5,QUESTION=2.5", exp, data, tmp_path / "out")
    assert labels_of(tmp_path / "out") == streams_in_one_go(exp, data, factors) != streams_in_one_go(exp, data)
    run("--scale", "COMMA=1e30", exp, data, tmp_path / "out")
    assert {label for labels in labels_of(tmp_path / "out").values() for label in labels} == {"COMMA"}


def test_punctuate_ctm_keeps_times_and_confidences(exp, tmp_path):
    write_data_dir(tmp_path / "data", [Utterance("a-1", "a", ["w1", "w2", "w3"]), Utterance("b-1", "b", ["w4", "w5"])])
    (tmp_path / "data" / "ctm").write_text("a-1 1 0.00 0.50 w1 0.90\na-1 1 0.50 0.10 <eps> 1.00\n"
                                           "a-1 1 0.60 0.25 w2\na-1 1 1.00 0.20 w3 0.70\nb 1 3.00 1.00 W4\n"
                                           "b 1 4.00 0.10 uh\nb 1 4.50 1.00 w5\nc 1 0 1 other\n")
    run("--scale=QUESTION=1e30", exp, tmp_path / "data", tmp_path / "out")
    lines = (tmp_path / "out" / "ctm_punct").read_text().splitlines()
    assert lines == ["a-1 1 0.00 0.50 w1? 0.90", "a-1 1 0.60 0.25 w2?", "a-1 1 1.00 0.20 w3? 0.70",
                     "b 1 3.00 1.00 W4?", "b 1 4.00 0.10 uh", "b 1 4.50 1.00 w5?"]
    (tmp_path / "data" / "ctm").rename(tmp_path / "times")
    run(exp, tmp_path / "data", tmp_path / "out")
    assert not (tmp_path / "out" / "ctm_punct").exists()
    run("--ctm", tmp_path / "times", exp, tmp_path / "data", tmp_path / "out")
    assert sum(len(timing().words) for timing in CtmIndex(tmp_path / "out" / "ctm_punct").values()) == 6


CASED = "O w\nCAP W\nPERIOD w. .\nCAPPERIOD W. .\n"


def disagreeing(labels):
    """Return the indices of lower-case words that begin the text or follow a period."""
    return [i for i, (before, label) in enumerate(pairwise(["PERIOD", *labels]))
            if "PERIOD" in before and "CAP" not in label]


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_punctuate_case_rule_marks_and_capitals_agree(tmp_path, data, scale):
    exp = make_model(tmp_path / "exp", CASED)
    run(exp, data, tmp_path / "free")
    run("--case-rule=true", f"--scale=O={scale}", exp, data, tmp_path / "out")
    posteriors = dict(kaldiio.load_ark(str(tmp_path / "out" / "post.ark")))
    labels = LabelSet.read(exp / "labels.txt")
    for stream, of_stream in DataDir(data).streams():
        own = np.concatenate([posteriors[u.id].reshape(-1, 4) for u in of_stream])
        log_probs = np.log(own) + np.log([scale, 1, 1, 1])
        best = best_sequences(log_probs, np.array([0, len(log_probs)]), case_rules(labels))
        assert labels_of(tmp_path / "out")[stream] == [labels.names[i] for i in best]
        assert disagreeing(labels_of(tmp_path / "free")[stream])
        assert not disagreeing(labels_of(tmp_path / "out")[stream])


def test_punctuate_case_rule_does_not_cross_spans(tmp_path, monkeypatch):
    monkeypatch.setattr(spans, "GROUP", 8)
    exp, data = make_model(tmp_path / "exp", CASED), make_data(tmp_path / "data", [[9] * 60])
    run("--nj=1", "--chunk-size=4", "--context=4", "--case-rule=true", exp, data, tmp_path / "out")
    words = disagreeing(labels_of(tmp_path / "out")["a"])
    assert 0 < len(words) < 30
    assert not [word for word in words if word % 9 or not word]


def test_punctuate_case_rule_that_does_not_apply(learned, exp, data, tmp_path, capsys):
    token_type = read_tokenizer(learned[0]).token_type
    for model, said in ((learned[0], f"--case-rule does not apply to a model that reads {token_type} tokens; "
                         "leave it out"),
                        (exp, "labels.txt: --case-rule does not apply to labels without capitals; leave it out")):
        assert run("--case-rule=true", model, data, tmp_path / "out") == 1
        assert said in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--case-rule=true", "--chunk-size=9", "--nj=1", "--casing=x", "--ctm=x"])
def test_punctuate_standard_input_with_an_option_of_data_directories(learned, option, capsys):
    assert main(["punctuate", option, str(learned), "-"]) == 1
    assert f"unknown option {option.partition('=')[0]}; " in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--input=ctm", "--output=json", "--max-delay=0.5"])
def test_punctuate_data_directory_with_an_option_of_live_input(learned, option, tmp_path, capsys):
    assert main(["punctuate", option, str(learned), str(tmp_path), str(tmp_path / "out")]) == 1
    assert f"unknown option {option.partition('=')[0]}; " in capsys.readouterr().err


@pytest.mark.parametrize(("option", "said"), [
    ("--input=xml", "--input=xml does not exist; choose from auto, words, ctm, json"),
    ("--max-delay=0", "--max-delay=0.0 is out of range; give 0.01 or more"),
    ("--max-delay=nan", "--max-delay=nan is out of range; give 0.01 or more"),
    ("--utterance-end=stop", "--utterance-end=stop does not exist; choose from nothing, decide, end")])
def test_punctuate_standard_input_wrong_value(exp, capsys, option, said):
    assert run(option, exp, "-") == 1
    assert said in capsys.readouterr().err


def test_punctuate_text_as_prose(tmp_path):
    exp = make_model(tmp_path / "exp", CASED)
    write_data_dir(tmp_path / "data", [Utterance("a-1", "a", ["w1", "nato", "n't"]), Utterance("a-2", "a", ["w3"])])
    (tmp_path / "casing").write_text("Nato NATO\n")
    (tmp_path / "clitics").write_text("n't\n")
    for options, expected in (([], "a-1 W1 Nato N't\na-2 W3\n"),
                              (["--casing", tmp_path / "casing"], "a-1 W1 NATO N't\na-2 W3\n"),
                              (["--clitics", tmp_path / "clitics"], "a-1 W1 NatoN't\na-2 W3\n")):
        run("--scale=CAP=1e30", *options, exp, tmp_path / "data", tmp_path / "out")
        assert (tmp_path / "out" / "text_punct").read_text() == expected


@pytest.mark.parametrize(("break_it", "said"), [
    (lambda exp, data: (exp / "vocab").unlink(), "vocab: no such file; "),
    (lambda exp, data: (exp / "final.pt").unlink(), "final.pt: no such file; train the model, or give another"),
    (lambda exp, data: (exp / "final.pt").write_bytes((exp / "final.pt").read_bytes()[:999]), "final.pt: not a model"),
    (lambda exp, data: (exp / "vocab").write_text("<unk>\n</s>\nw1\n"), "vocab: 3 lines, but the model has 32; "),
    (lambda exp, data: (data / "text").unlink(), "text: no such file; "),
    (lambda exp, data: (data / "text").write_text(""), "text: the file is empty; "),
    (lambda exp, data: (data / "text").write_text("a-0000 w1 \xe9\n", "latin-1"), "text:1: byte 11 is not UTF-8; "),
    (lambda exp, data: [(data / n).write_text(t) for n, t in (("text", "a-0 \n"), ("utt2spk", "a-0 a\n"),
                                                             ("spk2utt", "a a-0\n"))], "text: the file has no words; "),
    (lambda exp, data: (data / "ctm").write_text("a-0000 1 0.5\n"), "ctm:1: 3 columns; "),
    (lambda exp, data: ["--scale", "COMA=0.5"], "--scale: no label 'COMA'; "),
    (lambda exp, data: ["--scale", "O=0"], "--scale: '0' is not a factor for O; give a number above 0"),
    (lambda exp, data: ["--scale", "O=nan"], "--scale: 'nan' is not a factor for O; "),
    (lambda exp, data: ["--scale", "O=1e39"], "--scale: '1e39' is not a factor for O; "),  # too large for float32
    (lambda exp, data: ["--scale", "O=1e-46"], "--scale: '1e-46' is not a factor for O; "),
    (lambda exp, data: ["--device", "gpu"], "--device=gpu; choose auto, cpu, cuda, or one of several GPUs: "),
    (lambda exp, data: ["--scale", "O"], "--scale: 'O'; write LABEL=FACTOR, "),
    (lambda exp, data: ["--context=-1"], "--context=-1 is out of range; give 0 or more"),
    (lambda exp, data: ["--chunk-size=-1"], "--chunk-size=-1 is out of range; give 0 or more"),
    (lambda exp, data: ["--ctm", data / "none"], "none: no such file; "),
    (lambda exp, data: ["--casing", data / "none"], "none: no such file; "),
    (lambda exp, data: ["--clitics", data / "none"], "none: no such file; "),
])
def test_punctuate_mistake_is_one_line_and_leaves_the_output(tmp_path, data, capsys, break_it, said):
    exp, out = make_model(tmp_path / "exp"), tmp_path / "out"
    run(exp, data, out)
    before = content(out)
    options = break_it(exp, data)
    capsys.readouterr()
    assert run(*(options if isinstance(options, list) and isinstance(options[0], str) else ()), exp, data, out) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert error.startswith("punc punctuate: ")
    assert content(out) == before
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_punctuate_does_not_overwrite_its_input(exp, data, capsys):
    before = content(data)
    assert run(exp, data, data) == 1
    assert "the output file is also an input file" in capsys.readouterr().err
    assert run(exp, data) == 1
    assert run(exp, "-", data) == 1
    assert content(data) == before


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_punctuate_killed_leaves_no_output(packed, tmp_path, sign):
    data = make_data(tmp_path / "data", [[50] * 400])
    code = """
import signal, sys, time
from punc.decoding import decode, spans
from punc.bin.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background would ignore it
spans.GROUP, choose = 2000, decode.choose
decode.choose = lambda *arguments: time.sleep(0.1) or choose(*arguments)  # so that it does not end before it is killed
sys.exit(main())"""
    process = subprocess.Popen([sys.executable, "-c", code, "punctuate", "--nj=1", packed, data, tmp_path / "out"])
    hidden = tmp_path / "out/.new/post.ark"
    while not (hidden.exists() and hidden.stat().st_size):
        assert process.poll() is None, "it must be killed while it writes"
        time.sleep(0.01)
    os.kill(process.pid, sign)
    assert process.wait() == (130 if sign == signal.SIGINT else -sign)
    if sign == signal.SIGINT:
        assert not (tmp_path / "out").exists()
    else:
        assert {file.name for file in (tmp_path / "out").iterdir()} == {".lock", ".new"}
        assert main(["punctuate", "--nj=1", str(packed), str(data), str(tmp_path / "out")]) == 0
        assert not [file.name for file in (tmp_path / "out").iterdir() if file.name.startswith(".")]


def test_decoder_look_ahead_longer_than_a_chunk_is_an_error(exp, data, monkeypatch):
    decoder = worker.Decoder(exp, DecodingOptions(chunk_size=1, context=0))
    monkeypatch.setattr("punc.models.t_lstm.Model.lookahead", 2)
    group = next(spans.span_groups(DataDir(data), read_tokenizer(exp), 1, 0))
    with pytest.raises(InputError, match="reads 2 tokens past a slot, but --chunk-size=1; give at least that many"):
        decoder(worker.task_of(group))


@pytest.mark.parametrize("command", ["punctuate", "transcript"])
def test_punctuate_missing_gpu_is_one_line_and_writes_nothing(exp, data, tmp_path, capsys, monkeypatch, command):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main([command, "--device=cuda:1", str(exp), str(data), str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == (f"punc {command}: --device cuda:1: PyTorch sees no GPU; use --device cpu, or "
                                       "install a CUDA build (docs/install.md)\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "by_gradient", "found"), [
    ("auto", True, "cuda"), ("cuda:1", True, "cuda:1"), ("cpu", True, "cpu"), ("auto", False, "cpu"),
    ("cuda:1", False, "cpu")])
def test_decoder_device(exp, monkeypatch, name, by_gradient, found):
    monkeypatch.setattr(worker, "find_device", lambda name: "cuda" if name == "auto" else name)
    monkeypatch.setattr("punc.models.t_lstm.Model.trained_by_gradient", by_gradient)
    assert worker.Decoder(exp, DecodingOptions(device=name)).device == found
