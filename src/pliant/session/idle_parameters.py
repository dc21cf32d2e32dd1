"""Which parameters have no effect for now: those of a law that does not run, and a damping that is not used."""

from __future__ import annotations

from collections.abc import Iterable

from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters

# The joint loop on the torque interface serves every law that does not compute torques itself.
_JOINT_LOOP = "joint_loop"
_USED_BY = {"damping": "value", "damping_ratio": "ratio"}


def without_effect(names: Iterable[str], parameters: Parameters, law: str, interface: str) -> list[str]:
    """One sentence for each of these parameters that has no effect while `law` runs on this `interface`."""
    owners = {entry.section: name for name, entry in LAWS.items() if entry.section}
    found = []
    for name in names:
        section, _, last = name.partition(".")
        if section == _JOINT_LOOP:
            if interface != "torque":
                found.append(f"{name} has no effect: interface is {interface}, and only torque commands use it.")
            elif LAWS[law].is_torque:
                found.append(f"{name} has no effect until a law without torques runs; {law} is running.")
        if section not in owners:
            continue
        values = getattr(parameters, section)
        if section != LAWS[law].section:
            found.append(f"{name} has no effect until the law {owners[section]} runs; {law} is running.")
        elif last in _USED_BY and (by := getattr(values, "damping_by", "")) and by != _USED_BY[last]:
            switch = f"{section}.damping_by"
            found.append(f"{name} has no effect while {switch} is {by}. Set {switch} to {_USED_BY[last]}.")
    return found
