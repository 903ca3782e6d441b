"""Defines the commands of the campaign, and makes two versions of their small inputs, `a` and `b`.

A command reads `in/`, a link to the inputs of one version, and writes below the current directory. The words, labels
and posteriors of the two versions differ, so a mixture of files is noticed.
"""

import contextlib
import hashlib
import io
import os
import random
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# One thread, because processes are forked. This must be set before NumPy is imported.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch

from punc.base.errors import InputError
from punc.base.jobs import read_parts
from punc.bin.main import main
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.data.validate import validate
from punc.decoding.packed import load_packed
from punc.models.base import create, load, save
from punc.results.collect import collect_scores
from punc.results.page_data import publish, read_page_data
from punc.tokens.store import Store
from punc.tokens.vocabulary import Vocabulary

LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ! ?\n"
# For each version of the inputs, the number of words in each recording.
LENGTHS = {"a": (70, 30, 41), "b": (33, 64, 52, 20)}


class Command(NamedTuple):
    """A command line of punc.

    line     arguments; the current directory contains `in`
    out      directory that the command writes
    read     reads `out` as other commands do; raises InputError if it refuses what it finds
    before   command lines that make the command's inputs
    fresh    whether to remove an older `out` first, because the command would not replace it
    """

    line: list[str]
    out: str
    read: Callable[[Path], object]
    before: Sequence[list[str]] = ()
    fresh: bool = False


def run(line: list[str], expected: str = "") -> int:
    """Run a command line in this process. If it fails, print its errors unless they contain the text `expected`."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        status = main(line)
    if status and not (expected and expected in errors.getvalue()):
        print(line, errors.getvalue(), file=sys.stderr)
    return status


def start_child(work: Callable[[], object]) -> int:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 99
        try:
            status = int(work() or 0)
        finally:
            os._exit(status)
    return child


def in_child(work: Callable[[], object]) -> int:
    """Run a function in a child process. Return its exit status, or -9 if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(start_child(work), 0)[1])


def read_data(path: Path) -> None:
    validate(path)
    list(DataDir(path).utterances())


def read_projected(path: Path) -> None:
    list(DataDir(path, ["pauses.scp"]).utterances())


def read_store(path: Path) -> None:
    store = Store(path)
    for name in store.sets:
        store.set(name)


def read_text(path: Path) -> None:
    if not (path / "text").is_file():
        raise InputError("no such file", "make it again", path / "text")


def read_scores(path: Path) -> None:
    collect_scores(path.parents[2])


def read_target(path: Path) -> None:
    publish(path, path.parent / "copy")


DECODE = ["punctuate", "--nj", "1", "--posteriors", "true", "in/packed", "in/data"]
PREPARE = ["prepare", "--format", "prose", "--labels", "in/labels.txt", "--keep-names", "true", "--nj", "1",
           "in/r1.txt", "in/r2.txt", "in/r3.txt"]
STORE = ["make-store", "--nj", "1", "--labels", "in/labels.txt"]
SCORE = ["score", "--labels", "in/labels.txt"]
TRANSCRIPT = ["transcript", "--ctm", "in/asr.ctm", "in/packed", "in/asr"]
TRAIN = ["train", "--model", "t_lstm", "--embedding-dim", "3", "--hidden-dim", "3", "--epochs", "2", "--threads", "1",
         "--batch-size", "4", "--train-set", "data", "--dev-set", "data"]


def shared(line: list[str], out: str, read: Callable[[Path], object], inputs: Sequence[str] = ()) -> Command:
    jobs = [[*line[:1], "--jobs", "2", "--job", str(job), *line[1:], *([f"parts/{job}", *inputs])] for job in (1, 2)]
    return Command(["join", out, "parts/1", "parts/2"], out, read, jobs)


