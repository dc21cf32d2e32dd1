"""The compiled layer: `@kernel`, MuJoCo's C functions, raw memory, and the compilation cache.

A kernel is a plain Python function that Numba compiles to machine code: it releases the GIL, is cached on disk and
must not allocate. It reads and writes NumPy records (see `records`). Where it calls no C function it also runs
uncompiled with ``NUMBA_DISABLE_JIT=1``, so that a law can be stepped through and covered.

The cache is keyed by the source of *all* layers that hold kernels, because Numba alone would not notice that a
function called from another file has changed.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba as _numba
from llvmlite import ir
from numba import types
from numba.core import event
from numba.core.caching import FunctionCache, _CacheLocator
from numba.extending import intrinsic as _intrinsic
from numba.np import linalg as _linalg

from pliant.errors import InputError

# Numba's annotations describe its own use, not ours: a kernel is called like the function it was made from.
numba: Any = _numba
intrinsic: Any = _intrinsic

# Folders whose files never hold a kernel of the tick: editing them does not invalidate the cache. Drivers, bridge and
# emulator talk over a network in plain Python; the simulated arm beside them, in robots/sim, is compiled.
_NOT_COMPILED = (
    *("cli", "studio", "analysis", "experiments", "bridge", "record", "ros2"),
    *("robots/ur", "robots/emulator", "robots/ros2"),
)

_PACKAGE = Path(__file__).parent

_registered: list[str] = []
_outside: set[Path] = set()


def _load_arrays_without_scipy() -> None:
    """Load Numba's array functions without SciPy's linear algebra.

    They import it only to see whether BLAS is there, which takes a third of a second in every process. No kernel calls
    BLAS; a function of yours that does still finds it.
    """

    def absent() -> None:
        raise ImportError

    found = _linalg.ensure_blas
    _linalg.ensure_blas = absent
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        _linalg.ensure_blas = found


_load_arrays_without_scipy()


# ---- cache ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def source_digest() -> str:
    """A digest of every source file that a kernel can depend on."""
    names = sorted(path.relative_to(_PACKAGE).as_posix() for path in _PACKAGE.rglob("*.py"))
    without = tuple(f"{folder}/" for folder in _NOT_COMPILED)
    digest = hashlib.sha256()
    for name in names:
        if not name.startswith(without):
            digest.update((_PACKAGE / name).read_bytes())
    return digest.hexdigest()[:16]


@lru_cache
def _file_digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept: $PLIANT_CACHE, or the user's cache folder."""
    if own := os.environ.get("PLIANT_CACHE"):
        try:
            Path(own).mkdir(parents=True, exist_ok=True)
        except OSError:
            raise InputError("PLIANT_CACHE", own, "a folder that can be written") from None
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "pliant" / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"pliant-kernels-{os.getuid()}"


class _Locator(_CacheLocator):
    """Tells Numba where a kernel's machine code lives and when it is out of date."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._line = py_func.__code__.co_firstlineno
        self._file = Path(py_file)

    def get_cache_path(self) -> Any:
        if _PACKAGE in self._file.parents:  # by content, so that two copies of the same source share it
            name = self._file.relative_to(_PACKAGE).with_suffix("").as_posix().replace("/", ".")
            return str(cache_folder() / source_digest() / name)
        tag = hashlib.sha256(str(self._file).encode()).hexdigest()[:12]
        return str(cache_folder() / f"{self._file.stem}-{tag}")

    def get_source_stamp(self) -> Any:
        if _PACKAGE in self._file.parents:
            return f"{source_digest()}-{_file_digest(self._file)}"
        # a kernel of yours may call one in another file of yours: all files with kernels seen so far count
        _outside.add(self._file)
        own = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_outside))).hexdigest()[:16]
        return f"{source_digest()}-{own}"

    def get_disambiguator(self) -> Any:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator | None:
        return cls(py_func, py_file) if Path(py_file).is_file() else None


class _Impl(FunctionCache._impl_class):
    _locator_classes = [_Locator]  # noqa: RUF012 (the name and form that Numba looks for)


class _Cache(FunctionCache):
    _impl_class = _Impl


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` for the control loop: no GIL, cached on disk, IEEE arithmetic in the order written."""
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    if not numba.config.DISABLE_JIT and Path(function.__code__.co_filename).is_file():
        dispatcher._cache = _Cache(function)
        _registered.append(f"{function.__module__}.{function.__qualname__}")
    return dispatcher


