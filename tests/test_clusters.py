"""Files of Brown clusters."""

import pytest

from punc.base.errors import InputError
from punc.models.word_crf.clusters import read_clusters


def test_read_clusters_liang_format(tmp_path):
    (tmp_path / "paths").write_text("00\tthe\t12\n010\tcafé\t3\n1\t.\t7\n", encoding="utf-8")
    assert read_clusters(tmp_path / "paths") == {"the": "00", "café": "010", ".": "1"}


@pytest.mark.parametrize(("text", "message"), [
    ("00\tthe\t12\n0 a 3\n", "FILE:2: not BITS<TAB>WORD<TAB>COUNT; use the file `paths` that Liang's wcluster writes"),
    ("02\tthe\t12\n", "FILE:1: not BITS<TAB>WORD<TAB>COUNT; use the file `paths` that Liang's wcluster writes"),
    ("00\tthe\tx\n", "FILE:1: not BITS<TAB>WORD<TAB>COUNT; use the file `paths` that Liang's wcluster writes"),
    ("00\t\t1\n", "FILE:1: not BITS<TAB>WORD<TAB>COUNT; use the file `paths` that Liang's wcluster writes"),
    ("00\ta\t1\n01\ta\t1\n", "FILE:2: 'a' is here twice; remove one of its lines"),
    ("", "FILE: the file is empty; make it again, or name another one")])
def test_read_clusters_invalid_files(text, message, tmp_path):
    path = tmp_path / "paths"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_clusters(path)
    assert str(error.value).replace(str(path), "FILE") == message
