"""ASR output punctuated: the labels of punc punctuate, whatever the number of jobs."""

import re
import shutil

import pytest
import torch

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.decoding.options import DecodingOptions
from punc.decoding.transcript import join_transcripts, transcript
from punc.models.base import create, save
from punc.tokens.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]
SEGMENTS = [("a-1", "r1", 0.0, 5.0), ("a-2", "r1", 10.0, 15.0), ("b-1", "r1", 5.0, 10.0), ("b-2", "r2", 2.0, 9.0),
            ("c-1", "r3", 0.0, 9.0)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    place = tmp_path_factory.mktemp("model")
    (place / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n")
    vocabulary, labels = Vocabulary(["<unk>", "</s>", *WORDS]), LabelSet.read(place / "labels.txt")
    vocabulary.write(place / "vocab")
    torch.manual_seed(2)
    options = {"embedding_dim": 4, "hidden_dim": 5, "init_range": 2.0, "pauses": True}
    save(create("t_lstm", vocabulary, labels, options), place / "final.pt")
    return place


def rows(in_recording):
    """(id, begin, duration, word) of all words; the last utterance has none."""
    for k, (utterance, recording, begin, _) in enumerate(SEGMENTS[:4]):
        for i in range(9):
            at = 0.2 + 0.5 * i + (0.15 if i % 4 == 3 else 0)
            yield recording if in_recording else utterance, at + begin * in_recording, 0.3, WORDS[(7 * k + 3 * i) % 20]


@pytest.fixture
def data(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "utt2spk").write_text("".join(f"{u} {u[0]}\n" for u, *_ in SEGMENTS))
    (data / "segments").write_text("".join(f"{u} {r} {b} {e}\n" for u, r, b, e in SEGMENTS))
    for name, whole in (("ctm_utt", False), ("ctm_rec", True)):
        lines = sorted(rows(whole))
        (tmp_path / name).write_text("".join(f"{u} 1 {b:.2f} {d:.2f} {w}\n" for u, b, d, w in lines))
    return data


def run(model, data, out, nj=1, scale="", **options):
    parts = [out.with_name(f"{out.name}.{job}") for job in range(1, nj + 1)]
    given = [f"--{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in options.items()]
    for job, part in enumerate(parts, 1):
        assert main(["transcript", f"--scale={scale}", *given, f"--jobs={nj}", f"--job={job}",
                     *map(str, (model, data, part))]) == 0
    assert main(["join", *map(str, (out, *parts))]) == 0
    return {str(file.relative_to(out)): file.read_text() for file in out.rglob("*") if file.is_file()}


def test_transcript_labels_are_those_of_punc_punctuate(model, data, tmp_path):
    """The longer way: a data directory with the words of the CTM, punc pauses, punc punctuate."""
    said = {u: [w for id, _, _, w in rows(False) if id == u] for u, *_ in SEGMENTS}
    write_data_dir(tmp_path / "long", [Utterance(u, u[0], words) for u, words in said.items()])
    shutil.copy(data / "segments", tmp_path / "long")
    for ctm in ("ctm_utt", "ctm_rec"):
        assert main(["pauses", str(tmp_path / "long"), str(tmp_path / ctm)]) == 0
        assert main(["punctuate", "--nj=1", str(model), str(tmp_path / "long"), str(tmp_path / "punctuated")]) == 0
        expected = dict(line.partition(" ")[::2]
                        for line in (tmp_path / "punctuated/text_punct").read_text().splitlines())
        assert len({word[-1] for words in expected.values() for word in words.split()} & set(",.?")) > 1
        if ctm == "ctm_rec":
            order = {"r1": ("a-1", "b-1", "a-2"), "r2": ("b-2",), "r3": ("c-1",)}
            expected = {r: " ".join(expected[u] for u in of).strip() for r, of in order.items()}
        found = run(model, data, tmp_path / ctm.replace("ctm", "out"), ctm=str(tmp_path / ctm))["text"]
        assert dict(line.partition(" ")[::2] for line in found.splitlines()) == expected
    assert run(model, tmp_path / "long", tmp_path / "text")["text"] == (tmp_path / "punctuated/text_punct").read_text()


@pytest.mark.parametrize("ctm", ["ctm_utt", "ctm_rec", ""])
def test_transcript_any_number_of_jobs_gives_the_same(model, data, tmp_path, ctm):
    if not ctm:
        (data / "text").write_text("".join(f"{u} w1 w2 w3 w4\n" for u, *_ in SEGMENTS))
    options = {"ctm": str(tmp_path / ctm)} if ctm else {}
    alone = run(model, data, tmp_path / "alone", **options)
    assert len(alone) == (2 + 9 if ctm else 1 + 3)
    for nj in (2, 3, 7):
        assert run(model, data, tmp_path / f"out{nj}", nj, **options) == alone
    assert not list(tmp_path.glob("out*.*"))


def test_transcript_ids_of_recordings_and_utterances_give_the_same_subtitles(model, data, tmp_path):
    by_utterance, by_recording = (run(model, data, tmp_path / f"out{ctm}", ctm=str(tmp_path / ctm))
                                  for ctm in ("ctm_utt", "ctm_rec"))
    shown = [name for name in by_recording if name.startswith(("srt/", "vtt/", "txt/"))]
    assert len(shown) == 9
    for name in shown:
        assert by_utterance[name] == by_recording[name]
    assert by_recording["vtt/r3.vtt"] == "WEBVTT\n"
    # Speakers a, b, a: at least three paragraphs, with their names.
    assert by_recording["txt/r1.txt"].count("\n\n") >= 2
    assert by_recording["txt/r1.txt"].startswith("a: W")
    assert re.findall("^(.): W", by_recording["txt/r1.txt"], re.M) == ["a", "b", "a"]
    assert set(re.findall("<v (.)>W", by_recording["vtt/r1.vtt"])) == {"a", "b"}
    assert ":" not in by_recording["txt/r2.txt"]


def test_transcript_without_segments_utterances_or_speakers_are_recordings(model, data, tmp_path):
    (data / "segments").unlink()
    found = run(model, data, tmp_path / "out", ctm=str(tmp_path / "ctm_utt"))
    assert {name for name in found if name.startswith("srt")} == {f"srt/{u}.srt" for u, *_ in SEGMENTS}
    (tmp_path / "ctm").write_text("a 1 0 1 w1\nb 1 0 1 w2\n")
    found = run(model, data, tmp_path / "speakers", ctm=str(tmp_path / "ctm"))
    assert [line.split()[0] for line in found["text"].splitlines()] == ["a", "b", "c"]
    assert set(found) == {"text", "ctm", *(f"{kind}/{s}.{kind}" for kind in ("srt", "vtt", "txt") for s in "abc")}


def test_transcript_lowercase_scale_and_warning(model, data, tmp_path, capsys):
    upper = tmp_path / "upper"
    upper.write_text((tmp_path / "ctm_rec").read_text().replace("w", "W"))
    lower = run(model, data, tmp_path / "lower", ctm=str(tmp_path / "ctm_rec"))
    assert run(model, data, tmp_path / "out", ctm=str(upper), lowercase=True) == lower
    assert "warning" not in capsys.readouterr().err
    found = run(model, data, tmp_path / "out", ctm=str(upper), scale="QUESTION=1e30")
    assert {row.split()[4][-1] for row in found["ctm"].splitlines()} == {"?"}
    assert "warning: 36 of 36 words are not in " in capsys.readouterr().err


def test_transcript_sentences_begin_with_capitals_whatever_the_labels(data, tmp_path):
    place = tmp_path / "cased"
    place.mkdir()
    (place / "labels.txt").write_text("O w\nCAP W\nPERIOD w.\n")
    vocabulary, labels = Vocabulary(["<unk>", "</s>", *WORDS]), LabelSet.read(place / "labels.txt")
    vocabulary.write(place / "vocab")
    save(create("t_lstm", vocabulary, labels, {"embedding_dim": 4, "hidden_dim": 5}), place / "final.pt")
    found = run(place, data, tmp_path / "out", ctm=str(tmp_path / "ctm_rec"), scale="PERIOD=1e30")
    assert found["text"].split()[1].islower(), "the text has what the labels write"
    assert found["txt/r2.txt"].split()[0][0] == "W"
    assert all(word[0] == "W" for word in found["txt/r2.txt"].split()), "a point after each word"


@pytest.mark.parametrize(("options", "said"), [
    ({"decoding": DecodingOptions(scale="X=1")}, "--scale: no label 'X'; "),
    ({"ctm": "none"}, "none: no such file; "),
])
def test_transcript_wrong_options(model, data, tmp_path, options, said):
    with pytest.raises(InputError) as error:
        transcript(model, data, tmp_path / "out", **{"ctm": str(tmp_path / "ctm_rec"), **options})
    assert said in str(error.value)
    assert not (tmp_path / "out").exists()


def test_join_transcripts_missing_part(tmp_path):
    with pytest.raises(InputError, match="parts/1/text: no such file; run its job again"):
        join_transcripts([tmp_path / "parts/1"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_transcript_recording_with_a_slash_stays_in_its_directory(model, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "utt2spk").write_text("../../x ../../x\n")
    (tmp_path / "ctm").write_text("../../x 1 0 1 w1\n")
    assert "srt/.._.._x.srt" in run(model, data, tmp_path / "out", ctm=str(tmp_path / "ctm"))


@pytest.mark.parametrize("options", [{}, {"keep_marks": True}])
def test_transcript_marks_that_are_there_are_not_doubled(tmp_path, options):
    """In a CTM of punctuated words, tags come out as they were, and are not in subtitles."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/utt2spk").write_text("r r\n")
    said = ["Hello,", "how", "are", "you?", "<noise>", "I'm", "fine,", "thanks!"]
    rows = (f"r 1 {0.4 * n + (n > 4):.1f} 0.3 {word} 0.9\n" for n, word in enumerate(said))
    (tmp_path / "ctm").write_text("".join(rows))
    found = run("en", tmp_path / "data", tmp_path / "out", ctm=str(tmp_path / "ctm"), **options)
    words = [line.split()[4] for line in found["ctm"].splitlines()]
    assert words[4] == "<noise>"
    assert [word.strip(".,?!").lower() for word in words] == [word.strip(".,?!").lower() for word in said]
    assert not any(word[-2] in ".,?!" for word in words)
    assert words == said or not options
    assert "<" not in found["srt/r.srt"] + found["txt/r.txt"]
