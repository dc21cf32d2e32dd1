"""Recordings and experiments for the page: lists, contents, and what-if runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import experiments, find_experiment
from pliant.analysis.mission_figures import account_of, is_mission, recorded_mission
from pliant.control.parameters import Parameters
from pliant.errors import InputError, RejectedError
from pliant.loop.saving import output_folder
from pliant.record.reader import Recording
from pliant.studio.page_messages import (
    ExperimentResult,
    ExperimentWords,
    Figure,
    Finding,
    MissionLog,
    MissionWords,
    Moments,
    PlannedPath,
    Recorded,
    RecordingFile,
    WhatIfRun,
)
from pliant.studio.stage.mission_view import channels_of, mission_in_words, mission_log_in_words
from pliant.studio.stage.shapes import Shapes
from pliant.studio.wire import Channel, arm_channels, arrow_of, samples_of
from pliant.studio.work.background import Work
from pliant.studio.work.what_if import run_changed
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]

# A recording is shown with at most this many samples: a screen has no more pixels.
_MOMENTS = 1500
_PICTURES = "studio-pictures"
# The largest recording that is read into the Studio [bytes].
MOST_BYTES = 400_000_000


def pictures() -> Path:
    """The folder for pictures of experiments."""
    folder = output_folder() / _PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def experiments_in_words() -> tuple[list[ExperimentWords], str]:
    """Every experiment with its summary, or why there are none."""
    try:
        found = experiments()
    except RejectedError as error:
        return [], str(error)
    return [{"name": name, "summary": item.summary} for name, item in found.items()], ""


def run_experiment(work: Work, name: str) -> ExperimentResult:
    """Run an experiment in its own process: figures, and the name of its picture."""
    find_experiment(name)  # only looked up: its own process imports its module
    picture = pictures() / f"{name}.png"
    outcome = work.json_of_command("experiment", name, "--json", "--plot", str(picture))
    figures: list[Figure] = [
        {key: figure[key] for key in Figure.__annotations__}  # type: ignore[misc]
        for figure in outcome["figures"]
    ]
    return {"name": name, "passed": outcome["passed"], "figures": figures, "picture": picture.name}


def plan(work: Work, file: Path, start: str, goal: str) -> PlannedPath:
    """A path through a map, planned in its own process: its figures, and the name of its picture."""
    picture = pictures() / "plan.png"
    where = (f"--start={start}", f"--goal={goal}", "--json", "--output", str(picture))
    told = work.json_of_command("plan", *where, "--", str(file))
    return {
        "length_m": told["length_m"],
        "backward_m": told["backward_m"],
        "cusps": told["cusps"],
        "expanded": told["expanded"],
        "picture": picture.name,
    }


def recordings() -> list[RecordingFile]:
    """The recordings in the output folder, newest first."""
    files = sorted(output_folder().glob("*.mcap"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [{"name": path.name, "bytes": path.stat().st_size} for path in files[:200]]


def _recording(name: str) -> Recording:
    path = output_folder() / name
    if Path(name).name != name or path.suffix != ".mcap" or not path.is_file():
        raise InputError("recording", name, f"a recording in {output_folder()}")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise RejectedError(
            f"{name} has {size / 1e6:.0f} MB, but the Studio opens at most {MOST_BYTES / 1e6:.0f} MB, to leave memory "
            "and CPU to the loop. Run pliant doctor on it in another terminal."
        )
    return Recording.load(path, partial=True)


def _task(recording: Recording) -> Task:
    if is_mission(recording):
        raise RejectedError("What-if works on an arm under a law, not on a mission.")
    if "task" not in recording.meta:
        raise RejectedError(f"{recording.path.name} does not contain its task.")
    return Task.model_validate(recording.meta["task"])


def _moments(records: Array, channels: tuple[Channel, ...] | None = None) -> Moments:
    """The channels of evenly spaced records, as columns; None where there is no finite value."""
    channels = channels or arm_channels()
    every = max(1, -(-len(records) // _MOMENTS))
    columns = samples_of(records[::every], 1, channels).T
    return {
        "columns": [[round(float(v), 6) if np.isfinite(v) else None for v in column] for column in columns],
        "channels": [channel.describe() for channel in channels],
        "every": every,
    }


def open_recording(name: str) -> Recorded:
    """A recording as the page shows it: shapes, poses and channels at evenly spaced times."""
    recording = _recording(name)
    if not len(recording.records):
        raise RejectedError(f"{name} contains no records.")
    shapes, about = _mission(recording) if is_mission(recording) else _arm(recording)
    heads = recording.records[:: about["every"]]
    return {
        **about,
        "name": name,
        "fault": recording.meta.get("fault") or "",
        "shapes": shapes.describe(),
        "bodies": shapes.bodies,
        "up": shapes.up,
        "poses": [[round(float(v), 4) for v in shapes.poses(record).ravel()] for record in heads],
        "goal": np.round(heads["goal"]["pose"], 4).tolist(),
        "tool": np.round(heads["observed"]["pose"], 4).tolist(),
        "force": np.round(heads["observed"]["wrench"][:, :3], 3).tolist(),
        "arrow": [np.round(arrow_of(record), 3).tolist() for record in heads],
        "push": np.round(heads["goal"]["push"][:, :3], 3).tolist(),
        "base": np.round(heads["base"]["pose"], 4).tolist(),
    }


class _About(Moments):
    """What differs between a recording of an arm and one of a mission."""

    task: str
    robot: str
    law: str
    mission: MissionWords | None
    mission_log: MissionLog | None
    findings: list[Finding] | None


def _arm(recording: Recording) -> tuple[Shapes, _About]:
    """The details of a recording of an arm."""
    from pliant.analysis.doctor import examine  # imported here: it would take a third of the Studio's start-up time

    task = _task(recording)
    findings: list[Finding] = [
        {"name": found.name, "severity": found.severity, "cause": found.cause, "remedy": found.remedy}
        for found in examine(recording).wrong
    ]
    return Shapes.of_arm(task), {
        "task": task.name,
        "robot": task.robot,
        "law": task.law,
        "mission": None,
        "mission_log": None,
        "findings": findings,
        **_moments(recording.records),
    }


def _mission(recording: Recording) -> tuple[Shapes, _About]:
    """The details of a recording of a mission. The doctor examines laws, so it has no findings here."""
    mission_log = recorded_mission(recording)
    told = account_of(recording)
    return Shapes.of_mission(mission_log.task), {
        "task": mission_log.task.name,
        "robot": mission_log.task.robot,
        "law": "mission",
        "mission": mission_in_words(mission_log.task, mission_log.grid),
        "mission_log": mission_log_in_words({"account": told}),
        "findings": None,
        **_moments(recording.records, channels_of(mission_log.task, mission_log.grid, lambda: mission_log.goal)),
    }


def what_if(name: str, parameters: str) -> WhatIfRun:
    """Simulate a recorded run again with other parameters, given as JSON (see `what_if`)."""
    recording = _recording(name)
    task = _task(recording)
    run = run_changed(recording, task, _given(task, parameters))
    return {"name": name, "fault": run.fault, "from_rest": run.from_rest, **_moments(run.records)}


def _given(task: Task, parameters: str) -> Parameters:
    """The current parameters of a loop that the recorded task has too: its laws may be different ones."""
    kind, given = type(task.params), json.loads(parameters)
    return kind.model_validate({name: given[name] for name in kind.model_fields if name in given})


def ask_what_if(work: Work, name: str, parameters: Parameters) -> WhatIfRun:
    """The same, in its own process."""
    return _answered(
        work.json_of_module(
            "The what-if", "pliant.studio.work.what_if_process", name, said=parameters.model_dump_json()
        )
    )


def ask_open(work: Work, name: str) -> Recorded:
    """A recording as the page shows it, read in its own process, which can be cancelled."""
    return _answered(work.reader.json_of_module(f"Opening {name}", "pliant.studio.work.load_process", name))


def _answered(said: dict[str, Any]) -> Any:
    if "error" in said:
        raise RejectedError(said["error"])
    return said
