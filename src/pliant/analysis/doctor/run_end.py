"""Faults: when a run or a contact ended in one, and for what reason."""

from __future__ import annotations

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding
from pliant.analysis.signals import Span
from pliant.analysis.targets import reported
from pliant.control.laws.contact.contact_states import (
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
from pliant.records import (
    FAULT_COMMAND,
    FAULT_NUMBER,
    FAULT_POSE_ERROR,
    FAULTS,
    WRENCH_FROZEN,
    WRENCH_OK,
    WRENCH_STALE,
)

# What to do about a fault of the controller, where its sentence does not say so; those of the sensor have one for all.
_FAULT_REMEDIES = {
    FAULT_NUMBER: "Check the robot's driver: its joint readings are not usable.",
    FAULT_POSE_ERROR: "Find what pushed or held the tool. A stiffer spring deflects less.",
    FAULT_COMMAND: "Check the goal and the parameters that were set last.",
}

# The findings about a sensor that ended the run; every other problem of it is in "failing sensor".
_SENSOR_FINDINGS = {WRENCH_STALE: "late sensor", WRENCH_FROZEN: "frozen sensor"}

# What to do about a reason; of the others the reason says enough.
REMEDIES = {
    SENSOR: "See the sensor findings. Check the sensor's cable, range and rate.",
    FORCE_LIMIT: "See the force above its limit: approach more slowly, declare a stiffer surface, or clear the path.",
    ABORT: "None needed if the abort was intended.",
    TOO_FAR: "Start closer to the surface, or raise contact.seek_m. Check that the tool's axis points at the surface.",
    TIMEOUT: "See limit cycle and effective delay. Otherwise raise contact.settle_s, or contact.band_n against noise.",
    STUCK: "Check which limit acted (command at a limit, workspace, a singularity), and start where the tool can move.",
    ROBOT: "Check the robot: protective stop, connection, command.",
    GAVE_WAY: "Check the sensor for an offset (tare it in free air), or declare a softer contact.stiffness_min_n_m.",
    TURNED: "Keep hands and cables off the tool. A surface that curves further needs a larger contact.cone_deg.",
    PULLED: "Keep hands off the tool. For a surface that rises further, raise contact.leash_m.",
    BARRED: "Clear the retract path. The obstacle, a hand or a shelf, is where the tool stopped.",
    STILL: "Tare the sensor in free air. An offset, a cable or a hand still acted on it after the lift-off.",
    REVERSED: "Push the tool up by hand and read the force: z must be positive. If not, reverse the sensor's frame.",
    TOO_OFTEN: "See contact losses. For a surface that shakes, raise contact.losses_most or contact.loss_s.",
}


def fault(case: Case) -> Finding:
    """What ended the run: the controller's own fault, or one that the robot's driver reported."""
    number = case.records["state"]["fault"]
    said = case.fault or FAULTS.get(int(number[-1]), f"fault {number[-1]}" if number[-1] else "")
    if not said:
        return Finding("fault", "fine", (), "The run ended without a fault.")
    tick = int(np.argmax(number != 0)) if number.any() else len(number) - 1
    at_s = float(case.time_s[tick])
    end_s = float(case.time_s[-1])
    cause = f"A fault ended the loop at {at_s:.2f} s: {said}."
    if tick < len(number) - 1:
        lifts = case.sensor_fault != WRENCH_OK and case.is_contact
        then = "tool then lifted off, and the arm braked" if lifts else "arm then braked"
        cause = f"A fault at {at_s:.2f} s: {said}. The {then} until {end_s:.2f} s."
    remedy = _FAULT_REMEDIES.get(int(number[tick]), "Follow the message. The other findings may show the cause.")
    if case.sensor_fault != WRENCH_OK:
        finding = _SENSOR_FINDINGS.get(case.sensor_fault, "failing sensor")
        remedy = f"See {finding} below. Check the sensor's cable, range and rate."
    spans = (Span(at_s, end_s + case.dt),)
    return Finding("fault", "alarm", (reported("at", at_s, "s"),), cause, remedy, spans)


def contact_fault(case: Case) -> Finding:
    """Every time the contact law went into its fault state, and why."""
    state, reason = case.contact["state"], case.contact["reason"]
    if not (case.is_contact or case.failed.any()):
        return Finding("contact fault", "not applicable", (), "The contact law did not run.")
    before = np.concatenate(([-1], state[:-1]))
    entered = np.flatnonzero(case.failed & (before != FAULT))
    figures = (reported("faults", len(entered)),)
    if not len(entered):
        return Finding("contact fault", "fine", figures, f"The contact ended in the state {STATES[int(state[-1])]}.")
    figures += (reported("first", float(case.time_s[entered[0]]), "s"),)
    said = [_said(case, int(i)) for i in entered]
    first = int(reason[entered[0]])
    aborted = all(int(reason[i]) == ABORT for i in entered)
    remedy = REMEDIES.get(first, "Check what the tool hit at that position, and see the other findings.")
    return Finding(
        "contact fault", "warning" if aborted else "alarm", figures, " ".join(said), remedy, case.spans(case.failed)
    )


def _said(case: Case, tick: int) -> str:
    contact = case.contact
    why = EVENTS.get(int(contact["reason"][tick]), "the recorded reason is unknown")
    where = f" in the state {STATES[int(contact['state'][tick - 1])]}" if tick else ""
    return f"The contact ended in a fault at {case.time_s[tick]:.2f} s{where}: {why}."
