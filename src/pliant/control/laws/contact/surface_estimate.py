"""What the law learns about a surface: stiffness and damping, motion along the normal, and the normal itself.

    f = k δ + d δ̇         δ̇ = v_in + w        v_in: the tool into the surface, w: the surface towards the tool

Stiffness and damping come from the fast parts of force, depth and speed at the touch, all with the same filter, so that
neither the filter's lag nor the shape of the surface matters. The remainder, w = ḟ/k - v_in, is the motion of the
surface under the tool. While the tool slides at speed v_t, a constant w is a slope w/v_t: the normal turns by it, and
its rate of turning is the curvature. Motion does not reveal a slope across the path, but the force does: sliding
friction, -µ f_n along the path, has no component across it.
"""

from __future__ import annotations

import math

from pliant.control.laws.contact import normal_force
from pliant.control.laws.contact.contact_states import SLIDE
from pliant.control.laws.contact.force_law import lag
from pliant.control.laws.contact.normal_force import FRICTION_MOST, LEEWAY
from pliant.control.laws.contact.vectors import dot
from pliant.kernel import fill, kernel, put

# Parts of force and depth slower than so many lags are not used to learn stiffness: they may be the surface's shape.
# Once the stiffness is known there are fewer, twice over, because even a steady slope is much larger than what shows
# that a loop begins to swing; and that it does within three or four lags.
SLOW_LAGS, SLIDING_LAGS = 8.0, 1.0
# Once known, stiffness and damping only grow until the next touch: from changes of force this many times the noise in
# which force and depth, or what depth leaves of force and speed, go together (their correlation, over so many lags).
# When the surface moves, or the robot answers noise, every surface looks softer and less damped than it is, and one
# that is taken for softer than it is makes the law unstable.
EXCITED, TOGETHER, WINDOW_LAGS, STIFFER_LAGS = 2.0, 0.8, 2.0, 1.0
# For the stiffness they are also at least this share of the target, and what they showed is forgotten over this time
# [s]: if the surface is stiffer indeed, the loop shows it again. Friction or a slope that was taken for stiffness must
# not stay, because with too high a stiffness the observed motion of the surface swings slowly with the normal.
NOTABLE, RECALL_S = 0.02, 1.0
# Over so many lags the misfit is judged by which the first touch trusts itself less.
MISFIT_LAGS = 4.0
# A stiffness is never known better than to this share.
SUREST = 0.02
# Spread of the damping before anything is known, and the most that is learned while sliding [N s/m].
DAMPING_SPREAD, DAMPING_MOST = 100.0, 1000.0
# So many standard deviations above the learned stiffness the gain reckons with.
CAUTION = 2.0
# Motion of the surface is followed over so many lags, once the stiffness is known to this share; longer on a soft
# surface, where noise of the force looks like motion: until it is slower than this [m/s].
FOLLOW_LAGS, KNOWN, QUIET = 3.0, 0.3, 1e-3
# It begins when the force is this close to its target (share), or after so many lags.
ARRIVED, ARRIVE_LAGS = 0.2, 10.0
# The normal takes slopes over within this time [s], or so many lags if that is longer (it must be slower than the
# motion of the surface is followed), and no faster than over the way µ N/k by which friction could feign one; still
# longer where noise would tilt it by more than this [rad], and from this sliding speed on [m/s]. One step counts no
# steeper slope than this [rad], and no surface is curved more [1/m].
TURN_S, TURN_LAGS, SHAKY, LEAST_SLIDE, STEEPEST, MOST_CURVED = 0.2, 6.0, 0.05, 1e-5, 0.5, 100.0
# The normal turns no further from the approach than the declared slope allows, so many times, and than a surface of
# this curvature [1/m] explains over the way gone.
CURVED = 50.0
# A slope turns the force with it, a surface that moves does not. The two are told apart to this [rad] and the noise,
# once friction was learned over this way [m]; from then on it is followed over this time [s].
AGREE, FRICTION_M, FRICTION_S = 0.1, 0.01, 5.0
# A learned friction above FRICTION_MOST freezes the normal, and is a fault after this way [m]: the normal is wrong, or
# something holds the tool.
LEANING_M = 0.01
# The slope is never known better than this [rad].
LEAST_DOUBT = 0.005
# While the tool moves along the normal by more than this share of its sliding, the force says nothing of the slope.
LEAN = 0.3


@kernel
def forget(p, c):
    """Reset at a touch: only the declared stiffness range is known."""
    c.stiffness, c.damping, c.bound = p.stiffness_max_n_m, 0.0, p.stiffness_max_n_m
    c.covariance[0], c.covariance[1] = p.stiffness_max_n_m**2, 0.0
    c.covariance[2] = DAMPING_SPREAD**2
    c.following, c.misfit = 0, 0.0
    look_again(c, 0.0)


