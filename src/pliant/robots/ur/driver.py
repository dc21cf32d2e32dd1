"""`ur:HOST`: a Universal Robots e-Series arm, driven by ur_rtde.

    read    joints, torques and the wrench of the controller's newest packet; checks the robot's state
    write   servoJ, speedJ or directTorque, by the command's mode

The controller repeats the last command of a realtime interface forever. So its watchdog is armed before the first
command: if the loop dies or hangs, the arm stops after `WATCHDOG_S`. Kinematics are computed here, because those of the
controller arrive late or not at all. Nothing raises after `open`; `fault` describes what went wrong.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from typing import Any

import numpy as np

from pliant.errors import RejectedError
from pliant.model.arm import Arm
from pliant.records import POSITION, TORQUE, VELOCITY, WRENCH_OK
from pliant.robots.following import Following
from pliant.robots.interface import Robot
from pliant.robots.ur import connecting, recovery
from pliant.robots.ur.address import UrAddress
from pliant.robots.ur.connecting import check_extra
from pliant.robots.ur.controller_status import fault_of, trouble
from pliant.robots.ur.wrench_sign import to_sensor

# Rate of an e-Series controller [Hz].
RATE_HZ = 500.0
# The controller stops its program when no command has come for this long [s] (a little longer on some controllers).
WATCHDOG_S = 0.1
# Its timeout before the first command [s], so that a loop that dies early leaves no program running forever.
_OPENING_S = 30.0
# The shortest look-ahead of servoJ [s], and its default gain: the simulated servo is modelled on them.
LOOKAHEAD_S, GAIN = 0.03, 300.0
# How hard the arm brakes at the end [rad/s², m/s²].
_BRAKE = 10.0
# A joint farther than this from the start of the task is not at the start [rad].
_NEAR = 0.02
# How many commands in a row the controller may reject before it is a fault.
_REFUSALS = 25
# How long the reason for a stopped program may take to arrive [s].
_REASON_S = 0.02
# No two clocks drift apart faster than this.
_DRIFT = 2e-4
# What to do about a failed connection, a low speed slider, and a stopped program.
_LINE = "Check the cable and the network, and whether this computer is overloaded"
_SLOW = "so the arm is slower than commanded. Set it to 100 % on the pendant. For a slow run, lower limits.speed_scale"
_AGAIN = "Find out why, then start again"
# A running program may belong to a loop that was just killed: the watchdog ends it within this time [s].
_LEFT_S = 1.0
# Below this, the speed slider slows the arm down without the law knowing.
_FULL = 0.995
# States of the controller's program: stopping, stopped. Joints slower than this are at rest [rad/s].
_NO_PROGRAM, _STILL = (0, 1), 0.01
# How long the controller may take to send its first packet [s].
_FIRST_S = 5.0
# How often reading starts over because another packet arrived meanwhile.
_TRIES = 10
# Allowed distance of our tool point from the controller's [m], which includes the arm's calibration; and how long the
# controller may take to report it with the tool that was set [s].
_SAME_M, _SAME_S = 0.02, 3.0
# How long ending may take before it is left to the watchdog [s].
_STOP_S = 3.0


class UrRobot(Robot):
    """A UR arm. Packets may be late by up to `silence_s`, while the last wrench is held; more is a fault."""

    interfaces = ("position", "velocity", "torque")

    def __init__(self, address: UrAddress, task: Any) -> None:
        check_extra()
        if task.rate_hz > RATE_HZ:
            raise RejectedError(
                f"rate_hz is {task.rate_hz:g} Hz, but a UR controller runs at {RATE_HZ:g} Hz. Lower rate_hz, or add "
                f"--rate {RATE_HZ:g}.",
                field="rate_hz",
                value=task.rate_hz,
            )
        self.name = f"ur:{address.host}"
        self.address, self.arm = address, Arm.load(address.model, task.tool)
        self.arm.check_payload()
        self.interface, self.dt = task.interface, task.dt
        self.start_q = np.array(task.start_q, float)
        self.silence_s = task.params.sense.stale_s + task.params.sense.hold_s
        self.fault = ""
        self._control: Any = None
        self._receive: Any = None
        self._following = Following(self.arm.joint_names, self.silence_s)
        self._accel = float(self.arm.a_max.max())
        self._mode, self._refused, self._armed, self._lost = 0, 0, False, False
        self._stamp, self._heard, self._read_at, self._offset = -1.0, 0.0, math.inf, math.inf
        self._halted_at = math.inf
        self._ending: threading.Thread | None = None

    # -- start --

    def open(self) -> None:
        """Connect, check that the robot matches the task, set tool and payload. Nothing moves."""
        host = self.address.host
        program = connecting.must_answer(self.address, self.interface)
        if program is None:
            what = "The arm model and remote control could not be checked"
            _note(f"The dashboard of {host} does not answer. {what}.")
        self._receive = connecting.open_receive(host, 1.0 / self.dt)
        self._must_be_well()
        self._must_be_free(program)
        self._must_be_at_start()
        with recovery.remembered(host):
            self._control = connecting.open_control(host, 1.0 / self.dt)
        if not self._control.setWatchdog(1.0 / _OPENING_S):
            raise RejectedError(f"The controller at {host} did not arm its watchdog.", field="robot")
        self._set_tool()
        self._must_be_this_arm()
        self._heard = time.monotonic()

    def _must_be_well(self) -> None:
        deadline = time.monotonic() + _FIRST_S
        while not self._receive.getTimestamp() > 0.0 and time.monotonic() < deadline:
            time.sleep(0.005)
        if not 0.0 < self._receive.getTimestamp() < math.inf:
            raise RejectedError(
                f"The controller at {self.address.host} accepted the connection but sends no data. Check its pendant.",
                field="robot",
            )
        if words := trouble(self._receive.getSafetyStatusBits(), self._receive.getRobotMode()):
            raise RejectedError(f"The robot at {self.address.host} cannot move: {words}.", field="robot")
        if not (share := self._receive.getTargetSpeedFraction()) >= _FULL:
            raise RejectedError(
                f"The speed slider of the robot at {self.address.host} is at {100 * share:.0f} %, {_SLOW}.",
                field="robot",
            )

    def _must_be_free(self, program: str | None) -> None:
        """No other program may be running: ours would interrupt it."""
        host, deadline, fastest = self.address.host, time.monotonic() + _LEFT_S, 0.0
        while self._receive.getRuntimeState() not in _NO_PROGRAM:
            fastest = float(np.max(np.abs([fastest, *self._receive.getActualQd()])))  # NaN stays NaN: not at rest
            if time.monotonic() > deadline:
                if fastest < _STILL and recovery.may_be_ours(host, program):
                    _note(f"Ending the program that an earlier loop left on the controller at {host}.")
                    return
                raise RejectedError(
                    f"A program is running on the controller at {host} ({program or 'name unknown'}). Starting Pliant "
                    "would end it. Stop it on the pendant first.",
                    field="robot",
                )
            time.sleep(0.01)

    def _must_be_at_start(self) -> None:
        """The arm must be at the start of the task: nothing has checked the path from where it is."""
        if not len(self.start_q):
            return
        off = np.abs(np.array(self._receive.getActualQ()) - self.start_q)
        if not off.max() <= _NEAR:
            joint = int(off.argmax())
            raise RejectedError(
                f"The task starts at start_q, but {self.arm.joint_names[joint]} is {np.degrees(off[joint]):.1f}° away. "
                "Move the arm there first, or remove start_q from the task.",
                field="start_q",
            )

    def _set_tool(self) -> None:
        """Set tool and payload in the controller, which subtracts the payload's weight from the wrench."""
        tool = self.arm.tool
        taken = self._control.setPayload(tool.mass_kg, list(tool.com_m))
        taken = self._control.setTcp([*tool.tcp_m, *_rotation_vector(tool.tcp_quat)]) and taken
        if not taken:
            raise RejectedError(
                f"The controller at {self.address.host} rejected payload and tool. Check them in the task.",
                field="tool",
            )

    def _must_be_this_arm(self) -> None:
        """The controller's tool point must agree with our model; otherwise the arm is a different one."""
        deadline = time.monotonic() + _SAME_S
        while not (off := self._off_m()) <= _SAME_M:
            if time.monotonic() > deadline:
                raise RejectedError(
                    f"The tool point of the controller at {self.address.host} is {1e3 * off:.0f} mm away from that of "
                    f"a {self.address.model} with this tool. Use ur:{self.address.host}#<model>.",
                    field="robot",
                )
            time.sleep(0.01)

    def _off_m(self) -> float:
        """How far apart the controller and our model have the tool point [m]."""
        return float(np.linalg.norm(np.array(self._receive.getActualTCPPose()[:3]) - self.arm.pose(self._q())[:3]))

    # -- once per period --

    def read(self, reading: Any) -> None:
        """The newest packet, checked."""
        r = reading[0]
        try:
            self._fill(r)
        except RuntimeError:  # raised by ur_rtde when its connection is lost
            self._lose()

    def _fill(self, r: Any) -> None:
        """The newest packet as a reading."""
        now = time.monotonic()
        if (packet := self._packet()) is None:
            return
        stamp, q, qd, tau, force = packet
        age = self._age(stamp, now)
        self._judge(stamp, age, now)
        if not self.fault and (words := self._following.fault(np.array(q))):
            self._fail(f"at {self.address.host} {words}")
        r.q[:6], r.qd[:6], r.tau[:6] = q, qd, tau
        to_sensor(self.arm, r.q, force, r.wrench)
        # the robot's time advances while a packet is in transit: a late packet is an old one
        r.stamp_s, r.age_s, r.wrench_stamp_s, r.wrench_state = stamp + age, age, stamp, WRENCH_OK

    def _packet(self) -> tuple[Any, ...] | None:
        """The numbers of one packet; if another one arrives meanwhile, reading starts over, a few times."""
        receive = self._receive
        stamp = newest = receive.getTimestamp()
        for _ in range(_TRIES):
            stamp = newest
            motion = receive.getActualQ(), receive.getActualQd(), receive.getTargetMoment()
            force, newest = receive.getActualTCPForce(), receive.getTimestamp()
            if newest == stamp and math.isfinite(stamp):
                return stamp, *motion, force
        if math.isfinite(newest):
            self._fail(
                f"the packets of the controller at {self.address.host} arrive faster than they can be read: "
                f"{_TRIES} arrived during one reading. Check whether this computer is overloaded"
            )
        else:
            self._fail(
                f"the controller at {self.address.host} sent the time stamp {newest}, which is not finite. Restart it"
            )
        return None

    def _age(self, stamp: float, now: float) -> float:
        """How much longer this packet was in transit than the fastest one [s]."""
        # two clocks drift apart: the fastest transit time is relaxed a little in every period
        self._offset = min(self._offset + _DRIFT * self.dt, now - stamp)
        return now - stamp - self._offset

    def _judge(self, stamp: float, age: float, now: float) -> None:
        """Check that the robot still follows its commands, from a packet that is `age` old [s]."""
        # a pause of this process must not look like one of the controller
        self._heard += max(0.0, now - self._read_at - self.dt)
        self._read_at = now
        if stamp != self._stamp:
            self._stamp, self._heard = stamp, now
        receive, host = self._receive, self.address.host
        if words := trouble(receive.getSafetyStatusBits(), receive.getRobotMode()):
            self._fail(fault_of(host, words))
        elif now - self._heard > self.silence_s:
            self._halt_motion()
            self._lose(f"the controller at {host} has sent nothing for {self.silence_s * 1e3:.0f} ms. {_LINE}")
        elif not self._is_connected():
            self._lose()
        elif not (share := receive.getTargetSpeedFraction()) >= _FULL:
            self._fail(f"the speed slider of the robot at {host} was set to {100 * share:.0f} %, {_SLOW}")
        elif not self._armed or self._control.isProgramRunning():
            self._halted_at = math.inf
        else:
            # this comes over another connection than the reason, which arrives in a packet of this controller time or
            # later
            self._halted_at = min(self._halted_at, stamp + age)
            if stamp > self._halted_at + _REASON_S:
                who = "by its watchdog or at the pendant"
                self._fail(f"the program on the controller at {host} was stopped, {who}. {_AGAIN}")

    def write(self, command: Any) -> None:
        """Send the command, once the watchdog is armed."""
        c = command[0]
        if self.fault or self._halted_at < math.inf:
            return
        try:
            if not self._armed:
                self._armed = bool(self._control.setWatchdog(1.0 / WATCHDOG_S))
                if not self._armed:
                    self._fail(
                        f"the controller at {self.address.host} did not arm its watchdog, so no command was sent"
                    )
                    return
            taken = self._is_connected() and self._send(c)
        except RuntimeError:
            self._lose()
            return
        self._refused = 0 if taken else self._refused + 1
        if self._refused > _REFUSALS:
            self._fail(f"the controller at {self.address.host} no longer accepts commands. Check its pendant")

    def _send(self, c: Any) -> bool:
        mode = int(c.mode)
        self._following.tell(c.q) if mode in (POSITION, VELOCITY) else self._following.forget()
        if mode == POSITION:
            taken = self._control.servoJ(c.q[:6].tolist(), 0.0, 0.0, self.dt, LOOKAHEAD_S, GAIN)
        elif mode == VELOCITY:
            taken = self._control.speedJ(c.qd[:6].tolist(), self._accel, self.dt)
        elif mode == TORQUE:
            # the controller carries the arm's weight itself
            weight = self.arm.bias(self._q(), np.zeros(6))
            taken = self._control.directTorque((c.tau[:6] - weight).tolist())
        else:  # this ends torque control, and the controller holds the position
            return bool(self._control.kickWatchdog())
        self._mode = mode
        return bool(taken)

    def _is_connected(self) -> bool:
        return bool(self._receive.isConnected() and (self._control is None or self._control.isConnected()))

    def _q(self) -> Any:
        return np.array(self._receive.getActualQ())

    def _halt_motion(self) -> None:
        """A silent connection may still deliver a command: without it, the last one lasts until the watchdog acts."""
        with contextlib.suppress(RuntimeError):
            if self._mode == VELOCITY:
                self._control.speedJ([0.0] * 6, self._accel, self.dt)
            elif self._mode == TORQUE:  # the controller itself adds the torques that carry the arm
                self._control.directTorque([0.0] * 6)

    def _lose(self, words: str = "") -> None:
        """The connection is lost or silent, and ur_rtde must not be called any more. It would wait for answers; and
        after a lost connection its own threads try to reconnect, to a program without a watchdog, and soon crash. By
        then the arm has been stopped by the watchdog, or by the new program, which does nothing and which the next loop
        ends (see `recovery`).
        """
        self._lost = True
        self._fail(words or f"the connection to {self.address.host} is lost. {_LINE}")

    def _fail(self, words: str) -> None:
        """Set the fault; only the first one is reported."""
        self.fault = self.fault or words

    # -- end --

    def stop(self) -> None:
        """Brake and end the program. If the controller does not answer in time, its watchdog does so."""
        if self._control is None or self._lost:
            return
        self._ending = threading.Thread(target=self._end, daemon=True)
        self._ending.start()
        self._ending.join(_STOP_S)

    def _end(self) -> None:
        with contextlib.suppress(Exception):
            if self._control.isProgramRunning():
                if self._mode == POSITION:
                    self._control.servoStop(_BRAKE)
                elif self._mode == VELOCITY:
                    self._control.speedStop(_BRAKE)
                elif self._mode == TORQUE:
                    self._control.stopJ(_BRAKE)
                self._control.stopScript()
            recovery.forget(self.address.host)  # it has just ended, or the controller stopped it before

    def close(self) -> None:
        """Disconnect within a time limit, so that a dead connection does not block the process."""
        # ur_rtde allows one thread at a time: the thread that ends the program may still be using it
        if self._lost or (self._ending is not None and self._ending.is_alive()):
            return
        leaving = threading.Thread(target=self._disconnect, daemon=True)
        leaving.start()
        leaving.join(_STOP_S)

    def _disconnect(self) -> None:
        for line in (self._control, self._receive):
            if line is not None:
                with contextlib.suppress(Exception):
                    line.disconnect()


def _note(words: str) -> None:
    """A note that is no reason to reject the start."""
    with contextlib.suppress(OSError):
        print(words, file=sys.stderr, flush=True)


def _rotation_vector(quat: tuple[float, float, float, float]) -> list[float]:
    """A unit quaternion (wxyz) as the rotation vector that the controller takes."""
    u = np.array(quat[1:]) * (1.0 if quat[0] >= 0.0 else -1.0)
    length = float(np.linalg.norm(u))
    angle = 2.0 * float(np.arctan2(length, abs(quat[0])))
    return (u * (angle / length if length > 1e-12 else 2.0)).tolist()
