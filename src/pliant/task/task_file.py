"""Write values to a task file: comments are kept, and either a valid task is written or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pliant.control.parameters import Parameters
from pliant.errors import InputError, RejectedError
from pliant.params.declare import changed, flat, validated
from pliant.params.matrix import compact
from pliant.params.outside_files import is_regular, is_there
from pliant.params.yaml_file import update_file
from pliant.task.bundled_files import find_bundled
from pliant.task.ros_parameters import is_ros_file
from pliant.task.schema import Task, arm_model, load_task, task_data


def own_task(path: Path | str) -> Task:
    """The task in a writable file; raises `InputError` for anything else."""
    if not isinstance(path, str | Path):
        raise InputError("path", path, "the path of a task file")
    if is_there(path) and Path(path).is_dir():
        sentence = f"{path} is a folder. Give the name of a task file."
        raise RejectedError(sentence, field="the task file", value=str(path))
    if not is_regular(path):
        sentence = f"{path} does not exist. Copy a task to that file first: only an existing task file can be updated."
        if (original := find_bundled("task", path)) is not None:
            sentence = f"{str(path)!r} comes with Pliant and cannot be changed. Copy {original} and use your copy."
        raise RejectedError(sentence, field="the task file", value=str(path))
    task = load_task(path)
    if is_ros_file(task_data(Path(path))):
        raise InputError("the task file", str(path), "a Pliant task", "This is a ROS 2 parameter file.")
    return task


def write_values(path: Path | str, values: Mapping[str, Any]) -> None:
    """Set dotted names of a task file, such as ``tool.mass_kg`` or ``params.sense.bias``."""
    own_task(path)
    update_file(path, values, check=lambda data: validated(Task, data, Path(path).name))


def keep_parameters(path: Path | str, now: Parameters, task: Task, time_s: float) -> dict[str, Any]:
    """Write the current parameters of a loop of `task` to a task file; returns those that differed, by dotted name.

    Values that an event of the task has set by `time_s` are left out: the events in the file set them again.
    """
    own = own_task(path)
    if arm_model(own) != arm_model(task):
        raise InputError("the task file", str(path), f"a task for {task.robot}; this one is for {own.robot}")
    before, after, scripted = flat(own.params), flat(now), _scripted(own, time_s)
    values = {
        name: compact(value)
        for name, value in after.items()
        if value != before[name] and value != scripted.get(name, before[name])
    }
    if values:
        write_values(path, {f"params.{name}": value for name, value in values.items()})
    return values


def _scripted(task: Task, time_s: float) -> dict[str, Any]:
    """The parameters that the events until `time_s` have set."""
    parameters, names = task.params, set()
    for event in sorted(task.events, key=lambda event: event.at_s):
        if event.at_s <= time_s:
            parameters = changed(parameters, event.set)
            names |= event.set.keys()
    values = flat(parameters)
    return {name: values[name] for name in names}
