"""What the Studio shows of the contact law."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_states import DWELL, EVENTS, PAUSED, SLIDE, STATES
from pliant.control.laws.law_panel import Button, Line, Panel, Slider, States


def _target(records: Any) -> Any:
    """The force target while the tool presses. At other times the state keeps an old one, which means nothing."""
    contact, pressing = records["contact"], (DWELL, SLIDE)
    paused = (contact["state"] == PAUSED) & np.isin(contact["before"], pressing)
    return np.where(np.isin(contact["state"], pressing) | paused, contact["target_n"], np.nan)


def _now(record: Any) -> tuple[float, float, float]:
    contact = record["contact"]
    return contact["state"], contact["reason"], contact["rejected"]


def _slider(name: str, label: str) -> Slider:
    return Slider(f"contact.{name}", label, "Contact")


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
    states=States(STATES, tuple(EVENTS[number] for number in range(len(EVENTS))), _now),
    arrow=lambda records: records["contact"]["normal"],
    no_goal="follows its own path, not this goal",
)  # fmt: skip
