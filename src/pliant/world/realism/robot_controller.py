"""The robot's own controller: late and lost packets, and the protective stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pliant.kernel import floats, kernel
from pliant.world.random_numbers import uniform

# Time constant with which the controller notices a force [s].
FORCE_S = 0.05
# Why a protective stop happened.
BY_SPEED, BY_DEVIATION, BY_FORCE = 1, 2, 3


@kernel
def receive(w):
    """At the start of a period: decide whether its command is lost, or late, or gets through at once."""
    p = w.packets
    if p.command_loss > 0.0 and uniform(w) < p.command_loss:
        p.waiting = max(p.waiting, w.substeps)
        p.lost[0] += 1
    if p.late_share > 0.0 and uniform(w) < p.late_share and p.waiting == 0:
        p.waiting = 1 + int(p.late * uniform(w))


@kernel
def loses_reading(w):
    """Whether this reading is lost; the first never is."""
    p = w.packets
    if p.reading_loss > 0.0 and w.count > 0 and uniform(w) < p.reading_loss:
        p.lost[1] += 1
        return True
    return False


@kernel
def supervise(w):
    """At the end of a period: stop the arm for good if it is too fast, too far from its reference, or pressed."""
    s = w.stop
    if w.halted != 0:
        return
    q, qd, force = floats(w.axis_q, w.n), floats(w.axis_qd, w.n), floats(w.tool_xfrc, 6)
    for i in range(w.n):
        if s.speed[i] > 0.0 and abs(qd[i]) > s.speed[i]:
            s.reason, s.value, s.joint = BY_SPEED, abs(qd[i]), i
        if s.deviation > 0.0 and abs(w.ref[i] - q[i]) > s.deviation:
            s.reason, s.value, s.joint = BY_DEVIATION, abs(w.ref[i] - q[i]), i
    push = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
    # the force is estimated from motor currents, which do not show a short impact
    s.pressed += (1.0 - math.exp(-w.h * w.substeps / FORCE_S)) * (push - s.pressed)
    if s.force > 0.0 and s.pressed > s.force:
        s.reason, s.value, s.joint = BY_FORCE, s.pressed, 0
    if s.reason != 0:
        w.halted = 1


def stop_words(stop: Any, joints: Sequence[str]) -> str:
    """Why the robot stopped protectively, without a full stop; "" if it has not. `joints` are the names of its joints.

    `stop` is that part of the world's record.
    """
    reason, value = int(stop.reason), float(stop.value)
    if reason == 0:
        return ""
    joint, number = joints[int(stop.joint)], int(stop.joint)
    words = {
        BY_SPEED: f"joint {joint} moved at {value:.3g} rad/s, and the limit is {float(stop.speed[number]):.3g} rad/s "
        "(sim.effects.stop.speed_share). Lower limits.speed_scale, or check what pushed the arm",
        BY_DEVIATION: f"joint {joint} was {value:.3g} rad from its reference, and the limit is "
        f"{float(stop.deviation):.3g} rad (sim.effects.stop.deviation_rad). Check what held or pushed the arm",
        BY_FORCE: f"the force on the tool was {value:.0f} N, and the limit is {float(stop.force):.0f} N "
        "(sim.effects.stop.force_n). Approach more slowly, or lower the force",
    }
    return f"the robot's own controller made a protective stop: {words[reason]}"
