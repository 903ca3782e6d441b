"""Freed memory is kept: taking a large array again costs no new pages from the system."""

import subprocess
import sys

from punc.memory import keep_freed_memory

TAKE = "\nimport numpy as np, resource\nfor _ in range(20):\n    array = np.ones(1 << 23)\n    del array\n" \
       "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"


def faults(first):
    """Pages that the system handed out to a process that takes and frees 64 MB twenty times."""
    return int(subprocess.run([sys.executable, "-c", first + TAKE], capture_output=True, text=True, check=True).stdout)


def test_a_large_array_taken_again_costs_no_pages():
    assert keep_freed_memory()
    kept = faults("from punc.memory import keep_freed_memory; keep_freed_memory()")
    assert 2 * kept < faults("import punc.memory")
