"""`@kernel`: how Python functions become machine code, and how little of that is done.

Numba compiles every function on its own: it links it with everything that it calls, optimises all of that, makes
machine code and wraps it for Python, and does so again for each caller up to the top. Here a kernel that is called by
other kernels is only *lowered*, to LLVM code without optimisation. The rest is done once, for the kernels that Python
calls (*entry points*): the lowered code of all that they call is linked, optimised and translated as one piece, and
that alone is cached.

A large kernel that several entry points call can be declared ``@kernel(separate=True)``: it is an entry point itself,
and others call its machine code by a symbol instead of including it.
"""

from __future__ import annotations

import copy
import functools
import gc
import hashlib
import importlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba as _numba
from numba.core import compiler, event, sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.typing.templates import make_concrete_template
from numba.np import linalg as _linalg

from pliant.kernel import code_cache
from pliant.kernel.c_functions import mujoco_library
from pliant.kernel.libraries import EntryPoint, Lowered, Symbol
from pliant.kernel.sources import digest_of_imports, was_edited
from pliant.kernel.uninterrupted import uninterrupted

# Numba's annotations describe its own use, not ours: a kernel is called like the function it was made from.
numba: Any = _numba

OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": None}
"""No GIL, IEEE arithmetic in the order written, no exception for a division by zero."""

SELDOM = (100_000, 50, 1000)
"""How seldom Python looks for garbage while it compiles, for `gc.set_threshold`."""

DISABLED: bool = bool(numba.config.DISABLE_JIT)
"""Whether kernels stay plain Python functions (``NUMBA_DISABLE_JIT=1``)."""

