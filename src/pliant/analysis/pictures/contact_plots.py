"""A contact as one panel: the force along the normal, its target, and the states of the contact."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from pliant.analysis import signals
from pliant.analysis.pictures import style
from pliant.analysis.pictures.style import Theme
from pliant.analysis.transitions import transitions
from pliant.control.laws.contact.contact_states import DWELL, FAULT, IDLE, PAUSED, SLIDE, STATES
from pliant.record import Recording

# Half of the band around the target in which a force counts as settled.
BAND = 0.05
# A state is labelled in the panel if it lasts for at least this share of the run.
_ROOM = 0.05


def had_contact(recording: Recording) -> bool:
    """Whether the contact law ever left its idle state."""
    return bool((recording.records["contact"]["state"] != IDLE).any())


def draw_contact(ax: Axes, recording: Recording, theme: Theme) -> None:
    """Force and target, with the states as bands behind them."""
    contact, time_s = recording.records["contact"], signals.time_s(recording)
    force = signals.finite(contact["force_n"])
    state = np.where(contact["state"] == PAUSED, contact["before"], contact["state"])  # paused, too
    pressing = np.where(np.isin(state, (DWELL, SLIDE)), contact["target_n"], np.nan)
    ax.fill_between(time_s, (1 - BAND) * pressing, (1 + BAND) * pressing, color=theme.z, alpha=0.25, lw=0)
    ax.plot(time_s, force, color=theme.text, lw=1.0, label="force")
    ax.plot(time_s, pressing, color=theme.z, lw=1.3, ls=(0, (5, 3)), label="target ±5 %")
    style.label(ax, "Normal force and contact state", "N", "force")
    style.least_span(ax, 1.0)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.22 * (high - low))
    _states(ax, recording, theme)
    style.legend(ax)


def _states(ax: Axes, recording: Recording, theme: Theme) -> None:
    changes = [one for one in transitions(recording.records) if one.state in STATES]
    times = signals.time_s(recording)
    end_s, span_s = float(times[-1]), float(times[-1] - times[0])
    ends = [*(one.time_s for one in changes[1:]), end_s]
    for i, (one, until_s) in enumerate(zip(changes, ends, strict=True)):
        alarming = STATES.index(one.state) in (FAULT, PAUSED)
        ax.axvspan(
            one.time_s, until_s, color=theme.alarm if alarming else theme.faint, alpha=0.06 + 0.08 * (i % 2), lw=0
        )
        if until_s - one.time_s > _ROOM * span_s:
            place = {"xycoords": ("data", "axes fraction"), "xytext": (3, -2), "textcoords": "offset points"}
            ax.annotate(one.state, (one.time_s, 1.0), va="top", fontsize=8, color=theme.faint, **place)
