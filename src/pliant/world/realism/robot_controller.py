"""The robot's own controller: late and lost packets, and the protective stop."""

from __future__ import annotations

import math

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
            s.reason, s.value = BY_SPEED, abs(qd[i])
        if s.deviation > 0.0 and abs(w.ref[i] - q[i]) > s.deviation:
            s.reason, s.value = BY_DEVIATION, abs(w.ref[i] - q[i])
    push = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
    # the force is estimated from motor currents, which do not show a short impact
    s.pressed += (1.0 - math.exp(-w.h * w.substeps / FORCE_S)) * (push - s.pressed)
    if s.force > 0.0 and s.pressed > s.force:
        s.reason, s.value = BY_FORCE, s.pressed
    if s.reason != 0:
        w.halted = 1
