"""utils/align_audio.sh: the command line, the input and output of each aligner, and alignment by pocketsphinx."""

import os
import shutil
import subprocess
import sys
import wave
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir

sys.path.insert(0, str(Path(__file__).parents[1] / "utils"))

import align_pocketsphinx
from speech import read_wav

UTILS = Path(__file__).parents[1] / "utils"
TEXTS = {"a": "so it begins as it must", "b": "does it end"}
needs_speech = pytest.mark.skipif(not (find_spec("pocketsphinx") and shutil.which("flite")),
                                  reason="pocketsphinx and flite are extras")
SILENCE = np.zeros(1600, np.int16)
GRID = """File type = "ooTextFile"
Object class = "TextGrid"

0
{end}
<exists>
1
"IntervalTier"
"words"
0
{end}
{count}
"""


def write_wav(path, samples=SILENCE, rate=16000, channels=1):
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.tobytes())


@pytest.fixture
def place(tmp_path):
    """Make the directories wav, data (utterances of three words) and bin, which comes first on PATH."""
    (tmp_path / "wav").mkdir()
    (tmp_path / "bin").mkdir()
    rows = []
    for name, text in TEXTS.items():
        write_wav(tmp_path / f"wav/{name}.wav")
        words = text.split()
        rows += [Utterance(f"{name}-{i}", name, words[i:i + 3], ["O"] * 3) for i in range(0, len(words), 3)]
    write_data_dir(tmp_path / "data", rows)
    return tmp_path


def align(place, *options):
    path = os.pathsep.join([str(place / "bin"), str(Path(sys.executable).parent), str(UTILS), os.environ["PATH"]])
    return subprocess.run(["bash", UTILS / "align_audio.sh", *options, "wav", "out", "data"], cwd=place, text=True,
                          capture_output=True, timeout=300, env={**os.environ, "PATH": path})


def fake(path, body):
    """Make a program that appends its arguments to the file `{path}.args`, and then runs the Python code `body`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport json, sys\nfrom pathlib import Path\nargs = sys.argv[1:]\n"
                    f"open({str(path) + '.args'!r}, 'a').write(' '.join(args) + '\\n')\n{body}\n")
    path.chmod(0o755)


def pauses(place, capsys):
    assert main(["pauses", str(place / "data"), str(place / "out/times")]) == 0
    return [pause for one in DataDir(place / "data").utterances() for pause in one.pauses[:-1].tolist()], \
        capsys.readouterr().err


def test_align_mfa(place, capsys):
    fake(place / "bin/mfa", f"""
for file in Path(args[4]).glob("*.txt"):
    words = file.read_text().split()
    rows = [f'{{i}}\\n{{i + 0.5}}\\n"{{word}}"\\n{{i + 0.5}}\\n{{i + 1}}\\n""' for i, word in enumerate(words)]
    (Path(args[7]) / f"{{file.stem}}.TextGrid").write_text({GRID!r}.format(end=len(words), count=2 * len(words)) +
                                                        "\\n".join(rows) + "\\n")
""")
    done = align(place, "--aligner", "mfa", "--dictionary", "mine.dict", "--nj", "3")
    assert done.returncode == 0, done.stderr
    corpus = place / "out/corpus"
    assert (place / "bin/mfa.args").read_text() == (
        f"align --clean --num_jobs 3 {corpus} mine.dict english_us_arpa {place}/out/times\n")
    assert {path.stem: " ".join(path.read_text().split()) for path in corpus.glob("*.txt")} == TEXTS
    assert (corpus / "a.wav").resolve() == place / "wav/a.wav"
    found, message = pauses(place, capsys)
    assert found == [0.5] * 6
    assert "9 slots, 9 known, 0 unknown, 0.0%" in message


def test_align_gentle_of_what_has_changed(place, capsys):
    fake(place / "bin/curl", """
words = Path(args[args.index("-F", 2) + 1].partition("=@")[2]).read_text().split()
Path(args[args.index("-o") + 1]).write_text(json.dumps({"words": [
    {"word": word, "case": "success", "start": i, "end": i + 0.75} for i, word in enumerate(words)]}))
""")
    for _ in range(2):  # the second run has nothing to do
        assert align(place, "--aligner", "gentle", "--gentle", "http://host:1").returncode == 0
    lines = (place / "bin/curl.args").read_text().splitlines()
    assert lines == [f"-fsS -F audio=@{place}/out/corpus/{name}.wav -F transcript=@{place}/out/corpus/{name}.txt "
                     f"http://host:1/transcriptions?async=false -o {place}/out/times/{name}.json.new" for name in TEXTS]
    assert pauses(place, capsys)[0] == [0.25] * 6
    write_data_dir(place / "data", [Utterance("a-1", "a", ["other", "words"], ["O", "O"])])
    assert align(place, "--aligner", "gentle").returncode == 0
    assert len((place / "bin/curl.args").read_text().splitlines()) == 3


def test_align_kaldi(place, capsys):
    steps = place / "s5/steps"
    for script in ("make_mfcc.sh", "compute_cmvn_stats.sh", "align_si.sh"):
        fake(steps / script, "")
    fake(steps / "get_train_ctm.sh", """
