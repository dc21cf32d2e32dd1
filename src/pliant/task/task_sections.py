"""Sections of a task: its events, errors of the arm's model, and how the robot responds."""

from __future__ import annotations

from typing import Any

from pliant.params.declare import Section, Six, param


class Event(Section):
    """An action at a given time: new parameters, another law, a moved goal, a stop."""

    at_s: float = param(..., unit="s", ge=0, help="Time of the event.")
    set: dict[str, Any] = param({}, help="Parameters to change, by dotted name.")
    law: str = param("", help="Law to change to: a name, or the file of a law of your own.")
    goal_q: tuple[float, ...] = param((), unit="rad", help="New joint goal.")
    goal_offset_m: tuple[float, ...] = param((), unit="m", help="New goal position, relative to the start.")
    wrench_goal: Six | None = param(None, unit="N, N m", help="Wrench to hold, in the base frame.")
    virtual_push: Six | None = param(
        None, unit="N, N m", help="Virtual push from now on, added to the measured wrench, in the base frame."
    )
    command: str = param(
        "",
        help="Command to the law that runs; to a contact: set_start, start, pause, resume, stop or abort.",
    )
    stop: bool = param(False, help="Stop and hold position.")


class ModelError(Section):
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
        """Whether the response was identified."""
        return self.servo_s > 0.0
