"""A task: robot, law, parameters and timed events. One YAML file, or one Python object."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, ValidationError, create_model, model_validator

from pliant.control.laws.law import Law
from pliant.control.laws.registry import DEFAULT, LAWS, PLIANTS, check_sections, known_commands
from pliant.control.parameters import Parameters, Sense
from pliant.errors import InputError, PliantError, RejectedError, UnknownNameError, said
from pliant.model.arm import Arm
from pliant.model.catalogue import available_models
from pliant.model.tool import Tool
from pliant.params.declare import Section, changed, param, validated
from pliant.params.kinds import ANY_KIND, with_full_paths
from pliant.params.validation_errors import readable
from pliant.robots import is_simulated, model_of
from pliant.robots.own_robot import OwnRobot, with_own_robot
from pliant.robots.robot_registry import kind_of
from pliant.robots.ros2_arm.ros2_config import Ros2Config
from pliant.sensors.force_sensor import SensorConfig
from pliant.task.bundled_files import find_file, read_yaml
from pliant.task.dotted_paths import merged, replaced
from pliant.task.own_laws import OwnLaw, names_own_laws, parameters_kind, with_own_laws
from pliant.task.ros_parameters import is_ros_file, to_task
from pliant.task.scripted_goals import ScriptedGoals
from pliant.task.spring_stretch import check_takes_wrench
from pliant.task.task_sections import Event, ModelError, Response
from pliant.world.world_config import SimConfig

MISSION = "mission"
"""The `kind` of a task file that is not a task of an arm."""
_MISSION_ONLY = ("map", "goal_m")


class Task(Section):
    """What to run: robot, law, tool, parameters and events."""

    derived = ("own_robot", "own_laws", "notes")
    """Fields that Pliant fills in."""
    also_called: ClassVar[dict[str, str]] = {"belief": "model_error"}
    """Names that older versions had."""
    name: str = param("task", min_length=1, help="Name for titles and file names.")
    robot: str = param(
        "sim:ur5e",
        help="Robot. Simulated: sim:<model>, or sim:<MJCF or URDF file>, relative to the task file or to the working "
        "folder; sim:<file>#<site or link> sets where the tool is mounted. Real: ur:<host>, ur:<host>#ur10e. "
        "Over ROS 2: ros2:<model or file>. A driver of your own: its file (my_driver.py:HOST), or its kind "
        "(my_robot:HOST) if an installed package provides it.",
    )
    own_robot: OwnRobot = OwnRobot()
    """The robot, if its driver is from outside Pliant; follows from `robot`."""
    law: str = param(
        DEFAULT,
        min_length=1,
        help="Law to start with: hold, admittance, impedance, contact, or a law of your own: its file (my_law.py, "
        "relative to the task file or to the working folder), or its name if an installed package provides it.",
    )
    own_laws: tuple[OwnLaw, ...] = param((), help="Laws from outside Pliant that the task uses; follows from `law`.")
    interface: Literal["position", "velocity", "torque"] = param("position", help="Kind of command to the robot.")
    rate_hz: float = param(500.0, unit="Hz", ge=125, le=1000, help="Ticks per second.")
    duration_s: float = param(
        10.0, unit="s", gt=0, le=86400, help="How long to run (a loop in real time may be stopped sooner)."
    )
    start_q: tuple[float, ...] = param((), unit="rad", help="Joint positions to start from (default: the home pose).")
    tool: Tool = Tool()
    """The tool and the force sensor that carries it."""
    sensor: Annotated[SensorConfig, ANY_KIND] = SensorConfig()
    """Where the wrench comes from, how the sensor is mounted, and its calibration."""
    model_error: ModelError = ModelError()
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

    def __new__(cls, *args: Any, **data: Any) -> Self:
        """A task with laws from outside Pliant has their parameters too, so it is of a class of its own."""
        if args:
            remedy = f"To load a task file, or a task that comes with Pliant: pliant.load_task({said(args[0])})."
            raise RejectedError(f"Task takes keywords, such as Task(law='admittance'). {remedy}", value=args[0])
        return super().__new__(_kind_of(cls, data))

    @classmethod
    def model_validate(cls, obj: Any, **more: Any) -> Self:
        """The task with this content; raises `InputError` with every problem of it."""
        kind = _kind_of(cls, obj) if isinstance(obj, dict) else cls
        made: Any = super(Task, kind).model_validate(obj, **more)
        return made

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, data: Any, validate: Any) -> Any:
        try:
            made = validate(data)
        except ValidationError as error:
            raise readable(cls, error, data, "") from None
        _check_content(made)
        return made

    @model_validator(mode="before")
    @classmethod
    def _name_laws(cls, data: Any) -> Any:
        return with_own_robot(with_own_laws(data)) if isinstance(data, dict) else data

    def replace(self, changes: dict[str, Any] | None = None, /, **more: Any) -> Task:
        """A changed copy: ``task.replace({"contact.target_n": 10, "sim.seed": 3}, rate_hz=250)``.

        A name with dots is a path into the task. The path of a parameter may leave out `params`, and a number in a
        path is a place in a list: ``sim.surfaces.0.stiffness_n_m``. The copy is validated as a whole.
        """
        return replaced(self, merged(changes, more), Task)

    @property
    def dt(self) -> float:
        """Period [s]."""
        return 1.0 / self.rate_hz

    @property
    def ticks(self) -> int:
        """Number of ticks in the whole run."""
        return max(1, round(self.duration_s * self.rate_hz))


def _kind_of(kind: type[Task], data: dict[str, Any]) -> Any:
    """The class of a task with this content: one with the parameters of its laws from outside Pliant."""
    if kind is not Task or not names_own_laws(data):
        return kind
    try:
        laws = with_own_laws(data)["own_laws"]
    except InputError as error:
        raise error.with_others(_others(data)) from None
    return _task_with(parameters_kind(laws))


def _others(data: dict[str, Any]) -> list[InputError]:
    """What else is wrong with a task whose law is unknown, so that the parameters of that law are not checked."""
    rest = {name: value for name, value in data.items() if name not in ("law", "own_laws", "events")}
    if isinstance(params := rest.get("params"), dict):
        rest["params"] = {name: value for name, value in params.items() if name in Parameters.model_fields}
    try:
        Task.model_validate(rest)
    except InputError as error:
        return [RejectedError(error.alone or str(error)), *error.others]
    return []


@lru_cache
def _task_with(params: type[Parameters]) -> type[Task]:
    return create_model("Task", __base__=Task, __doc__=Task.__doc__, params=(params, params()))


def arm_of(task: Task) -> Arm:
    """The controller's model of the task's arm, with its tool."""
    limits = task.params.limits
    acceleration = limits.joint_acceleration_rad_s2, limits.joint_acceleration_m_s2
    return Arm.load(arm_model(task), task.tool, acceleration=acceleration, **task.model_error.model_dump())


def arm_model(task: Task) -> str:
    """The built-in model, or the file, of the task's arm."""
    return task.own_robot.model or model_of(task.robot)


