"""Motion along the path, in the plane that will be tangent when the robot gets there, and the turn of the tool."""

from __future__ import annotations

import math

from pliant.control.laws.contact import contact_states, force_law, surface_path, tool_motion
from pliant.control.laws.contact.contact_states import PAUSED, SLIDE
from pliant.control.laws.contact.vectors import dot, size
from pliant.kernel import fill, kernel

# Where the error is larger than the first share of the target the path slows down, at the second it creeps.
SLOW_FROM, SLOW_TO, CREEP = 0.2, 0.5, 0.1
# A path followed at less than this share of its speed makes no progress.
CRAWLING = 0.05
# How fast a tilt of the tool is corrected [1/s].
FACE_RATE = 3.0


@kernel
def go_along(p, c, alpha, along, w, dt):
    """The velocity along the surface, in the plane that will be tangent when the robot gets there.

    `along` [m/s] is what the limits left of the speed asked for a tick ago: only that is way gone.
    """
    robot = tool_motion.robot_lag(p, alpha, dt)
    speed = size(c.way)
    wanted = 0.0
    if c.state == SLIDE:
        off = abs(c.target_n - c.steady_n) / p.target_n
        slow = max(CREEP, min(1.0, (SLOW_TO - off) / (SLOW_TO - SLOW_FROM)))
        wanted = slow * min(p.speed_m_s, force_law.braked(surface_path.length(p) - c.travelled_m, p.acceleration_m_s2))
        # a slope that nobody knows yet must not cost more force than the gain makes good
        wanted = min(wanted, SLOW_FROM * p.target_n * c.gain / math.tan(c.doubt))
        c.crawl_s = c.crawl_s + dt if speed < CRAWLING * p.speed_m_s else max(0.0, c.crawl_s - dt)
    elif c.state != PAUSED:
        fill(c.way, 0.0)
        return
    # n + κ s t is the normal a way s ahead: the robot answers a lag later
    surface_path.direction(p, c.travelled_m, c.normal, w.tangent)
    lead = c.curvature * speed * robot
    for i in range(3):
        w.ahead[i] = c.normal[i] + lead * w.tangent[i]
    length = size(w.ahead)
    for i in range(3):
        w.ahead[i] /= length
    surface_path.direction(p, c.travelled_m, w.ahead, w.tangent)
    most = p.acceleration_m_s2 * dt
    speed += max(-most, min(most, wanted - speed))
    for i in range(3):
        c.way[i] = speed * w.tangent[i]
    c.travelled_m += min(along, speed) * dt


@kernel
def face(p, c, w, twist):
    """Turn the tool towards the surface, no further from where it began than `tilt_deg`."""
    twist[3] = twist[4] = twist[5] = 0.0
    if not contact_states.is_pressing(c):
        return
    a, want = c.approach, w.faces
    inward = -dot(a, c.normal)
    angle = math.acos(max(-1.0, min(1.0, inward)))
    most = p.tilt_deg * math.pi / 180.0
    share = most / angle if angle > most else 1.0
    if angle > 1e-9 and math.sin(angle) > 1e-9:
        # the great circle from the approach to -n, followed as far as allowed
        x, y = math.sin((1.0 - share) * angle) / math.sin(angle), math.sin(share * angle) / math.sin(angle)
    else:
        x, y = 1.0, 0.0
    for i in range(3):
        want[i] = x * a[i] - y * c.normal[i]
    u = w.axis
    twist[3] = FACE_RATE * (u[1] * want[2] - u[2] * want[1])
    twist[4] = FACE_RATE * (u[2] * want[0] - u[0] * want[2])
    twist[5] = FACE_RATE * (u[0] * want[1] - u[1] * want[0])
    speed = math.sqrt(twist[3] ** 2 + twist[4] ** 2 + twist[5] ** 2)
    if speed > p.turn_rad_s:
        for i in range(3, 6):
            twist[i] *= p.turn_rad_s / speed
