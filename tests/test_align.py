"""Alignment finds the same distance as plain dynamic programming. Projected labels equal those of a slow loop and of
hand-made examples."""

import tracemalloc
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punc.timing import align
from punc.timing.align import align_streams, align_words, project_labels, project_slots

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def distance(ref, hyp):
    row = list(range(len(hyp) + 1))
    for i, a in enumerate(ref, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(hyp, 1):
            last, row[j] = row[j], min(last + (a != b), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def with_errors(words, errors, n_types, random):
    out = []
    for word in words:
        kind = random.random() / (errors / 3)
        out += [f"w{random.integers(n_types)}"] if kind < 1 else [] if kind < 2 else [word]
        out += [f"w{random.integers(n_types)}"] if 2 < kind < 3 else []
    return out


def text(n_words, n_types, random):
    return [f"w{i}" for i in random.zipf(1.2, n_words) % n_types]


def slow_slots(ref_to_hyp):
    slots, last = [], -1
    for j in ref_to_hyp:
        last = j if j >= 0 else last
        slots.append(last)
    return slots


@given(WORDS, WORDS)
def test_align_words_distance_is_minimum(ref, hyp):
    a = align_words(ref, hyp)
    assert a.distance == distance(ref, hyp)
    pairs = [(i, j) for i, j in enumerate(a.ref_to_hyp.tolist()) if j >= 0]
    assert all(i[1] < j[1] for i, j in pairwise(pairs))
    assert a.distance == len(ref) + len(hyp) - 2 * len(pairs) + sum(ref[i] != hyp[j] for i, j in pairs)
    assert a.n_hyp == len(hyp)
    assert project_slots(a).tolist() == slow_slots(a.ref_to_hyp.tolist())


PAIRED = [  # reference, hypothesis, ref_to_hyp
    ("a b c", "a b c", [0, 1, 2]),
    ("a x c", "a y c", [0, 1, 2]),
    ("a x y c", "a z c", [0, 1, -1, 2]),  # x and z are paired; y has no partner
    ("a x c", "a y z c", [0, 2, 3]),  # x and z are paired; y has no partner
    ("x y", "p q r", [1, 2]),
    ("x y z", "p q", [0, 1, -1]),
    ("a b", "a b p q", [0, 1]),
    ("a b", "p q a b", [2, 3]),
    ("a b x y", "a b", [0, 1, -1, -1]),
    ("x y a b", "a b", [-1, -1, 0, 1]),
    ("", "a b", []),
    ("a b", "", [-1, -1]),
    ("", "", []),
]


@pytest.mark.parametrize(("ref", "hyp", "expected"), PAIRED)
def test_align_words_pairing_rule(ref, hyp, expected):
    assert align_words(ref.split(), hyp.split()).ref_to_hyp.tolist() == expected


@example([(list("ab"), list("ab")), (list("abc"), list("bca")), (list("bca"), list("abc"))])
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_align_streams_is_stream_by_stream(streams):
    numbers = [np.array([ord(word) for pair in streams for word in pair[side]], np.int64) for side in (0, 1)]
    ends = [np.cumsum([len(pair[side]) for pair in streams]).tolist() for side in (0, 1)]
    found, expected, begin = align_streams(*numbers, *ends), [], 0
    for ref, hyp in streams:
        one = align_words(ref, hyp)
        expected += np.where(one.ref_to_hyp < 0, -1, one.ref_to_hyp + begin).tolist()
        begin += len(hyp)
    assert found.ref_to_hyp.tolist() == expected
    assert found.distance == sum(align_words(*pair).distance for pair in streams)


# Labels: 0 no mark, 1 comma, 2 period, 3 question mark. Higher labels are stronger.
PROJECTED = [
    ("a, b.", "a b", "a, b."),
    ("a x, b.", "a y b", "a y, b."),  # x and y are paired, so y gets the mark
    ("a x, b.", "a b", "a, b."),  # x is deleted; its mark moves to the word before it
    ("a x y z? b.", "a b", "a? b."),
    ("a x. y b", "a p b", "a p. b"),  # x is paired, and y is deleted
    ("a x y. b", "a p b", "a p. b"),  # y is deleted; its mark moves to the word before it
    ("a, b", "a p q b", "a, p q b"),  # inserted words come after the mark
    ("a, x. b", "a p q b", "a, p q. b"),  # a mark before a matched word stays before it
    ("a, x. b", "a b", "a. b"),  # of several marks in one slot, the strongest remains
    ("a? x. y, b", "a b", "a? b"),
    ("x, a.", "a", "a."),  # the mark is lost, because there is no word before it
    ("x, y? a.", "b", "b?"),  # b is paired with x; y and a are deleted
    ("a. b.", "", ""),
    ("", "a b", "a b"),
]


@pytest.mark.parametrize(("ref", "hyp", "expected"), PROJECTED)
def test_project_labels_rules(ref, hyp, expected):
    words = [word.rstrip(",.?") for word in ref.split()]
    labels = np.array([" ,.?".index(word[-1]) if word[-1] in ",.?" else 0 for word in ref.split()], np.int8)
    projected = project_labels(align_words(words, hyp.split()), labels)
    assert projected.dtype == np.int8
    assert " ".join(w + ["", ",", ".", "?"][k] for w, k in zip(hyp.split(), projected)) == expected


@given(WORDS, WORDS, st.data())
def test_project_labels_equals_a_loop(ref, hyp, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(ref), max_size=len(ref)))
    a = align_words(ref, hyp)
    expected = [0] * len(hyp)
    for slot, label in zip(slow_slots(a.ref_to_hyp.tolist()), labels):
        if slot >= 0:
            expected[slot] = max(expected[slot], label)
    assert project_labels(a, np.array(labels, np.int64)).tolist() == expected


def test_align_words_ties_depend_on_words_alone():
    random = np.random.default_rng(1)
    ref, hyp = (random.choice(list("ab"), 300).tolist() for _ in range(2))
    first = align_words(ref, hyp).ref_to_hyp
    renamed = [[{"a": "zebra", "b": "ant"}[w] for w in words] for words in (ref, hyp)]
    assert (first == align_words(*renamed).ref_to_hyp).all()


@pytest.fixture
def small_parts(monkeypatch):
    """Lower the limits, so that texts of thousands of words are cut like texts of millions of words."""
    for name, value in {"EXACT": 1000**2, "STRIDE": 80, "SUPPORT": 4, "WINDOW": 400}.items():
        monkeypatch.setattr(align, name, value)


IDS = st.lists(st.integers(0, 3), max_size=30).map(np.array)


@given(IDS, IDS, st.integers(1, 4))
def test_common_ngrams_are_those_that_each_text_has_once(a, b, n):
    grams = [[tuple(ids[i:i + n].tolist()) for i in range(len(ids) - n + 1)] for ids in (a, b)]
    once = [{gram for gram, number in Counter(some).items() if number == 1} for some in grams]
    expected = [(i, grams[1].index(gram)) for i, gram in enumerate(grams[0]) if gram in once[0] & once[1]]
    found = align._common_unique(*(align._ngrams(ids.astype(np.int64), n) for ids in (a, b)))
    assert list(zip(*(part.tolist() for part in found))) == expected


@given(st.permutations(range(8)), st.integers(0, 8))
def test_rising_points_are_as_many_as_can_be(y, count):
    y, x = y[:count], [2 * i + 1 for i in range(count)]
    points = list(zip(x, y))
    longest = max(size for size in range(count + 1) for some in combinations(points, size)
                  if all(p[1] < q[1] for p, q in pairwise(some)))
    found = align._rising(x, y)
    assert len(found) == longest
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(found))
    assert set(found) <= set(points)


