"""punc plugs into another Kaldi recipe with one link and one line of code.

The tests use a directory like that of a Kaldi recipe.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import random_model

from punc.decoding.pack import pack

ROOT = Path(__file__).parents[1]
LABELS = "O w\nCOMMA w, ,\nPERIOD w. . !\nQUESTION w? ?\n"
WORDS = ["so", "this", "is", "it", "well", "then", "who", "are", "you", "i", "am", "here", "now", "and", "there", "yes"]
SEGMENTS = {"ann-r1-1": ("r1", 0.5, 6.0), "ann-r1-3": ("r1", 12.0, 15.0), "bob-r1-2": ("r1", 6.5, 11.5),
            "bob-r2-1": ("r2", 1.0, 9.0), "cat-r3-1": ("r3", 0.0, 4.0)}  # the last utterance has no words


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    return random_model(tmp_path_factory.mktemp("punc-model"), LABELS, WORDS, options={"pauses": True})


@pytest.fixture(scope="module")
def model(unpacked, tmp_path_factory):
    """Pack the model, so that commands start faster."""
    place = tmp_path_factory.mktemp("packed") / "model"
    pack(unpacked, place)
    return place


def said():
    """Yield (utterance, channel, begin in the utterance, duration, word, confidence) of each word of the ASR output."""
    for k, utterance in enumerate(list(SEGMENTS)[:4]):
        at = 0.1
        for i in range(8 if utterance != "ann-r1-3" else 5):
            yield utterance, "1", round(at, 2), 0.25, WORDS[(5 * k + 3 * i) % 16], 0.5 + i / 20
            at += 0.3 + 0.5 * (i % 3 == 2)


@pytest.fixture
def recipe(tmp_path, model):
    """Make the directory of a Kaldi recipe: the link `punc`, data/test, and exp with ASR output."""
    recipe = tmp_path / "lab/s5"
    (recipe / "data/test").mkdir(parents=True)
    (tmp_path / "lab/model").symlink_to(model)
    assert line(recipe, documented("ln -s ")).returncode == 0
    tables = {"segments": [f"{u} {r} {b} {e}" for u, (r, b, e) in SEGMENTS.items()],
              "utt2spk": [f"{u} {u[:3]}" for u in SEGMENTS],
              "spk2utt": ["ann ann-r1-1 ann-r1-3", "bob bob-r1-2 bob-r2-1", "cat cat-r3-1"],
              "text": [f"{u} reference words" for u in SEGMENTS],
              "reco2file_and_channel": [f"{r} {r} 1" for r in ("r1", "r2", "r3")],
              "wav.scp": [f"{r} {r}.wav" for r in ("r1", "r2", "r3")]}
    for name, lines in tables.items():
        (recipe / "data/test" / name).write_text("".join(f"{line}\n" for line in lines))
    decode = recipe / "exp/tri3/decode_test"
    for weight in (9, 10):
        (decode / f"score_{weight}").mkdir(parents=True)
        lines = sorted(((SEGMENTS[u][0], c, SEGMENTS[u][1] + b, d, w, p) for u, c, b, d, w, p in said()))
        (decode / f"score_{weight}/test.ctm").write_text("".join(
            f"{r} {c} {b:.2f} {d:.2f} {w} {p:.2f}\n" for r, c, b, d, w, p in lines[:None if weight == 10 else 9]))
    (decode / "scoring_kaldi").mkdir()
    (decode / "scoring_kaldi/best_wer").write_text("%WER 12.34 [ 9 / 73, 1 ins, … ] exp/tri3/decode_test/wer_10_0.5\n")
    (recipe / "exp/ali").mkdir(parents=True)
    (recipe / "exp/ali/ctm").write_text("".join(f"{u} {c} {b:.3f} {d:.3f} {w} \n" for u, c, b, d, w, _ in said()))
    return recipe


def documented(start):
    """Return the only line of code in docs/plug-into-kaldi.md that begins with `start`. Its example paths are replaced
    by existing ones."""
    page = (ROOT / "docs/plug-into-kaldi.md").read_text()
    found = [line for block in re.findall(r"```sh\n(.*?)```", page, re.S) for line in block.splitlines()
             if line.startswith(start)]
    assert len(found) == 1, found
    return found[0].replace("/path/to/punc-model", "../model").replace("/path/to/punc/", f"{ROOT}/")


def line(recipe, command, **env):
    """Run a command as a line of the recipe's run.sh. punc is not on PATH."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PUNC_ROOT", "VIRTUAL_ENV")}
    environment["PATH"] = ":".join(part for part in os.environ["PATH"].split(":") if str(ROOT) not in part)
    script = f'decode_cmd="run.pl --mem 2G"\n{command}\n'
    return subprocess.run(["bash", "-euc", script, "run.sh"], cwd=recipe, text=True, capture_output=True, timeout=120,
                          env={**environment, **env}, check=False)


