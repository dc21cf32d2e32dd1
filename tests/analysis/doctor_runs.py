"""Recordings with one known defect each, for the doctor."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor import CHECKS, Case, Diagnosis
from pliant.analysis.doctor.finding import Finding
from pliant.control.laws.contact.contact_states import DWELL, READY, SEEK
from pliant.control.laws.registry import prepare
from pliant.control.parameters import Parameters, record_of
from pliant.control.telemetry import TELEMETRY
from pliant.params.declare import changed
from pliant.record.reader import ParameterSet
from pliant.records import POSITION
from support.law_numbers import ADMITTANCE, CONTACT

Array = np.ndarray[Any, Any]

DT, TICKS = 0.002, 4000
TARGET, STIFFNESS, ROBOT_S = 5.0, 2e4, 0.02
TOUCH = 500
"""The tick in which the tool of `contact_run` touches."""


def late(values: Array, seconds: float) -> Array:
    ticks = round(seconds / DT)
    return np.concatenate((np.full(ticks, values[0]), values[: len(values) - ticks]))


def put_on(records: Array, force: Array) -> None:
    """A force along z, as the sensor saw it, with its noise."""
    noise = np.random.default_rng(5).normal(0.0, 0.2, (len(records), 6))
    for part in (records["reading"], records["observed"]):
        part["wrench"][:] = noise
        part["wrench"][:, 2] += force


def contact_run(force: Array | None = None, behind_s: float = 0.0) -> Array:
    """A contact of one joint that lifts the tool: down to a plane at depth 0 within a second, then held at 5 N.

    At 3 s it presses by half as much again for a moment: an exponential alone looks the same however late it is. The
    robot follows `ROBOT_S` late; the force comes `behind_s` behind the motion, unless it is given.
    """
    records = TELEMETRY.new(TICKS)
    t = np.arange(TICKS) * DT
    records["tick"], records["time_s"] = np.arange(TICKS), t
    records["state"]["law"], records["state"]["started"] = CONTACT, 1  # without gains: their progress and tank are 0
    records["reading"]["stamp_s"] = records["reading"]["wrench_stamp_s"] = t
    gap, rest = 0.01, TARGET / STIFFNESS
    told = np.where(t < 1.0, gap * (t - 1.0), rest * (1 - np.exp(-(t - 1.0) / 0.1)))
    told = told + np.where(np.abs(t - 3.0) < 0.2, 0.25 * rest * (1 + np.cos(np.pi * (t - 3.0) / 0.2)), 0.0)
    depth = late(told, ROBOT_S)
    records["observed"]["pose"][:, 2:4] = np.column_stack((-depth, np.ones(TICKS)))
    records["observed"]["twist"][:, 2] = -np.gradient(depth, DT)
    records["observed"]["scale"] = 1.0
    # a joint of 10 rad per metre: its speed is well above what counts as rest
    records["command"]["mode"] = POSITION
    records["command"]["q"][:, 0], records["reading"]["q"][:, 0] = 10 * told, 10 * depth
    contact = records["contact"]
    contact["normal"][:] = (0.0, 0.0, 1.0)
    contact["state"] = np.where(t < 0.1, READY, np.where(t < 1.0, SEEK, DWELL))
    contact["target_n"], contact["gain"] = TARGET, 5e-4
    contact["asked"] = contact["wanted"] = np.gradient(told, DT)
    pressed = STIFFNESS * np.maximum(0.0, late(depth, behind_s))
    put_on(records, pressed if force is None else force)
    contact["force_n"] = records["observed"]["wrench"][:, 2]
    return records


def of(records: Array, **settings: Any) -> Case:
    """The case with these parameters; the declared lag is what the run has."""
    named = {"contact.lag_s": 0.025, "sense.cutoff_hz": 50.0}
    named |= {name.replace("__", "."): value for name, value in settings.items()}
    values = record_of(changed(Parameters(), named))
    prepare(values, None, 1.0, 0, DT)
    return Case(records, DT, 1, (ParameterSet(0, 0.0, values[0]),))


def found(records: Array, name: str, **settings: Any) -> Finding:
    return CHECKS[name](of(records, **settings))


def names(diagnosis: Diagnosis) -> set[str]:
    return {finding.name for finding in diagnosis.wrong}


def swinging(amplitude: float, frequency: float, decay: float = 0.0) -> Array:
    t = np.arange(TICKS) * DT - TOUCH * DT
    force = TARGET + amplitude * np.sin(2 * np.pi * frequency * t) * np.exp(-decay * t)
    return np.where(t < 0, 0.0, force)


def moved_by(force: Array, speed: Array) -> Array:
    """A run of the admittance along y."""
    records = contact_run(np.zeros(TICKS))
    records["contact"]["state"] = 0
    records["goal"]["law"] = ADMITTANCE
    records["observed"]["twist"][:] = 0.0
    records["observed"]["twist"][:, 1] = speed
    records["observed"]["wrench"][:, 1] += force
    return records
