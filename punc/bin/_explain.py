"""Describes any error in one line: what is wrong and what to do."""

import contextlib
import errno
import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from punc import __version__
from punc.base.errors import InputError, one_line
from punc.base.options import with_options

ERRNO = {
    errno.ENOSPC: ("no space left on the disk", "free some space, or write to another disk"),
    errno.EDQUOT: ("your quota on the disk is used up", "remove some files, or write to another disk"),
    errno.EFBIG: ("the file would be larger than allowed", "raise the limit: ulimit -f unlimited"),
    errno.EMFILE: ("too many open files", "raise the limit: ulimit -n 4096"),
    errno.ENOMEM: ("not enough memory", "use fewer processes (--nj), or another machine"),
    errno.EACCES: ("permission denied", "change the permissions, or give another file"),
    errno.EPERM: ("not permitted", "change the owner or the permissions, or give another file"),
    errno.EROFS: ("the file system is read-only", "give a file on another file system"),
}
EXTRAS = {  # a package that some commands need → the extra of pyproject.toml that installs it
    "torch": "train", "onnx": "onnx", "transformers": "encoder", "tokenizers": "encoder", "safetensors": "encoder",
    "starlette": "serve", "uvicorn": "serve", "websockets": "serve", "sklearn": "tree", "pycrfsuite": "crf",
    "matplotlib": "plot", "jinja2": "report", "scipy": "report", "gensim": "vectors", "pocketsphinx": "speech",
}
IN_SETUP = ("train", "onnx", "tree", "plot", "report")  # extras that utils/setup.sh --train installs
OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "cannot allocate memory",
                 "failed to map segment")  # parts of the error messages of PyTorch and of the shared-library loader
STREAMS = {"stdin": "input", "stdout": "output"}


def explain(error: Exception, command: Sequence[str], closed: Sequence[str] = ()) -> str:
    """Describe an error in one line. For an internal error, the line names a file with the traceback."""
    if isinstance(error, InputError):
        return with_options(error)
    out_of_memory = any(text in str(error).lower() for text in OUT_OF_MEMORY)
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError | ImportError) and out_of_memory):
        return "not enough memory; use fewer processes (--nj), smaller batches (--batch-size), or another machine"
    if isinstance(error, OSError):
        return one_line(_explain_os(error, closed))
    if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
        return f"the package {error.name} is not installed; {_install(EXTRAS[error.name])}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    what = one_line(f"{type(error).__name__}: {error}", 300).rstrip(": ")
    return one_line(f"an internal error, {what}{place}; report it with {_write_log(error, command)}")


def _install(extra: str) -> str:
    """Return the command that installs an extra. If punc runs from a checkout, the command installs that checkout with
    the extra."""
    root = Path(__file__).parents[2]
    if not (root / "constraints.txt").is_file():
        return f"pip install 'punc-toolkit[{extra}]'"
    if extra in IN_SETUP:
        return f"bash {root}/utils/setup.sh --train"
    return f"{sys.executable} -m pip install -c {root}/constraints.txt -e '{root}[{extra}]'"


def _explain_os(error: OSError, closed: Sequence[str]) -> str:
    if error.errno == errno.EBADF and set(closed) & STREAMS.keys():
        which = " and ".join(f"standard {STREAMS[stream]}" for stream in closed if stream in STREAMS)
        return f"{which} is closed; leave it open, or redirect it to a file"
    if error.errno == errno.ENOENT and error.filename is None:  # os.getcwd raises this error, without a file name
        return "the working directory was deleted; change to another one"
    place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes, os.PathLike)) else ""
    known = ERRNO.get(error.errno or 0)
    what, remedy = known or (error.strerror or str(error), "check the path, its permissions and the free space")
    return f"{place}{what}; {remedy}"


def _write_log(error: Exception, command: Sequence[str]) -> str:
    lines = [f"# {shlex.join(command)}\n",
             f"# punc {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
             *traceback.format_exception(error)]
    with contextlib.suppress(OSError):
        file, path = tempfile.mkstemp(".log", f"{os.path.basename(command[0]).replace(' ', '-')}-", text=True)
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.writelines(lines)
        return path
    return "the output of the same command, because its traceback could not be written to a file"
