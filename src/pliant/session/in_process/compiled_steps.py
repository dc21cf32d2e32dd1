"""Many periods of a simulated robot in one compiled call, without pacing.

All records are passed as one record of their addresses: a call from Python then costs about a microsecond, and not one
for each record.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.control import telemetry
from pliant.control.controller import Controller
from pliant.control.parameters import PARAMETERS
from pliant.control.tick import WORK
from pliant.kernel import fill, floats, kernel, put, record_at
from pliant.loop.periods import is_still, period
from pliant.model.handle import HANDLE
from pliant.records import COMMAND, GOAL, OBSERVED, READING, STATE, Field, Layout
from pliant.spatial import quat_rotate
from pliant.world.world_layout import WORLD

_RECORDS = ("handle", "parameters", "state", "reading", "goal", "command", "observed", "work")

ADDRESSES = Layout(
    "Addresses",
    (
        Field("world", "", "address of the simulated world", kind="i8"),
        *(Field(name, "", f"address of the controller's {name}", kind="i8") for name in _RECORDS),
        Field("mode", "", "kind of command", kind="i8"),
        Field("ended", "", "1 once a fault has stopped the robot", kind="i8"),
        Field("record_bytes", "", "size of a telemetry record", kind="i8"),
        Field("dt", "s", "period"),
    ),
)
"""Where the records of a simulated robot and its controller are."""

TRUTH = 10
"""Numbers of the true contact at a tick.

The force in the base frame [N] (3), its part along the normals [N], the direction of that part in the base frame (3;
zeros without contact), and what the sensor's static errors add to a reading of the force, in the base frame [N] (3):
scale, zero beyond `sense.bias`, and tool weight, but no noise.
"""

_WORLD, _HANDLE, _PARAMETERS, _STATE = WORLD.dtype, HANDLE.dtype, PARAMETERS.dtype, STATE.dtype
_READING, _GOAL, _COMMAND, _OBSERVED = READING.dtype, GOAL.dtype, COMMAND.dtype, OBSERVED.dtype
_WORK = WORK.dtype


def addresses_of(world: Any, controller: Controller) -> Any:
    """The addresses of these records; valid as long as they live."""
    found = ADDRESSES.new()
    found[0].world = world.ctypes.data
    *records, mode, dt = controller.arguments
    for name, record in zip(_RECORDS, records, strict=True):
        found[0][name] = record.ctypes.data
    found[0].mode, found[0].dt, found[0].record_bytes = mode, dt, controller.telemetry.dtype.itemsize
    return found


@kernel
def steps(addresses, first, ticks, revision, out, every, truth):
    """Run the ticks `first` … `first + ticks - 1`; returns how many were run.

    Returns early, with a negative number, after the tick that finds a fault, so that its cause can be read, and after
    the one at which the robot has stopped, or has made a protective stop (`ended`). `out` is the address of telemetry
    records, for `every` tick or for the last one only. `truth` is that of rows of `TRUTH` numbers, one for each tick
    (0: not wanted).
    """
    a = addresses[0]
    w, h, p = record_at(a.world, _WORLD), record_at(a.handle, _HANDLE), record_at(a.parameters, _PARAMETERS)
    s, r, g = record_at(a.state, _STATE), record_at(a.reading, _READING), record_at(a.goal, _GOAL)
    c, o, k = record_at(a.command, _COMMAND), record_at(a.observed, _OBSERVED), record_at(a.work, _WORK)
    done, row, before = 0, 0, s.fault
    while done < ticks:
        period(w, h, p, s, r, g, c, o, k, a.mode, a.dt)
        if truth != 0:
            write_truth(w, p.sense.bias, floats(truth + 8 * TRUTH * done, TRUTH))
        done += 1
        found = s.fault != 0 and before == 0
        ended = w.stop.reason != 0 or (s.fault != 0 and is_still(h, s, r))
        if every != 0 or found or ended or done == ticks:
            telemetry.fill(out + row * a.record_bytes, first + done - 1, a.dt, revision, r, g, o, c, s, k)
            row += every
        if found or ended:
            a.ended = 1 if ended else 0
            return -done
    return done


@kernel
def write_truth(w, bias, truth):
    """The true contact of the last physics step, and the static errors of the sensor beyond its declared `bias`."""
    put(truth[0:3], w.contact_force)
    fill(truth[3:7], 0.0)
    for j in range(w.n_surfaces):
        one = w.surface[j]
        truth[3] += one.press
        if one.press > 0.0:
            quat_rotate(one.pose[3:7], one.normal, w.normal)
            for i in range(3):
                truth[4 + i] += one.press * w.normal[i]
    size = math.sqrt(truth[4] ** 2 + truth[5] ** 2 + truth[6] ** 2)
    for i in range(3):
        truth[4 + i] /= max(size, 1e-12)
    R = floats(w.sensor_xmat, 9)
    for i in range(3):
        truth[7 + i] = w.felt.weight[i]
        for j in range(3):
            truth[7 + i] += R[3 * i + j] * (w.bias[j] + w.felt.off[j] - bias[j])
