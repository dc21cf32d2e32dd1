"""Your own force sensor, in one file: a box that sends its clock and six numbers as text over UDP.

Use it in any task: ``sensor: {kind: examples/15_your_own_sensor.py, port: 50123}``.
"""

import math
import random
import socket
import threading
import time

import pliant


class Params(pliant.Section):
    """Where the readings arrive."""

    port: int = pliant.param(50123, ge=1024, le=65535, help="UDP port of this computer that the box sends to.")


class TextSensor(pliant.ForceSensor):
    """Reads packets such as ``12.250 0.1 0.0 -5.2 0.0 0.0 0.0``: time [s], force [N], moment [N m]."""

    def open(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", self.params.port))
        self.socket.settimeout(0.1)

    def read(self):
        try:
            stamp_s, *wrench = map(float, self.socket.recv(200).split())
        except TimeoutError:
            self.note = "nothing arrives; check that the box is on"
            return None
        return pliant.WrenchSample(wrench, stamp_s)

    def close(self):
        self.socket.close()


SENSOR = pliant.own_sensor("text_sensor", Params, TextSensor)


def play_box(push_n, ended):
    """Plays the part of the box: a noisy reading every 2 ms, with a clock of its own."""
    sender, start = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic() - 1000.0
    while not ended.wait(0.002):
        values = (time.monotonic() - start, push_n[0] + random.gauss(0, 0.05), 0, random.gauss(0, 0.05), 0, 0, 0)
        sender.sendto(" ".join(map(str, values)).encode(), ("127.0.0.1", 50123))


if __name__ == "__main__":
    push_n, ended = [0.0], threading.Event()
    threading.Thread(target=play_box, args=(push_n, ended), daemon=True).start()
    patient = {"stale_s": 1.0, "hold_s": 0.5}  # this computer may be busy; on a robot, keep the defaults
    with pliant.connect("sim:ur5e", "admittance", sensor={"kind": __file__}, params={"sense": patient}) as arm:
        start, push_n[0] = arm.wait(0.5).observed.pose[:3].copy(), 20.0
        moved = math.dist(arm.wait(2.0).observed.pose[:3], start)
    ended.set()
    print(f"The box reads 20 N, and the simulated arm moves by {1e3 * moved:.0f} mm.")