ONE_BY_ONE = os.environ.get("PLIANT_COMPILE") == "one-by-one"
"""Whether Numba compiles every kernel separately, its default: the baseline of `pliant bench compile`."""


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


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Look for garbage seldom: compiling makes many objects that stay, and the search took an eighth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Kernel(CPUDispatcher):
    """A function that is lowered when kernels call it, and becomes an entry point when Python does."""

    targetctx: Any
    typingctx: Any
    _compiler: Any

    def __init__(self, function: Callable[..., Any], *, separate: bool = False, checked: bool = False) -> None:
        super().__init__(function, {}, {**OPTIONS, "boundscheck": checked or OPTIONS["boundscheck"]})
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.separate, self.checked = separate, checked
        self._lowered: dict[tuple[Any, ...], Any] = {}
        self._callable: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    # -- called by other kernels

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What Numba asks for when it finds a call of this kernel in compiled code."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        self._make_callable(tuple(args))
        name = f"CallTemplate({self.py_func.__name__})"
        template = make_concrete_template(name, key=self.py_func.__name__, signatures=self.nopython_signatures)
        return template, pysig, args, {}

    @property
    def nopython_signatures(self) -> list[Any]:
        """The signatures for which compiled code can call it."""
        return [signature for signature, _ in self._callable.values()]

    def get_overload(self, sig: Any) -> Any:
        """The key under which Numba finds how to call it."""
        args, _ = sigutils.normalize_signature(sig)
        return self._callable[tuple(args)][1]

    def _make_callable(self, args: tuple[Any, ...]) -> None:
        if args in self._callable:
            return
        with global_compiler_lock:
            described, library, signature = (self._by_symbol if self.separate else self._by_code)(args)
            self.targetctx.insert_user_function(library, described, [library])
            self._callable[args] = signature, library

    def _by_code(self, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        lowered = self._lower(args)
        return lowered.fndesc, lowered.library, lowered.signature

    def _by_symbol(self, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        if "<locals>" in self.name:  # those that call it could not find it again
            raise ValueError(f"{self.name} must be defined at module level: other kernels call it by its symbol")
        self.compile(args)
        entry = self.overloads[args]
        symbol = self._symbol(args)
        described = copy.copy(entry.fndesc)
        described.mangled_name = symbol
        load_first = functools.partial(load_by_name, self.py_func.__module__, self.py_func.__qualname__, args)
        return described, Symbol(self.targetctx.codegen(), symbol, load_first), entry.signature

    def _symbol(self, args: tuple[Any, ...]) -> str:
        return self._cache_name(args) or f"{self.name}-{id(self)}-{hashlib.sha256(str(args).encode()).hexdigest()[:24]}"

    # -- called by Python

    def compile(self, sig: Any) -> Any:
        """Make it callable from Python for a signature: from the cache, or by compiling."""
        args, _ = sigutils.normalize_signature(sig)
        args = tuple(args)
        with global_compiler_lock:
            if args not in self.overloads:
                entry = self._restore(args) or self._finish(args)
                with uninterrupted():
                    self.add_overload(entry)
                    if self.separate:
                        address = entry.library.get_pointer_to_function(entry.fndesc.llvm_func_name)
                        llvm.add_symbol(self._symbol(args), address)
            return self.overloads[args].entry_point

    def address(self, sig: Any) -> int:
        """The address of the machine code, for callers that are given it (see `calls`); only of a separate kernel."""
        if not self.separate:
            raise ValueError(f"{self.name} has no address: declare it with @kernel(separate=True)")
        args = tuple(sigutils.normalize_signature(sig)[0])
        self.compile(args)
        entry = self.overloads[args]
        return entry.library.get_pointer_to_function(entry.fndesc.llvm_func_name)

    def _lower(self, args: tuple[Any, ...]) -> Any:
        """The kernel as LLVM code."""
        if args not in self._lowered:
            with uninterrupted():  # what Numba began to register here and did not finish would be lost for good
                self.typingctx.refresh()
                self.targetctx.refresh()
            flags: Any = compiler.Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            library = Lowered(self.targetctx.codegen(), self.py_func.__qualname__)
            details = {"dispatcher": self, "args": args, "return_type": None}
            with self._compiling_counter, event.trigger_event("numba:compile", data=details):
                self._lowered[args] = compiler.compile_extra(
                    self.typingctx, self.targetctx, self.py_func, args, None, flags, {}, library
                )
        return self._lowered[args]

    @_collecting_seldom()
    def _finish(self, args: tuple[Any, ...]) -> Any:
        """The kernel and all that it calls as machine code, kept in the cache."""
        lowered = self._lower(args)
        context, described = lowered.target_context, lowered.fndesc
        library = EntryPoint(context.codegen(), self.py_func.__qualname__)
        library.add_linking_library(lowered.library)
        library.outside = (described.llvm_cpython_wrapper_name,)
        library.keep = described.llvm_func_name if self.separate else ""
        context.create_cpython_wrapper(
            library, described, lowered.environment, lowered.call_helper, release_gil=OPTIONS["nogil"]
        )
        library.finalize()
        environments = _environments(library)
        entry = _entry(context, library, described, lowered.environment, lowered.signature, environments)
        name = self._cache_name(args)
        if name and not library.has_dynamic_globals and not was_edited(Path(self.py_func.__code__.co_filename)):
            described = copy.copy(described)
            described.typemap = described.calltypes = None  # large, and of no use to a caller
            kept = (
                library.name, library._get_compiled_object(), library.symbols(), described, lowered.environment,
                lowered.signature, environments, tuple(library._reload_init),
            )  # fmt: skip
            code_cache.open_cache().save(name, dumps(kept))
        return entry

    def _restore(self, args: tuple[Any, ...]) -> Any:
        """The entry point from the cache, or None."""
        name = self._cache_name(args)
        data = code_cache.open_cache().load(name) if name else None
        if data is None:
            return None
        with uninterrupted():
            self.targetctx.refresh()  # what Numba itself adds to the machine code must be there before it is loaded
        try:
            name, code, symbols, described, environment, signature, environments, load_first = pickle.loads(data)
            for load in load_first:
                load()
        except Exception:  # whatever is wrong with it, compiling anew is the remedy
            return None
        with uninterrupted():
            library = EntryPoint.restored(self.targetctx.codegen(), name, code, symbols)
            return _entry(self.targetctx, library, described, environment, signature, environments)

    def is_cached(self, args: tuple[Any, ...]) -> bool:
        """Whether the cache has the machine code for these argument types."""
        name = self._cache_name(args)
        return bool(name) and code_cache.open_cache().load(name) is not None

    def _cache_name(self, args: tuple[Any, ...]) -> str:
        """What the entry's machine code follows from ("" where no file holds its source)."""
        code = self.py_func.__code__
        file = Path(code.co_filename)
        if not file.is_file():
            return ""
        cells = [cell.cell_contents for cell in self.py_func.__closure__ or ()]
        called = [cell._cache_name(()) for cell in cells if isinstance(cell, Kernel)]
        if not all(called):
            return ""
        cells = [called.pop(0) if isinstance(cell, Kernel) else cell for cell in cells]
        constants = [one for one in code.co_consts if not isinstance(one, CodeType)]
        own = (code.co_firstlineno, code.co_code, code.co_names, constants)
        of = (machine(), digest_of_imports(file), own, str(args), self.separate, self.checked)
        digest = hashlib.sha256(repr(of).encode() + (dumps(cells) if cells else b"")).hexdigest()
        return f"{self.name.replace('<locals>', '_')}-{digest[:24]}"


def _entry(context: Any, library: Any, described: Any, environment: Any, signature: Any, environments: Any) -> Any:
    """What a dispatcher keeps of an entry point whose machine code is ready."""
    function = context.get_executable(library, described, environment)
    for one in environments:
        library.codegen.set_env(one.env_name, one)
    return compiler.compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=environment,
        entry_point=function,
        fndesc=described,
        signature=signature,
        objectmode=False,
        lifted=(),
        referenced_envs=tuple(environments),  # machine code has their addresses only
    )


def _environments(library: Any) -> list[Any]:
    """What the machine code needs of Python: the environments of the kernels in it."""
    names = (variable.name for variable in library._final_module.global_variables)
    found = (lookup_environment(name) for name in names if name.startswith("_ZN08NumbaEnv"))
    return [environment for environment in found if environment is not None and environment.can_cache()]


@lru_cache(maxsize=1)
def machine() -> tuple[Any, ...]:
    """What machine code depends on besides its source."""
    import numpy as np

    config = numba.config
    return (
        *(sys.version, np.__version__, numba.__version__, llvmlite.__version__, Path(mujoco_library()).name),
        *(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()),
        *(config.CPU_NAME, config.CPU_FEATURES, str(config.OPT), config.LOOP_VECTORIZE, config.SLP_VECTORIZE),
        *(config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT, config.USING_SVML, config.ENABLE_AVX, OPTIONS),
    )


def load_by_name(module: str, name: str, args: tuple[Any, ...]) -> None:
    """Make a separate kernel ready to be called by its symbol (named in the cache by those that call it)."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    found.compile(args)


def kernel(function: Callable[..., Any] | None = None, *, separate: bool = False, checked: bool = False) -> Any:
    """Compile `function` for the control loop: no GIL, cached on disk, IEEE arithmetic in the order written.

    `separate`: others call its machine code instead of including it; for what is large and called by several. Only one
    at module level can be called by other kernels. `checked`: an index outside an array is an error (see `calls`).
    """
    if function is None:
        return functools.partial(kernel, separate=separate, checked=checked)
    if DISABLED:
        return function
    if ONE_BY_ONE:
        return numba.njit(cache=True, **{name: value for name, value in OPTIONS.items() if name != "nopython"})(
            function
        )
    return Kernel(function, separate=separate, checked=checked)


def load(function: Any, *examples: Any) -> None:
    """Compile `function` for arguments like `examples` (or of these Numba types), or take it from the cache."""
    if not DISABLED:
        function.compile(types_of(examples))


def is_cached(function: Any, *examples: Any) -> bool:
    """Whether `load` would find the machine code in the cache."""
    return DISABLED or function.is_cached(types_of(examples))


def types_of(examples: tuple[Any, ...]) -> tuple[Any, ...]:
    """The Numba types of arguments like these."""
    return tuple(it if isinstance(it, types.Type) else numba.typeof(it) for it in examples)


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