@kernel
def look_again(c, inertia):
    """Forget the fast parts of force, depth and speed, from which stiffness and damping are learned."""
    c.slow[0], c.slow[1], c.slow[2] = c.seen[2] - inertia, c.seen[0], c.seen[1]
    fill(c.slow[3:7], 0.0)
    fill(c.sums, 0.0)


@kernel
def is_known(p, c):
    """Whether stiffness and damping are known well enough to be used: in a slide, no touch will show more of them."""
    # an error of the damping counts over the time in which the motion of the surface is followed
    seconds = _follow_s(p, c) / FOLLOW_LAGS
    known = c.covariance[0] < (KNOWN * c.stiffness) ** 2 and c.covariance[2] < (KNOWN * c.stiffness * seconds) ** 2
    return known or c.state == SLIDE


@kernel
def learn(p, c, inertia, alpha, dt):
    """Learn stiffness and damping from c.seen (depth, speed, force) and the inertial force `inertia` [N] of the tool.

    `alpha` is the weight of a new sample in the low-pass of both.
    """
    force = c.seen[2] - inertia
    # first the mean since the touch: the sample that made it a touch was noisier than others
    touching = c.following == 0 or not is_known(p, c)
    span = SLOW_LAGS * p.lag_s if touching else SLIDING_LAGS * lag(p, c)
    share = min(1.0, dt / (min(span, c.since_s) if c.following == 0 else span))
    c.slow[0] += share * (force - c.slow[0])
    c.slow[1] += share * (c.seen[0] - c.slow[1])
    c.slow[2] += share * (c.seen[1] - c.slow[2])
    f, x, v = force - c.slow[0], c.seen[0] - c.slow[1], c.seen[1] - c.slow[2]
    if touching:
        _learn_touch(p, c, f, x, v, dt)
        c.touched = c.stiffness
    else:
        c.stiffness -= dt / RECALL_S * max(0.0, c.stiffness - c.touched)
        g = f
        f -= c.damping * v
        c.slow[3] += share * (g - c.slow[3])
        c.slow[4] += share * (x - c.slow[4])
        c.slow[5] += share * (v - c.slow[5])
        c.slow[6] += share * (f - c.slow[6])
        g, x, v, f = g - c.slow[3], x - c.slow[4], v - c.slow[5], f - c.slow[6]
        noise = c.noise_n * math.sqrt(alpha / (2.0 - alpha))  # what the low-pass has left of the sensor's
        _learn_stiffer(p, c, f, x, max(noise, NOTABLE / EXCITED * c.target_n), dt)
        _learn_damper(p, c, g, x, v, noise, dt)
    c.stiffness = max(0.5 * p.stiffness_min_n_m, min(2.0 * p.stiffness_max_n_m, c.stiffness))
    bound = max(c.stiffness, p.stiffness_min_n_m) + CAUTION * math.sqrt(c.covariance[0])
    c.bound = max(p.stiffness_min_n_m, min(p.stiffness_max_n_m, bound))


@kernel
def _learn_touch(p, c, f, x, v, dt):
    """One step of a Kalman filter for the constants k and d in f = k x + d v: all motion is the tool's own."""
    kk, kd, dd = c.covariance[0], c.covariance[1], c.covariance[2]
    # gain K = P φ / (φᵀ P φ + σ²),   φ = (x, v)
    a, b = kk * x + kd * v, kd * x + dd * v
    # what does not fit a spring and a damper at rest counts as noise: it may be a surface that moves
    noise = c.noise_n**2 + c.misfit
    size = a * x + b * v + noise
    off = f - c.stiffness * x - c.damping * v
    c.misfit += min(1.0, dt / (MISFIT_LAGS * p.lag_s)) * ((off * noise / size) ** 2 - c.misfit)
    c.stiffness += a / size * off
    c.damping += b / size * off
    # where one leaves what is possible, the other follows as far as the two go together
    least = 0.5 * p.stiffness_min_n_m
    if c.stiffness < least:
        c.damping += kd / kk * (least - c.stiffness)
        c.stiffness = least
    if c.damping < 0.0:
        c.stiffness = max(least, c.stiffness - kd / dd * c.damping)
        c.damping = 0.0
    c.covariance[0] = max((SUREST * c.stiffness) ** 2, kk - a * a / size)
    c.covariance[1] = kd - a * b / size
    c.covariance[2] = max(1.0, dd - b * b / size)


