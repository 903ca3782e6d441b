"""Blocks of lines cover every table, and a block contains the same utterances in all tables."""


import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.block_reader import Irregular, encode_block, encode_by_time, explain, line_blocks, merge_runs
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import Label, LabelSet
from punc.tokens.tokenizers.char import CharTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import Vocabulary


def write(path, **tables):
    path.mkdir(exist_ok=True)
    for name, content in tables.items():
        (path / name).write_bytes(content.encode())
    return DataDir(path)


def bytes_at(path, span):
    return path.read_bytes()[span[0]:span[0] + span[1]]


@given(lines=st.lists(st.integers(0, 30), min_size=1, max_size=30), size=st.integers(1, 100), end=st.booleans())
def test_line_blocks_cover_tables_with_equal_lines(tmp_path_factory, lines, size, end):
    path, last = tmp_path_factory.mktemp("d"), "\n" if end else ""
    text = "\n".join(f"u{i:02d}" + " w" * n for i, n in enumerate(lines)) + last
    speakers = "\n".join(f"u{i:02d} speaker" for i in range(len(lines))) + last
    data = write(path, text=text, utt2spk=speakers)
    found = list(line_blocks(data, ["text", "utt2spk"], size))
    assert b"".join(bytes_at(path / "text", b.spans["text"]) for b in found) == text.encode()
    assert b"".join(bytes_at(path / "utt2spk", b.spans["utt2spk"]) for b in found) == speakers.encode()
    line = 1
    for block in found:
        assert block.line == line
        parts = [bytes_at(path / name, block.spans[name]).decode().splitlines() for name in ("text", "utt2spk")]
        assert [l.split()[0] for l in parts[0]] == [l.split()[0] for l in parts[1]]
        assert len(b"".join(l.encode() + b"\n" for l in parts[0][:-1])) < size
        assert block.spans["text"][1] >= size or block is found[-1]
        line += len(parts[0])


def test_line_blocks_lines_longer_than_what_is_read_at_once(tmp_path):
    """The second table, `punct`, has lines of up to 1.2 million letters, but only 1 MiB is read at a time."""
    lengths = [400_000, 1_048_570, 1_200_000, 5, 900_000, 700_000, 3]
    data = write(tmp_path / "d", text="".join(f"u{i} x\n" for i in range(7)), utt2spk="",
                 punct="".join(f"u{i} " + "O" * n + "\n" for i, n in enumerate(lengths)))
    for size, sizes in ((1, [n + 4 for n in lengths]), (11, [sum(lengths[i:i + 3]) + 12 for i in (0, 3)] + [7])):
        assert [block.spans["punct"][1] for block in line_blocks(data, ["text", "punct"], size)] == sizes


WORDS_TOKENIZER = WordTokenizer(Vocabulary(["<unk>", "</s>", "x", "yy", "zzz"]))
WORDS = WORDS_TOKENIZER.encode


TOKENIZERS = [WordTokenizer(Vocabulary(["<unk>", "</s>", "x", "yy"])),
              CharTokenizer(Vocabulary(["<unk>", "</s>", "<space>", "x", "y"]))]
LABELS = LabelSet((Label("O", "w"), Label("P", "w.")))
CLASSES = {name: number for number, name in enumerate(LABELS.names)}
TABLES = ["text", "utt2spk", "punct", "pauses.scp", "turns"]
rows = st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(["x", "yy", "zé"]), max_size=4)), min_size=1,
                max_size=6)


def write_rows(path, rows, tables, blank=" "):
    utterances = []
    for i, (stream, words) in enumerate(sorted(rows, key=lambda row: row[0])):
        numbers = np.arange(len(words)) + i
        utterances.append(Utterance(f"{stream}-{i}", stream, words, ["OP"[n % 2] for n in numbers],
                                    np.where(numbers % 3, numbers, np.nan).astype(np.float32), numbers % 3 == 1))
    write_data_dir(path, utterances)
    for name in TABLES:
        if name in tables:
            (path / name).write_text((path / name).read_text(encoding="utf-8").replace(" ", blank), encoding="utf-8")
        else:
            (path / name).unlink()
    return DataDir(path)


def encoded_by_hand(data, tokenizer):
    ids, labels, pauses, turns, streams, lost, number = [], [], [], [], [], 0, 0
    utterances = list(data.utterances())
    for utterance in utterances:
        encoding = tokenizer.encode(utterance.words)
        ids += encoding.ids.tolist()
        at = {int(slot): i for i, slot in enumerate(encoding.slots)}
        for token in range(len(encoding.ids)):
            i = at.get(token)
            labels.append(-1 if i is None else LABELS.index((utterance.labels or ["O"] * (i + 1))[i]))
            pauses.append(np.nan if i is None or utterance.pauses is None else utterance.pauses[i])
            turns.append(i is not None and utterance.turns is not None and bool(utterance.turns[i]))
        streams.append((utterance.stream, len(encoding.ids)))
        lost, number = lost + encoding.lost, number + len(utterance.words)
    return (ids, labels if data.has_labels else None, pauses if data.has_pauses else None,
            merge_runs(streams), utterances[0].id, utterances[-1].id, number, lost, turns if data.has_turns else None)


def joined(parts):
    parts = list(parts)
    arrays = [None if parts[0][i] is None else [n for part in parts for n in part[i].tolist()] for i in (0, 1, 2, 8)]
    streams = merge_runs([run for part in parts for run in part.streams])
    return (*arrays[:3], streams, parts[0].first, parts[-1].last, sum(part.words for part in parts),
            sum(part.lost for part in parts), arrays[3])


@settings(max_examples=30, deadline=None)
@given(rows, st.sets(st.sampled_from(TABLES[2:])), st.sampled_from(TOKENIZERS), st.integers(1, 60),
       st.sampled_from([" ", "\t", "  "]))