def located(task: Task, folder: Path | None = None) -> Task:
    """The task with the full path of its robot's file, from `folder` or the working folder: valid from anywhere."""
    kind, which = kind_of(task.robot)
    found = kind.located(which, folder)
    return task if found == which else task.model_copy(update={"robot": f"{task.robot.partition(':')[0]}:{found}"})


def laws_of(task: Task) -> tuple[str, ...]:
    """The laws that must be loaded before the task starts.

    A loop with a real robot must not stop to load one later, so it gets all of them.
    """
    if not is_simulated(task.robot):
        return *PLIANTS, *(law.name for law in task.own_laws)
    own = (law.name for law in task.own_laws)
    return tuple(dict.fromkeys((DEFAULT, task.law, *(event.law for event in task.events if event.law), *own)))


def check_law(task: Task, arm: Arm, law: str) -> None:
    """Raise `InputError` if the task's interface, or the arm's number of joints, does not fit the law."""
    if law and arm.n < LAWS[law].least_joints:
        needed = f"another law: {law} needs {LAWS[law].least_joints} joints or more, and {arm.name} has {arm.n}"
        raise InputError("law", law, needed)
    if law and LAWS[law].is_torque and task.interface != "torque":
        *others, last = (name for name in LAWS if not LAWS[name].is_torque)
        raise RejectedError(
            f"The law {law} needs torque commands, but interface is {task.interface!r}. Set interface: torque, "
            f"or choose {', '.join(others)} or {last}.",
            field="interface",
            value=task.interface,
        )
    if law and (check := LAWS[law].check_arm) is not None:
        check(getattr(task.params, LAWS[law].section), arm.n)


