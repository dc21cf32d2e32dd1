"""How a run ended, and a contact in it: as a fault, when, and for what reason."""

from __future__ import annotations

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding
from pliant.analysis.figures import reported
from pliant.analysis.signals import Span
from pliant.contact.states import (
    ABORT,
    BARRED,
    EVENTS,
    FAULT,
    FORCE_LIMIT,
    GAVE_WAY,
    PULLED,
    REVERSED,
    ROBOT,
    SENSOR,
    STATES,
    STILL,
    STUCK,
    TIMEOUT,
    TOO_FAR,
    TOO_OFTEN,
    TURNED,
)
from pliant.records import FAULT_COMMAND, FAULT_NUMBER, FAULT_POSE_ERROR, FAULT_SENSOR, FAULTS

# What to do about a fault of the controller, where its sentence does not say so; those of the sensor have one for all.
_FAULT_REMEDIES = {
    FAULT_NUMBER: "Look at the robot's driver: its joint readings cannot be used.",
    FAULT_POSE_ERROR: "See what pushed the tool away or held it; a stiffer spring gives way less.",
    FAULT_COMMAND: "Look at the goal and the parameters that were set last.",
}

# What to do about a reason; of the others the reason says enough.
REMEDIES = {
    SENSOR: "See what is said of the sensor; look at its cable, its range and its rate.",
    FORCE_LIMIT: "See the force beyond its limit: a slower approach, a stiffer declared surface, or a free way.",
    ABORT: "Nothing, if whoever aborted it meant to.",
    TOO_FAR: "Start nearer to the surface, or raise contact.seek_m; see that the tool's axis points at it.",
    TIMEOUT: "See limit cycle and effective delay; else raise contact.settle_s, or contact.band_n if noise is all.",
    STUCK: "Look which limit acted (saturation, workspace, a singular pose), and begin where there is room.",
    ROBOT: "Look at what the robot says: its protective stop, its connection, its command.",
    GAVE_WAY: "Look for an offset of the sensor (tare it in free air), or declare a softer contact.stiffness_min_n_m.",
    TURNED: "Keep hands and cables off the tool; a surface that turns further needs a larger contact.cone_deg.",
    PULLED: "Keep hands off the tool; for a surface that rises further raise contact.leash_m.",
    BARRED: "Clear the way out: what was in it, a hand or a shelf, is where the tool stands now.",
    STILL: "Tare the sensor in free air: an offset, a cable or a hand was left after the lift-off.",
    REVERSED: "Push the tool up by hand and read the force: z must be positive. Else turn the sensor's frame round.",
    TOO_OFTEN: "See contact losses; a surface that shakes needs contact.losses_most, or contact.loss_s.",
}


def fault(case: Case) -> Finding:
    """What ended the run: the controller's own fault, or what the robot's driver said."""
    number = case.records["state"]["fault"]
    said = case.fault or FAULTS.get(int(number[-1]), f"fault {number[-1]}" if number[-1] else "")
    if not said:
        return Finding("fault", "fine", (), "No fault ended the run.")
    tick = int(np.argmax(number != 0)) if number.any() else len(number) - 1
    at_s = float(case.time_s[tick])
    cause = f"The loop ended by a fault at {at_s:.2f} s: {said}."
    remedy = _FAULT_REMEDIES.get(int(number[tick]), "Do what the sentence says; the other findings may say why.")
    if number[tick] > FAULT_SENSOR:
        remedy = "See what is said of the sensor below; look at its cable, its range and its rate."
    spans = (Span(at_s, float(case.time_s[-1]) + case.dt),)
    return Finding("fault", "alarm", (reported("at", at_s, "s"),), cause, remedy, spans)


def contact_fault(case: Case) -> Finding:
    """Every time that the contact law went into its fault, and why."""
    state, reason = case.contact["state"], case.contact["reason"]
    if not (case.is_contact or case.failed.any()):
        return Finding("contact fault", "fine", (), "No contact law ran.")
    before = np.concatenate(([-1], state[:-1]))
    entered = np.flatnonzero(case.failed & (before != FAULT))
    figures = (reported("faults", len(entered)),)
    if not len(entered):
        return Finding("contact fault", "fine", figures, f"It ended in the state {STATES[int(state[-1])]}.")
    figures += (reported("first", float(case.time_s[entered[0]]), "s"),)
    said = [_said(case, int(i)) for i in entered]
    first = int(reason[entered[0]])
    aborted = all(int(reason[i]) == ABORT for i in entered)
    remedy = REMEDIES.get(first, "Look at what the tool met at that place, and at the other findings.")
    return Finding(
        "contact fault", "warning" if aborted else "alarm", figures, " ".join(said), remedy, case.spans(case.failed)
    )


def _said(case: Case, tick: int) -> str:
    contact = case.contact
    why = EVENTS.get(int(contact["reason"][tick]), "the recording gives no reason that is known")
    where = f" in the state {STATES[int(contact['state'][tick - 1])]}" if tick else ""
    return f"The contact ended as a fault at {case.time_s[tick]:.2f} s{where}: {why}."