COMMANDS = {
    "prepare": Command([*PREPARE, "out"], "out", read_data),
    "prepare-ctm": Command(["prepare", "--format", "ctm", "in/asr.ctm", "out"], "out", read_data),
    "pauses": Command(["pauses", "data", "times.ctm"], "data", read_data),
    "make-store": Command([*STORE, "out", "in/data"], "out", read_store),
    "punctuate": Command([*DECODE, "out"], "out", read_data),
    "transcript": Command([*TRANSCRIPT, "out"], "out", read_text),
    "project": Command(["project", "--labels", "in/labels.txt", "in/data", "in/hyp", "out"], "out",
                       read_projected),
    "score": Command([*SCORE, "in/data", "in/hyp", "scored/S/decode_t/score"], "scored/S/decode_t/score",
                     read_scores),
    "part": Command([*DECODE[:1], "--jobs", "1", "--job", "1", *DECODE[1:], "out"], "out",
                    lambda path: read_parts([path])),
    "join-punctuate": shared(DECODE, "out", read_data),
    "join-transcript": shared(TRANSCRIPT, "out", read_text),
    "results": Command(["results", "exp"], "exp", read_page_data),
    "render": Command(["results", "--config", "in/results.conf", "--render", "true", "exp"], "exp", read_target,
                      [["results", "exp"]]),
    "publish": Command(["publish", "in/exp", "out"], "out", read_target),
    "pack": Command(["pack", "in/model", "out"], "out", load_packed),
    "train": Command([*TRAIN, "in/store", "out"], "out", load, fresh=True),
}


def make_inputs(place: Path) -> None:
    for version, lengths in LENGTHS.items():
        folder = place / f"in_{version}"
        folder.mkdir(parents=True)
        _write_texts(folder, lengths, random.Random(version))
        _write_model(folder / "model", "delay", {"embedding_dim": 4, "hidden_dim": 5, "layers": 1, "delay": 2}, version)
        os.symlink(folder.name, place / "in")
        (folder / "results.conf").write_text(f"--title={version}\n")
        with inside(place):
            for line in ([*PREPARE, "in/data"], ["pauses", "in/data", "in/times.ctm"],
                         ["pack", "in/model", "in/packed"],
                         ["prepare", "--format", "ctm", "in/asr.ctm", "in/asr"], [*STORE, "in/store", "in/data"],
                         [*DECODE, "in/hyp"], [*SCORE, "in/data", "in/hyp", "in/exp/S/decode_t/score"],
                         ["results", "in/exp"]):
                assert run(line) == 0, line
        os.remove(place / "in")


