"""Formats are found by content, in any order of files."""

import gc

import pytest
from test_asr_formats import MAKERS

from punc.asr.read import format_modules, read_document
from punc.base.errors import InputError

SEGMENTS = [[("so", 0.5, 1.0), ("it", 1.0, 1.25)], [("begins", 2.0, 2.5)]]


@pytest.mark.parametrize("name", MAKERS)
def test_one_format_knows_a_file(name, tmp_path):
    (tmp_path / "file").write_text(MAKERS[name](SEGMENTS))
    assert read_document(tmp_path / "file").format == name
    assert gc.isenabled()
    modules = format_modules()
    knowing = [other for other, module in modules.items() if module.recognises((tmp_path / "file").read_bytes())]
    assert knowing[0] == name
    assert set(knowing) - {name} <= {after for after in modules if name in modules[after].AFTER}


def test_formats_have_a_docstring_with_their_source():
    for module in format_modules().values():
        assert "Source:" in module.__doc__ or module.__name__.endswith(".text")


@pytest.mark.parametrize(("text", "said"), [("", "the file is empty"), (" \n", "the file is empty"),
                                            ('{"a": 1}', "not a format that punc reads; give one of")])
def test_files_of_no_format(tmp_path, text, said):
    (tmp_path / "file").write_text(text)
    with pytest.raises(InputError, match=said):
        read_document(tmp_path / "file")
