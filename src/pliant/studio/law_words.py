"""The laws as the page shows them: each with its declared panel, or with a slider for every live number it has."""

from __future__ import annotations

import re
from dataclasses import replace

from pliant.control.laws.law import Law
from pliant.control.laws.law_panel import Panel, Slider
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.params.declare import Declared, declared
from pliant.studio.page_messages import LawWords

# Below the sliders of every law.
_SENSING = (
    Slider("sense.cutoff_hz", "Filter cutoff", "Sensing"),
    Slider("sense.deadband_n", "Force deadband", "Sensing"),
    Slider("sense.deadband_nm", "Moment deadband", "Sensing"),
)
# Labels that are better than those derived from the names.
_LABELS = {
    "limits.speed_scale": "Joint speed scale",
    "limits.linear_speed_m_s": "Tool speed",
    "limits.angular_speed_rad_s": "Rotation speed",
    "limits.starved_warn_s": "Starvation warning",
    "limits.starved_fault_s": "Starvation fault",
}
_NUMBERS = ("number", "whole number")
_LISTS = ("3 numbers", "6 numbers")


def laws_in_words(kind: type[Parameters]) -> dict[str, LawWords]:
    """Every known law by its number in a frame; `kind` is the kind of parameter set of the loop."""
    live = {item.name: item for item in declared(kind) if item.live}
    return {str(law.number): _law_in_words(law, live) for law in LAWS.values()}


def default_panel(law: Law, live: dict[str, Declared]) -> Panel:
    """The panel of a law that declares none: a slider for every live number among its parameters."""
    own = [item for item in live.values() if item.name.startswith(f"{law.section}.")]
    return Panel(
        sliders=tuple(Slider(item.name) for item in own if item.type in (*_NUMBERS, *_LISTS) or "matrix" in item.type),
        moves_goal=law.uses_goal,
        pushes=law.feels,
        no_push="" if law.feels else "does not respond to forces",
        no_goal="" if law.uses_goal else "does not use the goal pose",
        no_virtual_push="" if law.feels else "does not respond to forces",
    )


def _completed(law: Law, live: dict[str, Declared]) -> Panel:
    """The panel of a law. What a law from outside Pliant leaves open follows from its other declarations."""
    usual = default_panel(law, live)
    if law.panel is None or not law.is_own:
        return law.panel or usual
    return replace(
        law.panel,
        sliders=law.panel.sliders or usual.sliders,
        moves_goal=law.panel.moves_goal or usual.moves_goal,
        pushes=law.panel.pushes or usual.pushes,
        no_goal=law.panel.no_goal or usual.no_goal,
    )


def _law_in_words(law: Law, live: dict[str, Declared]) -> LawWords:
    panel = _completed(law, live)
    limits = [Slider(name, group="Limits") for name, item in live.items() if _is_limit(item)]
    group = law.name.replace("_", " ").capitalize()
    return {
        "name": law.name,
        "ramps": law.matrices is not None,
        "sliders": [
            replace(one, label=one.label or label_of(live[one.parameter]), group=one.group or group)
            for one in (*panel.sliders, *_SENSING, *limits)
            if one.parameter in live
        ],
        "switches": [switch for switch in panel.switches if switch.parameter in live],
        "buttons": list(panel.buttons),
        "states": list(law.states.names) if law.states else [],
        "reasons": list(law.states.reasons) if law.states else [],
        "moves_goal": panel.moves_goal,
        "pushes": panel.pushes,
        "drags_push": panel.drags_push,
        "no_push": panel.no_push,
        "no_goal": panel.no_goal,
        "no_virtual_push": panel.no_virtual_push,
    }


def _is_limit(item: Declared) -> bool:
    return item.name.startswith("limits.") and item.type == "number"


def label_of(item: Declared) -> str:
    """A parameter in words: its name without the unit at its end, which the page shows beside it."""
    name = item.name.rpartition(".")[2]
    unit = re.sub(r"[^a-z0-9]+", "_", item.unit.lower()).strip("_")
    words = name.removesuffix(f"_{unit}") if unit else name
    return _LABELS.get(item.name) or words.replace("_", " ").capitalize()
