"""Parameters of the control loop: sensing, the laws, the limits."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from pydantic import Field as Bounds
from pydantic import create_model

from pliant.control.guard_params import Guard
from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.gains import GAINS
from pliant.control.laws.law import MAX_LAWS
from pliant.control.limits.limit_params import Limits
from pliant.errors import InputError
from pliant.params.declare import Flag6, Matrix, Section, layout_of, param
from pliant.params.matrix import GainMatrix, MassMatrix
from pliant.params.packing import from_record, packed
from pliant.records import MAX_OWN_PARAMS, Field, Layout

Ratio = Annotated[float, Bounds(ge=0.05, le=5)]
Offset = Annotated[float, Bounds(ge=-1e4, le=1e4)]


def diagonal(*values: float) -> Matrix:
    """A diagonal matrix as a parameter value, from six numbers or from two (translation, rotation)."""
    six = values if len(values) == 6 else (values[0],) * 3 + (values[1],) * 3
    return cast(Matrix, tuple(tuple(v if i == j else 0.0 for j in range(6)) for i, v in enumerate(six)))


class Sense(Section):
    """From the raw force sensor to the external wrench at the tool."""

    cutoff_hz: float = param(
        20.0,
        unit="Hz",
        live=True,
        ge=0.1,
        le=400,
        help="Cut-off frequency of the low-pass filter on the external wrench.",
    )
    deadband_n: float = param(
        1.0,
        unit="N",
        live=True,
        ge=0,
        le=50,
        help="Force below which a law does not react (subtracted, so there is no jump).",
    )
    deadband_nm: float = param(
        0.1,
        unit="N m",
        live=True,
        ge=0,
        le=5,
        help="Moment below which a law does not react (subtracted, so there is no jump).",
    )
    bias: tuple[Offset, Offset, Offset, Offset, Offset, Offset] = param(
        (0.0,) * 6, unit="N, N m", live=True, help="Sensor offset in the sensor frame; subtracted first."
    )
    range_n: float = param(500.0, unit="N", gt=0, le=1e5, help="Largest plausible force; a larger reading is rejected.")
    range_nm: float = param(
        50.0, unit="N m", gt=0, le=1e5, help="Largest plausible moment; a larger reading is rejected."
    )
    stale_s: float = param(0.01, unit="s", live=True, gt=0, le=1, help="Age at which a reading counts as stale.")
    frozen_s: float = param(
        0.05,
        unit="s",
        live=True,
        ge=0,
        le=10,
        help="Time after which a constant reading counts as frozen (0: never). A real sensor always has noise.",
    )
    hold_s: float = param(
        0.02,
        unit="s",
        live=True,
        ge=0,
        le=0.5,
        help="How long the last good wrench is used when the sensor fails; then the robot stops.",
    )


class Hold(Section):
    """Hold the joints, or move them to a joint goal."""

    bandwidth_hz: float = param(
        3.0, unit="Hz", live=True, gt=0, le=20, help="Bandwidth with which the joints approach their goal."
    )


class JointLoop(Section):
    """The joint loop of the torque interface, for every law that does not compute torques itself."""

    frequency_hz: float = param(8.0, unit="Hz", live=True, gt=0, le=12, help="Natural frequency of the joint loop.")
    damping_ratio: float = param(1.0, live=True, ge=0.5, le=1.5, help="Damping ratio of the joint loop.")


class Admittance(Section):
    """A virtual mass with a spring and a damper at the tool; the robot follows it.

    Mass, stiffness and damping are six numbers (a diagonal: x y z, then about x y z) or a full symmetric matrix.
    """

    frame: Literal["base", "tool"] = param("base", help="Axes in which mass, damping, stiffness and axes are given.")
    mass: MassMatrix = param(diagonal(8.0, 0.5), unit="kg, kg m²", live=True, help="Virtual mass and inertia.")
    stiffness: GainMatrix = param(
        diagonal(200.0, 20.0),
        unit="N/m, N m/rad",
        live=True,
        help="Virtual spring towards the goal pose; 0 leaves a direction free.",
    )
    damping_by: Literal["ratio", "value"] = param(
        "ratio", live=True, help="Whether damping_ratio (ratio) or damping (value) sets the damping."
    )
    damping_ratio: tuple[Ratio, Ratio, Ratio, Ratio, Ratio, Ratio] = param(
        (1.0,) * 6, live=True, help="Damping ratio of every mode: 1 returns without overshoot."
    )
    damping: GainMatrix = param(
        diagonal(80.0, 6.0), unit="N s/m, N m s/rad", live=True, help="Virtual damping, when damping_by is value."
    )
    axes: Flag6 = param((True,) * 6, live=True, help="Compliant directions; the others are held at the goal.")
    ramp_s: float = param(0.5, unit="s", live=True, ge=0.01, le=10, help="Time over which changed gains take effect.")
    tank_j: float = param(
        0.05,
        unit="J",
        ge=0,
        le=10,
        help="Energy that gain changes may add before the damper must dissipate as much.",
    )


class Impedance(Section):
    """A virtual spring, damper and mass at the tool, produced by joint torques (torque interface only).

    Mass, stiffness and damping are six numbers (a diagonal: x y z, then about x y z) or a full symmetric matrix.
    """

    form: Literal["shaped", "simple"] = param(
        "shaped",
        live=True,
        help="Whether the tool moves like the virtual mass (shaped) or keeps the arm's own inertia (simple).",
    )
    frame: Literal["base", "tool"] = param("base", help="Axes in which mass, damping, stiffness and axes are given.")
    axes: Flag6 = param(
        (True,) * 6, help="Controlled directions, at most one per joint; the posture determines the others."
    )
    mass: MassMatrix = param(diagonal(8.0, 0.5), unit="kg, kg m²", live=True, help="Virtual mass and inertia.")
    stiffness: GainMatrix = param(
        diagonal(200.0, 20.0), unit="N/m, N m/rad", live=True, help="Virtual spring towards the goal pose."
    )
    damping_by: Literal["ratio", "value"] = param(
        "ratio", live=True, help="Whether damping_ratio (ratio) or damping (value) sets the damping."
    )
    damping_ratio: tuple[Ratio, Ratio, Ratio, Ratio, Ratio, Ratio] = param(
        (1.0,) * 6, live=True, help="Damping ratio of every mode of mass and spring."
    )
    damping: GainMatrix = param(
        diagonal(80.0, 6.0), unit="N s/m, N m s/rad", live=True, help="Virtual damping, when damping_by is value."
    )
    use_jdot: bool = param(True, live=True, help="Whether the velocity-dependent acceleration J̇ q̇ is compensated.")
    cancel_coriolis: bool = param(True, live=True, help="Whether Coriolis and centrifugal torques are compensated.")
    cancel_gravity: bool = param(True, live=True, help="Whether the arm's weight is compensated.")
    cancel_friction: bool = param(True, live=True, help="Whether viscous joint friction is compensated.")
    cancel_dry_friction: bool = param(
        False,
        live=True,
        help="Whether nine tenths of the dry joint friction in the robot description are compensated. If the value "
        "there is too large, the arm oscillates.",
    )
    friction_observer: bool = param(
        False,
        live=True,
        help="Whether joint torques that commands, arm model and measured wrench do not explain, such as friction, are "
        "estimated from the motion and compensated. Needs a force sensor, in the simple form too.",
    )
    cancel_force: bool = param(
        True,
        live=True,
        help="Whether the measured wrench is cancelled at the joints (-Jᵀ f, shaped form). Otherwise it counts twice.",
    )
    posture_stiffness: float = param(
        10.0,
        unit="1/s²",
        live=True,
        ge=0,
        le=400,
        help="Stiffness towards the posture (the joint goal), in the null space of the tool motion.",
    )
    posture_damping: float = param(
        6.0, unit="1/s", live=True, ge=0, le=100, help="Damping of joint motion that does not move the tool."
    )
    ramp_s: float = param(0.5, unit="s", live=True, ge=0.01, le=10, help="Time over which changed gains take effect.")
    tank_j: float = param(
        0.05, unit="J", ge=0, le=10, help="Energy that gain changes may add before the damper must dissipate as much."
    )


class Parameters(Section):
    """The parameter set that one tick reads."""

    all_names: ClassVar[str] = "To list all: run `pliant set` while a loop runs, or see docs/reference/parameters.md."

    sense: Sense = Sense()
    hold: Hold = Hold()
    admittance: Admittance = Admittance()
    impedance: Impedance = Impedance()
    contact: Contact = Contact()
    joint_loop: JointLoop = JointLoop()
    limits: Limits = Limits()
    guard: Guard = Guard()


_OWN = Field("own", "", "parameters of laws from outside the package, as they declare them", (MAX_OWN_PARAMS,))

_DERIVED = (
    Field("revision", "", "number of the parameter set", kind="i8"),
    Field("without_wrench", "", "1 for a torque law that needs no force sensor, by number", (MAX_LAWS,), "i8"),
    Field("gains", "", "matrices of the admittance", kind=GAINS),
    Field("impedance_gains", "", "matrices of the impedance", kind=GAINS),
)

PARAMETERS = Layout("Parameters", (*layout_of(Parameters).fields, _OWN, *_DERIVED))
"""The record of a parameter set as the kernels see it; the sections of other laws are numbers in `own`."""


@lru_cache
def parameters_with(sections: tuple[tuple[str, type[Section]], ...]) -> type[Parameters]:
    """The parameter set with further sections: those of laws from outside the package, by their names."""
    if not sections:
        return Parameters
    more: dict[str, Any] = {name: (kind, kind()) for name, kind in sections}
    made = create_model("Parameters", __base__=Parameters, __doc__=Parameters.__doc__, **more)
    taken = sum(layout_of(kind).dtype.itemsize // 8 for _, kind in sections)
    if taken > MAX_OWN_PARAMS:
        names = ", ".join(name for name, _ in sections)
        raise InputError(f"the parameters of {names}", taken, f"at most {MAX_OWN_PARAMS} numbers in all")
    return made


@lru_cache
def set_layout(kind: type[Parameters]) -> Layout:
    """The record of a parameter set of this kind, byte for byte that of `PARAMETERS`, with all sections named."""
    named = layout_of(kind).fields
    taken = sum(field.kind.dtype.itemsize // 8 for field in named[len(Parameters.model_fields) :])
    rest = replace(_OWN, shape=(MAX_OWN_PARAMS - taken,))
    return Layout("Parameters", (*named, *([rest] if taken < MAX_OWN_PARAMS else ()), *_DERIVED))


def own_section_at(kind: type[Parameters], name: str) -> int:
    """Where the section of a law from outside the package begins in `own`, in 8-byte values."""
    offsets: Any = set_layout(kind).dtype.fields
    own: Any = PARAMETERS.dtype.fields
    return (offsets[name][1] - own["own"][1]) // 8


def record_of(parameters: Parameters) -> np.ndarray[Any, Any]:
    """A one-element array with the declared values; the gains are computed when the set takes effect."""
    record = PARAMETERS.new()
    numbers = packed(parameters)
    record.view(np.float64)[: len(numbers)] = numbers
    return record


def changed_record(before: Parameters, record: np.ndarray[Any, Any], after: Parameters) -> np.ndarray[Any, Any]:
    """`record_of(after)`, from the record of the set before: only sections that have changed are written again."""
    found = np.empty_like(record)
    found.view(np.uint8)[:] = record.view(np.uint8)
    numbers = found.view(np.float64)
    fields: Any = set_layout(type(after)).dtype.fields
    for name, section in after.__dict__.items():
        if section is not before.__dict__[name]:
            values, first = packed(section), fields[name][1] // 8
            numbers[first : first + len(values)] = values
    return found


def parameters_of(kind: type[Parameters], record: Any) -> Parameters:
    """The parameter set of this kind with the values of a record: the inverse of `record_of`."""
    return from_record(kind, record)
