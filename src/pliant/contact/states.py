"""The states of a contact and what leads from one to another: one table, from which the tick and the picture are made.

An event is an order of the user or something that was noticed. `NEXT[state, event]` is the state it leads to; where
there is none, the event means nothing there, and an order is refused. Of several events in one tick the first in the
list counts: what protects comes before what is asked, and that before the ordinary course of things.
"""

from __future__ import annotations

import numpy as np

from pliant.kernel import kernel

IDLE, READY, SEEK, DWELL, SLIDE, RETRACT, PAUSED, DONE, FAULT = range(9)
STATES = ("idle", "ready", "seek", "dwell", "slide", "retract", "paused", "done", "fault")

(
    NOTHING, SENSOR, FORCE_LIMIT, ABORT, STOP, PAUSE, RESUME, SET_START, START, PRELOAD,
    TOUCHED, LOST, GONE, DWELT, ENDED, LIFTED, TOO_FAR, TIMEOUT, STUCK, ROBOT,
) = range(20)  # fmt: skip

# Every reason that a recording or a message can give, in words.
EVENTS = {
    NOTHING: "nothing has happened yet",
    SENSOR: "the force sensor failed",
    FORCE_LIMIT: "the force exceeded contact.force_limit_n",
    ABORT: "it was aborted",
    STOP: "it was asked to stop",
    PAUSE: "it was asked to pause",
    RESUME: "it was asked to go on",
    SET_START: "the start was set here",
    START: "it was asked to start",
    PRELOAD: "the sensor showed more than contact.preload_n before the start",
    TOUCHED: "the tool touched the surface",
    LOST: "contact was lost",
    GONE: "contact was lost and not found again within contact.recover_s",
    DWELT: "the force stayed in its band for contact.dwell_s",
    ENDED: "the path is complete",
    LIFTED: "the tool has lifted off by contact.retract_m",
    TOO_FAR: "there was no surface within contact.seek_m",
    TIMEOUT: "the force did not settle within contact.settle_s",
    STUCK: "a limit, such as the workspace, kept the tool from moving on",
    ROBOT: "the robot or its command failed, and the arm stands where it is",
}

# What a user can ask for, by name.
ORDERS = {"set_start": SET_START, "start": START, "pause": PAUSE, "resume": RESUME, "stop": STOP, "abort": ABORT}

NONE, BACK = -1, -2  # no way from here; back to the state that was paused

_WAYS = {
    IDLE: {SET_START: READY},
    READY: {SET_START: READY, START: SEEK, STOP: IDLE, ABORT: IDLE},
    SEEK: {TOUCHED: DWELL, PAUSE: PAUSED, STOP: RETRACT, GONE: RETRACT, TOO_FAR: FAULT, STUCK: FAULT, ABORT: FAULT},
    DWELL: {DWELT: SLIDE, LOST: SEEK, PAUSE: PAUSED, STOP: RETRACT, TIMEOUT: FAULT, ABORT: FAULT},
    SLIDE: {ENDED: RETRACT, LOST: SEEK, PAUSE: PAUSED, STOP: RETRACT, STUCK: FAULT, ABORT: FAULT},
    RETRACT: {LIFTED: DONE, ABORT: FAULT},
    PAUSED: {RESUME: BACK, LOST: RETRACT, STOP: RETRACT, ABORT: FAULT},
    DONE: {SET_START: READY},
    FAULT: {SET_START: READY},
}


def _table() -> np.ndarray:
    table = np.full((len(STATES), len(EVENTS)), NONE, np.int64)
    for state, ways in _WAYS.items():
        for event, to in ways.items():
            table[state, event] = to
        if state != FAULT:  # watched in every state
            table[state, SENSOR] = table[state, FORCE_LIMIT] = table[state, ROBOT] = FAULT
    return table


NEXT = _table()


@kernel
def is_pressing(c):
    """Whether the law holds a force in this state."""
    return c.state in (DWELL, SLIDE) or (c.state == PAUSED and c.before != SEEK)


@kernel
def guarded(c, event, preload, well):
    """What an event amounts to: some orders are refused by what the sensor says."""
    if event == START and c.state == READY and preload:
        return PRELOAD
    if event == SET_START and not well:
        return SENSOR
    return event


@kernel
def enter(c, event, position):
    """Follow the table from the present state; returns whether there was a way."""
    to = NEXT[c.state, event]
    if to == NONE:
        return False
    if to == BACK:
        to = c.before
    if to == PAUSED:
        c.before = c.state
    if to in (RETRACT, FAULT, SEEK):
        if c.state != PAUSED or to != SEEK:
            c.anchor[:] = position[0:3]
        # who was not at work when the sensor failed has nothing to lift off from; without a start there is no normal
        idle = c.state == IDLE or (event == SENSOR and c.state in (READY, DONE))
        c.lifted = 1 if to == FAULT and (idle or event == ROBOT) else 0
    if to in (SEEK, DWELL, RETRACT, FAULT):
        c.way[:] = 0.0
    if to != DWELL or c.state != PAUSED:
        c.held_s = 0.0
    c.lost_s, c.stuck_s = 0.0, 0.0
    c.state, c.reason, c.since_s = to, event, 0.0
    return True