def plain(text):
    return re.sub(r"[^\w\s]", "", text).lower().split()


def words_of(path):
    text = path.read_text().replace("WEBVTT", "")
    return plain(re.sub(r"(?m)^(\d+|.* --> .*)$|^<v \w+>|^\w+: ", "", text))


def files(place):
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def outputs(place):
    return {name: content for name, content in files(place).items() if not name.startswith(("log/", ".written"))}


def test_plugin_ctm_of_recordings(recipe):
    """Words remain in lower case, because no label has a capital."""
    ctm = recipe / "exp/tri3/decode_test/score_10/test.ctm"
    result = line(recipe, documented("punc/punctuate_ctm.sh"))
    assert result.stderr == "transcripts/test: ctm srt text txt vtt\n"
    assert result.returncode == 0
    out = recipe / "transcripts/test"
    assert set(outputs(out)) == {"text", "ctm", *(f"{kind}/{r}.{kind}" for kind in ("srt", "vtt", "txt")
                                                  for r in ("r1", "r2", "r3"))}
    # In the lines of the CTM, only the marks are new.
    before, after = ctm.read_text().splitlines(), (out / "ctm").read_text().splitlines()
    assert [re.sub(r"[,.?](?= )", "", row[10:]) for row in after] == [row[10:] for row in before]
    assert re.findall(r"\w[,.?] ", "\n".join(after)), "a test without marks tests nothing"
    # `text` has a line per recording, the other formats have a file per recording, and all have the same words.
    text = dict(row.partition(" ")[::2] for row in (out / "text").read_text().splitlines())
    assert list(text) == ["r1", "r2", "r3"]
    assert text["r3"] == ""
    for recording, words in text.items():
        assert words.split() == [row.split()[4] for row in after if row.startswith(recording)]
        for kind in ("srt", "vtt", "txt"):
            assert words_of(out / kind / f"{recording}.{kind}") == plain(words), (kind, recording)
    assert (out / "srt/r1.srt").read_text().startswith("1\n00:00:00,600 --> 00:00:")
    assert (out / "vtt/r3.vtt").read_text() == "WEBVTT\n"
    for job in (1, 2, 3, 4):
        log = (out / f"log/punctuate.{job}.log").read_text()
        assert re.match(r"# .*punc transcript .*\n# Started at ", log)
        assert "# Ended (code 0) at " in log


def test_plugin_decode_directory(recipe, unpacked):
    """The model is not packed."""
    (recipe.parent / "model").unlink()
    (recipe.parent / "model").symlink_to(unpacked)
    command, out = documented("punc/punctuate_decode.sh"), recipe / "transcripts/test"
    result = line(recipe, command.replace("--nj 4", "--nj 1 --scale PERIOD=1e30"))
    assert result.returncode == 0
    assert result.stderr == "exp/tri3/decode_test/score_10/test.ctm\ntranscripts/test: ctm srt text txt vtt\n"
    assert {row.split()[4][-1] for row in (out / "ctm").read_text().splitlines()} == {"."}
    assert len((out / "ctm").read_text().splitlines()) == 29  # the words of score_10; score_9 has fewer
    (recipe / "exp/tri3/decode_test/scoring_kaldi/best_wer").unlink()
    before = outputs(out)
    result = line(recipe, command)
    assert result.returncode == 1
    assert result.stderr == ("punc find-ctm: exp/tri3/decode_test: 2 directories score_*, but no "
                             "scoring_kaldi/best_wer; choose with --lmwt, --wip or --score-dir from score_10 score_9\n")
    assert outputs(out) == before


