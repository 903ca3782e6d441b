"""Memory that is freed stays with the process, for loops that take and free the same large arrays over and over.

glibc asks the system for each array above 32 MB anew and gives it back at once; the system hands out pages one by one
and clears each. In training with weights of some million numbers that is a fifth of the time.
"""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of mallopt, malloc.h
MOST = 2**31 - 1  # an int is what mallopt takes


def keep_freed_memory() -> bool:
    """Let malloc keep what is freed, up to 2 GB a block; False where the C library cannot, which costs speed only."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, MOST)) and bool(mallopt(TRIM_THRESHOLD, MOST))
