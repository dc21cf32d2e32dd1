"""An ideal cell whose guard is tested: every branch of `control/safety_guard.py`."""

from __future__ import annotations

import numpy as np
from ideal_cell import DT, Cell

STILL = np.zeros(6)


def resting(interface: str = "position", **values: object) -> Cell:
    """A cell that has stood still for a while, with the hold law."""
    cell = Cell(interface, "hold", **values)  # pyright: ignore[reportArgumentType]
    cell.tick(30)
    assert cell.state.fault == 0
    return cell


def report(cell: Cell, q: object = None, qd: object = None, *, after_s: float = DT) -> None:
    """One tick with these joints reported, `after_s` after the last reading."""
    if q is not None:
        cell.reading.q[:6] = q
    if qd is not None:
        cell.reading.qd[:6] = qd
    cell.reading.stamp_s += after_s - DT
    cell.tick(follow=False)


def carry(cell: Cell, joint: int, speed: float, ticks: int) -> int:
    """Move a joint from outside at a constant speed, consistently; the number of ticks until a fault, or `ticks`."""
    q, qd = cell.reading.q[:6].copy(), STILL.copy()
    qd[joint] = speed
    for done in range(ticks):
        q[joint] += DT * speed
        report(cell, q, qd)
        if cell.state.fault:
            return done + 1
    return ticks
