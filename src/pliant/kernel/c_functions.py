"""C functions that kernels can call: the system's, and MuJoCo's."""

from __future__ import annotations

import ctypes
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba import types


@lru_cache(maxsize=1)
def mujoco_library() -> str:
    spec = importlib.util.find_spec("mujoco")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("Pliant needs the package 'mujoco-core'. Install it with pip.")
    folder = Path(next(iter(spec.submodule_search_locations)))
    names = ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll")
    found = [path for name in names for path in sorted(folder.glob(name))]
    if not found:
        raise ImportError(f"No MuJoCo library found in {folder}. Reinstall the package 'mujoco-core'.")
    return str(found[0])


def c_function(name: str, *arguments: Any, returns: Any = types.void, library: str | None = None) -> Any:
    """A C function (of the system, or of a library) that kernels can call; by name, so the cache stays valid."""
    if library:
        llvm.load_library_permanently(library)
    getattr(ctypes.CDLL(library), name)  # fails here, not in the loop, when there is no such function
    return types.ExternalFunction(name, returns(*arguments))


def mujoco_function(name: str, *arguments: Any, returns: Any = types.void) -> Any:
    """A function of MuJoCo's C library that kernels can call."""
    return c_function(name, *arguments, returns=returns, library=mujoco_library())


_p, _i = types.intp, types.int32

clock_gettime = c_function("clock_gettime", _i, _p, returns=_i)

mj_kinematics = mujoco_function("mj_kinematics", _p, _p)
mj_comPos = mujoco_function("mj_comPos", _p, _p)
mj_comVel = mujoco_function("mj_comVel", _p, _p)
mj_crb = mujoco_function("mj_crb", _p, _p)
mj_jacDot = mujoco_function("mj_jacDot", _p, _p, _p, _p, _p, _i)
mj_rne = mujoco_function("mj_rne", _p, _p, _i, _p)
mj_fullM = mujoco_function("mj_fullM", _p, _p, _p)
mj_step1 = mujoco_function("mj_step1", _p, _p)
mj_step2 = mujoco_function("mj_step2", _p, _p)
mj_step = mujoco_function("mj_step", _p, _p)
mj_objectVelocity = mujoco_function("mj_objectVelocity", _p, _p, _i, _i, _p, _i)
mj_mulM = mujoco_function("mj_mulM", _p, _p, _p, _p)