def kernel_count(package: str = "") -> int:
    """How many kernels have been declared so far, in a package or in all (a scale for progress)."""
    return sum(name.startswith(package) for name in _registered)


def load(function: Any, *examples: Any) -> None:
    """Compile `function` for arguments like `examples`, or take it from the cache, without running it."""
    if not numba.config.DISABLE_JIT:
        function.compile(tuple(numba.typeof(example) for example in examples))


def cache_is_warm() -> bool:
    """Whether every kernel has been compiled on this machine before (see `mark_cache_warm`)."""
    return _marker().exists()


def mark_cache_warm() -> None:
    """Remember that every kernel is in the cache."""
    _marker().parent.mkdir(parents=True, exist_ok=True)
    _marker().touch()


def _marker() -> Path:
    system = (
        sys.version,
        numba.__version__,
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        source_digest(),
    )
    return cache_folder() / f"ready-{hashlib.sha256(repr(system).encode()).hexdigest()[:24]}"


@contextmanager
def on_compile(notice: Callable[[str], None]) -> Iterator[None]:
    """Call `notice(name)` whenever a kernel begins to be compiled (not when it comes from the cache)."""

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            dispatcher = (event.data or {}).get("dispatcher")
            if dispatcher is not None:
                notice(f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}")

        def on_end(self, event: event.Event) -> None:
            pass

    listener = Listener()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)


# ---- raw memory ----------------------------------------------------------------------------------------------------


@intrinsic
def _float_pointer(typingctx, address):
    signature = types.CPointer(types.float64)(address)

    def generate(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return signature, generate


@kernel
def floats(address, n):
    """A view of `n` float64 at a memory address (no copy, no ownership)."""
    return numba.carray(_float_pointer(address), (n,))


@intrinsic
def load_acquire(typingctx, address):
    """Read an int64 at `address`; nothing that follows is read before it."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(address), generate


@intrinsic
def store_release(typingctx, address, value):
    """Write an int64 at `address`; nothing that precedes is written after it."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        builder.store_atomic(args[1], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(address, types.int64), generate


@intrinsic
def fence(typingctx):
    """A full memory fence: on weakly ordered processors too, reads and writes do not cross it."""

    def generate(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def copy_bytes(typingctx, target, source, n):
    """memcpy(target, source, n) between two addresses."""

    def generate(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        move = builder.module.declare_intrinsic("llvm.memcpy", [byte, byte, ir.IntType(64)])
        builder.call(
            move,
            [
                builder.inttoptr(args[0], byte),
                builder.inttoptr(args[1], byte),
                args[2],
                ir.Constant(ir.IntType(1), 0),
            ],
        )
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


# ---- C functions, MuJoCo's above all -------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _mujoco_library() -> str:
    spec = importlib.util.find_spec("mujoco")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("Pliant needs the package 'mujoco-core'")
    folder = Path(next(iter(spec.submodule_search_locations)))
    names = ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll")
    found = [path for name in names for path in sorted(folder.glob(name))]
    if not found:
        raise ImportError(f"no MuJoCo library in {folder}")
    return str(found[0])


def c_function(name: str, *arguments: Any, returns: Any = types.void, library: str | None = None) -> Any:
    """A C function (of the system, or of a library) that kernels can call; by name, so the cache stays valid."""
    if library:
        llvm.load_library_permanently(library)
    getattr(ctypes.CDLL(library), name)  # fails here, not in the loop, when there is no such function
    return types.ExternalFunction(name, returns(*arguments))


def mujoco_function(name: str, *arguments: Any, returns: Any = types.void) -> Any:
    """A function of MuJoCo's C library that kernels can call."""
    return c_function(name, *arguments, returns=returns, library=_mujoco_library())


_p, _i = types.intp, types.int32

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