def slow_candidates(a, b, n, stride, support):
    """Find the candidates for anchors that `align._anchors` defines, but with a plain loop."""
    found = align._common_unique(align._ngrams(a, n), align._ngrams(b, n))
    points, candidates = list(zip(*(part.tolist() for part in found))), []
    for number in sorted({i // stride for i, _ in points}):
        own = [point for point in points if point[0] // stride == number]
        stretches = []
        for i, j in own:
            if stretches and stretches[-1][-1] == (i - 1, j - 1):
                stretches[-1].append((i, j))
            else:
                stretches.append([(i, j)])
        best = max(stretches, key=len)
        i, j = best[0]
        if sum(abs((q - p) - (j - i)) <= stride // 8 for p, q in own) > support:
            middle = (len(best) + n - 1) // 2
            candidates.append((i + middle, j + middle))
    return candidates


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [3, 4])
def test_anchors_are_in_the_longest_stretches_with_support(seed, n, monkeypatch):
    monkeypatch.setattr(align, "STRIDE", 40)
    monkeypatch.setattr(align, "SUPPORT", 6)
    random = np.random.default_rng(seed)
    ref = text(1500, 60, random)
    hyp = with_errors(ref[:700], 0.3, 60, random) + with_errors(ref[900:], 0.1, 60, random)
    a, b = align.word_numbers(ref, hyp)
    candidates = slow_candidates(a, b, n, 40, 6)
    assert 5 < len(candidates) < 1500 // 40, "some strides have no candidate"
    assert align._anchors(a, b, n) == align._rising(*map(list, zip(*candidates)))


@pytest.mark.parametrize(("moved", "found"), [(5, [(13, 113)]), (6, [])])
def test_support_is_at_nearly_the_same_offset(moved, found, monkeypatch):
    """Offsets that differ by at most an eighth of a stride count as nearly the same."""
    monkeypatch.setattr(align, "STRIDE", 40)
    monkeypatch.setattr(align, "SUPPORT", 10)
    a, b = np.arange(40), np.arange(1000, 1200)
    b[110:117], b[120 + moved:126 + moved], b[127 + moved:131 + moved] = a[10:17], a[20:26], a[27:31]
    assert align._anchors(a, b, 3) == found


def test_anchors_of_texts_without_common_ngrams():
    assert align._anchors(np.arange(9), np.arange(9) + 9, 3) == []


def test_parts_between_anchors_are_cut_again(monkeypatch):
    """Texts are cut first at long n-grams, then at shorter ones, and then by windows."""
    asked = []

    def cut(a, b, n=0):
        asked.append(n)
        return [(len(a) // 2, len(b) // 4)] if n != 3 else [(len(a) // 4, len(b) // 2)]

    monkeypatch.setattr(align, "EXACT", 32 * 8)
    monkeypatch.setattr(align, "_anchors", cut)
    monkeypatch.setattr(align, "_windows", cut)
    parts = list(align._parts(np.zeros(64), np.zeros(32), (6, 3)))
    assert parts == [(0, 32, 0, 8), (32, 40, 8, 20), (40, 52, 20, 23), (52, 64, 23, 32)]
    assert asked == [6, 3, 0]


def test_windows_boundaries(monkeypatch):
    """A window ends in the longest run of equal words that begins in its third quarter. Longer runs elsewhere are
    ignored."""
    monkeypatch.setattr(align, "EXACT", 40 * 40 - 1)
    monkeypatch.setattr(align, "WINDOW", 20)
    ref, hyp = list(range(100, 140)), list(range(200, 240))
    # A window has WINDOW + 1 = 21 words; its third quarter is words 10 to 14, counted from 0.
    for begin, size in ((4, 5), (11, 2), (14, 1), (16, 4)):
        hyp[begin:begin + size] = ref[begin:begin + size]
    assert align._windows(np.array(ref), np.array(hyp)) == [(12, 12)]
    hyp[10:13] = [ref[10], 0, 1]
    assert align._windows(np.array(ref), np.array(hyp)) == [(10, 10)]
    hyp[10:15] = [0, 1, 2, 3, ref[14]]
    assert align._windows(np.array(ref), np.array(hyp)) == [(14, 14)]
    hyp[14:16] = [4, ref[15]]
    assert align._windows(np.array(ref), np.array(hyp)) == [(21, 21)]
    hyp[9:15] = [0, *ref[9:13], 1]  # the stretch begins in the third quarter only in the hypothesis
    assert align._windows(np.array(ref), np.array(hyp)) == [(21, 21)]


@pytest.mark.parametrize("errors", [0.01, 0.15, 0.4])
def test_align_words_cut_at_anchors_is_as_good(errors, monkeypatch, small_parts):
    random = np.random.default_rng(2)
    ref = text(6000, 2000, random)
    hyp = with_errors(ref, errors, 2000, random)
    ids = align.word_numbers(ref, hyp)
    parts = list(align._parts(*ids))
    assert len(parts) > 10
    assert parts[0][::2] == (0, 0)
    assert parts[-1][1::2] == (len(ref), len(hyp))
    assert all(p[1] == q[0] and p[3] == q[2] for p, q in pairwise(parts))
    cut = align_words(ref, hyp).distance
    monkeypatch.setattr(align, "EXACT", 10**10)
    best = align_words(ref, hyp).distance
    assert best <= cut <= best * (1 if errors < 0.4 else 1.002)


def test_align_words_moved_and_missing_parts(small_parts):
    random = np.random.default_rng(3)
    ref = text(8000, 3000, random)
    assert align_words(ref, ref[:2000] + ref[5000:]).distance == 3000
    assert align_words(ref, ref[3000:4000]).distance == 7000
    moved = align_words(ref, ref[6000:] + ref[:6000])
    assert moved.distance <= 4000  # the longer part matches; the shorter part is deleted and inserted


def unrelated(random):
    return text(3000, 500, random), text(2500, 500, random)


def disjoint(random):
    return text(3000, 500, random), ["x" + w for w in text(2500, 500, random)]


def two_words(random):
    return tuple(random.choice(["a", "b"], n, p=[0.9, 0.1]).tolist() for n in (3000, 2500))


def repeated(random):
    part = text(300, 200, random)
    return part * 10, with_errors(part * 10, 0.15, 200, random)


@pytest.mark.parametrize(("make", "margin"), [(unrelated, 1.08), (disjoint, 1.0), (two_words, 1.1), (repeated, 1.01)])
def test_align_words_texts_without_anchors(make, margin, monkeypatch, small_parts):
    ref, hyp = make(np.random.default_rng(4))
    cut = align_words(ref, hyp)
    monkeypatch.setattr(align, "EXACT", 10**10)
    assert cut.distance <= align_words(ref, hyp).distance * margin


@pytest.mark.parametrize(("n_ref", "n_hyp"), [(6000, 2400), (2400, 6000), (4000, 4000)])
def test_windows_keep_the_proportion_of_the_texts(n_ref, n_hyp, small_parts):
    cuts = align._windows(np.arange(n_ref), np.arange(n_hyp) + n_ref)
    r, h = np.diff([(0, 0), *cuts], axis=0).T
    assert len(cuts) > 5
    assert (r * h >= align.WINDOW ** 2 - 1).all()
    assert (r * h <= align.WINDOW ** 2 + r + h).all()  # each side is rounded up by at most 1
    assert (np.abs(r * n_hyp - h * n_ref) <= n_hyp + n_ref).all()
    left = (n_ref - cuts[-1][0]) * (n_hyp - cuts[-1][1])
    assert 0 < left <= align.EXACT < (n_ref - cuts[-2][0]) * (n_hyp - cuts[-2][1])


def test_windows_are_cut_in_equal_words_of_their_third_quarter(small_parts):
    a, b = align.word_numbers(*two_words(np.random.default_rng(6)))
    cuts = align._windows(a, b)
    assert len(cuts) > 5
    for (r0, h0), (r1, h1) in pairwise([(0, 0), *cuts]):
        window = align.WINDOW * ((len(a) - r0) / (len(b) - h0)) ** 0.5  # the window's size in reference words
        assert window // 2 <= r1 - r0 < window * 3 / 4 + 20
        assert a[r1] == b[h1]


def test_align_words_one_word_repeated():
    a = align_words(["a"] * 100_000, ["a"] * 90_000)
    assert ((a.ref_to_hyp >= 0).sum(), a.distance) == (90_000, 10_000)


def test_align_words_memory_is_linear():
    """A table of all word pairs would take 2.5 GB at a byte per pair, or 600 MB at two bits per pair."""
    random = np.random.default_rng(5)
    ref = random.integers(0, 1000, 50_000).astype(str).tolist()
    hyp = random.integers(0, 1000, 50_000).astype(str).tolist()
    tracemalloc.start()
    align_words(ref, hyp)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 * 2**20
