"""Masses of a robot file, made fit for compiling: only the links that the joints of the arm move need good ones."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from pliant.model.from_file.flange import Flange, Tree

# Mass and inertia [kg, kg m²] of a link that has none and must be movable to be compiled: far below any effect.
_NOTHING = 1e-12


def repair(spec: mujoco.MjSpec, tree: Tree, flange: Flange, *, urdf: bool) -> list[str]:
    """Replace inertias that cannot be, except those of the links that the joints of the chain move; returns notes."""
    notes, chain, part = [], set(flange.joints), "link" if urdf else "body"
    for body, (i, name) in zip(list(spec.bodies)[1:], list(enumerate(tree.names))[1:], strict=True):
        if chain.intersection(tree.joints[i]):
            continue
        wrong = body.explicitinertial and not _is_possible(body)
        if wrong:
            mass = float(body.mass) if np.isfinite(body.mass) and body.mass > 0.0 else 0.0
            _set(body, mass, 0.0)
            if _moves_with_chain(tree, i, chain):
                notes.append(f"{part} {name!r} has an invalid inertia; its {mass:g} kg count as a point mass")
        if tree.joints[i] and (wrong or ((urdf or body.explicitinertial) and body.mass <= _NOTHING)):
            _set(body, max(float(body.mass), _NOTHING), _NOTHING)
    return notes


def weigh_without_meshes(spec: mujoco.MjSpec, tree: Tree, flange: Flange) -> list[str]:
    """Delete the shapes of an MJCF file that give no mass to the arm, and the meshes that would; returns notes.

    The mass of a link that a joint of the chain moves may come from its meshes: without it there are no dynamics.
    """
    notes: list[str] = []
    chain, index = set(flange.joints), {name: i for i, name in enumerate(tree.names)}
    by_shape = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    for geom in list(spec.geoms):
        body, i = geom.parent, index[geom.parent.name]
        if not _moves_with_chain(tree, i, chain) or (body.explicitinertial and not by_shape):
            spec.delete(geom)
        elif geom.type == mujoco.mjtGeom.mjGEOM_MESH and not chain.intersection(tree.joints[i]):
            notes += _without_mesh(spec, geom, body.name)
    for body, (i, _) in zip(list(spec.bodies)[1:], list(enumerate(tree.names))[1:], strict=True):
        held = tree.joints[i] and not chain.intersection(tree.joints[i])
        if held and not body.explicitinertial and not any(_has_mass(geom) for geom in body.geoms):
            _set(body, _NOTHING, _NOTHING)
    return notes


def mesh_masses(spec: mujoco.MjSpec, model: mujoco.MjModel) -> list[str]:
    """Notes on the links whose mass was computed from a mesh."""
    found = dict.fromkeys(g.parent.name for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_MESH and _has_mass(g))
    return [
        f"body {name!r} has no <inertial>; its mass of {model.body(name).mass[0]:.4g} kg is computed from its meshes"
        for name in found
    ]


def missing_meshes(spec: mujoco.MjSpec, path: Path) -> list[str]:
    """A note if files of meshes are missing."""
    folders = (path.parent, path.parent / str(spec.meshdir))
    files = dict.fromkeys(str(mesh.file) for mesh in spec.meshes if mesh.file)
    lost = [f for f in files if not any((d / f).is_file() or (d / Path(f).name).is_file() for d in folders)]
    if not lost:
        return []
    count = f"mesh file {lost[0]!r} is" if len(lost) == 1 else f"{len(lost)} mesh files are missing; {lost[0]!r} is one"
    return [f"{count}{' missing' if len(lost) == 1 else ''}; control does not need meshes, but the display does"]


def _without_mesh(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, name: str) -> list[str]:
    """Replace a mesh with a point of the mass that the file gives for it; delete it if the file gives none."""
    if not _has_mass(geom):
        spec.delete(geom)
        return []
    if np.isfinite(geom.mass):
        mass = float(geom.mass)
        geom.type, geom.meshname, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, "", (1e-3, 0.0, 0.0)
        return [f"body {name!r} has no <inertial>; the {mass:g} kg of its mesh count as a point mass"]
    spec.delete(geom)
    return [f"body {name!r} has no <inertial>; its mesh adds no mass"]


def _has_mass(geom: mujoco.MjsGeom) -> bool:
    return float(geom.mass) > 0.0 if np.isfinite(geom.mass) else float(geom.density) > 0.0


def _moves_with_chain(tree: Tree, body: int, chain: set[str]) -> bool:
    """Whether a joint of the chain moves the link, so that its mass counts."""
    return any(chain.intersection(tree.joints[b]) for b in tree.line(body))


def _is_possible(body: mujoco.MjsBody) -> bool:
    """Whether mass and inertia are those of a possible body; no inertia at all is fine."""
    if not np.isfinite(body.mass) or body.mass < 0.0:
        return False
    full = np.asarray(body.fullinertia)
    if np.isfinite(full[0]):
        matrix = np.diag(full[:3])
        matrix[0, 1] = matrix[1, 0] = full[3]
        matrix[0, 2] = matrix[2, 0] = full[4]
        matrix[1, 2] = matrix[2, 1] = full[5]
        if not np.isfinite(matrix).all():
            return False
        values = np.linalg.eigvalsh(matrix)
        # MuJoCo's limits, with room for the rounding of its own eigenvalues
        return bool(values[0] > 1e-14 and values[0] + values[1] >= values[2] * (1.0 + 1e-9))
    a, b, c = sorted(np.asarray(body.inertia))
    return bool(np.isfinite(c) and a >= 0.0 and a + b >= c)


def _set(body: mujoco.MjsBody, mass: float, inertia: float) -> None:
    body.explicitinertial, body.mass = True, mass
    body.fullinertia = (np.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
    body.inertia = (inertia,) * 3
