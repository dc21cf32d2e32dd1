"""The UR driver on the emulated controller: latency, a contact, the watchdog, and every fault, in real time.

It tests the protocol and the error handling, and that a task behaves as on `sim:ur5e`. It does not test the dynamics of
a real robot.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant.robots.ur.connecting import check_extra
from pliant.robots.ur.driver import WATCHDOG_S
from pliant_experiments.robots.ur_faults import FAULTS, REFUSALS, fault_figures, refusal_figures
from pliant_experiments.robots.ur_runs import (
    FORCE_N,
    HOLD_S,
    STALE_S,
    Latency,
    Stop,
    emulated_contact,
    emulated_latency,
    killed,
    patient,
    simulated_latency,
    yielded,
)
from pliant_experiments.scenes.contact_trial import Figures, Trace, judge, run_contact

Array = np.ndarray[Any, Any]

# Each round is one run of sixteen pushes.
ROUNDS = 3
# Periods of the emulator, and what a controller may need beyond the watchdog's time to notice [s].
_SLACK_S = 0.02
# 5 % of the force that is held on the dome [N].
_RMS_N = 0.25
INTERFACES = ("position", "velocity", "torque")
MOST_FAULTS = len(FAULTS)


def _latency_figures(line: Latency, beside: Latency) -> list[Figure]:
    return [
        reported("hand guiding, emulator: force to motion, median", line.p50_ms, "ms"),
        reported("hand guiding, emulator: force to motion, 99 %", line.p99_ms, "ms"),
        reported("hand guiding, sim:ur5e: force to motion, median", beside.p50_ms, "ms"),
        reported("hand guiding, sim:ur5e: force to motion, 99 %", beside.p99_ms, "ms"),
        at_most("hand guiding: added by the connection, median", line.p50_ms - beside.p50_ms, "ms", 6.0),
        within("hand guiding: pushes that moved the arm", len(line.times_ms), "pushes", len(beside.times_ms), 0),
        reported("hand guiding, emulator: missed periods", line.missed, "periods"),
    ]


def _contact_figures(line: Figures, beside: Figures) -> list[Figure]:
    return [
        at_most("dome, emulator: peak", line.peak_n, "N", 10.0),
        reported("dome, sim:ur5e: peak", beside.peak_n, "N"),
        at_most("dome, emulator: contact losses", line.losses, "losses", 0.0),
        reported("dome, sim:ur5e: contact losses", beside.losses, "losses"),
        at_most("dome, emulator: settling time to ±5 %", line.settle_s, "s", 2.0),
        reported("dome, sim:ur5e: settling time to ±5 %", beside.settle_s, "s"),
        at_most("dome, emulator: RMS error while sliding", line.slide_rms_n, "N", _RMS_N),
        reported("dome, sim:ur5e: RMS error while sliding", beside.slide_rms_n, "N"),
        within("dome, emulator: slide distance", 1e3 * line.way_m, "mm", 1e3 * beside.way_m, 0.2),
        within("dome, emulator: ends as done (1 is yes)", float(line.ended), "done", float(beside.ended), 0.0),
    ]


def _torque_figures() -> list[Figure]:
    (far, back), (same, there) = yielded(emulated=True), yielded(emulated=False)
    name = "impedance by direct torque"
    return [
        within(f"{name}, emulator: deflection under {FORCE_N:g} N", far, "mm", same, 0.05 * same),
        reported(f"{name}, sim:ur5e: deflection", same, "mm"),
        reported(f"{name}, emulator: final distance from the start", back, "mm"),
        reported(f"{name}, sim:ur5e: final distance from the start", there, "mm"),
    ]


def _stop_figures(interface: str, stop: Stop) -> list[Figure]:
    name = f"kill -9 of the loop, {interface}"
    return [
        reported(f"{name}: largest joint speed before", stop.speed_rad_s, "rad/s"),
        at_most(f"{name}: program stopped by the watchdog", 1e3 * stop.stopped_s, "ms", 1e3 * (WATCHDOG_S + _SLACK_S)),
        reported(f"{name}: arm stopped", 1e3 * stop.stands_s, "ms"),
        within(f"{name}: stopped by the watchdog (1 is yes)", float(stop.by_watchdog), "", 1.0, 0.0),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """All parts, one after the other; times and forces depend on the load of the machine."""
    check_extra()
    began = time.perf_counter()
    line, beside = emulated_latency(seed, ROUNDS), simulated_latency(seed, ROUNDS)
    figures = _latency_figures(line, beside)
    progress(0.3)
    dome = patient("dome")
    dome = dome.model_copy(update={"sim": dome.sim.model_copy(update={"seed": seed})})
    contact, same = emulated_contact(dome), run_contact(dome)
    figures += _contact_figures(judge(contact), judge(same))
    if "torque" in INTERFACES:
        figures += _torque_figures()
    progress(0.5)
    stops = {interface: killed(interface) for interface in INTERFACES}
    for interface, stop in stops.items():
        figures += _stop_figures(interface, stop)
    progress(0.6)
    figures += fault_figures(FAULTS[:MOST_FAULTS], lambda share: progress(0.6 + 0.3 * share))
    figures += refusal_figures(REFUSALS[:MOST_FAULTS])
    progress(1.0)
    notes = [
        "The emulator is Pliant's simulated arm behind the controller's ports. It tests the protocol and the error"
        " handling, not the dynamics of a real robot. Forces on the dome are true forces of the simulator.",
        f"Packets may be {STALE_S + HOLD_S:g} s late before a fault, because both ends share one machine.",
    ]
    return Outcome(
        "ur-emulator", seed, time.perf_counter() - began, figures, notes,
        draw=lambda path: _draw(line, beside, contact, same, stops, path),
    )  # fmt: skip


def _bins(times: list[Array]) -> Array:
    """Periods of 2 ms, each with its moment in the middle."""
    every = np.concatenate(times)
    return np.arange(every.min() - 1.0, every.max() + 2.0, 2.0)


def _draw(line: Latency, beside: Latency, contact: Trace, same: Trace, stops: dict[str, Stop], path: Path) -> None:
    with style.applied() as theme:
        subtitle = "the same tasks through the emulated controller and on sim:ur5e"
        fig, axes = style.figure(
            3, 1, "UR5e on an emulated controller", subtitle, panel_inches=(7.0, 2.1), share_x=False
        )
        push, dome, stop = axes[:, 0]
        times = [line.times_ms, beside.times_ms]
        push.hist(times, bins=_bins(times), color=theme.lines[:2], label=["emulator", "sim:ur5e"])
        push.legend()
        style.label(push, "Hand guiding: time from a force of 10 N to 0.2 mm of motion", "pushes", "count")
        push.set_xlabel("ms")
        dome.plot(contact.time_s, contact.normal_n, color=theme.lines[0], label="emulator")
        dome.plot(same.time_s, same.normal_n, color=theme.lines[1], lw=0.8, label="sim:ur5e")
        dome.legend()
        style.label(dome, "Dome: true force along the normal", "N", "force")
        dome.set_xlabel("s")
        for i, (interface, one) in enumerate(stops.items()):
            stop.plot(1e3 * one.since_s, one.speed, color=theme.lines[i], label=f"by {interface}")
        stop.axvline(1e3 * WATCHDOG_S, color=theme.alarm, lw=0.8)
        stop.legend()
        style.label(stop, "kill -9 of the loop at 0; line: watchdog time", "rad/s", "fastest joint")
        stop.set_xlabel("ms")
    style.save(fig, path)
