"""Random runs of the compiled tick: random parameters, starts, goals, boxes and pushes, and their use of each limit.

The robot is ideal (it follows one tick later), because limits apply to the command. Every run starts at rest, inside
the stops and the box.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pliant.control.laws.registry import LAWS, prepare
from pliant.control.limits.compliant_frame import change_of, length_of
from pliant.control.limits.stopping_path import tool_speeds
from pliant.control.parameters import PARAMETERS, Admittance, Limits, Parameters, Sense, record_of
from pliant.control.tick import step
from pliant.control.tick_entries import new_work
from pliant.kernel import fill, kernel, put
from pliant.model.arm import Arm
from pliant.model.kinematics import forward
from pliant.records import (
    COMMAND,
    GOAL,
    LIMIT_TOOL_ACCELERATION,
    LIMIT_TOOL_SPEED,
    LIMITS,
    MAX_JOINTS,
    OBSERVED,
    READING,
    STATE,
    VELOCITY,
    Field,
    Layout,
)
from pliant.spatial import quat_mul, so3_exp
from pliant.world.random_numbers import uniform
from pliant_experiments.scenes.probe_tool import TOOL

DT = 0.002
SETS = 400
_THREADS = 2

# What is compared with its limit: ratios, 1 is the limit itself.
RATIOS = (
    "joint speed",
    "joint acceleration",
    "joint stop",
    "tool speed, requested",
    "turning speed, requested",
    "tool acceleration, requested",
    "turning acceleration, requested",
    "tool speed",
    "turning speed",
    "workspace",
    "velocity command",
    "tool acceleration",
    "turning acceleration",
    "tool acceleration while a joint is cut",
    "turning acceleration while a joint is cut",
)
# Limits of the tool alone: with these bits and no other, no joint is cut.
_TOOL_ALONE = LIMIT_TOOL_SPEED | LIMIT_TOOL_ACCELERATION
TALLY = Layout(
    "Tally",
    (
        Field("rng", "", "state of the generator", kind="i8"),
        Field("worst", "", "largest ratio to each limit (see RATIOS), limits as declared by default", (len(RATIOS),)),
        Field("worst_any", "", "the same, any admissible limits", (len(RATIOS),)),
        Field("now", "", "ratios of this tick", (len(RATIOS),)),
        Field("bend", "", "largest deviation from the requested direction while only the one factor acts"),
        Field("bend_ahead", "", "the same, while the arm also begins to brake for a speed limit ahead"),
        Field("ticks", "", "ticks run", kind="i8"),
        Field("runs", "", "runs", kind="i8"),
        Field("faults", "", "runs that ended in a fault", kind="i8"),
        Field("not_finite", "", "ticks with a command that is not finite", kind="i8"),
        Field("acted", "", "ticks in which each limit acted", (len(LIMITS),), "i8"),
        Field("unreported", "", "cuts without the requested and allowed values", (len(LIMITS),), "i8"),
        Field("qd", "rad/s", "command a tick ago", (MAX_JOINTS,)),
        Field("moved", "m/s, rad/s", "velocity of the tool a tick ago", (6,)),
        Field("limits", "", "limits that acted a tick ago", kind="i8"),
        Field("three", "", "a vector", (3,)),
        Field("quat", "", "a quaternion", (4,)),
    ),
)

HOLD, ADMITTANCE = LAWS["hold"].number, LAWS["admittance"].number


@kernel
def _between(t, low, high):
    return low + (high - low) * uniform(t)


@kernel
def _place(h, p, r, g, t):
    """Start anywhere, one joint in ten close to a stop; the goal is around, and so is the box, or it is far away."""
    for i in range(h.n):
        low, high = h.q_min[i] + p.limits.position_margin, h.q_max[i] - p.limits.position_margin
        r.q[i] = _between(t, max(low, -math.pi), min(high, math.pi))
        if uniform(t) < 0.1:
            r.q[i] = high - 0.2 * uniform(t) ** 2
        elif uniform(t) < 0.1:
            r.q[i] = 0.02 * (uniform(t) - 0.5)  # elbow straight, wrist aligned
        r.qd[i] = 0.0
        g.q[i] = min(high, max(low, r.q[i] + _between(t, -1.0, 1.0)))
    forward(h, r.q)
    g.law = ADMITTANCE if uniform(t) < 0.8 else HOLD
    g.stop = 0
    put(g.pose, h.X_tool)
    moving = 0.3 if uniform(t) < 0.3 else 0.0
    for i in range(3):
        g.pose[i] += _between(t, -0.2, 0.2)
        g.twist[i], g.twist[3 + i] = _between(t, -moving, moving), _between(t, -moving, moving)
        t.three[i] = _between(t, -0.2, 0.2)
        far = uniform(t) < 0.5
        p.limits.workspace_max_m[i] = 10.0 if far else h.X_tool[i] + 0.002 + 0.05 * uniform(t) ** 2
        p.limits.workspace_min_m[i] = -10.0 if far else h.X_tool[i] - 0.002 - 0.05 * uniform(t) ** 2
    so3_exp(t.three, t.quat)
    quat_mul(t.quat, h.X_tool[3:7], g.pose[3:7])


@kernel
def _disturb(h, p, r, g, t, first):
    """Another push; and, not at the start, perhaps a stop or the other law."""
    force, moment = 200.0 * uniform(t) ** 2, 20.0 * uniform(t) ** 2
    for i in range(3):
        r.wrench[i], r.wrench[3 + i] = _between(t, -force, force), _between(t, -moment, moment)
    if not first and uniform(t) < 0.2:
        g.stop = 1
    elif not first and uniform(t) < 0.2:
        g.law = HOLD if g.law == ADMITTANCE else ADMITTANCE


@kernel
def _measure(h, p, s, c, o, w, t, mode, compliant, going, dt):
    """The ratios of this tick."""
    x, m = t.now, p.limits
    fill(x, 0.0)
    for i in range(h.n):
        x[0] = max(x[0], abs(s.qd_cmd[i]) / (m.speed_scale * h.v_max[i]))
        x[1] = max(x[1], abs(s.qd_cmd[i] - t.qd[i]) / (m.acceleration_scale * h.a_max[i] * dt))
        middle, half = 0.5 * (h.q_max[i] + h.q_min[i]), 0.5 * (h.q_max[i] - h.q_min[i]) - m.position_margin
        x[2] = max(x[2], abs(s.q_cmd[i] - middle) / half)
        if mode == VELOCITY:
            x[10] = max(x[10], abs(c.qd[i]) / (m.speed_scale * h.v_max[i]))
    if compliant:
        # a mass that is too fast already may brake down to its limit
        x[3] = length_of(w.asked, 0) / max(m.linear_speed_m_s, length_of(w.before, 0))
        x[4] = length_of(w.asked, 3) / max(m.angular_speed_rad_s, length_of(w.before, 3))
        x[5] = change_of(w.asked, w.before, 0) / (m.linear_acceleration_m_s2 * dt)
        x[6] = change_of(w.asked, w.before, 3) / (m.angular_acceleration_rad_s2 * dt)
    if compliant and going:
        k = 11 if (o.limits | t.limits) & ~_TOOL_ALONE == 0 else 13
        x[k] = change_of(s.moved, t.moved, 0) / (m.linear_acceleration_m_s2 * dt)
        x[k + 1] = change_of(s.moved, t.moved, 3) / (m.angular_acceleration_rad_s2 * dt)
    linear, angular = tool_speeds(h, s.qd_cmd)
    x[7] = linear / m.linear_speed_m_s
    x[8] = angular / m.angular_speed_rad_s
    forward(h, s.q_cmd)
    for i in range(3):
        middle = 0.5 * (m.workspace_max_m[i] + m.workspace_min_m[i])
        x[9] = max(x[9], abs(h.X_tool[i] - middle) / (m.workspace_max_m[i] - middle))


@kernel
def _bend(asked, got, scale, t):
    """Keep the part of `got` across `asked`, relative: where only the factor `scale` acted, and where not."""
    along, size, across, total = 0.0, 0.0, 0.0, 0.0
    for i in range(6):
        along += asked[i] * got[i]
        size += asked[i] * asked[i]
        total += got[i] * got[i]
    for i in range(6):
        across += (got[i] - along / size * asked[i]) ** 2
    bend = math.sqrt(across / total)
    if abs(math.sqrt(total) - scale * math.sqrt(size)) > 1e-6 * math.sqrt(size):
        t.bend_ahead = max(t.bend_ahead, bend)
    else:
        t.bend = max(t.bend, bend)


@kernel
def _judge(s, o, w, t, default, compliant):
    """Keep the worst ratios and count what happened."""
    t.ticks += 1
    for k in range(len(t.now)):
        if not math.isfinite(t.now[k]):
            t.not_finite += 1
            t.now[k] = 1e300
        t.worst_any[k] = max(t.worst_any[k], t.now[k])
        if default:
            t.worst[k] = max(t.worst[k], t.now[k])
    for k in range(len(o.asked)):
        if o.limits & (1 << k):
            t.acted[k] += 1
            if not o.asked[k] > o.allowed[k]:
                t.unreported[k] += 1
    scaled = o.limits & (1 | 1 << 5)
    if compliant and scaled != 0 and scaled == o.limits:
        _bend(w.asked, s.twist, o.scale, t)


@kernel
def random_runs(handle, sets, blank, state, reading, goal, command, observed, work, tally, dt, ticks, runs):
    """`runs` runs of `ticks` ticks each."""
    h, s, r, g = handle[0], state[0], reading[0], goal[0]
    c, o, w, t = command[0], observed[0], work[0], tally[0]
    for number in range(runs):
        p = sets[number % len(sets)]
        mode = 1 + number % 2  # position, velocity
        state[0] = blank[0]
        fill(t.qd, 0.0)
        _place(h, p, r, g, t)
        switch, compliant = int(ticks * uniform(t)), False
        for k in range(ticks):
            if k == 0 or k == switch:
                _disturb(h, p, r, g, t, k == 0)
            r.stamp_s = r.wrench_stamp_s = k * dt
            step(h, p, s, r, g, c, o, w, mode, dt)
            going, compliant = compliant, g.law == ADMITTANCE and g.stop == 0 and s.fault == 0
            _measure(h, p, s, c, o, w, t, mode, compliant, going, dt)
            t.moved[:], t.limits = s.moved, o.limits
            _judge(s, o, w, t, number % len(sets) < len(sets) // 4, compliant)
            for i in range(h.n):
                t.qd[i] = r.qd[i] = s.qd_cmd[i]
                r.q[i] = s.q_cmd[i] + _between(t, -0.02, 0.02)
        t.runs += 1
        t.faults += s.fault != 0


def _spread(random: np.random.Generator, low: float, high: float, n: int = 1) -> Any:
    """Numbers whose logarithm is evenly spread."""
    values = tuple(float(v) for v in np.exp(random.uniform(np.log(low), np.log(high), n)))
    return values if n > 1 else values[0]


def _random_set(random: np.random.Generator, default_limits: bool) -> Parameters:
    stiffness = np.array(_spread(random, 1.0, 5000.0, 6)) * (random.random(6) < 0.6)
    mass = np.array(_spread(random, 0.2, 50.0, 6))
    turn = np.linalg.qr(random.normal(size=(6, 6)))[0]
    full = random.random() < 0.3  # a full matrix
    limits = Limits(
        speed_scale=_spread(random, 0.02, 1.0),
        acceleration_scale=_spread(random, 0.02, 1.0),
        linear_speed_m_s=_spread(random, 0.02, 3.0),
        angular_speed_rad_s=_spread(random, 0.05, 10.0),
        linear_acceleration_m_s2=_spread(random, 0.5, 50.0),
        angular_acceleration_rad_s2=_spread(random, 1.0, 200.0),
        position_margin=float(random.uniform(0.0, 0.1)),
        pose_error_rad=float(random.uniform(0.2, 3.0)),
    )
    M = turn @ np.diag(mass) @ turn.T if full else np.diag(mass)
    K = turn @ np.diag(stiffness) @ turn.T if full else np.diag(stiffness * (1, 1, 1, 0.05, 0.05, 0.05))
    return Parameters(
        sense=Sense(frozen_s=0.0, deadband_n=float(random.uniform(0, 5)), cutoff_hz=_spread(random, 1.0, 200.0)),
        admittance=Admittance.model_validate(
            {
                "mass": _rows(M),
                "stiffness": _rows(K),
                "damping_ratio": _spread(random, 0.05, 3.0, 6),
                "frame": str(random.choice(["base", "tool"])),
            }
        ),
        limits=Limits() if default_limits else limits,
    )


def _rows(matrix: Any) -> list[list[float]]:
    return (0.5 * (matrix + matrix.T)).tolist()


def _one_batch(seed: int, runs: int, ticks: int) -> np.ndarray[Any, Any]:
    """The tally of one batch; everything in it follows from `seed`."""
    random = np.random.default_rng(seed)
    sets = PARAMETERS.new(SETS)
    for i in range(SETS):
        record = record_of(_random_set(random, i < SETS // 4))
        prepare(record, None, 1.0, 0, DT)
        sets[i] = record[0]
    tally = TALLY.new()
    tally[0].rng = seed
    records = (layout.new() for layout in (STATE, STATE, READING, GOAL, COMMAND, OBSERVED))
    arm = Arm.load("ur5e", TOOL)  # its handle points into it
    random_runs(arm.handle, sets, *records, new_work(), tally, DT, ticks, runs)
    return tally


def collect(seed: int, batches: int, runs: int, ticks: int, progress: Any) -> np.ndarray[Any, Any]:
    """Batches of runs in two threads; returns their tallies."""
    done = []
    with ThreadPoolExecutor(_THREADS) as pool:
        for tally in pool.map(lambda k: _one_batch(1000 * seed + k, runs, ticks), range(batches)):
            done.append(tally)
            progress(len(done) / batches)
    return np.concatenate(done)
