"""What a page may request: one table from names to actions. The link checks each of them, as for any other client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError, UnknownNameError
from pliant.session.stop_request import HEARD_S
from pliant.studio.request import Message, Request
from pliant.studio.shown_parameters import in_force, parameters_in_words, values_of
from pliant.studio.stage.begin_mission import Beginning
from pliant.studio.stage.judged_values import is_judged, zones
from pliant.studio.wire import in_words
from pliant.studio.work import archive

Answer = dict[str, Any]

# A push lasts this long unless it is repeated, so a page that is gone stops pushing [s].
PUSH_S = 0.25
# The hardest push by hand [N].
PUSH_N = 80.0
# At most this many values of a parameter are judged in advance: a slider has no finer steps.
MOST_VALUES = 65


# ---- at once: never behind anything else ---------------------------------------------------------------------------


def _halt(request: Request) -> Answer:
    """Stop the loop that is shown, for any page. A running loop got the stop when the request arrived.

    The answer says whether it was heard: a loop that hangs has the stop in its queue, and moves on or not, and one that
    begins cannot be told yet. Where none runs or begins there is nothing to be stopped, and the page has no reason to
    ask again.
    """
    deadline_s = request.arrived_s + HEARD_S
    try:
        told = request.brakes or request.stage.brake()
    except PliantError as error:
        return {**in_words(error), "idle": request.stage.is_idle}
    heard = bool(told) and all(brake.is_heard(deadline_s) for brake in told)
    return {"arrived_ns": request.arrived_ns, "heard": heard}


def _push(request: Request) -> Answer:
    force = np.array(request.numbers("force", 3))
    force *= min(1.0, PUSH_N / max(float(np.linalg.norm(force)), 1e-9))
    request.arm.push(force, PUSH_S)
    return {}


# ---- one after the other -------------------------------------------------------------------------------------------


def _start(request: Request) -> Answer:
    request.check_run()
    request.stage.start(request.text("task"), request.text("robot", ""), record=request.flag("record"))
    return {}


def _resume(request: Request) -> Answer:
    request.arm.resume()
    return {}


def _command(request: Request) -> Answer:
    request.arm.command(request.text("command"))
    return {}


def _seek(request: Request) -> Answer:
    """Set the start of a contact where the tool is, and seek the surface from there."""
    link = request.arm
    link.command("set_start")
    link.command("start")
    return {}


def _goal(request: Request) -> Answer:
    request.arm.goal_position(request.numbers_onto(lambda arm: arm.state.goal.pose, "position", 2, 3))
    return {}


def _virtual_push(request: Request) -> Answer:
    request.arm.virtual_push(request.numbers_onto(lambda arm: arm.state.goal.push, "force", 3))
    return {}


def _tare(request: Request) -> Answer:
    link = request.arm
    request.history.note(link, ["sense.bias"], link.tare)
    return in_force(link)


def _set(request: Request) -> Answer:
    request.history.set(request.arm, request.values(), request.count("drag"))
    return in_force(request.arm)


def _differing(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """The live parameters in which a preset differs from what is in force: what is now, and what would be."""
    now = values_of(request.arm.parameters)
    then = values_of(request.stage.preset(request.text("preset")))
    live = {item["name"] for item in parameters_in_words(type(request.arm.parameters)) if item["live"]}
    names = [name for name, value in then.items() if name in live and value != now[name]]
    return {name: now[name] for name in names}, {name: then[name] for name in names}


def _keep(request: Request) -> Answer:
    return {"kept": request.stage.keep(request.arm.parameters)}


def _compare(request: Request) -> Answer:
    now, then = _differing(request)
    return {"now": now, "then": then}


def _preset(request: Request) -> Answer:
    """Take over the live parameters of a preset, as one change that can be undone."""
    _, then = _differing(request)
    if then:
        request.history.set(request.arm, then)
    return in_force(request.arm)


def _undo(request: Request) -> Answer:
    request.history.undo(request.arm)
    return in_force(request.arm)


def _redo(request: Request) -> Answer:
    request.history.redo(request.arm)
    return in_force(request.arm)


def _save(request: Request) -> Answer:
    scene = request.stage.scene
    path = request.text("path", scene.source if scene else "")
    return {"path": path, "saved": list(request.arm.save(path))}


def _record(request: Request) -> Answer:
    request.check_run()
    return {"recording": request.stage.record()}


def _stop_recording(request: Request) -> Answer:
    request.check_run()
    return {"recorded": request.stage.stop_recording()}


# ---- beside the loop -----------------------------------------------------------------------------------------------


def _begin(request: Request) -> Answer:
    """Begin the mission. The search for its path delays no other request."""
    Beginning(request).begin()
    return {}


def _aim(request: Request) -> Answer:
    """Give the mission another goal of its tool."""
    request.mission.goal(request.numbers("position", 2, 3))
    return {}


def _recordings(request: Request) -> Answer:
    return {"recordings": archive.recordings()}


def _open(request: Request) -> Answer:
    work, name = request.stage.work, request.text("name")
    with work.opening(f"Opening {name}"):
        return {"recording": archive.ask_open(work, name)}


def _what_if(request: Request) -> Answer:
    work, name = request.stage.work, request.text("name")
    with work.alone(f"Simulating {name} again"):
        return {"what_if": archive.ask_what_if(work, name, request.arm.parameters)}


def _ahead(request: Request) -> Answer:
    """How the stability check would judge values of a parameter."""
    values = request.message.get("values")
    if not isinstance(values, list) or not 2 <= len(values) <= MOST_VALUES:
        raise InputError("values", "…", f"a list of 2 to {MOST_VALUES} values")
    link = request.arm
    return {"judged": is_judged(link), "zones": zones(link, request.text("parameter"), values)}


def _experiment(request: Request) -> Answer:
    work, name = request.stage.work, request.text("name")
    with work.alone(f"Running {name}"):
        return {"experiment": archive.run_experiment(work, name)}


def _plan(request: Request) -> Answer:
    with request.stage.work.alone("Planning a path"):
        return {"plan": archive.plan(request.stage.work, *(request.text(field) for field in ("map", "start", "goal")))}


def _cancel(request: Request) -> Answer:
    """Cancel the running experiment, plan or what-if, or the opening of a recording, no matter who asked for it."""
    work, what = request.stage.work, request.text("what", "work")
    if what not in work.in_progress:
        raise UnknownNameError("work", what, work.in_progress)
    return {"cancelled": (work.reader if what == "open" else work).cancel()}


Action = Callable[[Request], Answer]
HALT, PUSH, IN_TURN, BESIDE = "halt", "push", "in turn", "beside"
ACTIONS: dict[str, dict[str, Action]] = {
    HALT: {"halt": _halt},
    PUSH: {"push": _push},
    IN_TURN: {
        "start": _start, "resume": _resume, "command": _command, "seek": _seek, "goal": _goal,
        "virtual_push": _virtual_push, "tare": _tare, "set": _set, "keep": _keep, "preset": _preset, "undo": _undo,
        "redo": _redo, "save": _save, "record": _record, "stop_recording": _stop_recording,
    },
    BESIDE: {
        "recordings": _recordings, "open": _open, "what_if": _what_if, "experiment": _experiment, "ahead": _ahead,
        "compare": _compare, "plan": _plan, "cancel": _cancel, "begin": _begin, "aim": _aim,
    },
}  # fmt: skip
# What may move a robot: not done when a stop has come in the meantime.
MOVES = frozenset({"start", "resume", "command", "seek", "goal", "virtual_push", "begin"})


def action_of(message: Message) -> tuple[Action, str]:
    """The action that a message requests, and its kind: halt, push, in turn, or beside the loop."""
    name = message.get("do")
    for when, table in ACTIONS.items():
        if isinstance(name, str) and name in table:
            return table[name], when
    raise UnknownNameError("request", str(name)[:50], [name for table in ACTIONS.values() for name in table])
