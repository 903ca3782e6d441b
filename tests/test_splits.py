"""Texts to sets: the rule in closed form, properties of random texts and speakers, and corpora that are odd."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.text.splits import MIN_TEXTS, SHARES, share_out, split_texts


def names(number):
    return [f"t{i:04d}" for i in range(number)]


@pytest.mark.parametrize("number", [4, 5, 10, 12, 48, 100, 138])
def test_split_of_equal_texts_is_one_of_ten(number):
    """Of every ten, the first is test and the second dev; every fifth of the others is tree."""
    sets = split_texts(dict.fromkeys(names(number), 7), {}).sets
    train = [name for i, name in enumerate(names(number)) if i % 10 > 1]
    assert sets == {"test_ref": names(number)[::10], "dev": names(number)[1::10], "train": train, "tree": train[::5],
                    "rest": [name for i, name in enumerate(train) if i % 5]}


SIZES = st.lists(st.integers(0, 10_000), min_size=1, max_size=80)


@given(SIZES, st.data())
def test_split_has_each_text_once_and_each_speaker_on_one_side(sizes, data):
    sizes = dict(zip(names(len(sizes)), sizes))
    speakers = {name: data.draw(st.frozensets(st.sampled_from("abcdefghij"), max_size=2)) for name in sizes}
    sets, ignored = split_texts(sizes, speakers)
    assert sorted(name for part in SHARES for name in sets[part]) == list(sizes)
    assert sorted(sets["tree"] + sets["rest"]) == sets["train"]
    of_set = [{speaker for name in sets[part] for speaker in speakers[name]} - ignored for part in SHARES]
    assert sum(map(len, of_set)) == len(set().union(*of_set))
    assert split_texts(sizes, speakers) == (sets, ignored)


@given(st.lists(st.integers(900, 1100), min_size=30, max_size=300))
def test_share_out_is_exact_but_for_a_text(sizes):
    found, total = share_out(sizes, SHARES), sum(sizes)
    for name, share in SHARES.items():
        assert abs(sum(size for size, one in zip(sizes, found) if one == name) - share * total) < 2 * max(sizes)


def test_share_out_is_by_words():
    """Sixteen texts, the first two of which are short: a tenth of the texts would be a twentieth of the words."""
    sizes = [4000, 4500, *[14_000] * 13, 3000]
    found = share_out(sizes, SHARES)
    shares = {name: sum(size for size, one in zip(sizes, found) if one == name) / sum(sizes) for name in SHARES}
    assert 0.08 < shares["test_ref"] < 0.12
    assert 0.08 < shares["dev"] < 0.12


def test_share_out_large_texts_are_training():
    sizes = [50_000, *[500] * 100, 40_000]
    found = share_out(sizes, SHARES)
    assert (found[0], found[-1]) == ("train", "train")
    assert found.count("test_ref") == found.count("dev") == 28  # 14 of 140 thousand words


def test_share_out_no_words():
    assert set(share_out([0] * 4, SHARES)) <= set(SHARES)
    assert share_out([], SHARES) == []
    assert sum(SHARES.values()) == Fraction(1)


def test_split_speakers_of_several_texts():
    """Five readers of ten texts each: whole readers are test and dev."""
    speakers = {name: {f"reader{i // 10}"} for i, name in enumerate(names(50))}
    sets, ignored = split_texts(dict.fromkeys(names(50), 100), speakers)
    assert not ignored
    assert {part: len({*speakers[name]} & {f"reader{i}" for i in range(5)}) for part in SHARES
            for name in sets[part]} == dict.fromkeys(SHARES, 1)
    assert [len(sets[part]) for part in SHARES] == [10, 10, 30]


def test_split_ignores_the_host():
    speakers = {name: {"host", f"guest{i // 2}"} for i, name in enumerate(names(40))}
    sets, ignored = split_texts(dict.fromkeys(names(40), 100), speakers)
    assert ignored == {"host"}
    guests = [{guest for name in sets[part] for guest in speakers[name]} for part in SHARES]
    assert set.intersection(*guests[:2]) == set.intersection(*guests[1:]) == {"host"}


def test_split_one_reader():
    sets, ignored = split_texts(dict.fromkeys(names(MIN_TEXTS), 100), {name: {"me"} for name in names(MIN_TEXTS)})
    assert ignored == {"me"}
    assert [len(sets[part]) for part in SHARES] == [1, 1, 2]


def test_split_one_reader_of_most_texts_is_training():
    speakers = {name: {"me"} for name in names(30)} | {name: {name} for name in names(50)[30:]}
    sets, ignored = split_texts(dict.fromkeys(names(50), 100), speakers)
    assert not ignored
    assert {*names(30)} <= {*sets["train"]}
    assert [len(sets[part]) for part in SHARES] == [5, 5, 40]
