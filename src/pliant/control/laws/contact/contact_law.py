"""One tick of the contact law: read the force, decide, and set the velocity of the compliant frame.

    twist = way along the surface - v_in n,   and the turn that brings the tool to face the surface

Limits, the damped inverse and the joint limits follow, as for every tool-space law.
"""

from __future__ import annotations

import math

from pliant.control.laws import law_commands
from pliant.control.laws.contact import (
    contact_states,
    force_law,
    lift_off,
    normal_force,
    path_motion,
    surface_estimate,
    surface_path,
    tool_motion,
)
from pliant.control.laws.contact.contact_record import contact_of
from pliant.control.laws.contact.contact_states import DWELL, FAULT, PAUSED, RETRACT, SEEK, SLIDE
from pliant.control.laws.contact.vectors import distance, dot, size
from pliant.kernel import fill, kernel, put
from pliant.records import Field, Layout
from pliant.spatial import quat_rotate

# Low-pass of the force on which decisions are made [s].
STEADY_S = 0.05
# A tool that moves slower than this share of what was asked for, for so long [s], is stuck.
STUCK_SHARE, STUCK_S = 0.1, 1.0
# Paused, the tool may be drawn away by this share of the leash.
PAUSED_SHARE = 0.5
# It may go in without an answer of the force as far as the softest surface gives under so many times the target.
SINK_TIMES = 4.0
# A heading closer to the tool's axis than this (sine of the angle) is none.
LEAST_HEADING = 0.05

SCRATCH = Layout(
    "ContactScratch",
    (
        Field("six", "", "vectors of the surface", (6,)),
        Field("tangent", "", "direction of the path", (3,)),
        Field("ahead", "", "normal where the robot will be when the command takes effect", (3,)),
        Field("axis", "", "the tool's axis", (3,)),
        Field("faces", "", "desired direction of the tool's axis", (3,)),
        Field("force", "N", "low-passed force beyond what counts as zero", (3,)),
        Field("soft", "N", "the same, smoothed further in contact", (3,)),
    ),
)


@kernel(separate=True)
def step(p, s, o, g, alpha, mass, w, dt):
    """Set `s.twist`, the requested velocity of the compliant frame.

    `alpha` is the weight of a new sample in the wrench's low-pass, `mass` [kg] the mass beyond the force sensor.
    """
    c = contact_of(s)
    w.axis[0], w.axis[1], w.axis[2] = 0.0, 0.0, 1.0
    quat_rotate(s.pose[3:7], w.axis, w.axis)
    done = dot(c.way, c.normal) - dot(s.twist, c.normal)
    speed = size(c.way)
    along = dot(s.twist, c.way) / speed if speed > 0.0 else 0.0
    c.stuck_s = c.stuck_s + dt if _is_blocked(c, done, along, speed) else 0.0
    c.since_s += dt
    _be_led_away(p, c, done, max(0.0, along), dt)
    _observe(p, c, s, o, alpha, w.force, dt)
    _feel(p, c, w.force, alpha, mass, w, max(0.0, along), dt)
    _mind_the_halt(c, g)
    _decide(p, c, s, g, w, dt)
    lifting = c.state == FAULT and c.lifted == 0 and c.lifts != lift_off.BACK
    if lifting and (c.reason == contact_states.BARRED or lift_off.is_barred(p, c, s)):
        lift_off.go_back(c, s.pose)
    v_in = _normal_speed(p, c, s, done, dt)
    path_motion.go_along(p, c, alpha, max(0.0, along), w, dt)
    for i in range(3):
        s.twist[i] = c.way[i] - v_in * c.normal[i]
    path_motion.face(p, c, w, s.twist)


@kernel
def fail(s):
    """The robot failed, not the sensor: the contact ends in a fault and holds, because the tool cannot lift off."""
    c = contact_of(s)
    if c.state != FAULT:
        contact_states.enter(c, contact_states.ROBOT, s.pose)


@kernel
def _is_blocked(c, done, along, speed):
    """Whether limits left next to nothing of the motion that was asked for, or a slide goes nowhere."""
    if c.state == SEEK:
        return done < STUCK_SHARE * c.asked
    if c.state == RETRACT:
        return done > STUCK_SHARE * c.asked
    return c.state == SLIDE and along <= STUCK_SHARE * speed


