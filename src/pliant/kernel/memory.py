"""Raw memory for kernels: views, atomic reads and writes, fences, copies."""

from __future__ import annotations

import ctypes
from typing import Any

import numba as _numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _intrinsic
from numba.extending import overload as _overload

from pliant.kernel.dispatch import kernel

# Numba's annotations describe its own use, not ours.
numba: Any = _numba
intrinsic: Any = _intrinsic
overload: Any = _overload


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
def _integer_pointer(typingctx, address):
    signature = types.CPointer(types.int64)(address)

    def generate(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return signature, generate


@kernel
def integers(address, n):
    """A view of `n` int64 at a memory address (no copy, no ownership)."""
    return numba.carray(_integer_pointer(address), (n,))


@intrinsic
def _record_pointer(typingctx, address, dtype):
    signature = dtype.dtype(address, dtype)

    def generate(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return signature, generate


def record_in(values, dtype):
    """The start of an array of 8-byte numbers as a record of `dtype` (no copy)."""
    return values[: dtype.itemsize // 8].view(dtype)[0]


@overload(record_in)
def _record_in_compiled(values, dtype):
    def compiled(values, dtype):
        return _record_pointer(values.ctypes.data, dtype)

    return compiled


def record_at(address, dtype):
    """The record of `dtype` at a memory address (no copy, no ownership)."""
    return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(address), dtype)[0]


@overload(record_at)
def _record_at_compiled(address, dtype):
    def compiled(address, dtype):
        return _record_pointer(address, dtype)

    return compiled


@intrinsic
def record_address(typingctx, record):
    """The memory address of a record."""

    def generate(context, builder, signature, args):
        return builder.ptrtoint(args[0], ir.IntType(64))

    return types.int64(record), generate


@kernel
def put(to, values):
    """`to[:] = values`, of equal shapes. In one dimension, Numba compiles it ten times faster than that statement."""
    for i in range(len(to)):
        to[i] = values[i]


@kernel
def fill(to, value):
    """`to[:] = value` for a single number; see `put`."""
    for i in range(len(to)):
        to[i] = value


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
