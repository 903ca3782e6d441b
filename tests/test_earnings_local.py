"""The scripts of egs/earnings on small made-up files."""

import sys
from pathlib import Path

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.base.options import config_lines
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet

LOCAL = Path(__file__).parents[1] / "egs" / "earnings" / "local"
CALLS = LOCAL.parents[2] / "utils" / "calls"
CONF = LOCAL.parent / "conf"
HEADER = "token|speaker|ts|endTs|punctuation|prepunctuation|case|tags|oldTs|oldEndTs|ali_comment"


@pytest.fixture(scope="module")
def local():
    sys.path[:0] = [str(LOCAL), str(CALLS)]
    import nlp
    import prepare_earnings21
    import prepare_earnings22
    import prepare_engines
    import prepare_text
    import spoken
    yield {module.__name__: module
           for module in (nlp, prepare_earnings21, prepare_earnings22, prepare_engines, prepare_text, spoken)}
    del sys.path[:2]


@pytest.fixture
def labels():
    return LabelSet.read(CONF / "labels4.txt")


def row(token, begin="", end="", mark="", tags="[]"):
    return f"{token}|0|{begin}|{end}|{mark}||LC|{tags}|||"


def write_nlp(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("\r\n".join([HEADER, *rows, ""]).encode())
    return path


@pytest.mark.parametrize(("written", "words"), [
    ("2020", "twenty twenty"), ("2005", "two thousand five"), ("1909", "nineteen o nine"),
    ("1,909", "one thousand nine hundred nine"),
    ("6.8%", "six point eight percent"), ("769,000", "seven hundred sixty nine thousand"), (".5", "point five"),
    ("31st", "thirty first"), ("12th", "twelfth"), ("20th", "twentieth"), ("0", "zero"), ("007", "zero zero seven"),
    ("12345678", "one two three four five six seven eight"), ("$2.45", "two dollars and forty five cents"),
    ("$1", "one dollar"), ("€0.25", "twenty five cents"), ("$5.1 million", "five point one million dollars"),
    ("$5 million, up", "five million dollars up"), ("£3 a", "three pounds a"), ("¥20", "twenty yen"),
    ("Long-term", "long term"), ("10-K", "ten k"), ("COVID-19", "covid nineteen"), ("Q3", "q3"), ("5G", "5g"),
    ("U.S.", "u s"), ("S&P", "s and p"), ("and/or", "and or"), ("it’s", "it's"), ("analysts'", "analysts"),
    ("comp- company", "company"), ("<laugh> um", "um"), ("<unk>", ""), ("inaudible", ""), ("--", ""), ("café", "café"),
])
def test_spoken_words(local, written, words):
    assert " ".join(word for said in local["spoken"].spoken(written.split()) for word in said) == words


def test_prepare_text_lines(local, tmp_path):
    path = tmp_path / "text"
    path.write_bytes("#doc one\n#speaker Me\nMr. Smith, is it 2020? (Yes.) It's “long-term”; $5 million!\n".encode()
                     + b"post-war \xff.\n")
    assert list(local["prepare_text"].spoken_lines(path)) == [
        "#doc one", "mr smith, is it twenty twenty? yes. it's long term; five million dollars!", "post war ."]


def test_to_call_pauses(local, labels, tmp_path):
    path = write_nlp(tmp_path / "a.nlp", [
        row("Hello", "1.0", "1.5", ","), row("<laugh>", "1.6", "1.9", "."), row("the", "2.0", "2.2"),
        row("C", "2.5", "2.6", tags="['1:ABBREVIATION']"), row("F", "2.6", "2.7", tags="['1:ABBREVIATION']"),
        row("O", "2.7", "2.9", "?", tags="['1:ABBREVIATION']"), row("20", "3.0", "3.4"), row("late"),
        row("Mr", "5.0", "5.1", "."), row("go", "70", "71"), row("back", "3", "4", "."), row("um", "80", "81")])
    call = local["nlp"].to_call(local["nlp"].read_nlp(path), labels)
    assert call.words == ["hello", "the", "cfo", "twenty", "late", "mr", "go", "back", "um"]
    assert call.labels == ["PERIOD", "O", "QUESTION", "O", "O", "O", "O", "PERIOD", "O"]
    # The 0.3 s of the laugh are subtracted. The last six pauses are unknown: before and after `late`, which has no
    # times; 64.9 s, which is too long; from 71 s back to 3 s; 76 s, which is too long; and the end.
    assert call.pauses == pytest.approx([0.2, 0.3, 0.1] + [np.nan] * 6, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize(("rows", "line", "what"), [
    ([row("a", "1", "x")], 2, "is not a time"), ([row("a"), row("b", "2", "1")], 3, "is not a time"),
    ([row("a", "1", "inf")], 2, "is not a time"), (["a|0"], 2, "2 columns, the first line has 11"),
    ([], None, "no token")])
def test_read_nlp_bad_lines(local, tmp_path, rows, line, what):
    with pytest.raises(InputError, match=what) as error:
        local["nlp"].read_nlp(write_nlp(tmp_path / "a.nlp", rows))
    assert error.value.line == line
    assert "\n" not in str(error.value)


def earnings22(directory, calls=11):
    for n in range(calls):
        rows = [row(f"w{n}", "1", "2", "."), row("two", "2.5", "3" if n != 5 else "2.6")]
        if n == 1:
            rows = [row("un-aligned", mark="."), row("call"), row("x", "1", "2")]
        if n == 5:
            rows.append(row("late", "3002.6", "3003"))
        write_nlp(directory / "transcripts" / "force_aligned_nlp_references" / f"call{n:02d} x.aligned.nlp", rows)


def test_prepare_earnings22_sets(local, labels, tmp_path, capsys):
    earnings22(tmp_path / "in")
    local["prepare_earnings22"].prepare(tmp_path / "in", labels, tmp_path)
    train = dict(DataDir(tmp_path / "train_pauses").streams())
    dev = [stream for stream, _ in DataDir(tmp_path / "dev").streams()]
    assert dev == ["call10_x"]
    assert sorted(train) == [f"call{n:02d}_x" for n in (0, *range(2, 10))]
    assert train["call05_x"][0].pauses == pytest.approx([0.5, np.nan, np.nan], nan_ok=True)
    said = capsys.readouterr().err
    assert "11 calls, 1 less than 50% aligned, text only: call01_x" in said
    assert "train_pauses: call05_x: 1 pauses over 60 s" in said
    # No call of train_pauses or dev is in this text.
    assert (tmp_path / "earnings22.txt").read_text() == "#doc call01_x\nun aligned. call x\n"
    assert [stream for stream, _ in DataDir(tmp_path / "dev_clean").streams()] == dev


def test_without_fillers_keeps_marks_and_time(local, labels, tmp_path):
    write_nlp(tmp_path / "a.nlp", [row("Um", "0", "1", ","), row("so", "1", "2", ","), row("Uh", "3", "4", "."),
                                   row("hum", "4.5", "5", "."), row("hmm", "6", "7", ",")])
    nlp = local["nlp"]
    call = nlp.to_call(nlp.without_fillers(nlp.read_nlp(tmp_path / "a.nlp")), labels)
    assert (call.words, call.labels) == (["so", "hum"], ["PERIOD", "PERIOD"])
    assert call.pauses == pytest.approx([2.5, np.nan], nan_ok=True)


def earnings21(directory):
    for call in ("1", "2", "3"):
        write_nlp(directory / "transcripts" / "nlp_references" / f"{call}.nlp",
                  [row("In", mark=","), row("2020", mark="."), row("Yes", mark="?")])
    for system, calls in (("rev/kaldi", "124"), ("libri", "123")):
        (directory / "output" / system / "ctm").mkdir(parents=True)
        for call in calls:
            (directory / "output" / system / "ctm" / f"{call}.ctm").write_text(
                f"{call} A 0.10 0.20 in 0.9\n{call} A 0.50 0.10 <unk> 0.9\n{call} A 1.00 0.40 covid-19 1.00\n")


def test_prepare_earnings21_sets(local, labels, tmp_path, capsys):
    earnings21(tmp_path / "in")
    local["prepare_earnings21"].prepare(tmp_path / "in", labels, tmp_path, {"asr": "rev/kaldi", "poor": "libri"})
    assert [(u.id, u.words, u.labels) for u in DataDir(tmp_path / "test_ref").utterances()] == [
        (f"{n}-00001", ["in", "twenty", "twenty", "yes"], ["COMMA", "O", "PERIOD", "QUESTION"]) for n in "12"]
    assert [u.words for u in DataDir(tmp_path / "asr_words").utterances()] == [["in", "covid", "nineteen"]] * 2
    assert (tmp_path / "asr_ctm" / "1.ctm").read_text() == (
        "1 1 0.100 0.200 in\n1 1 0.500 0.100 <unk>\n1 1 1.000 0.200 covid\n1 1 1.200 0.200 nineteen\n")
    said = capsys.readouterr().err
    assert "rev/kaldi: no CTM of 1 calls, left out of the test: 3" in said
    assert "rev/kaldi: no reference of 1 calls, left out: 4" in said


def test_prepare_engines_sets(local, labels, tmp_path, capsys):
    earnings21(tmp_path / "in")
    local["prepare_earnings21"].prepare(tmp_path / "in", labels, tmp_path, {"asr": "rev/kaldi", "poor": "libri"})
    for call in "123":
        write_nlp(tmp_path / "in" / "output" / "amazon" / f"{call}.nlp",
                  [row("In", "0.1", "0.3"), row("20", "1.0", "2.0", "%,"), row("Mr", "2.5", "2.6", "."), row("Yes")])
    prepare = local["prepare_engines"].prepare
    prepare(tmp_path / "in", tmp_path / "test_ref", labels, tmp_path, ["amazon"])
    own, bare = (list(DataDir(tmp_path / name).utterances()) for name in ("amazon", "amazon_words"))
    assert [u.words for u in own] == [u.words for u in bare] == [["in", "twenty", "percent", "mr", "yes"]] * 2
    assert own[0].labels == ["O", "O", "COMMA", "O", "O"]
    assert bare[0].labels is None
    assert bare[0].pauses == pytest.approx([0.7, 0, 0.5, np.nan, np.nan], nan_ok=True)
    assert "amazon: no reference of 1 calls, left out: 3" in capsys.readouterr().err
    (tmp_path / "in" / "output" / "amazon" / "2.nlp").unlink()
    with pytest.raises(InputError, match="no transcript of 1 calls of the test: 2"):
        prepare(tmp_path / "in", tmp_path / "test_ref", labels, tmp_path, ["amazon"])


@pytest.mark.parametrize("variant", ["3-europarl", "4-europarl"])
def test_models_of_a_variant_are_built_on_its_own(variant):
    rows = [line.split() for line in (CONF / variant / "systems").read_text().splitlines() if not line.startswith("#")]
    for system, *_ in rows:
        own = CONF / variant / f"{system}.conf"
        options = {line.option: line.value for line in config_lines(own if own.is_file() else CONF / f"{system}.conf")}
        bases = [options[name] for name in ("--lm-model", "--text-model", "--initial-model") if name in options]
        assert all(Path(base).parent == Path("exp", variant) for base in bases)