@kernel
def _learn_stiffer(p, c, f, x, noise, dt):
    """Follow a surface that becomes stiffer, where force and depth show it beyond doubt and the `noise` [N]."""
    share, m = min(1.0, dt / (WINDOW_LAGS * lag(p, c))), c.sums
    m[0] += share * (x - m[0])
    m[1] += share * (x * x - m[1])
    m[2] += share * (f - m[2])
    m[3] += share * (x * f - m[3])
    m[4] += share * (f * f - m[4])
    # about their means: a slope that nobody took off yet is no stiffness
    xx, xf, ff = m[1] - m[0] * m[0], m[3] - m[0] * m[2], m[4] - m[2] * m[2]
    if xx > 0.0 and ff > (EXCITED * noise) ** 2 and xf > TOGETHER * math.sqrt(xx * ff):
        now = min(p.stiffness_max_n_m, xf / xx)
        c.stiffness += min(1.0, dt / (STIFFER_LAGS * lag(p, c))) * max(0.0, now - c.stiffness)


@kernel
def _learn_damper(p, c, g, x, v, noise, dt):
    """Follow a surface that damps more, from what the depth does not explain of the force `g` [N] and the speed."""
    share, m = min(1.0, dt / (WINDOW_LAGS * lag(p, c))), c.sums
    m[5] += share * (v - m[5])
    m[6] += share * (v * v - m[6])
    m[7] += share * (x * v - m[7])
    m[8] += share * (g - m[8])
    m[9] += share * (x * g - m[9])
    m[10] += share * (v * g - m[10])
    m[11] += share * (g * g - m[11])
    xx, xv, xg = m[1] - m[0] * m[0], m[7] - m[0] * m[5], m[9] - m[0] * m[8]
    if xx <= 0.0:
        return
    vv = m[6] - m[5] * m[5] - xv * xv / xx
    vg = m[10] - m[5] * m[8] - xv * xg / xx
    gg = m[11] - m[8] * m[8] - xg * xg / xx
    # a surface that comes towards the tool presses while the tool yields: there force and speed go against each other
    if vv > 0.0 and gg > (EXCITED * noise) ** 2 and vg > TOGETHER * math.sqrt(vv * gg):
        now = min(DAMPING_MOST, vg / vv)
        c.damping += min(1.0, dt / (STIFFER_LAGS * lag(p, c))) * max(0.0, now - c.damping)


@kernel
def _has_arrived(p, c):
    """Whether the force has come near its target, or had time enough to: before, all motion is the tool's own."""
    return abs(p.target_n - c.force_n) < ARRIVED * p.target_n or c.since_s > ARRIVE_LAGS * lag(p, c)


@kernel
def _follow_s(p, c):
    """Time [s] over which the surface's motion is followed."""
    return FOLLOW_LAGS * lag(p, c) + c.noise_n / (c.stiffness * QUIET)


@kernel
def follow(p, c, rate, acceleration, dt):
    """Observe the motion of the surface: `rate` is ḟ [N/s], `acceleration` that of the tool into the surface [m/s²]."""
    c.following = 1 if c.following != 0 or _has_arrived(p, c) else 0
    if c.following == 0 or not is_known(p, c):
        c.surface_v, c.surface_a = 0.0, 0.0
        return
    # w = (ḟ - d v̇_in)/k - v_in, then an α-β filter: critically damped, exact for a steady acceleration
    w = (rate - c.damping * acceleration) / c.stiffness - c.soft_v[2]
    theta = math.exp(-dt / _follow_s(p, c))
    expected = c.surface_v + dt * c.surface_a
    off = w - expected
    c.surface_v = expected + (1.0 - theta * theta) * off
    c.surface_a += (1.0 - theta) ** 2 * off / dt


@kernel
def friction_free(F, t, mu, n, out):
    """The force without sliding friction, which is -µ f_n t (environment on robot)."""
    f_n = F[0] * n[0] + F[1] * n[1] + F[2] * n[2]
    for i in range(3):
        out[i] = F[i] + mu * f_n * t[i]