def test_plugin_text_with_the_run_pl_of_the_recipe(recipe):
    (recipe / "utils").mkdir()
    (recipe / "utils/run.pl").write_text(f'#!/bin/sh\necho "$@" >>used\nexec {ROOT}/utils/run.pl "$@"\n')
    (recipe / "utils/run.pl").chmod(0o755)
    out = recipe / "transcripts/test"
    (out / "srt").mkdir(parents=True)
    (out / "srt/old.srt").write_text("of an older run")
    (out / ".written").write_text("srt/old.srt\n")
    (out / "mine").write_text("")
    command = documented("punc/punctuate_text.sh").replace("--nj 4", "--nj 1")
    result = line(recipe, command, PATH=f"{recipe}/utils:/usr/bin:/bin")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (0, "transcripts/test: text txt")
    log = "transcripts/test/log/punctuate.JOB.log"
    assert (recipe / "used").read_text().startswith(f"--mem 2G JOB=1:1 {log} {ROOT}/.venv/bin/punc ")
    assert set(outputs(out)) == {"mine", "text", "txt/r1.txt", "txt/r2.txt", "txt/r3.txt"}
    text = (out / "text").read_text()
    assert [row.split()[0] for row in text.splitlines()] == list(SEGMENTS)
    assert plain(text.replace("-", "")) == plain((recipe / "data/test/text").read_text().replace("-", ""))
    assert "10 of 10 words are unknown to the model" in result.stderr
    result = line(recipe, command.replace('"$decode_cmd"', "no.pl"))
    assert (result.returncode, result.stderr) == (
        1, "punc/punctuate_text.sh: --cmd 'no.pl': no such program; give run.pl, for example\n")


def test_plugin_names_that_a_shell_reads(recipe):
    """The paths have characters that bash, run.pl and punc's options would misread without quotes."""
    name = """b c'"&(;|\\JOB$(touch ran)`touch ran`~*é"""
    data, ctm, model, out = f"data/{name}", f"-{name}", f"~{name}", f"-o {name}"
    (recipe / "data/test").rename(recipe / data)
    (recipe / "exp/ali/ctm").rename(recipe / ctm)
    (recipe / model).symlink_to("../model")
    paths = [shlex.quote(path) for path in (data, ctm, model, out)]
    result = line(recipe, f"punc/punctuate_ctm.sh --cmd \"$decode_cmd\" --nj 2 {' '.join(paths)}")
    assert (result.returncode, result.stderr) == (0, f"{out}: ctm srt text txt vtt\n")
    assert (recipe / out / "ctm").read_text().count("\n") == 29
    assert sorted(path.name for path in (recipe / out / "log").iterdir()) == ["cmd.log", "punctuate.1.log",
                                                                               "punctuate.2.log"]
    assert not list(recipe.rglob("ran"))


def change(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize(("break_it", "said"), [
    (lambda r: "--nj 0", "--nj 0 is not a number of jobs; give 1 or more"),
    (lambda r: "--stage 0", "unknown option --stage; see "),
    (lambda r: "x", "5 arguments, not 4; usage: "),
    (lambda r: "$'a\\nb'", r"$'a\nb': a path with control characters; rename it"),
    (lambda r: "--cmd ../queue.pl w x y '$(touch z)' #", "$(touch z): ../queue.pl cannot write its logs there; name"),
    (lambda r: (r / "model/model.json").unlink(), "model/final.pt: no such file; train the model, or give another"),
    (lambda r: (r / "ctm").unlink(), "ctm: no such file; make it, or give another one"),
    (lambda r: (r / "ctm").write_text(""), "ctm: the file has no timed words; make it again"),
    (lambda r: change(r / "ctm", "bob-r1-2", "bob-r1-9"),
     "ctm:14: 'bob-r1-9' is neither recording nor utterance of data/test; give the data directory that was decoded, "
     "with its segments and reco2file_and_channel"),
    (lambda r: change(r / "ctm", "1 0.400 0.250", "1 0.400 0.25s"), "ctm:2: the duration '0.25s' is not a number; "),
    (lambda r: (r / "data/test/utt2spk").unlink(), "data/test/utt2spk: no such file; "),
])
def test_plugin_mistake_is_one_line_and_leaves_the_output(recipe, model, break_it, said):
    (recipe / "ctm").write_text((recipe / "exp/ali/ctm").read_text())
    (recipe / "model").mkdir()
    for file in model.iterdir():
        (recipe / "model" / file.name).write_bytes(file.read_bytes())
    (recipe / "out").mkdir()
    (recipe / "out/text").write_text("what was there\n")
    (recipe.parent / "queue.pl").symlink_to("/bin/true")
    options = break_it(recipe)
    options = options if isinstance(options, str) else ""
    result = line(recipe, f"punc/punctuate_ctm.sh --nj 2 {options} data/test ctm model out")
    assert result.returncode == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("punc/punctuate_ctm.sh: ")
    assert outputs(recipe / "out") == {"text": b"what was there\n"}
    assert not [path.name for path in (recipe / "out").iterdir() if path.name.startswith(".")]


def test_plugin_does_not_overwrite_the_data_directory(recipe):
    before = files(recipe / "data")
    result = line(recipe, "punc/punctuate_text.sh data/test ../model data/../data/test")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "the output is the data directory; give another directory" in result.stderr
    assert files(recipe / "data") == before
