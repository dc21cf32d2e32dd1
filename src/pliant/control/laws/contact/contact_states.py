"""The states of a contact and the transitions between them: one table for the control loop and the diagram.

An event is a user command or a detected condition. `NEXT[state, event]` is the next state, or `NONE` if the event has
no effect there; a command is then rejected. If several events occur in one tick, the first in the list counts:
protection first, then commands, then normal progress.
"""

from __future__ import annotations

import numpy as np

from pliant.kernel import fill, kernel, put

IDLE, READY, SEEK, DWELL, SLIDE, RETRACT, PAUSED, DONE, FAULT = range(9)
STATES = ("idle", "ready", "seek", "dwell", "slide", "retract", "paused", "done", "fault")
"""States of a contact task, in the order of their numbers in a record."""

(
    NOTHING, SENSOR, FORCE_LIMIT, ABORT, STOP, PAUSE, RESUME, SET_START, START, PRELOAD,
    TOUCHED, LOST, GONE, DWELT, ENDED, LIFTED, TOO_FAR, TIMEOUT, STUCK, ROBOT, GAVE_WAY, HALT, LAW, LIFTING, HEADING,
    TURNED, PULLED, BARRED, STILL, REVERSED, TOO_OFTEN, SENSELESS, HALTED, OVERPRESSED, LEANING, CRAWLING,
) = range(36)  # fmt: skip

# Every reason that a recording or a message can report, in words.
EVENTS = {
    NOTHING: "nothing has happened yet",
    SENSOR: "the force sensor failed",
    FORCE_LIMIT: "the force exceeded contact.force_limit_n",
    ABORT: "`abort` was received",
    STOP: "`stop` was received",
    PAUSE: "`pause` was received",
    RESUME: "`resume` was received",
    SET_START: "`set_start` was received",
    START: "`start` was received",
    PRELOAD: "the sensor read more than contact.preload_n at the start",
    TOUCHED: "the tool touched the surface",
    LOST: "contact was lost",
    GONE: "contact was lost and not found again within contact.recover_s",
    DWELT: "the force stayed in its band for contact.dwell_s",
    ENDED: "the path is complete",
    LIFTED: "the tool has lifted off by contact.retract_m",
    TOO_FAR: "no surface was found within contact.seek_m",
    TIMEOUT: "the force did not settle within contact.settle_s",
    STUCK: "a limit, such as the workspace, blocked the tool",
    ROBOT: "the robot or its command failed, and the arm stopped where it was",
    GAVE_WAY: "the tool moved in further than the softest declared surface allows, but the force did not rise",
    HALT: "the loop was halted",
    LAW: "another law was requested",
    LIFTING: "the tool is still lifting off after a fault",
    HEADING: "contact.heading points along the tool's axis, so it gives no direction on the surface",
    TURNED: "the normal turned from the approach by more than contact.cone_deg: something pushes the tool sideways",
    PULLED: "the tool was pulled away from the surface by more than contact.leash_m while a force still acted on it",
    BARRED: "an obstacle blocked the lift-off",
    STILL: "a force still acts on the tool after two lift-offs by contact.retract_m",
    REVERSED: "the force pulls towards the surface: check whether the sensor is mounted the wrong way round",
    TOO_OFTEN: "contact was lost more often than contact.losses_most",
    SENSELESS: "the command is not valid in this state",
    HALTED: "the loop is halted: resume it first",
    OVERPRESSED: "the total force stayed far above contact.target_n: most of it was not along the learned normal",
    LEANING: "the force deviated further from the learned normal than a friction coefficient of 1 explains: the "
    "normal is wrong, or something pushes the tool sideways",
    CRAWLING: "the tool slid at less than a twentieth of contact.speed_m_s for contact.settle_s: the slope or the "
    "force stayed too uncertain to go faster",
}

# The commands, by name.
COMMANDS = {"set_start": SET_START, "start": START, "pause": PAUSE, "resume": RESUME, "stop": STOP, "abort": ABORT}

NONE, BACK = -1, -2  # no way from here; back to the state that was paused

