"""What a page may ask for: one table, from a name to what is done. Everything is checked by the link, as for anyone."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.errors import InputError, RefusedError, UnknownNameError
from pliant.studio import archive
from pliant.studio.ahead import is_judged, zones
from pliant.studio.schema import parameters_in_words, values_of
from pliant.studio.stage import Stage

Message = dict[str, Any]
Answer = dict[str, Any]

# A push lasts this long unless it is said again: a page that is gone pushes no more [s].
PUSH_S = 0.25
# The hardest push by hand [N].
PUSH_N = 80.0
# So many values of a parameter are judged beforehand at most: a slider has no more places that a hand can tell apart.
MOST_VALUES = 65


def _text(message: Message, field: str, default: str | None = None) -> str:
    value = message.get(field, default)
    if not isinstance(value, str) or len(value) > 500:
        raise InputError(field, value, "a text")
    return value


def _numbers(message: Message, field: str, *sizes: int) -> list[float]:
    value = message.get(field)
    numbers = [float(v) for v in value if type(v) in (int, float)] if isinstance(value, list) else []
    if (
        not isinstance(value, list)
        or len(numbers) != len(value)
        or len(value) not in sizes
        or not np.isfinite(numbers).all()
    ):
        raise InputError(field, value, f"{' or '.join(map(str, sizes))} finite numbers")
    return numbers


def _values(message: Message) -> dict[str, Any]:
    values = message.get("values")
    if not isinstance(values, dict) or not values:
        raise InputError("values", values, "parameters by name")
    return values


def _parameters(stage: Stage) -> Answer:
    link = stage.running
    return {"values": values_of(link.parameters), "revision": int(link.board.adopted)}


# ---- at once: never behind anything else ---------------------------------------------------------------------------


def _halt(stage: Stage, message: Message) -> Answer:
    stage.halt()
    return {}


def _push(stage: Stage, message: Message) -> Answer:
    force = np.array(_numbers(message, "force", 3))
    force *= min(1.0, PUSH_N / max(float(np.linalg.norm(force)), 1e-9))
    stage.running.push(force, PUSH_S)
    return {}


def _abort(stage: Stage, message: Message) -> Answer:
    stage.running.order("abort")
    return {}


# ---- one after the other -------------------------------------------------------------------------------------------


def _start(stage: Stage, message: Message) -> Answer:
    stage.start(_text(message, "task"), _text(message, "robot", ""))
    return {}


def _end(stage: Stage, message: Message) -> Answer:
    stage.close()
    return {}


def _resume(stage: Stage, message: Message) -> Answer:
    stage.running.resume()
    return {}


def _begin(stage: Stage, message: Message) -> Answer:
    """Begin the mission; nobody waits behind the search for its way."""
    stage.mission.begin()
    return {}


def _aim(stage: Stage, message: Message) -> Answer:
    """Give the mission another goal of its tool."""
    stage.mission.goal(_numbers(message, "position", 2, 3))
    return {}


def _order(stage: Stage, message: Message) -> Answer:
    stage.running.order(_text(message, "order"))
    return {}


def _law(stage: Stage, message: Message) -> Answer:
    stage.running.law(_text(message, "law"))
    return {}


def _goal(stage: Stage, message: Message) -> Answer:
    stage.running.goal_position(_numbers(message, "position", 2, 3))
    return {}


def _virtual_push(stage: Stage, message: Message) -> Answer:
    stage.running.virtual_push(_numbers(message, "force", 3))
    return {}


def _tare(stage: Stage, message: Message) -> Answer:
    bias = stage.running.tare()
    return {"bias": bias.tolist(), **_parameters(stage)}


def _set(stage: Stage, message: Message) -> Answer:
    stage.running.set(_values(message))
    return _parameters(stage)


def _differing(stage: Stage, message: Message) -> tuple[dict[str, Any], dict[str, Any]]:
    """The live parameters in which a preset differs from what is in force: what is now, and what would be."""
    now = values_of(stage.running.parameters)
    then = values_of(stage.preset(_text(message, "preset")))
    live = {item["name"] for item in parameters_in_words() if item["live"]}
    names = [name for name, value in then.items() if name in live and value != now[name]]
    return {name: now[name] for name in names}, {name: then[name] for name in names}


def _keep(stage: Stage, message: Message) -> Answer:
    return {"kept": stage.keep()}


def _compare(stage: Stage, message: Message) -> Answer:
    now, then = _differing(stage, message)
    return {"now": now, "then": then}


def _preset(stage: Stage, message: Message) -> Answer:
    """Take over the live parameters of a preset, as one change that can be undone."""
    _, then = _differing(stage, message)
    if then:
        stage.running.set(then)
    return _parameters(stage)


def _undo(stage: Stage, message: Message) -> Answer:
    stage.running.undo()
    return _parameters(stage)


def _redo(stage: Stage, message: Message) -> Answer:
    stage.running.redo()
    return _parameters(stage)


def _save(stage: Stage, message: Message) -> Answer:
    path = _text(message, "path", stage.scene.source if stage.scene else "")
    return {"path": path, "saved": list(stage.running.save(path))}


def _record(stage: Stage, message: Message) -> Answer:
    return {"recording": stage.record()}


def _stop_recording(stage: Stage, message: Message) -> Answer:
    return {"recorded": stage.stop_recording()}


# ---- beside the loop -----------------------------------------------------------------------------------------------


def _recordings(stage: Stage, message: Message) -> Answer:
    return {"recordings": archive.recordings()}


def _open(stage: Stage, message: Message) -> Answer:
    return {"recording": archive.open_recording(_text(message, "name"))}


def _what_if(stage: Stage, message: Message) -> Answer:
    with _alone():
        return {"what_if": archive.what_if(_text(message, "name"), stage.running.parameters)}


def _ahead(stage: Stage, message: Message) -> Answer:
    """How the stability check would judge values of a parameter."""
    values = message.get("values")
    if not isinstance(values, list) or not 2 <= len(values) <= MOST_VALUES:
        raise InputError("values", "…", f"a list of 2 to {MOST_VALUES} values")
    link = stage.running
    return {"judged": is_judged(link), "zones": zones(link, _text(message, "parameter"), values)}


def _experiment(stage: Stage, message: Message) -> Answer:
    with _alone():
        return {"experiment": archive.run_experiment(_text(message, "name"))}


def _plan(stage: Stage, message: Message) -> Answer:
    with _alone():
        return {"plan": archive.plan(*(_text(message, field) for field in ("map", "start", "goal")))}


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Of what takes a core for long, one at a time."""
    if not _busy.acquire(blocking=False):
        raise RefusedError("An experiment, a plan or a what-if is being worked out already. Wait until it is done.")
    try:
        yield
    finally:
        _busy.release()


