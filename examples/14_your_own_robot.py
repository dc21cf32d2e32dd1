"""Your own robot, in one file: a driver for an arm that speaks UDP, and a fake arm to try it on.

Run it in any task: start the arm with ``python examples/14_your_own_robot.py serve 5005``, then
``pliant run hand_guiding --robot examples/14_your_own_robot.py:127.0.0.1:5005``.
"""

import contextlib
import random
import socket
import struct
import subprocess
import sys
import time
from typing import Any

import numpy as np

import pliant
from pliant.testing import check_robot

# What the arm's maker defines: packets of 8-byte numbers.
COMMAND = struct.Struct("<8d")  # what to do, six values, seconds
STATE = struct.Struct("<20d")  # time [s], joints [rad], velocities [rad/s], force sensor [N, N m], why it stopped
HELLO, HOLD, POSITION, VELOCITY, STOP, PUSH = range(6)
RUNNING, STOPPED, SILENT = range(3)
WATCHDOG_S = 0.5  # without a command for this long, the arm brakes


class MyRobot(pliant.Robot):
    """The driver: the newest packet is a reading, and a command is a packet. Nothing here waits for the arm."""

    interfaces = ("position", "velocity")

    def __init__(self, which, task):
        self.name, self.arm = f"my_robot:{which}", pliant.Arm.load("ur5e", task.tool)
        host, _, port = which.rpartition(":")
        self.place = host, int(port)
        self.line: Any = None
        self.state: Any = None

    def open(self):
        """The arm answers a greeting with its state, and arms its watchdog with the first command."""
        self.line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.line.connect(self.place)
        self.line.setblocking(False)
        self.heard, deadline = 0.0, time.monotonic() + 5.0
        while self.state is None:
            if time.monotonic() > deadline:
                raise pliant.PliantError(f"No arm answers at {self.name}. Check its address and that it is on.")
            with contextlib.suppress(OSError):
                self.line.send(COMMAND.pack(HELLO, *[0.0] * 7))
            time.sleep(0.02)
            self.listen()
        self.fault = ""

    def listen(self):
        """Take the newest packet, if there is one; a closed port is a fault."""
        try:
            while True:
                self.state, self.heard = STATE.unpack(self.line.recv(STATE.size)), time.monotonic()
        except BlockingIOError:
            pass
        except OSError as error:
            self.fault = self.fault or f"the connection to {self.name} is lost ({error.strerror})"

    def read(self, reading):
        self.listen()
        r, s = reading[0], self.state
        r.stamp_s, r.q[:6], r.qd[:6], r.wrench[:] = s[0], s[1:7], s[7:13], s[13:19]
        r.wrench_stamp_s, r.wrench_state = s[0], self.WRENCH_OK
        if time.monotonic() - self.heard > 1.0:
            self.fault = self.fault or f"{self.name} has sent nothing for 1 s. Check cable and network"
        if s[19] == SILENT:
            self.fault = self.fault or f"{self.name} stopped: no command came for {WATCHDOG_S:g} s"

    def write(self, command):
        c = command[0]
        if c.mode == self.POSITION:
            self.send(POSITION, c.q)
        else:
            self.send(VELOCITY, c.qd) if c.mode == self.VELOCITY else self.send(HOLD, c.q)

    def send(self, what, values):
        try:
            self.line.send(COMMAND.pack(what, *values[:6], 0.0))
        except BlockingIOError:
            pass  # the next command is newer
        except OSError as error:
            self.fault = self.fault or f"the connection to {self.name} is lost ({error.strerror})"

    def stop(self):
        """A packet can be lost: say it until the arm confirms it. If it does not, its watchdog stops it."""
        deadline = time.monotonic() + 1.0
        while self.line is not None and time.monotonic() < deadline and self.state and self.state[19] != STOPPED:
            with contextlib.suppress(OSError):
                self.line.send(COMMAND.pack(STOP, *[0.0] * 7))
            time.sleep(0.01)
            self.listen()

    def close(self):
        if self.line is not None:
            self.line.close()
            self.line = None


