"""Two methods to detect whether compiled code allocates memory."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

from numba.core import runtime

_runtime: Any = runtime


def numba_allocations() -> int:
    """Blocks that compiled code has requested from Numba's memory system since the first call."""
    if not _runtime._nrt_python.memsys_stats_enabled():
        _runtime._nrt_python.memsys_enable_stats()
    return _runtime.rtsys.get_allocation_stats().alloc


class _MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    ]


@lru_cache(maxsize=1)
def _mallinfo2() -> Any:
    """The C library's own count, None where it has none; looked up once, because looking it up takes memory too."""
    libc = ctypes.CDLL(None)
    if not sys.platform.startswith("linux") or not hasattr(libc, "mallinfo2"):
        return None
    libc.mallinfo2.restype = _MallInfo
    return libc.mallinfo2


def heap_in_use() -> int:
    """Bytes in use on the C heap of this process (0 if the C library cannot report it)."""
    count = _mallinfo2()
    return 0 if count is None else int(count().uordblks)
