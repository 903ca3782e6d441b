"""Texts prepared in jobs: the bytes of one job, whatever their number and wherever streams begin."""

import random
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from punc.bin.main import main
from punc.data.validate import validate
from punc.text.file_parts import file_parts

LABELS = "O w\nCOMMA w, , : -\nPERIOD w. . ; !\nQUESTION w? ?\n"
CTM = "".join(f"{id} 1 {i}.00 {'<eps>' if i % 5 == 3 else f'W{i}'} 0.9\n".replace(".00 ", ".00 0.50 ")
              for id in ("c", "a", "b-x", "d") for i in range(9))


def content(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def check_jobs(place, inputs, options, jobs, capsys=None):
    """Compare the directory joined from jobs with that of one job; return the words of each part."""
    labels = [] if "--format=ctm" in options else [f"--labels={place / 'labels'}"]
    (place / "labels").write_text(LABELS)
    files = [str(place / name) for name in inputs]
    shutil.rmtree(place / "parts", ignore_errors=True)  # of an example before, whose join was refused
    status = main(["prepare", *options, *labels, *files, str(place / "out")])
    one = content(place / "out") if status == 0 else None
    said = capsys.readouterr().err if capsys else ""
    shutil.rmtree(place / "out", ignore_errors=True)
    parts = [place / "parts" / str(job) for job in range(1, jobs + 1)]
    for job, part in enumerate(parts, 1):
        assert main(["prepare", *options, *labels, f"--jobs={jobs}", f"--job={job}", *files, str(part)]) == 0
    words = [len((part / "text").read_text().split()) if (part / "text").exists() else 0 for part in parts]
    if capsys:
        capsys.readouterr()
    assert main(["join", str(place / "out"), *map(str, parts)]) == status
    if one:
        assert content(place / "out") == one
        assert not list((place / "parts").iterdir())
    if capsys:
        assert capsys.readouterr().err.replace("punc join", "punc prepare") == said
    return words


def read_in_parts_of(monkeypatch, size):
    monkeypatch.setattr("punc.text.text_format.file_parts", lambda paths, end: file_parts(paths, end, size))


def prose(seed, lines, stream="#doc"):
    """Lines of prose with marks at their beginnings, long lines, empty ones, documents, and bytes to repair."""
    draw = random.Random(seed)
    kinds = ["It is, so. ", "- yes! ", "", " \t", "no end", "b\u00e9 -- c? ", "x " * 80, "#speaker A", f"{stream} d x",
             stream, ", . ", "a\r"]
    return "".join(draw.choice(kinds) + "\n" * (draw.random() < 0.9) for _ in range(lines)).encode() + b"\xff"


@pytest.mark.parametrize("jobs", [1, 2, 3, 9])
@pytest.mark.parametrize("options", [
    ["--format=prose", "--document-prefix=#doc", "--skip-prefix=#speaker", "--prefix=x_7", "--utt-words=5"],
    ["--format=prose", "--independent=true", "--prefix=p"], ["--format=prose", "--keep-names=true", "--utt-words=0"],
    ["--format=characters", "--independent=true"], ["--format=characters", "--utt-words=0"]])
def test_prepare_in_jobs_is_one_job(tmp_path, monkeypatch, capsys, options, jobs):
    read_in_parts_of(monkeypatch, 300)
    for number in range(3):
        (tmp_path / f"b{3 - number}").write_bytes(b"A start.\n" + prose(number, 60))
    words = check_jobs(tmp_path, ["b3", "b2", "b1"], [*options, "--nj=1"], jobs, capsys)
    assert sum(map(bool, words)) >= min(jobs, 2)
    validate(tmp_path / "out")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 999), st.integers(1, 40), st.integers(1, 5), st.integers(20, 400), st.integers(0, 2))
def test_prepare_in_jobs_any_cut(tmp_path, monkeypatch, seed, lines, jobs, size, kind):
    read_in_parts_of(monkeypatch, size)
    (tmp_path / "in").write_bytes(prose(seed, lines))
    (tmp_path / "in2").write_bytes(prose(seed + 1, lines))
    options = (["--document-prefix=#doc"], ["--independent=true"], ["--utt-words=3"])[kind]
    check_jobs(tmp_path, ["in", "in2"], ["--format=prose", "--nj=1", "--quiet=true", *options], jobs)


