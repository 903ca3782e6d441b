"""Finds the format of a file by its content, and reads it."""

import gc
import importlib
import os
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from graphlib import TopologicalSorter
from types import ModuleType

from punc.asr import formats
from punc.asr.document import Document, read_source
from punc.base.errors import InputError


@lru_cache(1)
def format_modules() -> dict[str, ModuleType]:
    """The formats by name, in the order in which they are tried."""
    found = {module.name: importlib.import_module(f"{formats.__name__}.{module.name}")
             for module in pkgutil.iter_modules(formats.__path__)}
    order = TopologicalSorter({name: module.AFTER for name, module in sorted(found.items())}).static_order()
    return {name: found[name] for name in order}


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection: it would look at millions of objects again and again, and find no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read a file of a recogniser. Raises InputError for a broken one, and for one of no format that is known."""
    source = read_source(path)
    if not source.data.strip():
        raise InputError("the file is empty", "let the recogniser write it again", path)
    for module in format_modules().values():
        if module.recognises(source.data):
            with _no_collection():
                return module.read(source)
    raise InputError("not a format that punc reads", f"give one of {', '.join(format_modules())}", path, 1)