@kernel
def _observe(p, c, s, o, alpha, F, dt):
    """How the tool moves, and the force `F` that counts, beyond its zero."""
    if c.observing == 0:
        tool_motion.begin(c, s.pose, o.pose)
        normal_force.begin(p, c)
        c.observing = 1
    tool_motion.observe(p, c, s.pose, o.pose, alpha, dt)
    normal_force.hang(p, c, s.wrench_lp, alpha, dt)
    for i in range(3):
        F[i] = s.wrench_lp[i] - c.zero[i]


@kernel
def _feel(p, c, F, alpha, mass, w, sliding, dt):
    """Force along the normal, whether it is contact, and what it says of the surface."""
    change = alpha * (-dot(c.tool_v, c.normal) - c.soft_v[0])  # filtered like the force
    if not contact_states.is_pressing(c):
        c.soft_s = 0.0
    before, inertia = c.soft_v[2], mass * change / dt
    force_law.smooth(c, F, c.soft_v[0] + change, dt)
    put(w.soft, c.soft[3:6])
    rate = normal_force.measure(p, c, w.soft, sliding, dt)
    c.steady_n += dt / STEADY_S * (c.force_n - c.steady_n)
    for i in range(3):
        c.resting[i] += dt / max(dt, min(STEADY_S, c.since_s)) * (F[i] - c.resting[i])
    c.peak_n = max(c.peak_n, c.force_n)
    # stiffness and damping are learned from what is not smoothed: the touch would be over before
    c.seen[0] += dt * c.soft_v[0]
    c.seen[1], c.seen[2] = c.soft_v[0], c.force_n + dot(F, c.normal) - dot(w.soft, c.normal)
    # the inertia of the tool is no contact
    felt = dot(F, c.normal) - inertia
    c.touching = 1 if felt > (p.loss_n if c.touching != 0 else p.touch_n) else 0
    c.lost_s = 0.0 if c.touching != 0 else c.lost_s + dt
    c.pulled_s = c.pulled_s + dt if felt < -p.touch_n else 0.0
    if c.state == DWELL:
        c.settling_s += dt
    if contact_states.is_pressing(c):
        _sink(p, c, c.soft_v[2], rate, dt)
        normal_force.mind_the_total(p, c, dt)
        if c.touching != 0:
            if c.state == SLIDE and normal_force.sticks(c, normal_force.aside(w.soft, dot(w.soft, c.normal))):
                surface_estimate.look_again(c, inertia)  # friction that grows is no stiffness
            else:
                surface_estimate.learn(p, c, inertia, alpha, dt)
            surface_estimate.follow(p, c, rate, (c.soft_v[2] - before) / dt, dt)
            if c.state == SLIDE:
                surface_estimate.turn(p, c, w.soft, c.tool_v, w.six, dt)
        force_law.tune(p, c, mass, dt)
        force_law.raise_target(p, c, dt)
        held = abs(c.steady_n - p.target_n) <= p.band_n
        c.held_s = c.held_s + dt if held else 0.0


@kernel
def _sink(p, c, into, rate, dt):
    """Add up the way in that the force does not answer: even the softest surface would have, by k δ."""
    c.sunk_m = max(0.0, c.sunk_m + dt * (into - rate / p.stiffness_min_n_m))
    if c.steady_n > (1.0 - path_motion.SLOW_FROM) * c.target_n:  # the force is there: a surface that moves is followed
        c.sunk_m = 0.0


@kernel
def _be_led_away(p, c, done, along, dt):
    """Add up the way out of the surface, as far as it was not the path's: that forgets it, over a leash's length."""
    if contact_states.is_pressing(c) or (c.state == PAUSED and c.touching != 0):
        forgotten = max(0.0, 1.0 - along * dt / p.leash_m)
        c.out_m = max(-p.leash_m, forgotten * c.out_m - done * dt)


# ---- deciding ------------------------------------------------------------------------------------------------------


