"""Surfaces as kinds: each is one file, also one of your own, and nothing else knows which kinds there are."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import pliant
from pliant.errors import PliantError
from pliant.model import Tool
from pliant.params import plugin_files
from pliant.params.declare import validated
from pliant.record.reader import Recording
from pliant.session.in_process.rerun import replay
from pliant.world.display_scene import scene_model
from pliant.world.surface_kind import Surface, measured
from pliant.world.world_config import SimConfig

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "16_your_own_surface.py"
AT = (0.4919, 0.1333, 0.2899)


def wavy(**values: Any) -> Surface:
    return Surface(**{"kind": str(EXAMPLE), "position_m": AT, **values})


def test_no_file_but_its_own_names_a_kind_of_surface() -> None:
    # a comparison of a kind, or a table with the kinds as keys
    branch = re.compile(r"""kind\s*(==|!=|\bin\b)|["'](plane|dome|box|cylinder)["']\s*:""")
    kinds = re.compile(rf"""["']({"|".join(Surface.kinds.builtin)})["']""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in (ROOT / "src" / "pliant").rglob("*.py")
        if path.parent.name != "surfaces"
        if path != ROOT / "src" / "pliant" / "experiments" / "__init__.py"  # an experiment is called dome
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if branch.search(line) and kinds.search(line) and "mjtGeom" not in line and "Literal[" not in line
    ]
    assert not found, "\n".join(found)


def test_every_kind_draws_shapes_on_its_surface() -> None:
    for kind in Surface.kinds.builtin:
        surface = Surface(kind=kind, position_m=(0.5, 0.0, 0.2))
        model = scene_model("ur5e", Tool(), SimConfig(surfaces=(surface,)))
        fixed = np.flatnonzero(model.geom_bodyid == 0)
        near = np.linalg.norm(model.geom_pos[fixed] - surface.position_m, axis=1) < 0.011
        assert near.any(), kind


def test_a_mesh_of_a_surface_lies_on_it() -> None:
    surface = wavy(position_m=(0.0, 0.0, 0.0))
    shape = surface.shapes[0]
    distances, _ = measured(surface, np.asarray(shape.vertices))
    top = np.abs(distances) < 1e-9
    assert top.sum() > 100
    model = scene_model("ur5e", Tool(), SimConfig(surfaces=(surface,)))
    assert (model.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH)).any()


def test_the_example_presses_back_along_its_own_normal_and_replays(tmp_path: Path) -> None:
    data = pliant.load_task("plane").model_dump(mode="json")
    before = data["sim"]["surfaces"][0]
    data["sim"]["surfaces"] = [{"kind": str(EXAMPLE), "position_m": before["position_m"], "height_m": 0.002}]
    data["duration_s"] = 4.0
    data["events"] = [event for event in data["events"] if event["at_s"] < 4.0]
    run = pliant.simulate(validated(pliant.Task, data))
    assert run.fault == ""
    assert run.records["contact"]["touches"][-1] >= 1
    surface = run.task.sim.surfaces[0]
    assert (surface.kind, Path(surface.file).name) == ("wavy_plane", EXAMPLE.name)
    assert len(surface.digest) == 64
    path = tmp_path / "wavy.mcap"
    run.save(path)
    recording = Recording.load(path)
    assert recording.meta["task"]["sim"]["surfaces"][0]["file"] == str(EXAMPLE)
    assert replay(recording).largest == 0.0


def test_a_file_is_found_beside_the_task_and_its_parameters_are_checked(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / "waves.py")
    text = "sim: {surfaces: [{kind: waves.py, position_m: [0.5, 0, 0.1], height_m: %s}]}"
    (tmp_path / "task.yaml").write_text(text % "0.004")
    assert pliant.load_task(tmp_path / "task.yaml").sim.surfaces[0].height_m == 0.004
    (tmp_path / "task.yaml").write_text(text % "-1")
    with pytest.raises(pliant.InputError, match=r"task.yaml: sim.surfaces\[0\].height_m is -1 m, but it must be"):
        pliant.load_task(tmp_path / "task.yaml")


def test_a_file_that_has_changed_since_it_was_recorded_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "waves.py"
    shutil.copy(EXAMPLE, path)
    data = Surface(kind=str(path), position_m=AT).model_dump()
    path.write_text(path.read_text() + "\n# changed\n")
    with pytest.raises(PliantError, match=r"waves.py has changed since the run began or was recorded"):
        Surface.model_validate(data)


HEAD = """
import math
import pliant

class Params(pliant.Section):
    '''Bad.'''

    height: float = pliant.param(0.0, help="Height.")

@pliant.compiled
def distance(p, point, normal):
"""
BAD = {
    "gives no normal": ("    return point[2]", "a normal of length 0"),
    "gives a distance that is not finite": (
        "    normal[0], normal[1], normal[2] = 0.0, 0.0, 1.0\n    return math.nan", "a distance of nan m"
    ),
    "indexes outside": ("    normal[3] = 1.0\n    return 0.0", "a distance of nan m"),
    "cannot be compiled": ("    return point.nothing", ": the surface bad cannot be compiled: unknown"),
    "misspells a parameter": ("    return p.hight", "the surface bad has no parameter 'hight'. Did you mean 'height'?"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_kernel_with_a_mistake_is_rejected_before_anything_moves(what: str, tmp_path: Path) -> None:
    body, sentence = BAD[what]
    path = tmp_path / "bad.py"
    path.write_text(f'{HEAD}{body}\n\nSURFACE = pliant.own_surface("bad", Params, distance)\n')
    task = pliant.Task(sim=SimConfig(surfaces=(Surface(kind=str(path), position_m=AT),)))
    with pytest.raises(PliantError, match=re.escape(sentence)):
        pliant.simulate(task)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nothing_like_it", "bad.py:1: the surface cannot be loaded: ModuleNotFoundError"),
        ("x = 1", "bad.py contains no surface: it must define SURFACE = pliant.own_surface(...)."),
    ],
)
def test_a_file_without_a_surface_is_rejected_with_its_place(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(pliant.InputError, match=re.escape(sentence)):
        validated(pliant.Task, {"sim": {"surfaces": [{"kind": str(path), "position_m": AT}]}})


def test_an_installed_package_can_bring_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("pipe", "pliant.world.surfaces.cylinder_surface:SURFACE", "pliant.surfaces")

    def installed(group: str) -> tuple[EntryPoint, ...]:
        return (point,) if group == point.group else ()

    monkeypatch.setattr(plugin_files, "entry_points", installed)
    assert "pipe" in Surface.kinds.names
    with pytest.raises(pliant.InputError, match=r"the name of the surface in .* is 'cylinder', but it must be another"):
        Surface(kind="pipe", position_m=AT)
    with pytest.raises(pliant.InputError, match=r"Unknown surface 'pip'. Did you mean 'pipe'\? Known: .*plane"):
        Surface(kind="pip", position_m=AT)


def test_a_parameter_that_every_surface_has_cannot_be_declared_again() -> None:
    class Twice(pliant.Section):
        """Twice."""

        friction: float = pliant.param(0.5, help="Twice.")

    kind = pliant.own_surface("twice", Twice, pliant.compiled(lambda p, point, normal: 0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Surface.kinds.builtin, "twice", kind)
        with pytest.raises(pliant.InputError, match="declares friction, which every surface has"):
            Surface(kind="twice", position_m=AT)