@contextlib.contextmanager
def inside(place: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def _write_texts(folder: Path, lengths: Sequence[int], draw: random.Random) -> None:
    """Write texts, the times of their words, and ASR output in which some words are missing or replaced. The texts'
    words begin with their version, `a` or `b`."""
    (folder / "labels.txt").write_text(LABELS)
    times, asr = [], []
    for number, length in enumerate(lengths, 1):
        said, at = [], 0.0
        for i in range(length):
            word = f"{folder.name[-1]}{draw.randrange(30)}"
            mark = draw.choice(["", "", "", ",", "."])
            said.append(word + mark)
            pause = 0.4 * bool(mark) + draw.random() / 10
            times.append(f"r{number} 1 {at:.2f} 0.20 {word}\n")
            if i % 9:
                asr.append(f"r{number} 1 {at:.2f} 0.20 {word if i % 7 else 'other'}\n")
            at += 0.2 + pause
        (folder / f"r{number}.txt").write_text(" ".join(said) + "\n")
    (folder / "times.ctm").write_text("".join(times))
    (folder / "asr.ctm").write_text("".join(asr))


def _write_model(folder: Path, name: str, options: dict, version: str) -> None:
    """Write a model with random weights that are large enough for all labels to occur."""
    folder.mkdir()
    (folder / "labels.txt").write_text(LABELS)
    vocabulary = Vocabulary(["<unk>", "</s>", *(f"{version}{i}" for i in range(30))])
    vocabulary.write(folder / "vocab")
    torch.manual_seed(ord(version))
    net = create(name, vocabulary, LabelSet.read(folder / "labels.txt"), options)
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_(std=0.7)
    save(net, folder / "final.pt")


def make_area(place: Path, area: Path, command: Command) -> tuple[str, str]:
    """Make the folder `area`, in which `in` is version b, and `out` was made from version a. Return the `state` of
    `out` before and after a run of the command."""
    area.mkdir()
    for folder in ("data", "exp"):
        shutil.copytree(place / "in_a" / folder, area / folder)
    _turn(place, area, "a")
    run_in(area, *command.before, command.line)
    _turn(place, area, "b")
    if command.fresh:
        shutil.rmtree(area / command.out)
    run_in(area, *command.before)
    done = area.with_name(area.name + ".done")
    shutil.copytree(area, done, symlinks=True)
    run_in(done, command.line)
    states = state(area, command), state(done, command)
    shutil.rmtree(done)
    assert len({*states, "refused"}) == 3 or states[0] == "refused", (command.line, states)
    return states


def run_in(area: Path, *lines: list[str]) -> None:
    with inside(area):
        for line in lines:
            assert run(line) == 0, line


def _turn(place: Path, area: Path, version: str) -> None:
    """Give an area the inputs of a version. `data` stays that of version a; for b, the begin times in times.ctm are
    doubled."""
    (area / "in").unlink(missing_ok=True)
    (area / "in").symlink_to(place / f"in_{version}")
    shutil.rmtree(area / "exp/S")
    shutil.copytree(place / f"in_{version}/exp/S", area / "exp/S")
    times = [line.split(" ") for line in (place / "in_a/times.ctm").read_text().splitlines()]
    slower = 1 + (version == "b")
    (area / "times.ctm").write_text("".join(
        f"{id} 1 {float(begin) * slower:.2f} {length} {word}\n" for id, _, begin, length, word in times))


def state(area: Path, command: Command) -> str:
    """Return `refused` if the reader refuses the output; otherwise, a hash of the output's visible files.

    Of an experiment, only the results are hashed. The reader runs in the directory where the command ran, because the
    output of a job (`--jobs`) stores its input paths as given on the command line. progress.pt does not count: it can
    remain next to a finished model until the next training run. If files are replaced while they are hashed, everything
    is read again.
    """
    out = area / command.out
    while True:
        before = _files(out)
        try:
            with inside(area), contextlib.redirect_stderr(io.StringIO()):
                command.read(Path(command.out))
            digest = hashlib.sha256()
            for file in before:
                digest.update(f"{file.relative_to(out)}\n".encode() + _content(file))
        except InputError:
            return "refused"
        except FileNotFoundError:
            if before == _files(out):
                raise
        if before == _files(out):
            return digest.hexdigest()[:16]


def _files(out: Path) -> dict[Path, tuple[int, int]]:
    """Return the visible files of a directory, with properties that change when a file is replaced."""
    found = {}
    for file in sorted([*out.glob("RESULTS.*"), *out.glob("results/*")] if out.name == "exp" else _visible(out)):
        with contextlib.suppress(FileNotFoundError):
            state = file.stat()
            if stat.S_ISREG(state.st_mode) and not file.name.startswith(".") and file.name != "progress.pt":
                found[file] = state.st_ino, state.st_mtime_ns
    return found


def _visible(out: Path) -> Iterator[Path]:
    """Yield the files below a directory, except those in hidden directories, which are temporary."""
    for folder, inner, names in os.walk(out):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (Path(folder, name) for name in names)


def _content(file: Path) -> bytes:
    """Return the content of a file, except what varies between runs: a model's weights, input paths and times."""
    content = file.read_bytes()
    if file.name in ("conf", "part.json"):
        return b"".join(line for line in content.splitlines() if not line.startswith((b"# ", b"  ")))
    if file.suffix == ".scp":
        return b"".join(line.rpartition(b":")[2] for line in content.splitlines())
    return content if file.suffix != ".pt" else b"model"
