"""What the rooms around the contact law see of it: commands, states, status, and the Studio's panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_states import (
    COMMANDS,
    DWELL,
    EVENTS,
    FAULT,
    FORCE_LIMIT,
    GONE,
    HALTED,
    LOST,
    NEXT,
    NONE,
    PAUSED,
    READY,
    RETRACT,
    SENSELESS,
    SLIDE,
    STATES,
    TOO_FAR,
)
from pliant.control.laws.law_commands import Commands, LawStatus, States
from pliant.control.laws.law_panel import Button, Line, Panel, Slider

# A tool that presses when a run ends lifts off first; so many times as long as that takes, and so much longer [s], the
# end waits for it.
_LIFT_TIMES, _LIFT_S = 3.0, 1.5


@dataclass(frozen=True)
class ContactStatus(LawStatus):
    """The state of a contact at one tick.

    Its states are idle, ready, seek, dwell, slide, retract, paused, done and fault. It is active until the tool has
    lifted off.
    """

    since_s: float
    """Time in this state [s]."""
    touching: bool
    """Whether the tool is in contact."""
    force_n: float
    """Force along the surface normal [N]."""
    target_n: float
    """Target force at this moment [N]."""
    peak_n: float
    """Largest force along the normal since the start [N]."""
    normal: np.ndarray[Any, Any]
    """Estimated direction out of the surface, in the base frame."""
    stiffness_n_m: float
    """Learned stiffness of the surface [N/m]."""
    friction: float
    """Learned coefficient of friction."""
    losses: int
    """Contact losses since the start."""
    travelled_m: float
    """Distance along the path [m]."""


def _status(record: Any, status: LawStatus) -> ContactStatus:
    c = record["contact"]
    return ContactStatus(
        **vars(status),
        since_s=float(c["since_s"]),
        touching=bool(c["touching"]),
        force_n=float(c["force_n"]),
        target_n=float(c["target_n"]),
        peak_n=float(c["peak_n"]),
        normal=c["normal"].copy(),
        stiffness_n_m=float(c["stiffness"]),
        friction=float(c["friction"]),
        losses=int(c["losses"]),
        travelled_m=float(c["travelled_m"]),
    )


def failure(records: Any, section: Any = None) -> str:
    """Why the contact failed, or "": a fault or a lost surface without a new start set afterwards, or a rejected start.

    A contact that loses its surface for good lifts off and ends in `done`, but its path is incomplete.
    """
    contact = records["contact"]
    faults = np.flatnonzero(contact["state"] == FAULT)
    if len(faults) and not (contact["state"][faults[-1] :] == READY).any():
        reason = int(contact["reason"][faults[-1]])
        if reason == TOO_FAR and section is not None:
            return f"{EVENTS[reason]} ({float(section.seek_m):g} m). Start closer, or raise contact.seek_m"
        if reason == FORCE_LIMIT and section is not None:
            return _too_hard(records, faults[-1], float(section.force_limit_n))
        return EVENTS[reason]
    lost = np.flatnonzero((contact["state"] == RETRACT) & np.isin(contact["reason"], (GONE, LOST)))
    if len(lost) and not (contact["state"][lost[-1] :] == READY).any():
        return EVENTS[int(contact["reason"][lost[-1]])]
    return ""


def _too_hard(records: Any, last: int, limit_n: float) -> str:
    """The force that exceeded the limit, from the tick in which the fault that is in force at `last` began."""
    before = np.flatnonzero(records["contact"]["state"][:last] != FAULT)
    first = int(before[-1]) + 1 if len(before) else 0
    force_n = float(np.linalg.norm(records["observed"]["wrench"][first, :3]))
    when = f"{force_n:.3g} N at {float(records['time_s'][first]):.3f} s"
    remedy = "Remove what pushes the tool, lower contact.approach_m_s, or raise the limit"
    return f"{EVENTS[FORCE_LIMIT]} ({limit_n:g} N): {when}. {remedy}"


def _target(records: Any) -> Any:
    """The force target while the tool presses. At other times the state keeps an old one, which means nothing."""
    contact, pressing = records["contact"], (DWELL, SLIDE)
    paused = (contact["state"] == PAUSED) & np.isin(contact["before"], pressing)
    return np.where(np.isin(contact["state"], pressing) | paused, contact["target_n"], np.nan)


def _slider(name: str, label: str) -> Slider:
    return Slider(f"contact.{name}", label, "Contact")


DECLARED = Commands(
    COMMANDS,
    valid={
        state: tuple(name for name, number in COMMANDS.items() if NEXT[i, number] != NONE)
        for i, state in enumerate(STATES)
    },
    starts="start",
    ends="stop",
    end_s=lambda section: _LIFT_TIMES * float(section.retract_m / section.retract_m_s) + _LIFT_S,
    protects=("stop", "abort"),
    moves=("start", "resume"),
    end_first="Send `stop` first and let the tool lift off.",
    invalid=SENSELESS,
    halted=HALTED,
)
"""The commands of the contact law."""

DECLARED_STATES = States(
    STATES,
    tuple(EVENTS[number] for number in range(len(EVENTS))),
    failed=("fault",),
    subject="contact",
    figure=lambda record: f"{float(record['contact']['force_n']):.2f} N along the normal",
    read=_status,
    failure=failure,
    unstarted=("idle", "ready", "fault"),
)
"""The states of the contact law."""

PANEL = Panel(
    sliders=(
        _slider("target_n", "Target force"),
        _slider("peak_n", "Peak force"),
        _slider("force_limit_n", "Force limit"),
        _slider("margin", "Loop gain"),
        _slider("lag_s", "Total lag"),
        _slider("speed_m_s", "Path speed"),
    ),
    buttons=(
        Button("seek", "Seek", "Set the start to the current pose and seek the surface", ("set_start", "start")),
        Button("pause", "Pause", "Pause the contact task", ("pause",)),
        Button("go-on", "Continue", "Continue after a pause", ("resume",)),
        Button("retract", "Retract", "End the contact task and lift off", ("stop",)),
    ),
    lines=(
        Line("contact force", "N", "Force", "force_n", key="normal"),
        Line(
            "force target", "N", "Force", _target,
            key="target", dashed=True, band="contact.band_n", follows="contact.target_n",
        ),
    ),
    arrow=lambda records: records["contact"]["normal"],
    no_goal="follows its own path, not this goal",
)  # fmt: skip