@kernel
def _decide(p, c, s, g, w, dt):
    """At most one event leads to another state in a tick: what protects first, then a command, then the rest."""
    event = _alarm(p, s)
    if event != contact_states.NOTHING and contact_states.enter(c, event, s.pose):
        c.rejected = event if g.commands != s.commands else contact_states.NOTHING
        s.commands = g.commands
        lift_off.mind_the_force(p, c, s)
        return
    event = _from_outside(c, g, g.law != s.law)
    if event != contact_states.NOTHING and g.commands == s.commands and contact_states.enter(c, event, s.pose):
        lift_off.mind_the_force(p, c, s)
        return
    if g.commands != s.commands and _obey(p, c, s, g, w.axis):
        lift_off.mind_the_force(p, c, s)
        return
    event = _noticed(p, c, s)
    if event == contact_states.LOST and c.following != 0:  # what never became firm was no contact: it goes on seeking
        c.losses += 1
        if c.losses > p.losses_most and c.state != PAUSED:
            event = contact_states.TOO_OFTEN
    if event == contact_states.NOTHING or not contact_states.enter(c, event, s.pose):
        return
    if event == contact_states.TOUCHED:
        force_law.begin(p, c)
        surface_estimate.forget(p, c)
        c.target_n = max(0.0, min(p.target_n, c.force_n))
        c.touches += 1
        c.sunk_m, c.out_m = 0.0, 0.0
    elif event == contact_states.DWELT:
        c.settling_s = 0.0
    lift_off.mind_the_force(p, c, s)


@kernel
def _obey(p, c, s, g, axis):
    """Follow the next command that was not heard yet, or refuse it; returns whether it led to another state."""
    left = law_commands.waiting(s, g)
    command = law_commands.earlier_command(g, left) if left > 0 else g.command
    if command == contact_states.PAUSE and c.state == RETRACT and c.touching != 0:
        return False  # it waits until contact is gone
    s.commands = g.commands - left
    pressed, well = size(c.resting) > p.preload_n, s.trouble == 0 and s.fault == 0
    event = contact_states.guarded(c, command, pressed, well, _has_heading(p, c), g.stop != 0)
    if contact_states.enter(c, event, s.pose):
        _begin(p, c, event, axis)
        return True
    c.rejected = contact_states.SENSELESS if event == command else event
    return False


@kernel
def _mind_the_halt(c, g):
    """A halt that was carried out does not keep the tool from lifting off, if that is ordered or needed later."""
    if g.stop == 0:
        c.halt = 0
    elif c.state not in (SEEK, DWELL, SLIDE, RETRACT):
        c.halt = 2
    elif c.halt == 0:
        c.halt = 1


@kernel
def _from_outside(c, g, leaving):
    """A halt pauses, and its end goes on; if another law is asked for, the tool lifts off first."""
    if g.stop != 0:
        lifting = c.state == RETRACT and c.halt == 1 and c.touching == 0  # nobody halts pressed without the force law
        return contact_states.HALT if lifting or c.state in (SEEK, DWELL, SLIDE) else contact_states.NOTHING
    if leaving and c.state in (SEEK, DWELL, SLIDE, PAUSED):
        return contact_states.LAW
    return contact_states.RESUME if c.state == PAUSED and c.reason == contact_states.HALT else contact_states.NOTHING


@kernel
def _has_heading(p, c):
    """Whether the heading says a direction across the approach, where there is a path at all."""
    if p.path == surface_path.NONE:
        return True
    length, into = size(p.heading), dot(p.heading, c.approach)
    return length * length - into * into > (LEAST_HEADING * length) ** 2


@kernel
def _alarm(p, s):
    """What is watched in every state."""
    if s.fault != 0:
        return contact_states.SENSOR
    if size(s.wrench) > p.force_limit_n:
        return contact_states.FORCE_LIMIT
    return contact_states.NOTHING


@kernel
def _begin(p, c, event, axis):
    """A start that is set or made forgets what was before; the approach is along the tool's axis."""
    if event not in (contact_states.SET_START, contact_states.START):
        return
    if event == contact_states.SET_START:
        fill(c.zero, 0.0)
        for i in range(3):
            c.approach[i], c.normal[i] = axis[i], -axis[i]
    elif p.tare != 0:  # at most contact.preload_n, or the start would have been rejected
        put(c.zero, c.free)
    c.asked, c.integral, c.curvature, c.friction = 0.0, 0.0, 0.0, 0.0
    c.travelled_m, c.peak_n, c.losses, c.touches, c.lifted = 0.0, 0.0, 0, 0, 0
    c.steady_n, c.touching, c.doubt = 0.0, 0, p.slope_deg * math.pi / 180.0
    c.out_m, c.settling_s, c.pulled_s = 0.0, 0.0, 0.0
    c.crawl_s, c.over_s, c.leaning_m, c.soft_s = 0.0, 0.0, 0.0, 0.0


