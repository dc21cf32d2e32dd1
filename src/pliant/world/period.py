"""One period of the simulation: read, and advance by a command."""

from __future__ import annotations

from pliant.kernel import fill, floats, kernel, mj_objectVelocity, mj_step1, mj_step2
from pliant.world.realism.gear_motor import brace, turn
from pliant.world.realism.joint_encoder import report
from pliant.world.realism.robot_controller import loses_reading, receive, supervise
from pliant.world.realism.sensor_errors import low_pass
from pliant.world.servo import drive, remember, send
from pliant.world.surface_contact import contacts
from pliant.world.wrist_sensor import deliver, sample


@kernel(separate=True)
def read(w, r):
    """The present state of the robot, as its interface would report it."""
    if loses_reading(w):
        return
    report(w, r)
    r.stamp_s = w.time
    sample(w, r)
    deliver(w, r)


@kernel(separate=True)
def advance(w, c):
    """Carry out the command for one period: physics steps with servo, contact and pushes."""
    receive(w)
    for k in range(w.substeps):
        before_step(w)
        mj_objectVelocity(w.model, w.data, w.site_type, w.tool_site, w.velocity.ctypes.data, 0)
        fill(floats(w.tool_xfrc, 6), 0.0)
        contacts(w)
        pushes(w)
        send(w, c, k / w.substeps)
        drive(w)
        mj_step2(w.model, w.data)
        after_step(w)
    end_period(w, c)


@kernel
def before_step(w):
    """The first half of MuJoCo's physics step: positions, velocities and what follows from them."""
    if w.drive.on != 0:
        brace(w)
    mj_step1(w.model, w.data)


@kernel
def after_step(w):
    """What follows a physics step: motors, sensor, time."""
    if w.drive.on != 0:
        turn(w)
    if w.felt.on != 0:
        low_pass(w)
    w.count += 1
    w.time = w.count * w.h


@kernel
def end_period(w, c):
    """What ends a period: the robot's supervision, and the start of the next interpolation."""
    if w.supervised != 0:
        supervise(w)
    remember(w, c)


@kernel
def pushes(w):
    """Add scripted and live pushes at the tool point to the wrench on the tool body."""
    fill(w.six, 0.0)
    for k in range(w.n_pushes):
        p = w.push[k]
        if p.start <= w.time < p.end:
            share = 1.0
            if p.ramp > 0.0:
                share = min(1.0, (w.time - p.start) / p.ramp, (p.end - w.time) / p.ramp)
            for i in range(6):
                w.six[i] += share * p.wrench[i]
    if w.time < w.live_until:
        for i in range(6):
            w.six[i] += w.live_push[i]
    tip, com, applied = floats(w.tool_xpos, 3), floats(w.tool_xipos, 3), floats(w.tool_xfrc, 6)
    f = w.six
    rx, ry, rz = tip[0] - com[0], tip[1] - com[1], tip[2] - com[2]
    for i in range(6):
        applied[i] += f[i]
    applied[3] += ry * f[2] - rz * f[1]
    applied[4] += rz * f[0] - rx * f[2]
    applied[5] += rx * f[1] - ry * f[0]


@kernel
def read_sim(world, reading):
    """`read` for one-element record arrays."""
    read(world[0], reading[0])


@kernel
def advance_sim(world, command):
    """`advance` for one-element record arrays."""
    advance(world[0], command[0])
