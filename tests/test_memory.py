"""Freed memory is kept: taking a large array again costs no new pages from the system."""

import subprocess
import sys

from punc.base.memory import keep_freed_memory

# Of bytes, not of NumPy, which asks for huge pages where it can.
TAKE = """
import resource
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    array = b"x" * (1 << 26)
    del array
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(first):
    """Pages that the system handed out to a process that takes and frees 64 MB twenty times."""
    run = [sys.executable, "-c", f"{first}\n{TAKE}"]
    return int(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def test_keep_freed_memory_second_large_array_costs_no_pages():
    assert keep_freed_memory()
    kept = faults("from punc.base.memory import keep_freed_memory; keep_freed_memory()")
    assert 2 * kept < faults("import punc.base.memory")


def test_give_back_freed_memory_takes_less_memory():
    """Small blocks below one that stays are kept until they are given back."""
    code = """
import ctypes, os
from punc.base.memory import give_back_freed_memory
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [libc.malloc(50_000) for _ in range(2000)]
for block in blocks:
    ctypes.memset(ctypes.c_void_p(block), 1, 50_000)
for block in blocks[:-1]:
    libc.free(block)
pages = lambda: int(open("/proc/self/statm").read().split()[1])
before = pages()
print(give_back_freed_memory(), (before - pages()) * os.sysconf("SC_PAGESIZE") > 50_000_000)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "True True\n"
