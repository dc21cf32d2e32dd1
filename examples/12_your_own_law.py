"""Your own law, in one file: a damper with a virtual wall. Push the tool and it moves; a wall stops it.

Run it in any task: ``pliant run push --law examples/12_your_own_law.py --set damper_wall.wall_z_m=0.45``.
"""

import pliant


class Params(pliant.Section):
    """Damping of the tool, and a horizontal wall."""

    damping_n_s_m: float = pliant.param(
        100.0, unit="N s/m", live=True, ge=20, le=1000, help="The tool moves at the force divided by this."
    )
    wall_z_m: float = pliant.param(0.4, unit="m", live=True, ge=-2, le=2, help="Height of the wall (base frame).")
    wall_n_m: float = pliant.param(2000.0, unit="N/m", live=True, ge=0, le=1e4, help="Stiffness of the wall.")


STATE = (pliant.Field("depth_m", "m", "how deep the tool is in the wall"),)


@pliant.compiled
def step(tick, p, s, dt):
    """D v = F + K depth, solved implicitly: (D + dt K) v⁺ = F + K depth. The tool does not rotate."""
    s.depth_m = max(0.0, p.wall_z_m - tick.pose[2])
    for i in range(3):
        tick.twist[i] = tick.wrench[i] / p.damping_n_s_m
        tick.twist[3 + i] = 0.0
    if s.depth_m > 0.0:
        push = tick.wrench[2] + p.wall_n_m * s.depth_m
        tick.twist[2] = push / (p.damping_n_s_m + dt * p.wall_n_m)


# The Studio has a slider for every live number; this adds a plot.
PANEL = pliant.Panel(lines=(pliant.Line("depth", "mm", plot="Wall", value="depth_m", scale=1e3),))


def response(press):
    """The law in one direction, for the check of its stability: a force moves the tool at the force / damping."""
    damping = press.parameters.damper_wall.damping_n_s_m
    return pliant.LinearLaw(lambda now, memory: (-press.gain * now.force / damping, memory))


STABILITY = pliant.StabilityModel(response, remedy="Raise damper_wall.damping_n_s_m.")

LAW = pliant.own_law("damper_wall", Params, step, state=STATE, stability=STABILITY, panel=PANEL)

if __name__ == "__main__":
    push = {"at_s": 0.5, "for_s": 3.0, "wrench": (0.0, 0.0, -20.0, 0.0, 0.0, 0.0)}
    task = pliant.Task.model_validate({"law": __file__, "duration_s": 4.0, "sim": {"pushes": [push]}})
    run = pliant.simulate(task)
    height = run.records["state"]["pose"][:, 2]
    print(f"Pushed down by 20 N from {height[0]:.3f} m, the tool stops at {height[-300]:.4f} m:")
    print(f"{(0.4 - height[-300]) * 1e3:.1f} mm in the wall, which is 19 N (20 N less 1 N of deadband) / 2000 N/m.")
