"""Request real-time scheduling and locked memory, and report what the system granted."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
from dataclasses import asdict, dataclass

_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
_PR_SET_TIMERSLACK = 29


@dataclass(frozen=True)
class Granted:
    """What the system granted; `scheduler` is "SCHED_FIFO 60" or why it is off."""

    scheduler: str
    memory: str
    timer: str

    def as_dict(self) -> dict[str, str]:
        """What was granted, by name."""
        return asdict(self)


def _libc_call(name: str, *args: int) -> str:
    """Call a function of the C library; returns "" on success, otherwise the system's error message."""
    if not sys.platform.startswith("linux"):
        return "not available on this system"
    libc = ctypes.CDLL(None, use_errno=True)
    return "" if getattr(libc, name)(*args) == 0 else os.strerror(ctypes.get_errno()).lower()


def prepare(priority: int = 60) -> Granted:
    """Freeze the garbage collector, lock memory, request real-time scheduling; failures are reported, not fatal."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        scheduler = f"SCHED_FIFO {priority}"
    except (OSError, AttributeError) as error:
        why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not available"
        scheduler = f"off ({why})"
    denied = _libc_call("mlockall", _MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT)
    memory = f"memory not locked ({denied})" if denied else "memory locked on first access"
    denied = _libc_call("prctl", _PR_SET_TIMERSLACK, 1, 0, 0, 0)
    return Granted(scheduler, memory, f"default timer slack ({denied})" if denied else "timer slack 1 ns")


def memory_kib() -> tuple[int, int]:
    """Resident and private memory of this process [KiB]."""
    try:
        with open("/proc/self/smaps_rollup") as lines:  # noqa: PTH123 (a pseudo-file)
            table = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith("kB\n")}
        private = int(table.get("Private_Clean", 0)) + int(table.get("Private_Dirty", 0))
        return int(table["Rss"]), private
    except (OSError, KeyError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak, peak
