"""Calling a kernel by its address: the caller is compiled once, and what it calls is chosen when a controller is made.

    address = address_of(step, *arguments)     machine code for arguments like these, from the cache or compiled
    status = call_at(address, (a, b, c))       in a kernel: 0, or 1 if the called kernel raised

What is called must return nothing. An exception inside it is not raised in the caller: a control loop cannot do
anything with it. It becomes a status, and the caller decides.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _intrinsic

from pliant.kernel.dispatch import DISABLED, ONE_BY_ONE, types_of

intrinsic: Any = _intrinsic

# Without a compiler an "address" is a number in this list.
_functions: list[Any] = []


def address_of(function: Any, *examples: Any) -> int:
    """The address of the machine code of `function` for arguments like `examples`; it stays valid in this process."""
    if DISABLED:
        if function not in _functions:
            _functions.append(function)
        return _functions.index(function) + 1
    if ONE_BY_ONE:
        function.compile(types_of(examples))
        entry = function.overloads[types_of(examples)]
        return entry.library.get_pointer_to_function(entry.fndesc.llvm_func_name)
    return function.address(types_of(examples))


def _call_uncompiled(address: int, arguments: tuple[Any, ...]) -> int:
    try:
        _functions[address - 1](*arguments)
    except Exception:
        return 1
    return 0


@intrinsic
def _call_compiled(typingctx, address, arguments):
    signature = types.int64(address, arguments)

    def generate(context, builder, signature, args):
        kinds = tuple(signature.args[1])
        values = [builder.extract_value(args[1], i) for i in range(len(kinds))]
        function_type = context.call_conv.get_function_type(types.none, kinds)
        function = builder.inttoptr(args[0], function_type.as_pointer())
        status, _ = context.call_conv.call_function(builder, function, types.none, kinds, values)
        return builder.zext(status.is_error, ir.IntType(64))

    return signature, generate


call_at = _call_uncompiled if DISABLED else _call_compiled