class MyKind(pliant.RobotKind):
    """What Pliant has to know before it connects."""

    name = "my_robot"
    help = "a fake arm over UDP: my_robot:<host>:<port>"
    moves_hardware = False  # so nobody is asked whether the workspace is clear

    def model(self, which):
        if not which.rpartition(":")[2].isdigit():
            raise pliant.InputError("robot", which, "<host>:<port>")
        return "ur5e"

    def make(self, which, task):
        return MyRobot(which, task)


ROBOT = MyKind()


def serve(port):
    """The fake arm: joints follow commands with a lag; a push shows in the force sensor; silence brakes it."""
    arm, line = pliant.Arm.load("ur5e"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.bind(("127.0.0.1", port))
    line.settimeout(0.002)
    arm.sensor_pose(arm.q_home)  # compiled or loaded now, so that the arm answers at once
    print(line.getsockname()[1], flush=True)
    q, qd, goal, push = arm.q_home.copy(), np.zeros(6), np.zeros(6), np.zeros(6)
    what, why, client, pushed_until, heard = HOLD, RUNNING, None, 0.0, 0.0
    now = time.monotonic()
    while True:
        with contextlib.suppress(OSError):  # a timeout, or a client that has gone
            packet, sender = line.recvfrom(COMMAND.size)
            order, *values, seconds = COMMAND.unpack(packet)
            if order == PUSH:
                push[:], pushed_until = values, time.monotonic() + seconds
            elif order == HELLO:
                client, what, why = sender, HOLD, RUNNING
            elif sender == client and order == STOP:
                what, why = HOLD, STOPPED
            elif sender == client and why == RUNNING:
                what, goal[:], heard = order, values, time.monotonic()
        if what in (POSITION, VELOCITY) and time.monotonic() - heard > WATCHDOG_S:
            what, why = HOLD, SILENT
        before, now = now, time.monotonic()
        for _ in range(steps := max(1, round((now - before) / 0.001))):
            wanted = {POSITION: (goal - q) / 0.03, VELOCITY: goal}.get(what, np.zeros(6))
            qd += (wanted - qd) * min(1.0, 0.001 / 0.01)
            q += qd * (now - before) / steps
        if client is not None:
            w, x, y, z = arm.sensor_pose(q)[3:]
            turned = np.array([[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                               [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                               [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]])  # fmt: skip
            force = push[:3] if now < pushed_until else np.zeros(3)  # on the robot, in the base frame
            sensed = [*(turned.T @ force + [random.gauss(0.0, 0.02) for _ in "xyz"]), 0.0, 0.0, 0.0]
            with contextlib.suppress(OSError):
                line.sendto(STATE.pack(now, *q, *qd, *sensed, why), client)


if __name__ == "__main__" and sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))

if __name__ == "__main__":
    server: Any = subprocess.Popen([sys.executable, __file__, "serve", "0"], stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline())
    hand = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def push(wrench, for_s):
        """Push the fake arm, as a hand would."""
        hand.sendto(COMMAND.pack(PUSH, *wrench, for_s), ("127.0.0.1", port))

    try:
        late = {"sense": {"frozen_s": 0.5}}  # packets may be late: without a new one the wrench stays the same
        with pliant.connect(f"{__file__}:127.0.0.1:{port}", law="admittance", rate_hz=250, params=late) as arm:
            start = arm.pose
            push([20, 0, 0, 0, 0, 0], 5.0)
            moved = (arm.wait(4.0).observed.pose - start)[:3] * 1000
            print(f"Under 20 N the tool moved by {moved.round(1)} mm: 19 N (1 N of deadband) / 200 N/m are 95 mm.")
            push([0, 0, 0, 0, 0, 0], 0.0)
        report = check_robot(f"{__file__}:127.0.0.1:{port}", push=push, cut=server.kill, watchdog_s=WATCHDOG_S)
        print(report)
        sys.exit(not report.ok)
    finally:
        server.kill()
        server.wait()
