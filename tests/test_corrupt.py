"""Noise in data directories, made by `punc corrupt`, and in stores whose tokens are words, spelled words or pieces."""

from collections import Counter

import numpy as np
import pytest

import punc.noise.store_noise
from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.data.validate import validate
from punc.noise.confusions import Confusions
from punc.noise.store_noise import StoreNoise, blocks
from punc.scoring.project import project
from punc.timing.align import align_words
from punc.tokens.store import Store, make_store

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\n"
CONFUSIONS = Confusions(
    runs=90, slots=Counter(none=800, mark=100), seen=Counter(one=500, two=500), heard=Counter(one=500, won=50, two=450),
    replaced=Counter({("one", ("won",)): 50, ("two", ()): 30, ("two", ("to", "two")): 20}),
    inserted=Counter({("none", ("um",)): 8, ("mark", ("and", "so")): 10}))


@pytest.fixture
def place(tmp_path):
    (tmp_path / "labels.txt").write_text(LABELS)
    CONFUSIONS.write(tmp_path / "confusions.txt")
    rng = np.random.default_rng(1)
    names = ("O", "COMMA", "PERIOD")
    write_data_dir(tmp_path / "in", [
        Utterance(f"{stream}-{i:03}", stream, list(rng.choice(["one", "two", "three"], 30)),
                  [names[k] for k in rng.choice(3, 30, p=(0.8, 0.1, 0.1))], rng.random(30).astype(np.float32))
        for stream in "ab" for i in range(50)])
    return tmp_path


def run(place, *options, out="out"):
    return main(["corrupt", f"--labels={place / 'labels.txt'}", f"--confusions={place / 'confusions.txt'}", *options,
                 f"{place / 'in'}", f"{place / out}"])


def words(path):
    return [word for utterance in DataDir(path).utterances() for word in utterance.words]


def test_corrupt_labels_are_those_of_project(place, capsys):
    assert run(place, "--wer=0.2") == 0
    labels = LabelSet.read(place / "labels.txt")
    done = project(place / "in", place / "out", place / "projected", labels)
    assert (place / "projected" / "punct").read_bytes() == (place / "out" / "punct").read_bytes()
    said = capsys.readouterr().err
    assert f"WER {100 * done.wer:.2f} %" in said
    assert f"{done.moved} moved, {done.merged} merged, {done.lost} lost" in said
    assert done.wer == pytest.approx(0.2, abs=0.04)
    assert done.moved > 5
    assert f": {len(words(place / 'out'))} words, WER" in said
    validate(place / "out", labels)


def test_corrupt_pauses_stay_with_their_words(place):
    assert run(place, "--wer=0.1") == 0
    for (_, before), (_, after) in zip(DataDir(place / "in").streams(), DataDir(place / "out").streams()):
        (old_pauses, old_words), (new_pauses, new_words) = (
            (np.concatenate([u.pauses for u in stream]), [w for u in stream for w in u.words])
            for stream in (before, after))
        assert len(new_pauses) == len(new_words)
        pairs = align_words(old_words, new_words).ref_to_hyp
        paired = pairs >= 0
        same = old_pauses[paired] == new_pauses[pairs[paired]]
        assert same.mean() > 0.85
        # Pauses stay, become unknown, or are added up where words are deleted.
        assert np.isnan(new_pauses).any()
        assert np.nansum(new_pauses) <= old_pauses.sum() + 1e-3


def test_corrupt_same_seed_same_directory(place):
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        assert run(place, f"--seed={seed}", out=name) == 0
    texts = [(place / name / "text").read_bytes() for name in ("one", "two", "three")]
    assert texts[0] == texts[1] != texts[2]


def test_corrupt_without_errors_changes_nothing(place):
    assert run(place, "--wer=0") == 0
    for name in ("text", "punct", "utt2spk", "spk2utt"):
        assert (place / "in" / name).read_bytes() == (place / "out" / name).read_bytes()


def test_corrupt_keeps_segments(place):
    utterances = [line.split()[0] for line in (place / "in" / "text").read_text().splitlines()]
    (place / "in" / "segments").write_text("".join(
        f"{name} call {1000 - i}.0 {1000 - i}.9\n" for i, name in enumerate(utterances)))
    (place / "in" / "wav.scp").write_text("call call.wav\n")
    assert run(place) == 0
    assert (place / "out" / "segments").read_bytes() == (place / "in" / "segments").read_bytes()
    validate(place / "out", LabelSet.read(place / "labels.txt"))


