"""What a page may request: one table from names to actions. The link checks each of them, as for any other client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.mobile.planning.map_files import check_map
from pliant.session.stop_request import HEARD_S
from pliant.studio import page_requests as ask
from pliant.studio.page_messages import InForce, Values
from pliant.studio.request import Request
from pliant.studio.shown_parameters import in_force, parameters_in_words, values_of
from pliant.studio.stage.begin_mission import MissionStart
from pliant.studio.stage.judged_values import is_judged, zones
from pliant.studio.work import archive

# A push lasts this long unless it is repeated, so it ends when the page closes [s].
PUSH_S = 0.25
# The hardest push by hand [N].
PUSH_N = 80.0


# ---- at once: never queued behind other requests -------------------------------------------------------------------


def _halt(request: Request[ask.Halt]) -> ask.Halted | ask.Refusal:
    """Stop the loop that is shown, for any page. The stop was sent to a running loop when the request arrived. The
    answer reports whether the loop confirmed it: a loop that hangs has the stop in its queue but may keep moving, and
    one that is starting cannot receive it yet. If no loop is running or starting, there is nothing to stop, and the
    page need not repeat the request.
    """
    deadline_s = request.arrived_s + HEARD_S
    try:
        told = request.brakes or request.stage.brake()
    except PliantError as error:
        return {"ok": False, "error": str(error), "idle": request.stage.is_idle}
    heard = bool(told) and all(brake.is_heard(deadline_s) for brake in told)
    return {"arrived_ns": request.arrived_ns, "heard": heard}


def _push(request: Request[ask.Push]) -> ask.Done:
    force = np.array(request.asked.force, float)
    force *= min(1.0, PUSH_N / max(float(np.linalg.norm(force)), 1e-9))
    request.arm.push(force, PUSH_S)
    return {}


# ---- one after the other -------------------------------------------------------------------------------------------


def _start(request: Request[ask.Start]) -> ask.Done:
    request.check_run()
    asked = request.asked
    request.stage.start(asked.task, asked.robot, record=asked.record)
    return {}


def _resume(request: Request[ask.Resume]) -> ask.Done:
    request.arm.resume()
    return {}


def _command(request: Request[ask.Command]) -> ask.Done:
    link = request.arm
    for command in request.asked.commands:
        link.command(command)
    return {}


def _goal(request: Request[ask.Goal]) -> ask.Done:
    request.arm.goal_position(request.onto(lambda arm: arm.state.goal.pose, request.asked.position))
    return {}


def _virtual_push(request: Request[ask.VirtualPush]) -> ask.Done:
    request.arm.virtual_push(request.onto(lambda arm: arm.state.goal.push, request.asked.force))
    return {}


def _tare(request: Request[ask.Tare]) -> InForce:
    link = request.arm
    request.history.note(link, ["sense.bias"], link.tare)
    return in_force(link)


def _set(request: Request[ask.Set]) -> InForce:
    request.history.set(request.arm, request.asked.values, request.asked.drag)
    return in_force(request.arm)


def _differing(request: Request[ask.Compare] | Request[ask.Preset]) -> tuple[Values, Values]:
    """The live parameters in which a preset differs from the current set, with the values of both."""
    now = values_of(request.arm.parameters)
    then = values_of(request.stage.preset(request.asked.preset))
    live = {item["name"] for item in parameters_in_words(type(request.arm.parameters)) if item["live"]}
    names = [name for name, value in then.items() if name in live and value != now[name]]
    return {name: now[name] for name in names}, {name: then[name] for name in names}


def _keep(request: Request[ask.Keep]) -> ask.Kept:
    return {"kept": request.stage.keep(request.arm.parameters)}


def _compare(request: Request[ask.Compare]) -> ask.Differing:
    now, then = _differing(request)
    return {"now": now, "then": then}


def _preset(request: Request[ask.Preset]) -> InForce:
    """Take over the live parameters of a preset, as one change that can be undone."""
    _, then = _differing(request)
    if then:
        request.history.set(request.arm, then)
    return in_force(request.arm)


def _undo(request: Request[ask.Undo]) -> InForce:
    request.history.undo(request.arm)
    return in_force(request.arm)


def _redo(request: Request[ask.Redo]) -> InForce:
    request.history.redo(request.arm)
    return in_force(request.arm)


def _save(request: Request[ask.Save]) -> ask.Saved:
    scene = request.stage.scene
    path = request.asked.path if request.asked.path is not None else scene.source if scene else ""
    return {"path": path, "saved": list(request.arm.save(request.stage.folders.writable(path)))}


def _record(request: Request[ask.Record]) -> ask.RecordingStarted:
    request.check_run()
    return {"recording": request.stage.record()}


def _stop_recording(request: Request[ask.StopRecording]) -> ask.RecordingSaved:
    request.check_run()
    return {"recorded": request.stage.stop_recording()}


# ---- in parallel with the loop -------------------------------------------------------------------------------------


def _begin(request: Request[ask.Begin]) -> ask.Done:
    """Begin the mission. The search for its path delays no other request."""
    MissionStart(request).begin()
    return {}


def _aim(request: Request[ask.Aim]) -> ask.Done:
    """Give the mission another goal of its tool."""
    request.mission.goal(request.asked.position)
    return {}


def _recordings(request: Request[ask.ListRecordings]) -> ask.Recordings:
    return {"recordings": archive.recordings()}


def _open(request: Request[ask.Open]) -> ask.Opened:
    work, name = request.stage.work, request.asked.name
    with work.opening(f"Opening {name}"):
        return {"recording": archive.ask_open(work, name)}


def _what_if(request: Request[ask.WhatIf]) -> ask.Simulated:
    work, name = request.stage.work, request.asked.name
    with work.exclusive(f"Simulating {name} again"):
        return {"what_if": archive.ask_what_if(work, name, request.arm.parameters)}


def _ahead(request: Request[ask.Ahead]) -> ask.Judged:
    """How the stability check would judge values of a parameter."""
    link, asked = request.arm, request.asked
    return {"judged": is_judged(link), "zones": zones(link, asked.parameter, asked.values)}


def _experiment(request: Request[ask.RunExperiment]) -> ask.ExperimentDone:
    work, name = request.stage.work, request.asked.name
    with work.exclusive(f"Running {name}"):
        return {"experiment": archive.run_experiment(work, name)}


def _plan(request: Request[ask.Plan]) -> ask.Planned:
    work, asked = request.stage.work, request.asked
    with work.exclusive("Planning a path"):
        grid = request.stage.folders.load(asked.map, check_map, "map")
        return {"plan": archive.plan(work, grid, asked.start, asked.goal)}


def _cancel(request: Request[ask.Cancel]) -> ask.Cancelled:
    """Cancel the running experiment, plan or what-if, or the opening of a recording, whichever page requested it."""
    work = request.stage.work
    return {"cancelled": (work.reader if request.asked.what == "open" else work).cancel()}


Action = Callable[[Request[Any]], Any]
HALT, PUSH, IN_TURN, BESIDE = "halt", "push", "in turn", "beside"
ACTIONS: dict[str, dict[str, Action]] = {
    HALT: {"halt": _halt},
    PUSH: {"push": _push},
    IN_TURN: {
        "start": _start, "resume": _resume, "command": _command, "goal": _goal,
        "virtual_push": _virtual_push, "tare": _tare, "set": _set, "keep": _keep, "preset": _preset, "undo": _undo,
        "redo": _redo, "save": _save, "record": _record, "stop_recording": _stop_recording,
    },
    BESIDE: {
        "recordings": _recordings, "open": _open, "what_if": _what_if, "experiment": _experiment, "ahead": _ahead,
        "compare": _compare, "plan": _plan, "cancel": _cancel, "begin": _begin, "aim": _aim,
    },
}  # fmt: skip
# Requests that may move a robot: not carried out if a stop has arrived in the meantime.
MOVES = frozenset({"start", "resume", "command", "goal", "virtual_push", "begin"})


def action_of(name: str) -> tuple[Action, str]:
    """The action of a request, and its kind: halt, push, in turn, or beside the loop."""
    return next((table[name], when) for when, table in ACTIONS.items() if name in table)
