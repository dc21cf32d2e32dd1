"""LLVM code of kernels, in the libraries that Numba keeps it in (see `dispatch` for how they are used)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary


class Lowered(JITCodeLibrary):
    """The LLVM code of one kernel, to be linked into entry points; it never becomes machine code itself."""

    def add_linking_library(self, library: Any) -> None:
        library._ensure_finalized()
        self._linking_libraries.append(library)
        self._reload_init.update(library._reload_init)

    def _ensure_finalized(self) -> None:
        """Nothing: there is nothing to finish."""

    @functools.cached_property
    def module(self) -> Any:
        """The code, so marked that a linker takes it where it is called and drops it where it is not."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """The code with all that it calls, for a function that Numba itself compiles."""
        if self._shared_module is None:
            linked = self.module.clone()
            for library in callees(self):
                linked.link_in(_module_of(library), preserve=True)
            self._shared_module = linked
        return self._shared_module


class Symbol(JITCodeLibrary):
    """Machine code that is there already, under a name: nothing to link, but to be loaded first."""

    def __init__(self, codegen: Any, name: str, load_first: Callable[[], None]) -> None:
        super().__init__(codegen, name)
        self._reload_init.add(load_first)

    def _ensure_finalized(self) -> None:
        """Nothing: there is nothing to finish."""

    def _get_module_for_linking(self) -> Any:
        return self._final_module


class EntryPoint(JITCodeLibrary):
    """A kernel's wrapper for Python, with the code of all that it calls: optimised and translated as one piece."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.enable_object_caching()
        self.outside: tuple[str, ...] = ()
        """Names of the wrappers."""
        self.keep = ""
        """The name of the kernel itself, if others call it."""

    def finalize(self) -> None:
        """Link, optimise, translate."""
        for library in callees(self):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(_module_of(library), preserve=True)
        self._hide_all_but({*self.outside, self.keep})
        self._linking_libraries = []
        super().finalize()

    def _hide_all_but(self, names: set[str]) -> None:
        """Keep to itself what it has linked: another piece may have other code of the same name."""
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "external" if function.name in names else "internal"

    def symbols(self) -> list[str]:
        """The names that the machine code defines."""
        module = self._final_module
        return [it.name for them in (module.functions, module.global_variables) for it in them if not it.is_declaration]

    @classmethod
    def restored(cls, codegen: Any, name: str, code: bytes, symbols: list[str]) -> EntryPoint:
        """One whose machine code comes from the cache."""
        library = cls(codegen, name)
        library._set_compiled_object(code)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)
        return library


def callees(library: Any) -> list[Any]:
    """All that a library calls, callers before callees: a linker drops what is not called yet."""
    ordered: list[Any] = []
    seen: set[int] = set()

    def visit(one: Any) -> None:
        for other in one._linking_libraries if isinstance(one, Lowered | EntryPoint) else ():
            if id(other) not in seen:
                seen.add(id(other))
                visit(other)
                ordered.append(other)

    visit(library)
    return ordered[::-1]


def _module_of(library: Any) -> Any:
    return library.module if isinstance(library, Lowered) else library._get_module_for_linking()
