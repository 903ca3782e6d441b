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
