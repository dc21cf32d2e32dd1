"""Test cases for the doctor with Pliant's own laws: sound tasks without findings, and some with a defect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pliant.params.declare import changed
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task, load_task
from pliant.world.world_config import Failure, Push, Surface
from pliant_experiments.contact.doctor_cases import FORCE, MISSED, STIFFNESS, Defect
from pliant_experiments.scenes.contact_trial import GAP, QUICK, SLOW, Loop, dome, plane, task, top_of_home

ONCE = (2e4,)
SHIPPED = (
    *("dome", "plane", "hand_guiding", "demo", "push", "hold", "handover", "human_collaboration", "peg_in_hole"),
    *("precise_assembly", "conservative_start", "surface_following", "lab"),
)


@dataclass(frozen=True)
class Own:
    """A run of Pliant's own law."""

    task: Task

    def record(self, path: Path, seed: int) -> None:
        """Make the run and its recording."""
        sim = self.task.sim.model_copy(update={"seed": seed})
        simulate(self.task.model_copy(update={"sim": sim}), unchecked=True).save(path)


def _shipped(name: str) -> Callable[[float], Own]:
    def make(stiffness: float) -> Own:
        found = load_task(name)
        return Own(found.model_copy(update={"duration_s": min(found.duration_s, 16.0)}))

    return make


def _pushed(**changes: Any) -> Callable[[float], Own]:
    return lambda stiffness: Own(load_task("push").model_copy(update=changes))


def _contact(loop: Loop, **contact: Any) -> Callable[[float], Own]:
    return lambda stiffness: Own(task((dome(stiffness),), loop, 0, 16.0, **contact))


def _tilted(stiffness: float) -> Own:
    return Own(task((plane(2e4, 15.0),), SLOW, 0, 14.0))


def _moving(stiffness: float) -> Own:
    surface = plane(2e4, 0.0, swing_m=0.005, swing_hz=0.2, swing_at_s=3.0)
    return Own(task((surface,), SLOW, 0, 14.0, dwell_s=60.0))


def _shaken(stiffness: float) -> Own:
    """A hand that shakes the tool back and forth at 2.5 Hz: an oscillation, but not the robot's."""
    found = load_task("hand_guiding")
    pushes = tuple(
        Push(at_s=1.0 + 0.2 * i, for_s=0.2, ramp_s=0.1, wrench=(0.0, 10.0 * (-1) ** i, 0.0, 0.0, 0.0, 0.0))
        for i in range(24)
    )
    return Own(found.model_copy(update={"sim": found.sim.model_copy(update={"pushes": pushes})}))


def _short_lag(stiffness: float) -> Own:
    """The declared lag is a fifth of the true one."""
    whole = task((dome(stiffness),), SLOW, 0, 10.0)
    return Own(whole.model_copy(update={"params": changed(whole.params, {"contact.lag_s": 0.2 * SLOW.lag_s()})}))


def _ending(stiffness: float) -> Own:
    x, y, z = (float(v) for v in top_of_home())
    half = (0.05, 0.02, 0.03)
    box = Surface(kind="box", position_m=(x, y, z - GAP - half[2]), half_size_m=half, stiffness_n_m=stiffness)
    return Own(task((box,), QUICK, 0, 14.0))


def _failing(kind: Literal["frozen", "missing"]) -> Callable[[float], Own]:
    def make(stiffness: float) -> Own:
        whole = task((dome(stiffness),), SLOW, 0, 10.0)
        sensor = whole.sim.sensor.model_copy(update={"failures": (Failure(kind=kind, at_s=4.0, for_s=2.0),)})
        return Own(whole.model_copy(update={"sim": whole.sim.model_copy(update={"sensor": sensor})}))

    return make


def _nothing_there(stiffness: float) -> Own:
    """The surface is farther away than contact.seek_m. The filter is slower, so that noise does not look like a
    touch.
    """
    surface = plane(stiffness)
    x, y, z = surface.position_m
    return Own(task((surface.model_copy(update={"position_m": (x, y, z - 0.05)}),), SLOW, 0, 14.0, seek_m=0.01))


def _knocked(stiffness: float) -> Own:
    """The tool is struck while it presses: more than the force limit, for a fifth of a second."""
    whole = task((dome(stiffness),), SLOW, 0, 8.0)
    push = Push(at_s=4.0, for_s=0.2, ramp_s=0.05, wrench=(0.0, 15.0, 30.0, 0.0, 0.0, 0.0))
    return Own(whole.model_copy(update={"sim": whole.sim.model_copy(update={"pushes": (push,)})}))


