"""Freed memory: kept with the process, for loops that take and free large arrays again and again, or given back.

For each array above 32 MB, glibc asks the system for memory and gives it back at once; the system hands out pages one
by one and clears each. In training with some million weights this takes a fifth of the time.
"""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt, malloc.h
MAX_INT = 2**31 - 1  # mallopt takes an int


def keep_freed_memory() -> bool:
    """Let malloc keep freed blocks of up to 2 GB. Returns False if the C library cannot; that costs only speed."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, MAX_INT)) and bool(mallopt(TRIM_THRESHOLD, MAX_INT))


def give_back_freed_memory() -> bool:
    """Give what malloc keeps of freed blocks back to the system. Returns False if the C library cannot."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):
        return False
