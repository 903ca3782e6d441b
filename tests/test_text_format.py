"""Parts of texts: streams that prefixes begin, the lines of errors, and the words and streams that are counted."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.data.datadir import DataDir, Utterance
from punc.data.labels import Label, LabelSet
from punc.text.abbreviations import MARK, STARTER, Abbreviations
from punc.text.file_parts import FilePart
from punc.text.format import PrepareOptions, load_format
from punc.text.passages import Unreadable
from punc.text.text_format import TextFormat, counted

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",)), Label("PERIOD", "w.", (".",))))


def reader(name="prose", **options):
    return load_format(name)(PrepareOptions(LABELS, **options))


LINES = st.lists(st.sampled_from(["#doc A b", "#doc", "#note x", "#note", "so it", " #doc x", "", " ", "a #note"]),
                 min_size=1, max_size=8)


@given(LINES, st.booleans(), st.sampled_from(["#doc", ""]), st.sampled_from(["#note", ""]))
def test_streams_line_by_line(lines, line_start, document_prefix, skip_prefix):
    """A stream begins at a line that begins with the prefix; the first line may not begin at a beginning."""
    expected, text = [(None, [])], "\n".join(lines)
    for i, line in enumerate(lines):
        if (i or line_start) and skip_prefix and line.startswith(skip_prefix):
            continue
        if (i or line_start) and document_prefix and line.startswith(document_prefix):
            expected.append((line[len(document_prefix):].strip(), []))
        else:
            expected[-1][1].append(line)
    found = reader(document_prefix=document_prefix, skip_prefix=skip_prefix).streams(text, line_start)
    found = [(name, part.split()) for name, part in found]
    expected = [(name, " ".join(some).split()) for name, some in expected]
    assert found == [expected[0], *expected[1:]][bool(len(expected) > 1 and not expected[0][1]):]


@pytest.mark.parametrize(("first", "keep_names", "stream"), [
    (True, False, ""), (True, True, "in"), (False, True, None)])
def test_first_part_of_a_file_begins_its_stream(tmp_path, first, keep_names, stream):
    part = FilePart(str(tmp_path / "in.txt"), 0, b"so it.", True, first)
    passages, repairs = reader(keep_names=keep_names).read_part(part)
    assert [(p.words, p.stream) for p in passages] == [("so it", stream)]
    assert repairs == Counter()


def test_document_at_the_beginning_keeps_its_name(tmp_path):
    part = FilePart(str(tmp_path / "in.txt"), 0, b"#doc A\nso", True, True)
    assert reader(document_prefix="#doc").read_part(part)[0][0].stream == "A"


def test_error_names_the_line_of_the_file(tmp_path):
    content = b"a\nb\nso <sil=x>\n"
    (tmp_path / "in").write_bytes(content)
    for offset, path, where in ((0, "in", "in:3: "), (2, "in", "in:3: "), (4, "in", "in:3: "), (4, "gone", "gone: ")):
        with pytest.raises(InputError, match="'x' is not a pause") as error:
            reader("sil").read_part(FilePart(str(tmp_path / path), offset, content[offset:], True, not offset))
        assert str(error.value).startswith(f"{tmp_path}/{where}")


class Unplaced(TextFormat):
    """A format whose faults are not found in the text."""

    def passages(self, text, line_start, repairs):
        raise Unreadable("a fault", "fix it", "not there")


def test_error_that_is_not_found_is_in_the_first_line():
    with pytest.raises(InputError) as error:
        Unplaced(PrepareOptions(LABELS)).read(b"\n\nso")
    assert (error.value.what, error.value.remedy, error.value.line) == ("a fault", "fix it", 1)


def test_text_begins_with_a_line():
    assert [p.stream for p in reader(document_prefix="#doc").read(b"#doc A\nso")[0]] == ["A"]


NOTES = " ".join(f"[{chr(97 + number)}]" for number in range(20))


@pytest.mark.parametrize("job", [0, 1])
def test_notes_and_dots_are_counted_and_bounded(tmp_path, monkeypatch, job):
    """Of a whole file, and in a share of the work."""
    monkeypatch.setattr("punc.text.examples.MOST", 10)
    (tmp_path / "in").write_text(f", so {NOTES} it is etc.")
    (tmp_path / "out").mkdir()
    prose = reader("prose", abbreviations=Abbreviations({STARTER: ["etc."]}))
    if job:
        counts, numbers = prose.prepare_share([tmp_path / "in"], tmp_path / "out", Share(job, 1))
        assert numbers == 1
    else:
        counts = prose.prepare([tmp_path / "in"], tmp_path / "out" / "new")
    notes = [times for what, times in counts.items() if "square-brackets" in what]
    assert (sum(notes), len(notes) < 20) == (20, True)
    assert counts[f"{MARK}\tetc."] == 1
    assert counts["marks before a first word, dropped"] == 1
    assert (counts["words"], counts["utterances"], counts["streams"]) == (24, 1, 1)


def test_counts_of_utterances():
    pauses = np.array([0.5, np.nan], np.float32)
    given = [Utterance("a-1", "a", ["x", "y"], None, pauses, np.array([True, True])),
             Utterance("a-2", "a", ["z", "z"], None, pauses * 0, np.array([False, True])),
             Utterance("b-1", "b", ["x", "y"], None, pauses[:1].repeat(2), None)]
    counts, repairs = Counter(), Counter()
    assert list(counted(iter(given), counts, repairs)) == given
    assert counts == {"streams": 2, "utterances": 3, "words": 6, "changes of speaker": 3}
    assert repairs == {"words without a pause: unknown there": 2}


@pytest.mark.parametrize("keep_names", [False, True])
def test_shares_have_all_streams_once(tmp_path, keep_names):
    """Each job writes the streams that begin in its files, and says how many numbers their names use."""
    files = [tmp_path / name for name in ("b", "c", "a", "d")]
    for i, file in enumerate(files):
        file.write_text(f", {file.name} so,\n" * (i + 1))
    order = sorted(files) if keep_names else files
    words, numbers, repairs = [], [], Counter()
    for job in range(1, 7):
        part = tmp_path / f"part{job}"
        part.mkdir()
        counts, used = reader("prose", keep_names=keep_names).prepare_share(files, part, Share(job, 6))
        numbers.append(used)
        repairs += counts
        for utterance in DataDir(part).utterances() if (part / "text").exists() else ():
            words += utterance.words
    assert words == [word for file in order for word in file.read_text().replace(",", " ").split()]
    assert sum(numbers) == (0 if keep_names else 4)
    assert repairs == {"streams": 4, "utterances": 4, "words": 20, "marks before a first word, dropped": 4}
