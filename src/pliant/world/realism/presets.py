"""The size of every effect for one arm: what the task sets, or else the preset of the arm and the level."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from pliant.errors import InputError
from pliant.model.arm import Arm
from pliant.world.realism.effects_config import Effects, Level

GROUPS = tuple(Effects.model_fields)
PER_JOINT = ("coulomb_nm", "viscous_nm_s_rad", "stiffness_nm_rad", "rotor_kg_m2")
# Arms that measure joint torques behind the gear, by a part of their name.
_TORQUE_SENSING = ("panda", "fr3", "franka", "iiwa", "lbr", "kinova", "gen3")


@lru_cache(maxsize=1)
def sizes() -> dict[str, Any]:
    """The tables of `sizes.yaml`."""
    text = resources.files("pliant.world.realism").joinpath("sizes.yaml").read_text(encoding="utf-8")
    return YAML(typ="safe").load(text)


def family_of(arm: Arm) -> str:
    """The family whose sizes an arm has: geared or torque_sensing."""
    return "torque_sensing" if any(part in arm.name.lower() for part in _TORQUE_SENSING) else "geared"


def entry(arm: Arm, group: str, name: str) -> dict[str, Any]:
    """The entry of a size, with its source: that of the arm, or else that of its family."""
    own = sizes()["arms"].get(arm.name, {}).get(group, {})
    return own.get(name) or sizes()[family_of(arm)][group][name]


def preset(arm: Arm, group: str, name: str, level: Level) -> Any:
    """A size of an arm at a level; None for a value that the ideal world takes from elsewhere."""
    if level == "ideal":
        value = sizes()["ideal"][group].get(name)
        return (float(value),) * arm.n if name in PER_JOINT else value
    found = entry(arm, group, name)
    value = found[level]
    if name not in PER_JOINT:
        return value
    if found.get("joints") and len(value) == arm.n:
        return tuple(float(one) for one in value)
    torque = np.clip(arm.tau_max, found["rating"][0], found["rating"][-1])
    return tuple(np.exp(np.interp(np.log(torque), np.log(found["rating"]), np.log(value))).tolist())


def sizes_for(arm: Arm, effects: Effects, level: Level) -> Effects:
    """The effects of an arm with every size filled in, per joint where they are."""
    return Effects(**{group: _filled(arm, group, getattr(effects, group), level) for group in GROUPS})


def _filled(arm: Arm, group: str, section: Any, level: Level) -> Any:
    level = level if section.level == "same" else section.level
    values: dict[str, Any] = {"level": level}
    for name in type(section).model_fields:
        if name == "level":
            continue
        value = getattr(section, name)
        if value is None or value == () or value == "preset":
            value = preset(arm, group, name, level)
        elif name in PER_JOINT:
            value = _per_joint(arm, f"sim.effects.{group}.{name}", value)
        values[name] = value
    return type(section)(**values)


def _per_joint(arm: Arm, field: str, value: tuple[float, ...]) -> tuple[float, ...]:
    """One number per joint; raises for a wrong number of them, and for numbers that are not 0 or more."""
    value = value * arm.n if len(value) == 1 else value
    if len(value) != arm.n or not all(number >= 0.0 for number in value):
        allowed = f"one number of 0 or more, or {arm.n} of them, one per joint of {arm.name}"
        raise InputError(field, value, allowed)
    return value