@kernel
def turn(p, c, F, v, scratch, dt):
    """Update the normal while the tool slides at velocity `v` [m/s] under the force `F` [N]."""
    n, pressed = c.normal, dot(F, c.normal)
    along = v[0] * n[0] + v[1] * n[1] + v[2] * n[2]
    for i in range(3):
        scratch[i] = v[i] - along * n[i]
    t = scratch[0:3]
    speed = math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    if speed < LEAST_SLIDE:
        return
    for i in range(3):
        t[i] /= speed
    aside = normal_force.aside(F, pressed)
    if normal_force.sticks(c, aside):
        return
    # the slope that the motion of the surface amounts to goes over into the normal, and what keeps coming into its turn
    noise = c.noise_n / (c.stiffness * _follow_s(p, c))
    turn_s = max(TURN_S, TURN_LAGS * lag(p, c), aside / (c.stiffness * speed))
    theta = math.exp(-dt / (turn_s * (1.0 + noise / (SHAKY * speed))))
    if pressed > p.touch_n:
        leans = _is_leaning(c, F, t, pressed, speed, dt)
        if leans or normal_force.is_pushed(p, c, F, pressed):
            c.curvature = 0.0
            return
    slope = _believed(p, c, F, t, max(-STEEPEST, min(STEEPEST, -c.surface_v / speed)))
    if slope == 0.0:  # the force contradicts it: then it is no curve either that goes on
        c.curvature *= theta
    share = 1.0 - theta * theta
    step = c.curvature * speed * dt + share * slope
    _doubt_less(p, c, theta, slope, dt)
    c.curvature += (1.0 - theta) ** 2 * slope / (speed * dt)
    c.curvature = max(-MOST_CURVED, min(MOST_CURVED, c.curvature))
    across = 0.0
    if abs(along) < LEAN * speed and pressed > p.touch_n:
        across = _slope_across(p, c, F, t, turn_s, scratch, dt)
    before = scratch[3:6]
    put(before, n)
    _tilt(n, t, step, across)
    if _is_too_far(p, c, before):
        put(n, before)
        c.curvature = 0.0
    else:
        c.surface_v += share * slope * speed


@kernel
def _is_leaning(c, F, t, pressed, speed, dt):
    """Whether the force along the path is more than friction explains; adds up the way over which it is."""
    leans = abs(F[0] * t[0] + F[1] * t[1] + F[2] * t[2]) > FRICTION_MOST * pressed
    c.leaning_m = c.leaning_m + speed * dt if leans else max(0.0, c.leaning_m - speed * dt)
    return leans and c.travelled_m > FRICTION_M


@kernel
def _believed(p, c, F, t, slope):
    """As much of the `slope` [rad] that motion shows as the force allows: the rest is motion of the surface itself.

    In units of f_n the force along the path is the slope that the normal lacks, less µ.
    """
    if c.force_n < p.touch_n:
        return slope
    lean = (F[0] * t[0] + F[1] * t[1] + F[2] * t[2]) / c.force_n
    off = AGREE + c.noise_n / c.force_n
    known = c.travelled_m > FRICTION_M
    if slope > 0.0:
        return max(0.0, min(slope, lean + (c.friction if known else FRICTION_MOST) + off))
    return min(0.0, max(slope, lean + (c.friction if known else 0.0) - off))


@kernel
def _is_too_far(p, c, before):
    """Whether the normal has turned away from the approach, and further than slope and way explain."""
    a, n = c.approach, c.normal
    inward = -(a[0] * n[0] + a[1] * n[1] + a[2] * n[2])
    if inward >= -(a[0] * before[0] + a[1] * before[1] + a[2] * before[2]):
        return False
    most = LEEWAY * p.slope_deg * math.pi / 180.0 + CURVED * c.travelled_m
    return math.acos(max(-1.0, min(1.0, inward))) > most


@kernel
def _doubt_less(p, c, theta, slope, dt):
    """The slope becomes known as fast as it is taken over, but not before its motion was seen, nor while it shows."""
    seen = math.exp(-dt / _follow_s(p, c))
    c.doubt = max(LEAST_DOUBT, abs(slope), c.doubt * max(theta, seen))


@kernel
def _slope_across(p, c, F, t, turn_s, scratch, dt):
    """Learn the friction, and the tilt [rad] across the path that the force shows, as a step of a low-pass."""
    n, free = c.normal, scratch[3:6]
    dragged = -(F[0] * t[0] + F[1] * t[1] + F[2] * t[2]) / c.force_n
    over = TURN_S if c.travelled_m < FRICTION_M else FRICTION_S
    c.friction += dt / over * (max(0.0, min(2.0, dragged)) - c.friction)
    friction_free(F, t, c.friction, n, free)
    bx, by, bz = n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]
    lean = (free[0] * bx + free[1] * by + free[2] * bz) / c.force_n
    return dt / turn_s * max(-1.0, min(1.0, lean)) if abs(lean) < normal_force.most_aside(p) else 0.0


@kernel
def _tilt(n, t, step, across):
    """Turn the unit vector `n` by `step` towards `t` and by `across` towards n × t."""
    bx, by, bz = n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]
    n[0] += step * t[0] + across * bx
    n[1] += step * t[1] + across * by
    n[2] += step * t[2] + across * bz
    size = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for i in range(3):
        n[i] /= size