def check_wrench(field: str, wrench: ArrayLike, sense: Sense) -> None:
    """Raise `InputError` if a wrench [N, N m] exceeds the range of the sensor: no law would feel it."""
    values = np.asarray(wrench, float)
    for what, part, name, unit in (("force", values[:3], "range_n", "N"), ("moment", values[3:], "range_nm", "N m")):
        most, largest = getattr(sense, name), np.abs(part).max(initial=0.0)
        if not largest <= most:
            said = (
                f"{field} has a {what} of {largest:g} {unit}; each axis allows at most {most:g} {unit} (sense.{name})."
            )
            raise RejectedError(said, field=field, value=values.tolist())


def check_takes_commands(law: str, command: str) -> Law:
    """The law with this name; raises `PliantError` if it does not take this command."""
    if not isinstance(command, str) or command not in known_commands():
        raise UnknownNameError("command", command, known_commands())
    must_take_commands(law, f"`{command}` is rejected: the law is {law}, and ")
    known = (commands := LAWS[law].commands) and commands.numbers
    if not known or command not in known:
        raise UnknownNameError(f"command of the law {law}", command, known or ())
    return LAWS[law]


def must_take_commands(law: str, what: str = "") -> None:
    """Raise `RejectedError` if the law takes no commands; `what` begins the sentence about it."""
    if not LAWS[law].takes_commands:
        takers = " or ".join(name for name, other in LAWS.items() if other.takes_commands)
        raise RejectedError(
            f"{what or f'The law {law} takes no commands: '}only {takers} takes commands. Switch to {takers} first, "
            f"or start a task with law: {takers}, such as pliant run dome.",
            field="command",
        )


def _check_content(task: Task) -> None:
    """Raise `InputError` for what is wrong with a task on any robot, and for joints that do not fit a built-in arm."""
    check_sections(task.params)
    arm = None
    if task.start_q or any(event.goal_q or event.goal_offset_m for event in task.events):
        with contextlib.suppress(PliantError):  # a wrong robot is reported when it is needed
            arm = _built_in(arm_model(task))
    if arm is not None and task.start_q:
        arm.within("start_q", task.start_q)
    for where, event, _, _ in _in_order(task):
        _check_action(where, event, arm)


@lru_cache
def _built_in(model: str) -> Arm | None:
    """A built-in arm without a tool; None for the arm in a file, which is read when the task starts."""
    return Arm.load(model) if model in available_models() else None


def check_fits(task: Task, arm: Arm, q: ArrayLike | None = None, *, where: str = "") -> None:
    """Raise `InputError` before anything moves if tool, start, pushes or events of the task do not fit the arm.

    `q` are the joints at the start [rad], once the robot has been read. `where` is the task's file, for messages.
    """
    try:
        arm.check_payload()
        if task.start_q:
            arm.within("start_q", task.start_q)
        for law in (task.law, *(event.law for event in task.events)):
            check_law(task, arm, law)
        for own in task.own_laws:
            if (preflight := LAWS[own.name].preflight) is not None:
                preflight(task)
        check_sections(task.params)
        for number, push in enumerate(task.sim.pushes):
            check_wrench(f"sim.pushes[{number}].wrench", push.wrench, task.params.sense)
        _check_events(task, arm, q)
    except PliantError as error:
        raise error.at(where) from None


def _check_events(task: Task, arm: Arm, q: ArrayLike | None) -> None:
    """Raise for the first event, in order of time, that cannot be carried out."""
    goals = ScriptedGoals(task, arm, q)
    for where, event, law, parameters in _in_order(task):
        _check_action(where, event, arm)
        for field in ("wrench_goal", "virtual_push"):
            if (wrench := getattr(event, field)) is not None:
                check_wrench(f"{where}.{field}", wrench, parameters.sense)
        try:
            if event.wrench_goal is not None or event.virtual_push is not None:
                check_takes_wrench(law, "The wrench goal" if event.wrench_goal is not None else "The virtual push")
            if event.command:
                check_takes_commands(law, event.command)
            goals.check(event, law, parameters)
        except PliantError as error:
            raise error.at(where) from None


