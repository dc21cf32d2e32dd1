"""A force sensor: where the wrench comes from, as a kind that a task names (`sensor: {kind: ...}`).

    class MySensor(pliant.ForceSensor):
        def open(self): ...                    connect
        def read(self): ...                    wait for the next reading and return it
        def close(self): ...                   disconnect

    SENSOR = pliant.own_sensor("my_sensor", Params, MySensor)

`read` runs in a thread of its own, so it may wait. The control loop takes the newest reading without waiting.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from pliant.errors import InputError, RejectedError
from pliant.params.declare import Matrix, Section, Six, Three, param
from pliant.params.kinds import Kinds, OfKind
from pliant.params.matrix import expanded
from pliant.params.plugin_kernels import check_defaults, class_name


class WrenchSample(NamedTuple):
    """One reading of a force sensor."""

    wrench: Sequence[float]
    """Force [N] and moment [N m] of the environment on the robot, in the axes of the sensor, at its origin."""
    stamp_s: float | None = None
    """When it was sampled, by the clock of the sensor; None: when `read` returned it."""
    state: Literal["good", "saturated", "missing"] = "good"
    """What the sensor says about it. A reading that is missing or saturated for longer than sense.hold_s is a fault."""


class ForceSensor(ABC):
    """A force sensor with its own clock. Derive your sensor from it; `params` are its declared parameters.

    `open` and `close` are called once, `read` again and again in a thread of its own. If `read` raises, the sensor has
    failed: the control loop stops the robot with the fault "gave no reading", and the message quotes the error.
    """

    def __init__(self, params: Any) -> None:
        self.params = params
        """The declared parameters."""
        self.note = ""
        """What is wrong at present, in a few words ("" if nothing is); a fault of the sensor quotes it."""

    @property
    def name(self) -> str:
        """How messages name it."""
        return type(self).__name__

    def open(self) -> None:  # noqa: B027 (there may be nothing to connect to)
        """Connect. Raise an error with a clear sentence if that is not possible."""

    @abstractmethod
    def read(self) -> WrenchSample | None:
        """Wait for the next reading, at most about 0.2 s; None if there is none yet."""

    def close(self) -> None:  # noqa: B027
        """Disconnect."""


@dataclass(frozen=True)
class SensorKind:
    """A kind of force sensor; `own_sensor` makes one."""

    name: str
    """Its name in tasks."""
    params: type[Section]
    """Its parameters, besides those that every sensor has."""
    make: Callable[[Any], ForceSensor] | None = None
    """Makes the sensor from its parameters; None: the robot reports the wrench itself."""
    in_world: Callable[[Any, Any], None] | None = None
    """For a sensor of the simulated world: writes its parameters into the world's record."""


def own_sensor(name: str, params: type[Section], sensor: Callable[[Any], ForceSensor]) -> SensorKind:
    """A kind of force sensor: its name, its parameters, and its class, which is derived from `ForceSensor`."""
    if not isinstance(name, str) or not name.isidentifier() or not name.islower():
        raise InputError("the name of the sensor", name, "a lower-case Python name, such as my_sensor")
    if not (isinstance(params, type) and issubclass(params, Section)):
        raise InputError(f"the parameters of {name}", class_name(params), "a class derived from pliant.Section")
    check_defaults(params)
    if not (isinstance(sensor, type) and issubclass(sensor, ForceSensor)):
        raise InputError(f"the sensor {name}", class_name(sensor), "a class derived from pliant.ForceSensor")
    if lacking := sorted(getattr(sensor, "__abstractmethods__", ())):
        raise RejectedError(f"{sensor.__name__} needs a method {' and '.join(lacking)}.", field="sensor")
    return SensorKind(name, params, sensor)


def _not_zero(value: Matrix) -> Matrix:
    if not np.any(value):
        raise PydanticCustomError("matrix", "different from zero")
    return value


class SensorConfig(OfKind):
    """Where the wrench comes from: its kind, how it is mounted, its calibration, and the parameters of its kind.

    Pliant uses `scale` · raw − `offset`, moved from the sensor's frame to the frame that the tool declares (`sensor_m`,
    `sensor_quat`; by default the flange).
    """

    kinds = Kinds("sensor", "SENSOR", "pliant.sensors", "pliant.sensors.sources", SensorKind, "own_sensor")

    if TYPE_CHECKING:

        def __init__(self, **data: Any) -> None: ...

    kind: str = param(
        "robot",
        min_length=1,
        help="Kind of sensor: robot (the wrench that the robot reports), another name, or the file of a sensor of your "
        "own (my_sensor.py).",
    )
    position_m: Three = param((0.0, 0.0, 0.0), unit="m", help="Origin of the sensor in the tool's sensor frame.")
    rpy_deg: Three = param((0.0, 0.0, 0.0), unit="deg", help="Roll, pitch, yaw of the sensor in that frame.")
    scale: Annotated[Matrix, BeforeValidator(expanded), AfterValidator(_not_zero)] = param(
        tuple(tuple(float(i == k) for k in range(6)) for i in range(6)),
        help="Calibration matrix from what the sensor gives to N and N m: six numbers are its diagonal.",
    )
    offset: Six = param((0.0,) * 6, unit="N, N m", help="Wrench to subtract after scaling, in the axes of the sensor.")