def test_encode_block_equals_the_utterances(tmp_path_factory, rows, more, tokenizer, size, blank):
    data = write_rows(tmp_path_factory.mktemp("d"), rows, {"text", "utt2spk", *more}, blank)
    found = joined(encode_block(data.path, tokenizer.encode, CLASSES, block)
                   for block in line_blocks(data, data.tables, size))
    np.testing.assert_equal(found, encoded_by_hand(data, tokenizer))


@settings(max_examples=30, deadline=None)
@given(rows, st.sets(st.sampled_from(TABLES[2:])), st.sampled_from(TOKENIZERS), st.integers(1, 4), st.randoms())
def test_encode_by_time_equals_the_utterances(tmp_path_factory, rows, more, tokenizer, batch, random):
    data = write_rows(tmp_path_factory.mktemp("d"), rows, {"text", "utt2spk", *more})
    keys = [row["text"].key for row in data.rows()]
    write(data.path, segments="".join(f"{key} r{random.randrange(2)} {random.randrange(9)} 9.5\n" for key in keys))
    data = DataDir(data.path)
    found = joined(encode_by_time(data, tokenizer.encode, CLASSES, batch))
    np.testing.assert_equal(found, encoded_by_hand(data, tokenizer))
    assert len(list(encode_by_time(data, tokenizer.encode, CLASSES))) == 1


@pytest.mark.parametrize("size", [1, 1000])
def test_encode_block_pause_that_cannot_be_read_names_its_line(tmp_path, size):
    data = write_rows(tmp_path / "d", [("a", ["x"]), ("b", ["x"]), ("c", ["x"])], TABLES)
    scp = (data.path / "pauses.scp").read_text()
    (data.path / "pauses.scp").write_text(scp[:scp.rindex(":")] + ":9999\n")
    with pytest.raises(InputError) as error:
        [encode_block(data.path, WORDS, CLASSES, block) for block in line_blocks(data, data.tables, size)]
    assert (error.value.file.name, error.value.line) == ("pauses.scp", 3)


EDITS = {
    "remove": lambda line: b"", "twice": lambda line: line * 2, "more": lambda line: line[:-1] + b" 1\n",
    "less": lambda line: line.rpartition(b" ")[0] + b"\n", "key": lambda line: b" " + line,
    "other": lambda line: line.replace(b" ", b"~ ", 1), "bytes": lambda line: b"\xff" + line,
    "label": lambda line: line.replace(b"P", b"Q"), "flag": lambda line: line.replace(b"1\n", b"2\n"),
    "speaker": lambda line: line.replace(b" b", b" B"), "return": lambda line: line[:-1] + b"\r\n",
    "blanks": lambda line: line[:-1] + b" \t\n", "after": lambda line: b"z" + line, "nothing": lambda line: line}


@settings(max_examples=80, deadline=None)
@given(rows, st.sets(st.sampled_from(TABLES[2:])), st.sampled_from(TABLES),
       st.sampled_from([*EDITS]), st.integers(0, 9))
def test_encode_block_refuses_what_datadir_refuses(tmp_path_factory, rows, more, name, edit, i):
    """If a line is changed, DataDir and `encode_block` both read the tables, or both refuse them. `explain` gives
    DataDir's error."""
    data = write_rows(tmp_path_factory.mktemp("d"), rows, {"text", "utt2spk", *more})
    if name not in data.tables:
        return
    lines = (data.path / name).read_bytes().splitlines(keepends=True)
    lines[i % len(lines)] = EDITS[edit](lines[i % len(lines)])
    (data.path / name).write_bytes(b"".join(lines))
    try:
        wrong = next((u for u in data.utterances() if u.labels and "Q" in u.labels), None)
        expected = "label 'Q' is not in the label set" if wrong else None
    except InputError as error:
        expected = str(error)
    if expected is None:
        (block,) = line_blocks(data, data.tables, 1000)
        found = joined([encode_block(data.path, WORDS, CLASSES, block)])
        np.testing.assert_equal(found, encoded_by_hand(data, WORDS_TOKENIZER))
        return
    with pytest.raises((Irregular, InputError)):  # noqa: PT012 (either may raise)
        for block in line_blocks(data, data.tables, 1000):
            encode_block(data.path, WORDS, CLASSES, block)
        raise Irregular if not b"".join(lines) else AssertionError(expected)  # a text without lines has no blocks
    assert expected in str(explain(data, LABELS))


def test_encode_block_refuses_pauses_of_other_utterances(tmp_path):
    data = write_rows(tmp_path / "d", [("a", ["x"]), ("b", ["x", "x"])], TABLES)
    one, two = (line.split()[1] for line in (data.path / "pauses.scp").read_text().splitlines())
    write(data.path, **{"pauses.scp": f"a-0 {two}\nb-1 {one}\n"})
    with pytest.raises(Irregular):
        encode_block(data.path, WORDS, CLASSES, next(line_blocks(data, data.tables, 100)))


def test_explain_finds_the_error(tmp_path):
    tables = {"text": "a x\nb x\n", "utt2spk": "a a\nb b\n", "punct": "a P\nb Q\n"}
    data = write(tmp_path / "d", **tables)
    assert str(explain(data, LABELS)) == (f"{tmp_path}/d/punct:2: label 'Q' is not in the label set; it has O P")
    changed = f"{tmp_path}/d: changed while it was read; run the command again"
    assert str(explain(data)) == changed
    assert str(explain(DataDir(data.path, ignore=["punct"]), LABELS)) == changed
    assert str(explain(write(data.path, punct="a P\nb P\n"), LABELS)) == changed
    assert "text:2: 'a' occurs twice" in str(explain(write(data.path, text="a x\na x\n")))
