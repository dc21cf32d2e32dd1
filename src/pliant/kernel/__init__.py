"""The compiled layer: `@kernel`, MuJoCo's C functions, raw memory, and the cache of machine code.

A kernel is a plain Python function that Numba compiles to machine code: it releases the GIL, is cached on disk and
must not allocate. It reads and writes NumPy records (see `records`). Where it calls no C function it also runs
uncompiled with ``NUMBA_DISABLE_JIT=1``, so that a law can be stepped through and covered.

`dispatch` compiles, `sources` says what machine code depends on, `cache` keeps it; `memory` and `c_functions` hold what
kernels call.
"""

from __future__ import annotations

from pliant.kernel.c_functions import (
    c_function,
    clock_gettime,
    mj_comPos,
    mj_comVel,
    mj_crb,
    mj_fullM,
    mj_jacDot,
    mj_kinematics,
    mj_mulM,
    mj_objectVelocity,
    mj_rne,
    mj_step,
    mj_step1,
    mj_step2,
    mujoco_function,
)
from pliant.kernel.calls import address_of, call_at
from pliant.kernel.dispatch import kernel, load, on_compile
from pliant.kernel.memory import (
    copy_bytes,
    fence,
    fill,
    floats,
    integers,
    load_acquire,
    put,
    record_address,
    record_at,
    record_in,
    store_release,
)

__all__ = [
    "address_of",
    "c_function",
    "call_at",
    "clock_gettime",
    "copy_bytes",
    "fence",
    "fill",
    "floats",
    "integers",
    "kernel",
    "load",
    "load_acquire",
    "mj_comPos",
    "mj_comVel",
    "mj_crb",
    "mj_fullM",
    "mj_jacDot",
    "mj_kinematics",
    "mj_mulM",
    "mj_objectVelocity",
    "mj_rne",
    "mj_step",
    "mj_step1",
    "mj_step2",
    "mujoco_function",
    "on_compile",
    "put",
    "record_address",
    "record_at",
    "record_in",
    "store_release",
]
