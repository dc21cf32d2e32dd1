"""Requests over ROS 2: goals, commands, parameter changes. Each is carried out completely, or rejected with a reason.

All requests go through `session.link`, with the same checks as those of a session.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

from pliant.control.laws.registry import LAWS, known_commands, law_of
from pliant.errors import InputError, PliantError, UnknownNameError
from pliant.loop import goal_requests
from pliant.params.declare import flat, parse_value
from pliant.params.matrix import shown
from pliant.session.link import Link

# What a command means for a law that takes no commands.
_PLAIN = {"start": "resume", "resume": "resume", "pause": "halt", "stop": "halt", "abort": "halt"}
_OTHERS = ("halt", "tare", "undo", "quit")
# Bounds for a text from the network: characters, brackets, and nested lists and mappings.
_LONGEST, _MOST_BRACKETS, _DEEPEST = 10_000, 200, 8


def known_words() -> tuple[str, ...]:
    """The commands over ROS 2: those of all known laws, and those of every loop."""
    return tuple(dict.fromkeys((*known_commands(), *_PLAIN, *_OTHERS)))


class Requests:
    """Carries out requests; every method returns a sentence about the result, or raises a `PliantError`."""

    def __init__(self, link: Link) -> None:
        self.link = link

    # -- goals --

    def goal_pose(self, message: Any) -> str:
        """A PoseStamped: the goal, or the equilibrium of a compliant law, at rest."""
        self._in_base(message)
        p, o = message.pose.position, message.pose.orientation
        self.link.goal_pose([p.x, p.y, p.z, o.w, o.x, o.y, o.z])
        return f"the goal is at {_listed(p.x, p.y, p.z)} m"

    def equilibrium(self, message: Any) -> str:
        """A PointStamped: a new position of the goal, which keeps its orientation."""
        self._in_base(message)
        point = message.point
        self.link.goal_position([point.x, point.y, point.z])
        return f"the equilibrium is at {_listed(point.x, point.y, point.z)} m"

    def goal_wrench(self, message: Any) -> str:
        """A WrenchStamped: the wrench to hold, in the base frame at the tool."""
        self._in_base(message)
        f, t = message.wrench.force, message.wrench.torque
        self.link.goal_wrench([f.x, f.y, f.z, t.x, t.y, t.z])
        return f"the wrench to hold is {_listed(f.x, f.y, f.z)} N, {_listed(t.x, t.y, t.z)} N m"

    def _in_base(self, message: Any) -> None:
        frame, own = message.header.frame_id, self.link.task.ros2.base_frame
        if frame not in ("", own):
            raise InputError("header.frame_id", frame, f"{own!r} or empty, because Pliant does not use tf")

    # -- commands --

    def command(self, message: Any) -> str:
        """A String: one of `known_words`, or ``law NAME``."""
        return self.obey(str(message.data))

    def obey(self, text: str) -> str:
        """Carry out a command in words."""
        word, *rest = text.split()[:3] or [""]
        if word == "law" and len(rest) == 1:
            self.link.law(rest[0])
            return f"the law is {rest[0]}"
        if word not in known_words() or rest:
            raise UnknownNameError("command", text[:80], (*known_words(), *(f"law {name}" for name in LAWS)))
        if word == "tare":
            return f"the sensor's offset is {_listed(*self.link.tare())}"
        if word == "undo":
            back = self.link.undo()
            return f"undone: {', '.join(f'{name} = {shown(now)}' for name, (_, now) in back.items()) or 'nothing'}"
        if word == "quit":
            self.link.board.send(goal_requests.QUIT)
            return "the loop ends"
        self._drive(word)
        return f"{word} was sent to the loop"

    def _drive(self, word: str) -> None:
        """Commands go to a law that takes them; the other laws only halt and resume."""
        latest = self.link.state
        takes_commands = law_of(latest.goal.law).takes_commands
        if word == "halt":
            self.link.halt()
            return
        halted = bool(latest.goal.stop)
        if takes_commands:
            if halted and _PLAIN.get(word) == "resume":
                self.link.resume()
            self.link.command(word)
        elif word == "resume" or (word == "start" and halted):
            self.link.resume()
        elif _PLAIN.get(word) == "halt":
            self.link.halt()
        else:
            self.link.command(word)  # rejected: this law takes no commands

    # -- parameters --

    def change(self, message: Any) -> str:
        """A String: ``name value``, or YAML with names and values. All of it takes effect, or nothing."""
        return self.set(str(message.data))

    def set(self, text: str) -> str:
        """Change parameters from a text."""
        values = parsed(text)
        notes = self.link.set(values)
        now = flat(self.link.parameters)
        said = ", ".join(f"{name} = {shown(now[name])}" for name in values)
        return ". ".join((said, *notes)) if notes else said


def parsed(text: str) -> dict[str, Any]:
    """Names and values of parameters from ``name value`` or from YAML."""
    words = text.split(None, 1)
    if len(words) == 2 and ":" not in text and "=" not in text and len(text) <= _LONGEST:
        return {words[0]: parse_value(words[1].strip())}
    allowed = "'name value', or YAML with names and values"
    if len(text) > _LONGEST:
        raise InputError("the change", f"a text of {len(text)} characters", f"at most {_LONGEST} characters long")
    data = _loaded(text)
    if not isinstance(data, dict) or not data:
        raise InputError("the change", text[:80], allowed)
    return dict(_dotted(data, ""))


def _loaded(text: str) -> Any:
    """The YAML in a text; None if there is none. Checked for aliases first: a few characters can expand to millions."""
    if text.count("[") + text.count("{") > _MOST_BRACKETS:  # the scanner's time grows with the square of their number
        return None
    yaml, depth = YAML(typ="safe"), 0
    try:
        for event in yaml.parse(text):
            if getattr(event, "anchor", None):
                raise InputError("the change", text[:80], "without anchors (&) and aliases (*)")
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if depth > _DEEPEST:
                return None
        return yaml.load(text)
    except (YAMLError, ValueError):
        return None


def _dotted(data: dict[Any, Any], prefix: str) -> list[tuple[str, Any]]:
    found = []
    for name, value in data.items():
        if isinstance(value, dict):
            found += _dotted(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", tuple(value) if isinstance(value, list) else value))
    return found


def answered(action: Callable[[Any], str], asked: Any) -> tuple[bool, str]:
    """Whether a request was carried out, and a sentence with the result or reason. No request may end the bridge."""
    try:
        return True, action(asked)
    except PliantError as error:
        return False, str(error)
    except Exception as error:  # a message from the network: whatever it is, it changes nothing
        return False, f"The request could not be processed ({type(error).__name__}: {error})."


def _listed(*values: float) -> str:
    return " ".join(f"{value:.4g}" if math.isfinite(value) else str(value) for value in values)