def _pressed(stiffness: float) -> Own:
    """The surface is where the tool is: 6 N at the start."""
    surface = plane(stiffness)
    x, y, z = surface.position_m
    surface = surface.model_copy(update={"position_m": (x, y, z + GAP + 6.0 / stiffness)})
    return Own(task((surface,), SLOW, 0, 4.0))


def _stiff_admittance(stiffness: float) -> Own:
    """A soft spring presses the tool onto a stiff surface: without a force loop it bounces."""
    found = load_task("surface_following")
    surface = found.sim.surfaces[0].model_copy(update={"stiffness_n_m": stiffness, "damping_n_s_m": 10.0})
    sim = found.sim.model_copy(update={"surfaces": (surface,), "pushes": ()})
    params = changed(found.params, {"admittance.stiffness": [0, 0, 400, 0, 0, 0]})
    return Own(found.model_copy(update={"sim": sim, "params": params}))


SOUND = (
    *(Defect(f"task {name}", _shipped(name), stiffness=ONCE) for name in SHIPPED),
    Defect("task push, by velocity", _pushed(interface="velocity"), stiffness=ONCE),
    Defect("task push, by torque", _pushed(interface="torque"), stiffness=ONCE),
    Defect("task push, impedance by torque", _pushed(interface="torque", law="impedance"), stiffness=ONCE),
    Defect("dome, 25 ms", _contact(QUICK)),
    Defect("dome, 50 ms", _contact(SLOW)),
    Defect("dome, 50 ms, mass and damper", _contact(SLOW, law="mass")),
    Defect("dome, 25 ms, integral", _contact(QUICK, feed_forward="none"), stiffness=STIFFNESS[:2]),
    Defect("unknown tilt", _tilted, stiffness=ONCE),
    Defect("surface that moves by ±5 mm at 0.2 Hz", _moving, stiffness=ONCE),
    Defect("hand that shakes the tool", _shaken, stiffness=ONCE),
)

BROKEN = (
    Defect(
        "Pliant, a fifth of the lag declared", _short_lag, frozenset({"effective delay"}),
        frozenset({"limit cycle", "contact losses", "command at a limit", "force above its limit", "contact fault"})
        | FORCE,
        stiffness=STIFFNESS[1:],
    ),
    Defect("Pliant, surface that ends", _ending, frozenset({"contact losses"}), stiffness=STIFFNESS[1:]),
    Defect(
        "Pliant, sensor freezes", _failing("frozen"), frozenset({"frozen sensor", "contact fault", "fault"}),
        stiffness=ONCE,
    ),
    Defect(
        "Pliant, sensor sends nothing", _failing("missing"),
        frozenset({"failing sensor", "contact fault", "fault"}), stiffness=ONCE,
    ),
    Defect(
        "Pliant, no surface in range", _nothing_there, frozenset({"contact fault"}),
        stiffness=ONCE, says="contact.seek_m",
    ),
    Defect(
        "Pliant, tool struck", _knocked, frozenset({"contact fault", "force above its limit"}),
        frozenset({"contact losses"}) | FORCE, stiffness=ONCE, says="limit",
    ),
    Defect("Pliant, started with a preload", _pressed, frozenset({"preload at start"})),
    Defect(
        "plain admittance on a stiff surface", _stiff_admittance, frozenset({"limit cycle"}),
        frozenset({"command at a limit"}), stiffness=STIFFNESS[:2],
    ),
)  # fmt: skip

# Known misses: shown, but not counted. Docs: "Limits of validity" of the doctor.
OVERLOOKED = (
    *MISSED,
    Defect(
        "Pliant, around the edge of a soft box", _ending, frozenset({"contact losses"}),
        # the law stops where the normal turns too far, and goes in no faster than an approach where no force answers
        frozenset({"contact fault", "command at a limit", "friction out of range"}) | FORCE, stiffness=STIFFNESS[:1],
    ),
    Defect(
        "plain admittance on 1e5 N/m", _stiff_admittance, frozenset({"limit cycle"}),
        # it presses until the sensor fails, and that ends the run
        frozenset({"command at a limit", "failing sensor", "fault"}), stiffness=STIFFNESS[2:],
    ),
)  # fmt: skip
