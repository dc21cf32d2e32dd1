"""One period of a simulated arm on a mobile base.

    ref' = (command - ref) / lag                          what an external controller sees of the base
    F = m (ref' + k_p (ref - v) + k_i ∫(ref - v) dt)      how strongly the drives track ref, up to the limits of
                                                          floor and drives

The planar base applies this along, across and about its own axes, each limited by the traction of the floor. The
wheeled base applies it to its wheels, and the contact between wheels and floor does the rest.
"""

from __future__ import annotations

import math

from pliant.kernel import fill, floats, kernel, mj_mulM, mj_objectVelocity, mj_step2, put
from pliant.records import Field, Layout
from pliant.world.period import after_step, before_step, end_period, pushes, read
from pliant.world.realism.robot_controller import receive
from pliant.world.servo import act, balance, demand, send
from pliant.world.surface_contact import contacts

MOST_DOFS = 32

CARRIER = Layout(
    "Carrier",
    (
        Field("wheeled", "", "1: wheels on a floor", kind="i8"),
        Field("nv", "", "speeds of the whole model", kind="i8"),
        Field("arm", "", "first speed of the arm", kind="i8"),
        Field("qpos", "", "address of all positions", kind="i8"),
        Field("qvel", "", "address of all speeds", kind="i8"),
        Field("qfrc_applied", "", "address of all applied forces", kind="i8"),
        Field("wheel_at", "", "where the left and the right wheel's angles are in qpos", (2,), "i8"),
        Field("wheel_dof", "", "and their speeds", (2,), "i8"),
        Field("half_track", "m", "half the distance between the wheels"),
        Field("radius", "m", "of the wheels"),
        Field("lag", "s", "time constant"),
        Field("k_p", "1/s", ""),
        Field("k_i", "1/s^2", ""),
        Field("inertia", "kg, kg m^2", "along, across and about (planar); of each wheel (wheels)", (3,)),
        Field("most", "N, N m", "largest force along, across and about; largest torque of each wheel", (3,)),
        Field("command", "m/s, rad/s", "commanded forward and turning speed", (2,)),
        Field("ref", "m/s, rad/s", "the same after the lag", (2,)),
        Field("sum", "", "∫(ref - v) dt", (3,)),
        Field("angles", "rad", "of the left and the right wheel", (2,)),
        Field("force", "N, N m", "applied in the last step", (3,)),
        Field("acc", "", "scratch", (MOST_DOFS,)),
        Field("product", "", "scratch", (MOST_DOFS,)),
    ),
)


@kernel
def _hold(b, i, ref, ref_dot, v, h):
    """The force of drive i, with an integral that waits while the force is cut."""
    off = ref - v
    wanted = b.inertia[i] * (ref_dot + b.k_p * off + b.k_i * (b.sum[i] + h * off))
    force = min(max(wanted, -b.most[i]), b.most[i])
    if force == wanted or wanted * off < 0.0:
        b.sum[i] += h * off
    b.force[i] = force
    return force


@kernel
def _planar(b, h, dv, domega):
    """Forces on the slides x and y and on the hinge of a base that cannot leave the floor."""
    q, qd, force = floats(b.qpos, 3), floats(b.qvel, 3), floats(b.qfrc_applied, 3)
    c, s = math.cos(q[2]), math.sin(q[2])
    along, across = c * qd[0] + s * qd[1], c * qd[1] - s * qd[0]
    f_along = _hold(b, 0, b.ref[0], dv, along, h)
    f_across = _hold(b, 1, 0.0, 0.0, across, h)
    force[0], force[1] = c * f_along - s * f_across, s * f_along + c * f_across
    force[2] = _hold(b, 2, b.ref[1], domega, qd[2], h)
    for i in range(2):
        side = -1.0 if i == 0 else 1.0
        b.angles[i] += h * (along + side * b.half_track * qd[2]) / b.radius


@kernel
def _wheeled(b, h, dv, domega):
    """Torques on the wheels."""
    q, qd, force = floats(b.qpos, b.nv + 1), floats(b.qvel, b.nv), floats(b.qfrc_applied, b.nv)
    for i in range(2):
        side = (-1.0 if i == 0 else 1.0) * b.half_track
        ref, ref_dot = (b.ref[0] + side * b.ref[1]) / b.radius, (dv + side * domega) / b.radius
        force[b.wheel_dof[i]] = _hold(b, i, ref, ref_dot, qd[b.wheel_dof[i]], h)
        b.angles[i] = q[b.wheel_at[i]]


@kernel
def drive_base(w, b):
    """The base's part of a physics step."""
    halted = 0.0 if w.halted != 0 else 1.0
    dv, domega = (halted * b.command[0] - b.ref[0]) / b.lag, (halted * b.command[1] - b.ref[1]) / b.lag
    b.ref[0] += w.h * dv
    b.ref[1] += w.h * domega
    if b.wheeled != 0:
        _wheeled(b, w.h, dv, domega)
    else:
        _planar(b, w.h, dv, domega)


@kernel
def drive_arm(w, b):
    """The arm's part of a physics step: its servo compensates the arm's dynamics, but not the base's next motion."""
    by_torque = demand(w)
    if not by_torque:
        fill(b.acc, 0.0)
        for i in range(w.n):
            b.acc[b.arm + i] = w.acc[i]
        mj_mulM(w.model, w.data, b.product.ctypes.data, b.acc.ctypes.data)
        tau = floats(w.qfrc_applied, w.n)
        for i in range(w.n):
            tau[i] = b.product[b.arm + i]
        balance(w)
    act(w, by_torque)


@kernel
def advance_body(world, carrier, command):
    """Carry out an arm's command and the base's for one period; every argument is a one-element record array."""
    w, b, c = world[0], carrier[0], command[0]
    receive(w)
    for k in range(w.substeps):
        before_step(w)
        mj_objectVelocity(w.model, w.data, w.site_type, w.tool_site, w.velocity.ctypes.data, 0)
        fill(floats(w.tool_xfrc, 6), 0.0)
        contacts(w)
        pushes(w)
        send(w, c, k / w.substeps)
        drive_arm(w, b)
        drive_base(w, b)
        mj_step2(w.model, w.data)
        after_step(w)
    end_period(w, c)


@kernel
def read_base_pose(carrier, pose):
    """Write the present pose of the base into `pose`: x, y [m] and heading [rad]."""
    b = carrier[0]
    q = floats(b.qpos, 7)
    pose[0], pose[1], pose[2] = q[0], q[1], q[2]
    if b.wheeled != 0:
        pose[2] = math.atan2(2.0 * (q[3] * q[6] + q[4] * q[5]), 1.0 - 2.0 * (q[5] * q[5] + q[6] * q[6]))


@kernel
def read_body(world, carrier, reading, base):
    """The present state of arm and base, with the true pose of the base."""
    w, b, m = world[0], carrier[0], base[0]
    read(w, reading[0])
    m.present = 1
    put(m.wheels, b.angles)
    put(m.command, b.command)
    q, qd = floats(b.qpos, 7), floats(b.qvel, b.nv)
    read_base_pose(carrier, m.pose)
    if b.wheeled != 0:
        left, right = b.radius * qd[b.wheel_dof[0]], b.radius * qd[b.wheel_dof[1]]
        m.twist[0], m.twist[1] = 0.5 * (left + right), 0.5 * (right - left) / b.half_track
    else:
        m.twist[0], m.twist[1] = math.cos(q[2]) * qd[0] + math.sin(q[2]) * qd[1], qd[2]