# At work: a halt pauses, another law has to wait until the tool has lifted off.
_WORK = {PAUSE: PAUSED, HALT: PAUSED, STOP: RETRACT, LAW: RETRACT, ABORT: FAULT}
_PRESSING = {LOST: SEEK, TOO_OFTEN: FAULT, GAVE_WAY: FAULT, PULLED: FAULT, OVERPRESSED: FAULT}
_WAYS = {
    IDLE: {SET_START: READY},
    READY: {SET_START: READY, START: SEEK, STOP: IDLE, ABORT: IDLE, LAW: IDLE},
    SEEK: {**_WORK, TOUCHED: DWELL, GONE: RETRACT, TOO_FAR: FAULT, STUCK: FAULT, REVERSED: FAULT},
    DWELL: {**_WORK, **_PRESSING, DWELT: SLIDE, TIMEOUT: FAULT},
    SLIDE: {**_WORK, **_PRESSING, ENDED: RETRACT, STUCK: FAULT, TURNED: FAULT, LEANING: FAULT, CRAWLING: FAULT},
    RETRACT: {LIFTED: DONE, PAUSE: PAUSED, HALT: PAUSED, STUCK: FAULT, BARRED: FAULT, STILL: FAULT, ABORT: FAULT},
    PAUSED: {
        RESUME: BACK,
        LOST: RETRACT,
        STOP: RETRACT,
        LAW: RETRACT,
        GAVE_WAY: FAULT,
        PULLED: FAULT,
        OVERPRESSED: FAULT,
        ABORT: FAULT,
    },
    DONE: {SET_START: READY, LAW: IDLE},
    FAULT: {SET_START: READY, LAW: IDLE},
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
    return c.state in (DWELL, SLIDE) or (c.state == PAUSED and c.before in (DWELL, SLIDE))


@kernel
def is_at_work(c):
    """Whether the tool may be in contact: until it has lifted off, no other law may take over and no loop may end."""
    return c.state in (SEEK, DWELL, SLIDE, RETRACT, PAUSED) or (c.state == FAULT and c.lifted == 0)


@kernel
def guarded(c, event, preload, well, heading, halted):
    """The event of a command; a sensor failure, an invalid `heading` or a halt turns some commands into a rejection."""
    if halted and event in (START, RESUME) and NEXT[c.state, event] != NONE:
        return HALTED
    if event == START and c.state == READY:
        if preload:
            return PRELOAD
        return event if heading else HEADING
    if event == SET_START and NEXT[c.state, event] != NONE:
        if not well:
            return SENSOR
        if c.state == FAULT and c.lifted == 0:
            return LIFTING
        if preload:
            return PRELOAD
    return event


@kernel
def enter(c, event, position):
    """Follow the table from the present state; returns whether there was a transition."""
    to = NEXT[c.state, event]
    if to == NONE:
        return False
    if to == BACK:
        to = c.before
    # who lifts off already does not begin anew: one lift-off is enough
    lifting = c.state == RETRACT or (c.state == PAUSED and c.before == RETRACT)
    if to == PAUSED:
        c.before, c.out_m = c.state, min(0.0, c.out_m)
    if to in (RETRACT, FAULT, SEEK):
        # what was touched and never became firm was no contact: the search goes on from where it began
        if not lifting and (to != SEEK or event == START or (c.state != PAUSED and c.following != 0)):
            put(c.anchor, position[0:3])
            c.lifts = 0
        # who was not at work has nothing to lift off from, and must not move against whoever pushes
        idle = c.state in (IDLE, READY, DONE)
        c.lifted = 1 if to == FAULT and (idle or event in (ROBOT, STILL)) else 0
    if to in (SEEK, DWELL, RETRACT, FAULT):
        fill(c.way, 0.0)
    if to != DWELL or c.state != PAUSED:
        c.held_s = 0.0
    c.lost_s, c.stuck_s, c.pulled_s = 0.0, 0.0, 0.0
    c.rejected = NOTHING
    c.state, c.reason, c.since_s = to, event, 0.0
    return True