@pytest.mark.parametrize("jobs", [2, 5])
@pytest.mark.parametrize(("name", "text", "options"), [
    ("sil", "".join(f"#doc {i}\nw <sil=0.{i}> ,COMMA x <sil=-0.1> y\n" * (i % 4) for i in range(30)),
     ["--document-prefix=#doc", "--utt-words=2", "--prefix=x"]),
    ("lrec", "".join(f"w{i}\t{['O', 'COMMA'][i % 2]}\n" + "#doc\n" * (i % 7 == 3) for i in range(200)),
     ["--document-prefix=#doc"]),
    ("mteval", "".join(f"<doc docid='{i}'>\n<seg>A, b.</seg><SEG>\n- c\n</SEG></doc>" for i in range(30)), []),
    ("mteval", "".join(f"<doc docid='{i}'>\n<seg>A, b.</seg><seg></seg><seg>c</seg></doc>" for i in range(30)),
     ["--independent=true"]),
    ("ctm", CTM, ["--utt-words=2", "--lowercase=false"]),
])
def test_prepare_in_jobs_of_each_format(tmp_path, monkeypatch, capsys, name, text, options, jobs):
    read_in_parts_of(monkeypatch, 150)
    (tmp_path / "in").write_text(text)
    options = [f"--format={name}", *options, *([] if name == "ctm" else ["--nj=1"])]
    words = check_jobs(tmp_path, ["in"], options, jobs, capsys)
    assert sum(map(bool, words)) > 1


def test_prepare_in_jobs_one_stream_is_the_first_jobs(tmp_path, monkeypatch):
    read_in_parts_of(monkeypatch, 100)
    (tmp_path / "in").write_bytes(b"One, two. " * 200)
    assert check_jobs(tmp_path, ["in"], ["--format=prose", "--nj=1"], 3) == [408, 0, 0]


def test_prepare_in_jobs_of_a_format_that_is_not_cut(tmp_path, capsys):
    trs = ('<Trans><Episode><Section type="report" startTime="0" endTime="9"><Turn speaker="{0}" startTime="0" '
           'endTime="9"><Sync time="0"/>yes, {0}.<Sync time="3"/>no</Turn></Section></Episode></Trans>')
    for name in "ab":
        (tmp_path / f"{name}.trs").write_text(trs.format(name))
    words = check_jobs(tmp_path, ["a.trs", "b.trs"], ["--format=trs"], 2, capsys)
    assert words[1] == 0 < words[0]


def test_prepare_in_jobs_of_no_words_is_an_error(tmp_path, capsys):
    (tmp_path / "in").write_text("( ) \n")
    check_jobs(tmp_path, ["in"], ["--format=prose"], 2, capsys)
    assert not (tmp_path / "out").exists()


def test_prepare_in_jobs_replaces_an_older_directory(tmp_path):
    (tmp_path / "in").write_text("a <sil=1> b")
    check_jobs(tmp_path, ["in"], ["--format=sil"], 2)
    assert (tmp_path / "out/pauses.ark").exists()
    (tmp_path / "in").write_text("A b.")
    parts = [str(tmp_path / f"part{job}") for job in (1, 2)]
    for job, part in enumerate(parts, 1):
        main(["prepare", "--format=prose", f"--labels={tmp_path / 'labels'}", "--jobs=2", f"--job={job}",
              str(tmp_path / "in"), part])
    assert main(["join", str(tmp_path / "out"), *parts]) == 0
    assert sorted(content(tmp_path / "out")) == ["punct", "punct.labels", "spk2utt", "text", "utt2spk"]


def test_join_parts_of_another_corpus_are_refused(tmp_path, capsys):
    (tmp_path / "labels").write_text(LABELS)
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"A {name}.")
    for job, name in ((1, "one"), (2, "two")):
        main(["prepare", "--format=prose", f"--labels={tmp_path / 'labels'}", "--jobs=2", f"--job={job}",
              str(tmp_path / name), str(tmp_path / str(job))])
    capsys.readouterr()
    assert main(["join", str(tmp_path / "out"), str(tmp_path / "1"), str(tmp_path / "2")]) == 1
    assert capsys.readouterr().err.startswith(f"punc join: {tmp_path}/2/part.json: inputs is ['{tmp_path}/two'], but")
    assert not (tmp_path / "out").exists()
