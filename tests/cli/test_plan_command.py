"""`pliant plan` as a user meets it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pliant
from pliant.compiling.ahead import ensure
from pliant.mobile.planning.planner import HybridAStar
from pliant_experiments.scenes.plan_maps import MAPS, queries
from support.words import Said, say


def plan(*words: object, cwd: Path) -> Said:
    return say("plan", *words, cwd=cwd)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """The planner is in the cache, so that nothing is said about compiling."""
    ensure("planner")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a room of 10 × 6 m that a wall with a gap divides."""
    cells = np.full((60, 100), 255, np.uint8)
    cells[:, 50:52] = 0
    cells[24:36, 50:52] = 255
    Image.fromarray(cells).save(tmp_path / "room.pgm")
    (tmp_path / "room.yaml").write_text("image: room.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n")
    return tmp_path


def test_a_plan_is_told_and_drawn(place: Path) -> None:
    done = plan("room.yaml", "--start", "2,2,0", "--goal", "8,4,90", "-o", "way.png", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "m in" in done.stdout
    assert (place / "way.png").read_bytes().startswith(b"\x89PNG")


def test_a_path_that_needs_no_search_is_said_to_be_direct(place: Path) -> None:
    done = plan("room.yaml", "--start", "1,3,0", "--goal", "3,3,0", cwd=place)
    assert "(direct path; no search needed)." in " ".join(done.stdout.split())


def test_json_is_one_object_and_its_arcs_lead_to_the_goal(place: Path) -> None:
    done = plan("room.yaml", "--start", "2,2,0", "--goal", "8,4,90", "--json", cwd=place)
    said = json.loads(done.stdout)
    assert said["goal_error_m"] < 1e-6
    assert said["length_m"] == pytest.approx(sum(arc["length_m"] for arc in said["arcs"]))
    assert not list(place.rglob("*.png"))


def test_a_search_whose_time_is_over_names_the_option(place: Path) -> None:
    planner = HybridAStar(MAPS["office"](2))
    ends = queries(planner, 2, 159)[158]
    np.save(place / "office.npy", planner.grid.occupancy)
    start, goal = (f"{x},{y},{math.degrees(heading)}" for x, y, heading in ends)
    words = "office.npy", "--resolution", 0.1, "--start", start, "--goal", goal, "--json"
    done = plan(*words, "--timeout", 1e-6, cwd=place)
    assert done.returncode == 2
    assert (
        "No path from start to goal was found within 1e-06 s. There may still be one: raise --timeout." in done.stderr
    )
    assert len(done.stderr.strip().splitlines()) == 1
    assert plan(*words, cwd=place).returncode == 0


def test_a_bundled_map_is_planned_by_name_and_drawn_into_the_folder_for_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(pliant.__path__[0])
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*") if "__pycache__" not in path.parts}
    done = plan("flat", "--start", "1,1,0", "--goal", "6,4,90", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Picture: out/flat-plan.png" in done.stdout
    assert (tmp_path / "out" / "flat-plan.png").is_file()
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path / "results"))
    assert plan("tasks/maps/flat.yaml", "--start", "1,1,0", "--goal", "6,4,90", cwd=tmp_path).returncode == 0
    assert (tmp_path / "results" / "flat-plan.png").is_file()
    after = {path: path.stat().st_mtime_ns for path in package.rglob("*") if "__pycache__" not in path.parts}
    assert after == before


def test_two_maps_that_differ_only_in_their_kind_get_a_picture_each(place: Path) -> None:
    for name in ("room.yaml", "room.pgm"):
        done = plan(name, "--start", "1,1,0", "--goal", "2,2,90", cwd=place)
        assert done.returncode == 0, done.stderr
    assert {path.name for path in (place / "out").iterdir()} == {"room-plan.png", "room.pgm-plan.png"}


WIDE = [word for part in ("width_m=1.4", "front_m=0.7", "rear_m=0.7") for word in ("--set", f"footprint.{part}")]
BAD = {
    "a start in the wall": (("room.yaml", "--start", "5.05,1,0", "--goal", "8,4,0"), "start"),
    "a goal in the wall": (("room.yaml", "--start", "2,2,0", "--goal", "5.05,1,0"), "goal"),
    "a goal off the map": (("room.yaml", "--start", "2,2,0", "--goal", "50,4,0"), "not on the map"),
    "a heading without digits": (("room.yaml", "--start", "2,2,0", "--goal", "8,4,1e300"), "heading"),
    "a picture over the map": (("room.yaml", "--start", "2,2,0", "--goal", "8,4,0", "-o", "room.yaml"), "--output"),
    "a resolution that the map has": (
        ("room.yaml", "--start", "2,2,0", "--goal", "8,4,0", "--resolution", "1"),
        "room.yaml sets resolution and origin. Leave out --",
    ),
    "no number": (("room.yaml", "--start", "2,x,0", "--goal", "8,4,0"), "--start"),
    "not a number": (("room.yaml", "--start", "2,nan,0", "--goal", "8,4,0"), "--start"),
    "two numbers": (("room.yaml", "--start", "2,2", "--goal", "8,4,0"), "--start"),
    "no such file": (("rome.yaml", "--start", "2,2,0", "--goal", "8,4,0"), "rome.yaml"),
    "no such name": (("flatt", "--start", "2,2,0", "--goal", "8,4,0"), "Did you mean 'flat'?"),
    "a folder": ((".", "--start", "2,2,0", "--goal", "8,4,0"), "is a folder"),
    "no map": (("room.txt", "--start", "2,2,0", "--goal", "8,4,0"), "room.txt"),
    "no such setting": (("room.yaml", "--start", "2,2,0", "--goal", "8,4,0", "--set", "radus_m=1"), "radius_m"),
    "a base that does not fit": (("room.yaml", "--start", "2,2,0", "--goal", "8,4,0", *WIDE), "No path exists"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_leaves_no_picture(place: Path, case: str) -> None:
    words, named = BAD[case]
    done = plan(*words, cwd=place)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pliant: ")
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(place.rglob("*.png"))
