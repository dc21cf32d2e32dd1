"""Reporting which limit acted, with the requested and the allowed value."""

from __future__ import annotations

from pliant.kernel import kernel

# Position of each limit in `observed.asked` and `observed.allowed`; its bit in `observed.limits` is 1 << position.
SPEED, ACCELERATION, POSITION, SINGULAR, TORQUE, TOOL_SPEED, TOOL_ACCELERATION, WORKSPACE = range(8)
TORQUE_RATE, REACH, STRETCH, EDGE = range(8, 12)


@kernel
def cut(o, limit, asked, allowed):
    """Note in the observed record `o` that `limit` reduced `asked` to `allowed`."""
    o.limits |= 1 << limit
    o.asked[limit] = asked
    o.allowed[limit] = allowed
