"""The state diagram of the contact law, drawn from the table that the tick uses."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from pliant.analysis.pictures import style
from pliant.control.laws.contact.contact_states import (
    BACK,
    DONE,
    DWELL,
    FAULT,
    IDLE,
    LAW,
    NEXT,
    NONE,
    PAUSED,
    RETRACT,
    SEEK,
    SLIDE,
    STATES,
)

# The position of each state, in the order of STATES.
PLACES = ((0, 2), (1.5, 2), (3, 2), (4.5, 2), (6, 2), (6, 0.6), (4.5, 3.3), (3, 0.6), (0.6, 0.6))
NAMES = (
    "", "sensor failed", "force limit", "abort", "stop", "pause", "resume", "set_start", "start", "", "touched", "lost",
    "not found", "dwelt", "ended", "lifted", "no surface", "timeout", "stuck", "robot failed", "too deep", "halt",
    "law", "", "", "normal turned", "pulled away", "blocked", "still loaded", "sign reversed", "lost too often", "", "",
    "force too large", "leaning", "crawling",
)  # fmt: skip
# Arrows that would cross others.
BENDS = {
    (RETRACT, DONE): 0.0, (SEEK, RETRACT): 0.08, (PAUSED, RETRACT): -0.9, (SLIDE, SEEK): -0.3, (PAUSED, DWELL): 0.45,
    (DWELL, PAUSED): 0.3, (RETRACT, PAUSED): 1.35,
}  # fmt: skip
Place = tuple[float, float]
_COMMANDS = {"abort", "stop", "pause", "resume", "set_start", "start", "halt", "law"}


def ways() -> dict[tuple[int, int], list[str]]:
    """For every pair of states, the events that lead from one to the other.

    Two kinds are left out because they start from every state: faults, and a change of law without contact.
    """
    found: dict[tuple[int, int], list[str]] = {}
    for state in range(len(STATES)):
        for event, name in enumerate(NAMES):
            to = int(NEXT[state, event])
            if to in (NONE, FAULT, state) or (event == LAW and to == IDLE):
                continue
            for goal in (SEEK, DWELL, SLIDE, RETRACT) if to == BACK else (to,):
                found.setdefault((state, goal), []).append(name)
    return found


def faults() -> list[str]:
    """The events that lead to a fault: from every state in the first line, then the others by state."""
    found = {state: {e for e in range(len(NAMES)) if NEXT[state, e] == FAULT} for state in range(len(STATES))}
    everywhere = set.intersection(*(events for state, events in found.items() if state != FAULT))
    lines = [f"to FAULT from every state: {', '.join(NAMES[e] for e in sorted(everywhere))}"]
    for state, events in found.items():
        if own := sorted(events - everywhere):
            lines.append(f"from {STATES[state]}: {', '.join(NAMES[e] for e in own)}")
    return lines


def _arrow(ax: Axes, here: Place, there: Place, text: str, colour: str, bend: float) -> None:
    ax.annotate(
        "", there, here,
        arrowprops={
            "arrowstyle": "-|>", "color": colour, "shrinkA": 26, "shrinkB": 26, "lw": 1.1,
            "connectionstyle": f"arc3,rad={bend}",
        },
    )  # fmt: skip
    dx, dy = there[0] - here[0], there[1] - here[1]
    x, y = (here[0] + there[0]) / 2 + 0.5 * bend * dy, (here[1] + there[1]) / 2 - 0.5 * bend * dx
    box = {"fc": "white", "ec": "none", "pad": 1}
    ax.text(x, y, text, fontsize=7.5, ha="center", va="center", color=colour, bbox=box)


def draw(path: Path) -> None:
    """Draw every state and every transition."""
    with style.applied() as theme:
        subtitle = "blue: by command; black: also by events; halt, law: from the loop; red: leads to a fault"
        fig, axes = style.figure(1, 1, "States of a contact", subtitle, panel_inches=(10.5, 6.2))
        ax = axes[0, 0]
        ax.set_axis_off()
        ax.set_xlim(-0.5, 8.1)
        ax.set_ylim(-1.3, 3.9)
        ax.text(-0.4, 0.05, "\n".join(faults()), fontsize=8, va="top", color=theme.alarm, linespacing=1.5)
        for (state, to), events in ways().items():
            asked = all(event in _COMMANDS for event in events)
            there_and_back = (to, state) in ways() or PAUSED in (state, to)
            bend = BENDS.get((state, to), 0.22 if there_and_back else 0.0)
            _arrow(ax, PLACES[state], PLACES[to], ", ".join(events), theme.lines[0] if asked else theme.text, bend)
        for state, (x, y) in enumerate(PLACES):
            edge = theme.alarm if state == FAULT else theme.faint
            box = {"boxstyle": "round,pad=0.5", "fc": theme.background, "ec": edge, "lw": 1.4}
            ax.text(x, y, STATES[state].upper(), ha="center", va="center", fontweight="bold", bbox=box, zorder=5)
    style.save(fig, path)
