"""Test cases for the doctor: the saturated PI loop with each of its defects alone, and with all of them.

The sound loop has a gain that fits stiffness and lag. A defect changes one thing. `must` names what the doctor has to
find, `may` what can follow from it. Anything else is a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.world.world_config import Failure, Sensor, Surface
from pliant_experiments.rivals.rival_contact import RIVALS, Rival, Scene, run_rival
from pliant_experiments.rivals.rival_record import save_rival
from pliant_experiments.scenes.contact_trial import GAP, QUICK, SLOW, Loop, Trace, plane, top_of_home

STIFFNESS = (5e3, 2e4, 1e5)
# Gain × stiffness × lag of the sound loop; twenty times as much is unstable.
NUMBER, TOO_MUCH = 0.3, 20.0
GAP_M, PRELOAD_N = 0.001, 12.0


@dataclass(frozen=True)
class Setup:
    """A run: law, surface, real robot, assumed robot, and further defects."""

    rival: Rival
    surface: Surface
    loop: Loop
    declared: Loop
    scene: Scene

    def record(self, path: Path, seed: int) -> Trace:
        """Make the run and its recording; returns the true signals."""
        trace = run_rival(self.rival, self.surface, self.loop, seed, self.scene)[0]
        save_rival(path, self.rival, self.declared, seed, trace)
        return trace


@dataclass(frozen=True)
class Truth:
    """A figure of the doctor and its true value `value(setup, trace)`, to be met within `tolerance`."""

    finding: str
    figure: str
    unit: str
    tolerance: float
    value: Callable[[Setup, Trace], float]


@dataclass(frozen=True)
class Defect:
    """One defect (or none): its setup for a stiffness, and what must and may be found."""

    name: str
    make: Callable[[float], Any]
    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    truths: tuple[Truth, ...] = ()
    says: str = ""
    """Text that the cause of every required finding must contain."""
    stiffness: tuple[float, ...] = STIFFNESS


def _above(stiffness: float, gap: float) -> Surface:
    """A plane `gap` below the tip."""
    surface = plane(stiffness)
    x, y, z = surface.position_m
    return surface.model_copy(update={"position_m": (x, y, z + GAP - gap)})


def sound(stiffness: float) -> Setup:
    """The PI loop as it should be: damping against the motion, a suitable gain, a limit that does not act."""
    kp = NUMBER / (stiffness * QUICK.lag_s())
    values = {**RIVALS["sign"].values, "kp": kp, "ki": 5.0 * kp, "most": 0.02}
    scene = Scene(seconds=14.0, wait_s=0.3)
    return Setup(Rival("the PI loop, gain by stiffness and lag", values), _above(stiffness, GAP_M), QUICK, QUICK, scene)


def _changed(setup: Setup, *, scene: dict[str, Any] | None = None, **values: float) -> Setup:
    rival = Rival(setup.rival.name, {**setup.rival.values, **values})
    return replace(setup, rival=rival, scene=replace(setup.scene, **(scene or {})))


def _wrong_sign(stiffness: float) -> Setup:
    return _changed(sound(stiffness), sign=-1.0)


def _saturated(stiffness: float) -> Setup:
    """A speed limit of a fifth of the speed that the law requests in free space."""
    setup = sound(stiffness)
    return _changed(setup, most=setup.rival.values["kp"])


def _bare(setup: Setup) -> Setup:
    """On a surface with little damping."""
    return replace(setup, surface=setup.surface.model_copy(update={"damping_n_s_m": 10.0}))


def _too_much_gain(stiffness: float) -> Setup:
    """On a surface with little damping, with a lag of 50 ms: damping would allow more gain."""
    setup = replace(_bare(sound(stiffness)), loop=SLOW, declared=SLOW)
    return _changed(setup, kp=TOO_MUCH * setup.rival.values["kp"] * QUICK.lag_s() / SLOW.lag_s())


def _preloaded(stiffness: float) -> Setup:
    return replace(sound(stiffness), surface=_above(stiffness, -PRELOAD_N / stiffness))


def _frozen(stiffness: float) -> Setup:
    sensor = Sensor(failures=(Failure(kind="frozen", at_s=5.0, for_s=0.8),))
    return _changed(sound(stiffness), scene={"sensor": sensor})


def _late(stiffness: float) -> Setup:
    return _changed(sound(stiffness), scene={"late_s": 0.03})


def _secretly_late(stiffness: float) -> Setup:
    return _changed(sound(stiffness), scene={"late_s": 0.05, "honest": False})


def _a_little_late(stiffness: float) -> Setup:
    return _changed(sound(stiffness), scene={"late_s": 0.03, "honest": False})


def _slow_robot(stiffness: float) -> Setup:
    setup = sound(stiffness)
    servo = setup.loop.servo.model_copy(update={"delay_s": setup.loop.servo.delay_s + 0.03})
    return replace(setup, loop=replace(setup.loop, servo=servo))


def _ending(stiffness: float) -> Setup:
    """A box that ends 15 mm after the touch."""
    x, y, z = (float(v) for v in top_of_home())
    half = (0.05, 0.015, 0.03)
    box = Surface(kind="box", position_m=(x, y, z - GAP_M - half[2]), half_size_m=half, stiffness_n_m=stiffness)
    return replace(sound(stiffness), surface=box)


def _standing(stiffness: float) -> Setup:
    return _changed(sound(stiffness), scene={"halt_s": 5.5})


def _too_much_integral(stiffness: float) -> Setup:
    """An integral over less than the lag, at any error."""
    setup = _bare(sound(stiffness))
    return _changed(setup, ki=100.0 * setup.rival.values["kp"], band=100.0)


def _published(stiffness: float) -> Setup:
    """The loop with its published gains on a stiff surface and with a lag of 50 ms."""
    stiff = 10 * stiffness
    return Setup(RIVALS["saturated"], _above(stiff, GAP_M), SLOW, SLOW, Scene(seconds=8.0, wait_s=0.3))


def _everything(stiffness: float) -> Setup:
    setup = _published(stiffness)
    sensor = Sensor(failures=(Failure(kind="frozen", at_s=4.0, for_s=0.3),))
    scene = replace(setup.scene, sensor=sensor, late_s=0.02, halt_s=5.5)
    stiff = 10 * stiffness
    return replace(setup, surface=_above(stiff, -5 * PRELOAD_N / stiff), scene=scene)


def _frequency(trace: Trace) -> float:
    """Frequency of the highest peak in the spectrum of the true force over the last four seconds [Hz]."""
    dt = float(trace.time_s[1] - trace.time_s[0])
    force = trace.normal_n[-round(4.0 / dt) :]
    power = np.abs(np.fft.rfft((force - force.mean()) * np.hanning(len(force)), 8 * len(force)))
    return float(np.fft.rfftfreq(8 * len(force), dt)[int(np.argmax(power))])


def _at_start(setup: Setup, trace: Trace) -> float:
    return float(trace.normal_n[int(np.searchsorted(trace.time_s, setup.scene.wait_s)) - 1])


def _after_halt(setup: Setup, trace: Trace) -> float:
    return float(trace.time_s[-1]) - setup.scene.halt_s


def _without_contact(setup: Setup, trace: Trace) -> float:
    touched = np.cumsum(trace.normal_n > 0) > 0
    return float(np.count_nonzero(touched & (trace.normal_n == 0)) * (trace.time_s[1] - trace.time_s[0]))


_CYCLE = Truth("limit cycle", "frequency", "Hz", 0.3, lambda setup, trace: _frequency(trace))
_LOOP = Truth("effective delay", "total lag", "ms", 2.0, lambda setup, _: 1e3 * setup.loop.lag_s())
_BOUNCES = frozenset({"limit cycle", "contact losses", "command at a limit", "negative damping"})
# What a force that swings, or a tool that is pressed too hard or not at all, does to the force beside its target.
FORCE = frozenset({"total force above target", "force off target"})
_RESTLESS = frozenset({"command at a limit", "contact losses", "force above its limit"}) | FORCE
_LATE = frozenset({"effective delay"})

DEFECTS = (
    Defect("nothing", sound, truths=(_LOOP,)),
    Defect(
        "damping with the wrong sign", _wrong_sign, frozenset({"negative damping"}),
        truths=(Truth("negative damping", "share added", "%", 1.0, lambda setup, trace: 100.0),), says="wrong sign",
    ),
    Defect("speed limit too low", _saturated, frozenset({"command at a limit"}), says="speed limit"),
    Defect(
        "gain too high", _too_much_gain, frozenset({"limit cycle"}), _RESTLESS, (_CYCLE,),
        "a pure delay becomes unstable",
    ),
    Defect(
        "integral too strong", _too_much_integral, frozenset({"limit cycle"}), _RESTLESS, (_CYCLE,),
        "The integral oscillates",
    ),
    Defect(
        "preload at the start", _preloaded, frozenset({"preload at start"}), FORCE,
        truths=(Truth("preload at start", "force before the start", "N", 0.5, _at_start),),
    ),
    Defect(
        "frozen sensor reading", _frozen, frozenset({"frozen sensor"}), frozenset({"contact losses"}),
        (Truth("frozen sensor", "time frozen", "s", 0.01, lambda setup, trace: 0.8),),
    ),
    Defect(
        "late sensor reading", _late, frozenset({"late sensor"}), _LATE,
        (Truth("late sensor", "median age by time stamp", "ms", 1.0, lambda setup, _: 1e3 * setup.scene.late_s),),
        "by their time stamps",
    ),
    Defect(
        "late sensor reading, wrong stamps", _secretly_late, frozenset({"late sensor"}), _LATE,
        # the damping of a surface makes its force lead by damping over stiffness
        (Truth("late sensor", "force lag behind motion", "ms", 6.0, lambda setup, trace: 1e3 * (
            setup.scene.late_s - setup.surface.damping_n_s_m / setup.surface.stiffness_n_m)),),
        "older than their stamps",
    ),
    Defect("robot slower than declared", _slow_robot, _LATE, truths=(_LOOP,)),
    Defect(
        "surface that ends", _ending, frozenset({"contact losses"}), FORCE,
        truths=(Truth("contact losses", "time without contact", "s", 0.1, _without_contact),), says="ended",
    ),
    Defect(
        "robot that stops", _standing, frozenset({"command not followed"}),
        truths=(Truth("command not followed", "time", "s", 0.2, _after_halt),),
    ),
    Defect("published gains", _published, _BOUNCES, frozenset({"force above its limit"}) | FORCE, (_CYCLE,)),
    Defect(
        "all defects together", _everything,
        _BOUNCES | {"preload at start", "frozen sensor", "late sensor", "command not followed"}
        | {"force above its limit"},
        frozenset({"effective delay", "failing sensor"}) | FORCE,
    ),
)  # fmt: skip

# Known misses: a delay that does not show while a loop settles smoothly.
MISSED = (
    Defect(
        "sensor 30 ms late, wrong stamps", _a_little_late, frozenset({"late sensor"}), _LATE,
        says="older than their stamps",
    ),
)  # fmt: skip