@pytest.mark.parametrize(("options", "message"), [
    (["--wer=1"], "give at least 0 and less than 1"), (["--wer=0.99"], "cannot give a word error rate of 0.99")])
def test_corrupt_impossible_rate_is_an_error(place, capsys, options, message):
    assert run(place, *options) == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1
    assert not (place / "out").exists()


def test_corrupt_needs_labels(place, capsys):
    (place / "in" / "punct").unlink()
    assert run(place) == 1
    assert "in/punct: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(("draws", "share"), [(1, 0.5), (8, 1)])
def test_corrupt_draws_wrong_words_that_fit(tmp_path, draws, share):
    """`red` is heard as `read` or `rat`. Only `read` occurs between `the` and `book`; `rat` occurs alone."""
    (tmp_path / "labels.txt").write_text(LABELS)
    confusions = Confusions(runs=100, seen=Counter(red=1000, the=100000, book=100000), heard=Counter(read=1, rat=1),
                            replaced=Counter({("red", ("read",)): 200, ("red", ("rat",)): 200}))
    confusions.write(tmp_path / "confusions.txt")
    text = ["the red book"] * 1000 + ["rat", "the read book"]
    write_data_dir(tmp_path / "in", [Utterance(f"u{i:04}", f"s{i:04}", line.split(), ["O"] * len(line.split()), None)
                                     for i, line in enumerate(text)])
    assert run(tmp_path, "--wer=0.1", f"--draws={draws}") == 0
    heard = Counter(words(tmp_path / "out"))
    assert heard["read"] + heard["rat"] > 40
    assert heard["read"] / (heard["read"] + heard["rat"]) == pytest.approx(share, abs=0.1)


