"""Your own surface, in one file: a plane with waves. A probe finds it, holds 5 N and slides along it.

Use it in any task: ``sim: {surfaces: [{kind: examples/16_your_own_surface.py, position_m: [0.5, 0.1, 0.3]}]}``.
"""

import math

import numpy as np

import pliant


class Params(pliant.Section):
    """Waves along the x axis of the surface: z = height · sin(2π x / length)."""

    height_m: float = pliant.param(0.001, unit="m", ge=0, le=0.02, help="Height of the waves.")
    length_m: float = pliant.param(0.05, unit="m", ge=0.01, le=1, help="Length of a wave.")


@pliant.compiled
def distance(p, point, normal):
    """To first order: the height above the wave, times the cosine of its slope."""
    rate = 2.0 * math.pi / p.length_m
    slope = p.height_m * rate * math.cos(rate * point[0])
    size = math.sqrt(1.0 + slope * slope)
    normal[0], normal[1], normal[2] = -slope / size, 0.0, 1.0 / size
    return (point[2] - p.height_m * math.sin(rate * point[0])) / size


def shapes(surface):
    """A strip of triangles, 0.2 m square, for pictures and the Studio."""
    x = np.linspace(-0.1, 0.1, 81)
    z = surface.height_m * np.sin(2 * np.pi * x / surface.length_m)
    corners = np.vstack([np.column_stack([x, 0 * x + y, z]) for y in (-0.1, 0.1)])
    k = np.arange(80)
    faces = np.vstack([np.column_stack([k, k + 1, k + 82]), np.column_stack([k, k + 82, k + 81])])
    return (pliant.Shape("mesh", vertices=corners, faces=faces),)


SURFACE = pliant.own_surface("wavy_plane", Params, distance, shapes=shapes, is_curved=True)

if __name__ == "__main__":
    task = pliant.load_task("plane").model_dump()
    waves = {"kind": __file__, "position_m": (0.4919, 0.1333, 0.3349), "rpy_deg": (0.0, 0.0, 90.0)}
    task["sim"]["surfaces"] = [{**waves, "stiffness_n_m": 1e4}]
    run = pliant.simulate(pliant.Task.model_validate(task))
    contact = run.records["contact"]
    held = contact["force_n"][contact["travelled_m"] > 0.002]
    print(f"On waves of 1 mm: {np.mean(held):.2f} N on average, at most {np.max(held):.2f} N; target 5 N.")
    print("Fault:", run.fault or "none")
