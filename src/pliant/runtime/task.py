"""A task: robot, law, parameters and timed events. One YAML file, or one Python object."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pliant.errors import InputError, RejectedError
from pliant.laws import LAWS, TORQUE_LAWS
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.params.contact import check_order
from pliant.params.control import Parameters, Sense
from pliant.params.declare import Section, Six, changed, param, validated
from pliant.params.ros_file import is_ros_file, to_task
from pliant.robots import model_of
from pliant.robots.ros2.config import Ros2Config
from pliant.robots.sim.config import SimConfig
from pliant.runtime.bundled import find_file

MISSION = "mission"
"""The `kind` of a task file that is not a task of an arm."""


class Event(Section):
    """An action at a given time: new parameters, another law, a moved goal, a stop."""

    at_s: float = param(0.0, unit="s", ge=0, help="Time of the event.")
    set: dict[str, Any] = param({}, help="Parameters to change, by dotted name.")
    law: Literal["", "hold", "admittance", "impedance", "contact"] = param("", help="Law to change to.")
    goal_q: tuple[float, ...] = param((), unit="rad", help="New joint goal.")
    goal_offset_m: tuple[float, ...] = param((), unit="m", help="New goal position, relative to the start.")
    wrench_goal: Six | None = param(None, unit="N, N m", help="Wrench to hold, in the base frame.")
    virtual_push: Six | None = param(
        None, unit="N, N m", help="Virtual push that the law feels from now on, in the base frame."
    )
    command: Literal["", "set_start", "start", "pause", "resume", "stop", "abort"] = param(
        "", help="Command to the contact law."
    )
    stop: bool = param(False, help="Stop and hold position.")


class Belief(Section):
    """Errors of the controller's arm model, as factors of the true values: to test a wrong model."""

    mass_scale: float = param(1.0, ge=0.1, le=10, help="Masses and inertias of the links.")
    length_scale: float = param(1.0, ge=0.1, le=10, help="Lengths of the links.")
    friction_scale: float = param(1.0, ge=0, le=10, help="Viscous friction of the joints.")


class Response(Section):
    """How the robot responds to a command, from `pliant identify delay`; that of a simulated robot is known."""

    delay_s: float = param(0.0, unit="s", ge=0, le=0.5, help="Transport delay from a command to the motion.")
    servo_s: float = param(0.0, unit="s", ge=0, le=0.5, help="Servo lag after the transport delay (0: not identified).")
    force_s: float = param(0.0, unit="s", ge=0, le=0.5, help="Lag of the measured force behind the motion.")

    @property
    def is_known(self) -> bool:
        return self.servo_s > 0.0


class Task(Section):
    """What to run: robot, law, tool, parameters and events."""

    name: str = param("task", help="Name for titles and file names.")
    robot: str = param(
        "sim:ur5e",
        help="Robot. Simulated: sim:<model>, or sim:<MJCF or URDF file>, relative to the task file or to the working "
        "folder; sim:<file>#<site or link> sets where the tool is mounted. Real: ur:<host>, ur:<host>#ur10e. "
        "Over ROS 2: ros2:<model or file>.",
    )
    law: Literal["hold", "admittance", "impedance", "contact"] = param("hold", help="Law to start with.")
    interface: Literal["position", "velocity", "torque"] = param("position", help="Kind of command to the robot.")
    rate_hz: float = param(500.0, unit="Hz", ge=125, le=1000, help="Ticks per second.")
    duration_s: float = param(
        10.0, unit="s", gt=0, le=86400, help="How long to run (a loop in real time may be stopped sooner)."
    )
    start_q: tuple[float, ...] = param((), unit="rad", help="Joint positions to start from (default: the home pose).")
    tool: Tool = Tool()
    """The tool and the force sensor that carries it."""
    belief: Belief = Belief()
    """Errors of the controller's arm model, to test a wrong model."""
    response: Response = Response()
    """How the robot responds to a command."""
    surface_n_m: float = param(
        0.0,
        unit="N/m",
        ge=0,
        le=1e7,
        help="Stiffest surface on which an admittance will press, for the guard (0: the simulated surfaces).",
    )
    params: Parameters = Parameters()
    """Every parameter; the live ones can be changed while the loop runs."""
    sim: SimConfig = SimConfig()
    """The simulated world: surfaces, pushes, sensor, seed."""
    ros2: Ros2Config = Ros2Config()
    """Node, topics and time limits of ROS 2."""
    events: Annotated[tuple[Event, ...], Field(max_length=100)] = ()
    """Actions at given times."""
    notes: tuple[str, ...] = param((), help="Conversions made when the task was read from another format.")

    @property
    def dt(self) -> float:
        """Period [s]."""
        return 1.0 / self.rate_hz

    @property
    def ticks(self) -> int:
        """Number of ticks in the whole run."""
        return max(1, round(self.duration_s * self.rate_hz))


def arm_of(task: Task) -> Arm:
    """The controller's model of the task's arm, with its tool."""
    return Arm.load(model_of(task.robot), task.tool, **task.belief.model_dump())


def located(task: Task, folder: Path | None = None) -> Task:
    """The task with the full path of its robot's file, from `folder` or the working folder: valid from anywhere."""
    kind, colon, which = task.robot.partition(":")
    which, mark, flange = which.partition("#")
    is_file = bool(Path(which).suffix or "/" in which)
    if not colon or kind not in ("sim", "ros2") or not is_file or Path(which).is_absolute():
        return task
    found = next((path for path in (*([folder / which] if folder else []), Path(which)) if path.is_file()), None)
    return task if found is None else task.model_copy(update={"robot": f"{kind}:{found.resolve()}{mark}{flange}"})