WORDS = ["one", "two", "three", "four", "five", "rare"]
TABLE = Confusions(
    runs=190, slots=Counter(none=1600, mark=200), seen=Counter(one=1000, two=1000, three=50),
    heard=Counter(one=900, two=900, won=100, tree=9),
    replaced=Counter({("one", ("won",)): 100, ("two", ()): 50, ("two", ("to", "two")): 50, ("three", ("tree",)): 9}),
    inserted=Counter({("none", ("um",)): 16, ("mark", ("and", "so")): 20}))


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("stores"), np.random.default_rng(3)
    (place / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n")
    TABLE.write(place / "c")
    names = ("O", "COMMA", "PERIOD")
    write_data_dir(place / "train", [
        Utterance(f"s{i:04}", f"s{i:04}", list(rng.choice(WORDS, n, p=(.3, .3, .2, .1, .09, .01))),
                  [names[k] for k in rng.choice(3, n, p=(.8, .1, .1))], rng.random(n).astype(np.float32))
        for i, n in enumerate(rng.integers(1, 60, 200))])
    for kind, options in (("word", {"min_count": 100}), ("spelled", {"min_count": 100}), ("char", {}),
                          ("subword", {"vocab_size": 25})):
        make_store(place / kind, [place / "train"], place / "labels.txt", token_type=kind, nj=1, **options)
    return place


def noisy(stores, kind, wer=0.2, seed=1):
    store = Store(stores / kind)
    data = store.set("train")
    return store, data, StoreNoise(data, store, stores / "c", wer).draw(seed)


def streams(store, data):
    """Return the streams of a set as lists of (word, label, pause)."""
    found = []
    for begin, end in zip(data.offsets, data.offsets[1:]):
        words, current = [], []
        for i in range(begin, end):
            current.append(store.vocabulary.tokens[data.ids[i]])
            if data.labels[i] >= 0:
                words.append(("".join(current), int(data.labels[i]), float(data.pauses[i])))
                current = []
        assert not current
        found.append(words)
    return found


@pytest.mark.parametrize("kind", ["word", "spelled", "subword"])
def test_store_noise_streams_keep_their_place(stores, kind, capsys):
    store, data, drawn = noisy(stores, kind)
    assert len(drawn.offsets) == len(data.offsets)
    assert drawn.offsets[-1] == len(drawn.ids) == len(drawn.labels) == len(drawn.pauses)
    before, after = streams(store, data), streams(store, drawn)
    assert all(after)
    said = capsys.readouterr().err
    assert f": {sum(map(len, after)):,} words, WER" in said
    wer = float(said.split("WER ")[1].split()[0])
    assert wer == pytest.approx(20, abs=4)
    same = sum(a[0][0] == b[0][0] for a, b in zip(before, after))
    assert len(before) * 0.6 < same < len(before)
    assert sum(before[i] == after[i] for i in range(len(before))) < len(before)


@pytest.mark.parametrize(("kind", "won", "tree"), [
    ("word", "<unk>", "<unk>"), ("spelled", "<char>w<char>o<char>n<unk>", "<char>t<char>r<char>e<char>e<unk>")])
def test_store_noise_words_outside_the_vocabulary(stores, kind, won, tree):
    store, data, drawn = noisy(stores, kind)
    before, after = (Counter(word for stream in streams(store, d) for word, *_ in stream) for d in (data, drawn))
    if "<char>w" not in store.vocabulary.tokens:
        won = won.replace("<char>w", "<char>")
    assert after[won] > before[won]
    assert after["one"] < before["one"]
    if kind == "spelled":
        assert before["<char>r<char>a<char>r<char>e<unk>"] > after["<char>r<char>a<char>r<char>e<unk>"] / 2 > 0


def test_store_noise_same_seed_same_bytes_other_seed_others(stores):
    one, two, three = (noisy(stores, "word", seed=seed)[2] for seed in (1, 1, 2))
    for name in ("ids", "labels", "pauses", "offsets"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert one.ids.tobytes() != three.ids.tobytes()


def test_store_noise_labels_are_those_of_the_words_before_them(stores):
    """Errors in words delete few marks and add none. The highest label of a stream does not rise."""
    store, data, drawn = noisy(stores, "word", wer=0.05)
    before, after = streams(store, data), streams(store, drawn)
    assert sum(map(len, after)) != sum(map(len, before))
    marks = [sum(label > 0 for stream in s for _, label, _ in stream) for s in (before, after)]
    assert marks[0] * 0.97 < marks[1] <= marks[0]
    for a, b in zip(before, after):
        if a == b:
            continue
        assert max(label for _, label, _ in b) <= max(label for _, label, _ in a)


def test_blocks_cut_between_words(stores):
    data = Store(stores / "subword").set("train")
    whole = list(blocks(data))
    assert len(whole) == 1
    parts = list(blocks(data, 50))
    assert len(parts) > 10
    assert np.array_equal(np.concatenate([b.ids for b in parts]), data.ids)
    assert np.array_equal(np.concatenate([b.labels for b in parts]), data.labels[data.labels >= 0])
    words = np.cumsum([0, *(len(b.ends) for b in parts)])
    starts = np.concatenate([w + b.streams for w, b in zip(words, parts)])
    assert np.array_equal(starts, whole[0].streams)
    assert len(starts) == len(data.offsets) - 1
    assert all(b.first[0] and b.first.sum() <= len(b.streams) + 1 for b in parts)


def test_store_noise_refuses_characters(stores):
    with pytest.raises(InputError, match="ASR noise does not work with tokens of type 'char'"):
        noisy(stores, "char")


def test_share_of_the_text_has_errors(stores, monkeypatch):
    """Streams in error-free stretches do not change; most of the other streams do."""
    monkeypatch.setattr(punc.noise.store_noise, "STRETCH", 50)
    store = Store(stores / "word")
    data = store.set("train")
    noise = StoreNoise(data, store, stores / "c", 0.2, 0.4)
    clean, drawn = noise._clean(len(data.ids), (1, 0, 1)), noise.draw(1)
    inside = [bool(part.all()) for part in np.split(clean, data.offsets[1:-1])]
    same = [one.tolist() == other.tolist() for one, other in
            zip(np.split(np.array(data.ids), data.offsets[1:-1]), np.split(np.array(drawn.ids), drawn.offsets[1:-1]))]
    assert sum(inside) > 50
    assert all(one for one, within in zip(same, inside) if within)
    assert np.mean([one for one, within in zip(same, inside) if not within]) < 0.2
    assert abs(np.mean(clean) - 0.6) < 0.1


def test_stretches_without_errors_are_whole(stores):
    store = Store(stores / "word")
    data = store.set("train")
    clean = StoreNoise(data, store, stores / "c", 0.2, 0.3)._clean(1000 * 1024 + 1, (1,))
    stretches = clean[:-1].reshape(-1, 1024)
    assert (stretches.all(1) == stretches.any(1)).all()
    assert abs(stretches.mean() - 0.7) < 0.05
    assert StoreNoise(data, store, stores / "c", 0.2)._clean(10, (1,)) is None