_busy = threading.Lock()

Action = Callable[[Stage, Message], Answer]
AT_ONCE: dict[str, Action] = {"halt": _halt, "push": _push, "abort": _abort}
IN_TURN: dict[str, Action] = {
    "start": _start, "end": _end, "resume": _resume, "order": _order, "law": _law, "goal": _goal,
    "virtual_push": _virtual_push, "tare": _tare, "set": _set, "keep": _keep, "preset": _preset, "undo": _undo,
    "redo": _redo, "save": _save, "record": _record, "stop_recording": _stop_recording,
}  # fmt: skip
BESIDE: dict[str, Action] = {
    "recordings": _recordings, "open": _open, "what_if": _what_if, "experiment": _experiment, "ahead": _ahead,
    "compare": _compare, "plan": _plan, "begin": _begin, "aim": _aim,
}  # fmt: skip


def action_of(message: Message) -> tuple[Action, str]:
    """What a message asks for, and when it is done: at once, in turn, or beside the loop."""
    name = message.get("do")
    for when, table in (("at once", AT_ONCE), ("in turn", IN_TURN), ("beside", BESIDE)):
        if isinstance(name, str) and name in table:
            return table[name], when
    raise UnknownNameError("request", str(name)[:50], [*AT_ONCE, *IN_TURN, *BESIDE])