def check_law(task: Task, arm: Arm, law: str) -> None:
    """Raise `InputError` if the task's interface, or the arm's number of joints, does not fit the law."""
    if law == "contact" and arm.n < 6:
        raise InputError("law", law, f"another law: contact needs six joints or more, and {arm.name} has {arm.n}")
    if law not in TORQUE_LAWS:
        return
    if task.interface != "torque":
        *others, last = (name for name in LAWS if name not in TORQUE_LAWS)
        raise RejectedError(
            f"The law {law} needs torque commands, but interface is {task.interface!r}. Set interface: torque, "
            f"or choose {', '.join(others)} or {last}.",
            field="interface",
            value=task.interface,
        )
    axes = task.params.impedance.axes
    if sum(axes) > arm.n or not any(axes):
        allowed = f"one to {min(6, arm.n)} directions for an arm of {arm.n} joints (x y z, then about x y z)"
        raise InputError("impedance.axes", list(axes), allowed)


def check_wrench(field: str, wrench: ArrayLike, sense: Sense) -> None:
    """Raise `InputError` if a wrench [N, N m] exceeds the range of the sensor: no law would feel it."""
    values = np.asarray(wrench, float)
    force, torque = np.abs(values[:3]).max(), np.abs(values[3:]).max(initial=0.0)
    if not (force <= sense.range_n and torque <= sense.range_nm):
        allowed = f"within sense.range_n ({sense.range_n:g} N) and sense.range_nm ({sense.range_nm:g} N m)"
        raise InputError(field, values.tolist(), allowed)


def check_fits(task: Task, arm: Arm) -> None:
    """Raise `InputError` before anything moves if start, goals or parameter changes of the task do not fit the arm."""
    if task.start_q:
        arm.within("start_q", task.start_q)
    for law in (task.law, *(event.law for event in task.events)):
        check_law(task, arm, law)
    parameters = task.params
    check_order(parameters.contact)
    for number, event in sorted(enumerate(task.events), key=lambda one: one[1].at_s):
        where = f"events.{number}"
        if event.model_dump(exclude={"at_s"}) == Event().model_dump(exclude={"at_s"}):
            actions = [name for name in Event.model_fields if name != "at_s"]
            raise RejectedError(f"{where} does nothing. Add one of {', '.join(actions)}.", field=where)
        if event.goal_q and len(event.goal_q) != arm.n:
            sentence = f"{where}.goal_q has {len(event.goal_q)} values, but {arm.name} has {arm.n} joints."
            raise RejectedError(sentence, field=f"{where}.goal_q", value=event.goal_q)
        if event.goal_offset_m and len(event.goal_offset_m) != 3:
            raise InputError(f"{where}.goal_offset_m", event.goal_offset_m, "3 numbers [m]")
        parameters = changed(parameters, event.set, live_only=True, law=event.law or task.law)
        check_order(parameters.contact)
        for field in ("wrench_goal", "virtual_push"):
            if (wrench := getattr(event, field)) is not None:
                check_wrench(f"{where}.{field}", wrench, parameters.sense)


def _check_times(task: Task, where: str) -> None:
    """Raise `InputError` for an event that comes after the end of the task."""
    for number, event in enumerate(task.events):
        if event.at_s >= task.duration_s:
            sentence = (
                f"events.{number}.at_s is {event.at_s:g} s, but the task ends after duration_s = {task.duration_s:g} s."
            )
            raise RejectedError(f"{where}: {sentence}", field=f"events.{number}.at_s", value=event.at_s)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a task file; raises `InputError` for any other file."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        raise InputError("the task file", str(path), "a readable text file in YAML") from None
    try:
        data = YAML(typ="safe").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = (error.problem or "not YAML").splitlines()[0]
        raise RejectedError(
            f"{path}:{line} is not valid YAML: {problem}. Check indentation, brackets and quotes.", field=str(path)
        ) from None
    except (YAMLError, ValueError) as error:  # a character that is none, a date that is none
        raise RejectedError(f"{path} is not valid YAML: {str(error).splitlines()[0]}.", field=str(path)) from None
    if not isinstance(data, dict):
        what = "is empty, not a task" if data is None else "is not a task: it must be a YAML mapping"
        entries = "A task file has entries such as robot: sim:ur5e and law: admittance."
        raise RejectedError(f"{path} {what}. {entries}", field="the task file", value=str(path))
    return data


def is_mission(task: Path | str) -> bool:
    """Whether a task, by path or by name, is a mission of a mobile robot (see `runtime.mission_task`)."""
    return read_yaml(find_file("task", task)).get("kind") == MISSION


def load_task(name: Path | str, rate_hz: float | None = None) -> Task:
    """Read the task file `name`, or the task of this name that comes with Pliant.

    A mistake in it raises an `InputError` with its place and what is allowed. `rate_hz` is the rate for which a filter
    coefficient in a ROS 2 parameter file is converted.
    """
    path = find_file("task", name)
    data = read_yaml(path)
    if data.get("kind") == MISSION:
        raise RejectedError(f"{name} is a mission of a mobile robot. Run it with `pliant run`.", field="kind")
    if is_ros_file(data):
        data = to_task(data, rate_hz or 500.0)
    data.setdefault("name", path.stem)
    task = validated(Task, data, path.name)
    _check_times(task, path.name)
    return located(task, path.parent)