def _in_order(task: Task) -> Iterator[tuple[str, Event, str, Parameters]]:
    """The events in order of time: its place, itself, and the law and the parameters from then on."""
    parameters, law = task.params, task.law
    for number, event in sorted(enumerate(task.events), key=lambda one: one[1].at_s):
        law = event.law or law
        try:
            parameters = changed(parameters, event.set, live_only=True, law=law)
            check_sections(parameters, task.params)
        except PliantError as error:
            raise error.at(f"events[{number}].set") from None
        yield f"events[{number}]", event, law, parameters


def _check_action(where: str, event: Event, arm: Arm | None) -> None:
    """Raise for an event that does nothing, or whose goal does not fit the arm, if that is known."""
    if event == Event(at_s=event.at_s):
        actions = [name for name in Event.model_fields if name != "at_s"]
        raise RejectedError(f"{where} does nothing. Add one of {', '.join(actions)}.", field=where)
    if event.command and event.command not in known_commands():
        raise UnknownNameError(f"{where}.command", event.command, known_commands())
    if arm is not None and event.goal_q and len(event.goal_q) != arm.n:
        sentence = f"{where}.goal_q has {len(event.goal_q)} values, but {arm.name} has {arm.n} joints."
        raise RejectedError(sentence, field=f"{where}.goal_q", value=event.goal_q)
    if event.goal_offset_m and len(event.goal_offset_m) != 3:
        raise InputError(f"{where}.goal_offset_m", event.goal_offset_m, "3 numbers [m]")
    if arm is not None and event.goal_offset_m:
        arm.check_distance(f"{where}.goal_offset_m", event.goal_offset_m, where="from the start")


def _check_times(task: Task, where: str) -> None:
    """Raise `InputError` for an event or a push that comes after the end of the task."""
    for name, actions in (("events", task.events), ("sim.pushes", task.sim.pushes)):
        for number, action in enumerate(actions):
            if action.at_s >= task.duration_s:
                field, end = f"{name}[{number}].at_s", f"duration_s = {task.duration_s:g} s"
                sentence = f"{field} is {action.at_s:g} s, but the task ends after {end}."
                raise RejectedError(sentence, field=field, value=action.at_s).at(where)


def task_data(path: Path) -> dict[str, Any]:
    """The mapping in a task file; raises `InputError` for any other file."""
    data = read_yaml("task", path)
    if not isinstance(data, dict):
        what = "is empty, not a task" if data is None else "is not a task: it must be a YAML mapping"
        entries = "A task file has entries such as robot: sim:ur5e and law: admittance."
        raise RejectedError(f"{path} {what}. {entries}", field="the task file", value=str(path))
    return data


def is_mission(task: Path | str) -> bool:
    """Whether a task, by path or by name, is a mission of a mobile robot (see `mobile.mission.mission_task`)."""
    return task_data(find_file("task", task)).get("kind") == MISSION


def load_task(name: Path | str, rate_hz: float | None = None) -> Task:
    """Read the task file `name`, or the task of this name that comes with Pliant.

    A mistake in it raises an `InputError` with its place and what is allowed. `rate_hz` is the rate for which a filter
    coefficient in a ROS 2 parameter file is converted.
    """
    path = find_file("task", name)
    data = task_data(path)
    if data.get("kind") == MISSION:
        sentence = f"{name} is a mission of a mobile robot. Run it with `pliant run {name}`, or from Python with "
        raise RejectedError(f"{sentence}pliant.mobile.load_mission({str(name)!r}).", field="kind")
    if entry := next((name for name in _MISSION_ONLY if name in data), ""):
        sentence = f"{path.name}: unknown entry {entry!r}. For a mission, add kind: mission."
        raise RejectedError(sentence, field=entry, value=data[entry])
    if is_ros_file(data):
        data = to_task(data, rate_hz or 500.0)
    data.setdefault("name", path.stem)
    data = with_full_paths(data, path.parent)
    try:
        data = with_own_robot(with_own_laws(data, path.parent), path.parent)
    except PliantError as error:
        raise error.at(path.name) from None
    task = validated(Task, data, path.name)
    _check_times(task, path.name)
    return located(task, path.parent)