Path(args[2]).mkdir(parents=True)
with open(Path(args[2]) / "ctm", "w") as file:
    for line in open(Path(args[0]) / "text"):
        name, *words = line.split()
        for i, word in enumerate(words):
            print(f"{name} 1 {i:.3f} 0.500 {word} ", file=file)
""")
    (place / "s5/path.sh").write_text("")
    done = align(place, "--aligner", "kaldi", "--kaldi", "s5", "--acoustic-model", "exp/tri3b", "--uppercase", "true")
    assert done.returncode == 0, done.stderr
    data, ali = place / "out/kaldi/data", place / "out/kaldi/ali"
    assert (steps / "align_si.sh.args").read_text() == f"--nj 1 {data} data/lang exp/tri3b {ali}\n"
    assert (steps / "get_train_ctm.sh.args").read_text() == f"{data} data/lang {ali}\n"
    assert (data / "text").read_text().split("\n")[0].split() == ["a", *TEXTS["a"].upper().split()]
    assert (data / "wav.scp").read_text() == "".join(f"{name} {place}/out/corpus/{name}.wav\n" for name in TEXTS)
    assert pauses(place, capsys)[0] == [0.5] * 6
    fake(steps / "align_si.sh", "sys.exit(3)")
    done = align(place, "--aligner", "kaldi", "--kaldi", "s5", "--acoustic-model", "exp/tri3b")
    assert (done.returncode, done.stderr.splitlines()[-1].endswith("Kaldi failed; its log is in "
            f"{place}/out/log/align.log")) == (1, True)


@needs_speech
def test_align_pocketsphinx(place, capsys):
    long = ["the", "boat", "leaves", "at", "noon", "from", "the", "pier", "behind", "the", "old", "mill", "and",
            "never", "comes", "back", "before", "night"]
    write_data_dir(place / "data", [Utterance("a-1", "a", TEXTS["a"].split(), ["O"] * 6),
                                    Utterance("b-1", "b", long, ["O"] * len(long))])
    for name, text in (("a", TEXTS["a"]), ("b", "good morning")):
        subprocess.run(["flite", "-voice", "slt", "-t", text, "-o", place / f"wav/{name}.wav"], check=True)
    done = align(place)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("b: 18 words in the text, ")
    words = [line.split()[4] for line in (place / "out/times/a.ctm").read_text().splitlines()]
    assert words == TEXTS["a"].split()
    _, message = pauses(place, capsys)
    assert "streams with times for less than half of their words, kept with unknown pauses: 'b'\n" in message
    before = {path: path.stat().st_mtime_ns for path in (place / "out/times").iterdir()}
    assert align(place).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (place / "out/times").iterdir()} == before


def test_cut_at_the_quietest_place():
    samples = np.full(align_pocketsphinx.LONGEST, 1000, np.int16)
    samples[400_000:406_400] = 1
    assert 401_599 <= align_pocketsphinx.cut(samples) <= 404_800

    class Stub:
        def recognise(self, part):
            return [len(part)]

    parts = list(align_pocketsphinx.recognise(Stub(), np.concatenate([samples, samples])))
    assert parts[0][0] == 0
    assert all(begin + length[0] == other for (begin, length), (other, _) in pairwise(parts))
    assert parts[-1][0] + parts[-1][1][0] == 2 * len(samples)


@pytest.mark.parametrize(("options", "message"), [
    (("--aligner", "own"), "--aligner own: choose pocketsphinx, mfa, gentle or kaldi"),
    (("--aligner", "kaldi"), "--kaldi '': no steps/align_si.sh there; name a recipe of Kaldi"),
    (("--aligner", "mfa"), "no mfa; conda create -n mfa -c conda-forge montreal-forced-aligner, then ")])
def test_align_mistake_is_one_line(place, options, message):
    done = align(place, *options)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_align_without_recordings(place):
    os.remove(place / "wav/a.wav")
    fake(place / "bin/mfa", "")
    assert "no recording of 1 texts: a\n" in align(place, "--aligner", "mfa").stderr
    shutil.rmtree(place / "out")
    os.remove(place / "wav/b.wav")
    done = align(place, "--aligner", "mfa")
    assert done.returncode == 1
    assert "no recording of these texts; give each recording the name of its text, NAME.wav\n" in done.stderr


@pytest.mark.parametrize(("make", "message"), [
    (lambda path: path.write_text("RIFF"), "not a WAV file: "),
    (lambda path: write_wav(path, rate=8000),
     "8000 Hz, 16 bit and 1 channels, not 16000 Hz, 16 bit and one; convert it: "
     "sox talk.wav -r 16000 -b 16 -c 1 new/talk.wav"),
    (lambda path: write_wav(path, channels=2), "16000 Hz, 16 bit and 2 channels")])
def test_read_wav_mistake(tmp_path, make, message):
    make(tmp_path / "talk.wav")
    with pytest.raises(InputError) as error:
        read_wav(tmp_path / "talk.wav")
    assert message in str(error.value)
