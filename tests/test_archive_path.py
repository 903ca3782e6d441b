"""Paths of archives: what an index cannot have is refused by name, before anything is written."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.archive_path import archive_path
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.timing.pauses import write_pauses


@pytest.mark.parametrize("name", ["a/pauses.ark", "/a b/ä:3/'$(x)' /pauses.ark"])
def test_archive_path_is_as_it_was(name):
    assert archive_path(name) == name


@pytest.mark.parametrize(("name", "said"), [("a|b/x", "it has '|'"), ("|x", "it has '|'"), ("a\nb/x", r"it has '\n'"),
                                            ("a\rb", r"it has '\r'"), (" a/x", "it has ' '"),
                                            ("a\udcff", "it is not UTF-8")])
def test_archive_path_that_cannot_be_read_back(name, said):
    with pytest.raises(InputError) as error:
        archive_path(name)
    assert error.value.what == f"no index can have this name: {said}"


@pytest.mark.parametrize("name", ["a|b", "a\nb"])
def test_data_dir_whose_index_could_not_be_read_is_not_written(tmp_path, name):
    utterance = Utterance("u", "u", ["w"], None, np.array([0.5], np.float32))
    with pytest.raises(InputError, match="no index can have this name"):
        write_data_dir(tmp_path / name, [utterance])
    assert list(tmp_path.iterdir()) == []
    write_data_dir(tmp_path / name, [utterance._replace(pauses=None)])
    with pytest.raises(InputError, match="no index can have this name"):
        write_pauses(tmp_path / name, [("u", np.zeros(1))])
    assert not DataDir(tmp_path / name).has_pauses
