"""The program on the emulated controller: commands in input registers, answers in output registers, a watchdog.

The uploaded URScript is not interpreted: it is always that of ur_rtde, whose use of the registers is implemented here.
A realtime command takes effect at once and lasts until another arrives; any other command ends torque control, and the
arm holds its position. Other commands run once, are answered with `DONE`, and are then cleared by command 0. A command
that is not implemented ends the program with a runtime error: no client may take it for done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.robots.emulator.emulated_arm import EmulatedArm

STOPPED, PLAYING = 1, 2
READY, DONE = 1, 2
# Numbers of ur_rtde's commands.
(KICK, STOP, ZERO_FORCE, SPEED_J, SERVO_J, SPEED_STOP, SERVO_STOP, PAYLOAD, SET_TCP, PROTECTIVE, WATCHDOG,
 IS_STEADY, TORQUE, END) = (0, 7, 8, 9, 11, 15, 16, 17, 29, 31, 35, 47, 66, 255)  # fmt: skip
_REALTIME = {6, SPEED_J, 10, SERVO_J, 24, 25, 26, 27, 38, 58, *range(TORQUE, 72)}

Values = Mapping[str, Any]


class Program:
    """Runs from the upload of a script until it is stopped."""

    def __init__(self, arm: EmulatedArm, say: Callable[[str], None], *, by_torque: bool = True) -> None:
        self.arm, self._say, self._by_torque = arm, say, by_torque
        self.state, self.ready, self.answer = STOPPED, 0, 0
        self.protective = False
        self.why = "no program was uploaded"
        self.moving = False
        self.in_motion = False
        """Whether the client moves the arm: since the first command to move, and not since one to stop."""
        self._executing = False
        # the watchdog time that the client requested (0: none), and the one that was active at its first motion
        self.watchdog_s = 0.0
        self.watched_s: float | None = None
        self.slow_s, self._kicked = 0.0, 0.0
        self.received = 0

    def start(self) -> None:
        """Start after the upload of a script, and wait for commands."""
        self.state, self.ready, self.answer, self.why = PLAYING, READY, 0, ""
        self._executing, self.moving, self.in_motion = False, False, False
        self.watchdog_s, self.watched_s = 0.0, None
        self.arm.idle()
        self.arm.hold_pushes()
        self.arm.brake(halted=False)

    def stop(self, why: str) -> None:
        """End the program; the arm brakes and holds."""
        if self.state == PLAYING:
            self.state, self.why = STOPPED, why
            self.arm.brake(halted=True)

    @property
    def plays(self) -> bool:
        """Whether the program runs."""
        return self.state == PLAYING

    def watch(self, now: float) -> None:
        """Check the watchdog, once per period; it waits at least `slow_s`."""
        if self.plays and self.watchdog_s > 0.0 and now - self._kicked > max(self.watchdog_s, self.slow_s):
            self.stop("its watchdog received no command")

    def receive(self, values: Values, now: float) -> None:
        """Process new inputs; register 0 resets the watchdog."""
        if not self.plays or "input_int_register_0" not in values:
            return
        self._kicked = now
        self.received += 1
        command = int(values["input_int_register_0"])
        if command != TORQUE:
            self.arm.end_torque()
        if command == KICK:
            self.ready, self._executing = READY, False
        elif command in _REALTIME:
            self._move(command, values)
            self.ready = READY if self.plays else 0
        elif not self._executing:
            self._executing = True
            self._do(command, values)
            self.ready = DONE if self.plays or command == END else 0

    def leave(self) -> None:
        """The client is gone: nobody sends torques any more. Motion by position or speed is left to the watchdog."""
        self.arm.end_torque()

    def _move(self, command: int, values: Values) -> None:
        """A realtime command. The pushes of the task begin with the first one."""
        self.in_motion = True
        if not self.moving:
            self.moving, self.watched_s = True, self.watchdog_s
            self.arm.begin_pushes()
        if command == SERVO_J:
            self.arm.servo(_doubles(values, 6))
        elif command == SPEED_J:
            self.arm.speed(_doubles(values, 6), float(values["input_double_register_6"]))
        elif command == TORQUE and self._by_torque:
            self.arm.torque(_doubles(values, 6))
        elif command == TORQUE:
            pass  # a version that is too old accepts the command, reports success, and does nothing
        else:
            self._unknown(command)

    def _do(self, command: int, values: Values) -> None:
        """A command that is carried out once."""
        if command in (STOP, SPEED_STOP, SERVO_STOP):
            self.arm.idle()
            self.in_motion = False
        elif command == ZERO_FORCE:
            self.arm.zero_force()
        elif command == PAYLOAD:
            self.arm.mass, self.arm.com = _doubles(values, 1)[0], np.array(_doubles(values, 4)[1:])
        elif command == SET_TCP:
            self.arm.tcp = np.array(_doubles(values, 6))
        elif command == PROTECTIVE:
            self.protective = True
        elif command == WATCHDOG:
            hz = float(values["input_double_register_0"])
            self.watchdog_s = 1.0 / hz if hz > 0.0 else 0.0
        elif command == IS_STEADY:
            self.answer = int(self.arm.is_steady)
        elif command == END:
            self.stop("its client ended it")
        else:
            self._unknown(command)

    def _unknown(self, command: int) -> None:
        words = f"runtime error: the emulator does not implement command {command} of ur_rtde, so it ended the program"
        self._say(f"{words[0].upper()}{words[1:]}.")
        self.stop(words)


def _doubles(values: Values, n: int) -> list[float]:
    return [float(values[f"input_double_register_{i}"]) for i in range(n)]