@kernel
def _noticed(p, c, s):
    """What happens by itself in the present state."""
    if c.stuck_s > STUCK_S:
        return contact_states.STUCK
    if c.state == SEEK:
        return _met(p, c, s.pose)
    if c.state in (DWELL, SLIDE, PAUSED):
        event = _slipped(p, c)
        if event != contact_states.NOTHING:
            return event
    if c.state == DWELL:
        if c.held_s >= p.dwell_s:
            return contact_states.DWELT
        return contact_states.TIMEOUT if c.settling_s > p.settle_s + p.dwell_s else contact_states.NOTHING
    if c.state == SLIDE:
        event = _misled(p, c)
        if event != contact_states.NOTHING:
            return event
    if c.state == SLIDE and surface_path.length(p) - c.travelled_m < lift_off.NEAR:
        return contact_states.ENDED
    if c.state == RETRACT:
        if lift_off.is_barred(p, c, s):
            return contact_states.BARRED
        if c.lifted != 0:
            return contact_states.STILL if lift_off.feels_force(p, c) else contact_states.LIFTED
        return contact_states.STUCK if lift_off.is_late(p, c) else contact_states.NOTHING
    return contact_states.NOTHING


@kernel
def _misled(p, c):
    """What ends a slide that does not do what it should."""
    if lift_off.is_outside(p, c):
        return contact_states.TURNED
    if c.leaning_m > surface_estimate.LEANING_M:
        return contact_states.LEANING
    return contact_states.CRAWLING if c.crawl_s > p.settle_s else contact_states.NOTHING


@kernel
def _met(p, c, position):
    """What a search comes to."""
    if c.touching != 0:
        return contact_states.TOUCHED
    if c.losses == 0 and c.pulled_s > p.loss_s:
        return contact_states.REVERSED
    if c.losses > 0 and c.since_s > p.recover_s:
        return contact_states.GONE
    return contact_states.TOO_FAR if distance(position, c.anchor) > p.seek_m else contact_states.NOTHING


@kernel
def _slipped(p, c):
    """How contact is lost: the force goes, or the surface gives way, or someone draws the tool away from it."""
    if contact_states.is_pressing(c) and c.lost_s > p.loss_s:
        return contact_states.LOST
    if contact_states.is_pressing(c) and normal_force.is_over(c):
        return contact_states.OVERPRESSED
    if contact_states.is_pressing(c) and c.sunk_m > min(p.force_limit_n, SINK_TIMES * p.target_n) / p.stiffness_min_n_m:
        return contact_states.GAVE_WAY
    leash = p.leash_m * (PAUSED_SHARE if c.state == PAUSED else 1.0)
    return contact_states.PULLED if c.touching != 0 and c.out_m > leash else contact_states.NOTHING


# ---- moving --------------------------------------------------------------------------------------------------------


@kernel
def _normal_speed(p, c, s, done, dt):
    """The speed into the surface [m/s] that the present state asks for."""
    if contact_states.is_pressing(c):
        return force_law.press(p, c, done, dt)
    goal = 0.0
    # away from a surface at once; everything else gently, because the sensor feels the tool's inertia
    at_once = c.state == FAULT
    if c.state == SEEK:
        goal = force_law.approach_speed(p)
        if c.touches == 0:
            free = p.height_m - distance(s.pose, c.anchor)
            goal = max(goal, min(p.free_m_s, force_law.braked(free, p.acceleration_m_s2)))
    elif c.state in (RETRACT, FAULT) and c.lifted == 0:
        goal = lift_off.speed(p, c, s)
    elif c.state == PAUSED and c.touching != 0:  # met while it stops: no further, and back from more than the target
        goal, at_once = force_law.give_way(p, c), True
    most = p.acceleration_m_s2 * dt
    c.asked = goal if at_once else c.asked + max(-most, min(most, goal - c.asked))
    c.wanted, c.damper_n = c.asked, 0.0
    return c.asked
