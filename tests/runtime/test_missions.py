"""Missions as files and in simulation: what is wrong is named, what happened is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from pliant.analysis.mission_figures import mission_figures, recorded_mission
from pliant.analysis.pictures.html_report import html
from pliant.analysis.pictures.mission_animation import save_animation
from pliant.analysis.pictures.run_picture import plot_recording
from pliant.errors import InputError, PliantError, RecordingError
from pliant.mobile.base.base_params import Base
from pliant.mobile.mission.mission_params import MissionBase, MissionWholeBody
from pliant.mobile.mission.mission_task import MissionTask, begun, changed_mission, find_mission, place_of
from pliant.mobile.mission.simulated_mission import FrozenOdometry, MissionRun, save_mission, simulate_mission
from pliant.mobile.mission.stages import pose_apart
from pliant.mobile.whole_body.body_params import WholeBody
from pliant.mobile.whole_body.simulated_body import SimBody
from pliant.params.declare import Section, declared, layout_of, limits_of
from pliant.record import Recording
from pliant.ros2.message_types import typestore
from pliant.session.in_process.rerun import replay
from pliant.task.schema import Task, load_task

NEAR = ["start=6.0,2.2,0"]
"""A start from which the mission that comes along takes seconds."""


def fetch(*changes: str) -> MissionTask:
    task = find_mission("fetch")
    assert task is not None
    return changed_mission(task, list(changes))


@pytest.fixture(scope="module")
def run() -> MissionRun:
    return simulate_mission(fetch(*NEAR))


@pytest.fixture(scope="module")
def recording(run: MissionRun, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    path = tmp_path_factory.mktemp("mission") / "fetch.mcap"
    save_mission(run, path)
    return Recording.load(path)


# ---- in simulation -------------------------------------------------------------------------------------------------


def test_the_mission_that_comes_along_ends_with_the_tool_at_its_goal(run: MissionRun) -> None:
    assert [change.stage for change in run.log] == ["A", "B", "C", "done"]
    far, turned = pose_apart(run.tool, run.goal)
    assert far < 0.001
    assert turned < 0.002
    assert run.done
    assert run.reason == ""


@pytest.mark.slow
def test_on_wheels_it_does_too() -> None:
    run = simulate_mission(fetch(*NEAR, "sim.wheels=true"))
    assert run.done
    assert pose_apart(run.tool, run.goal)[0] < 0.003
    assert not run.records["base"]["slipping"].any()


class Blind:
    """A robot that says nothing new of its base from a moment on."""

    def __init__(self, robot: SimBody, at_s: float, said: Callable[[Any], Any]) -> None:
        self.robot, self._at_s, self._said, self.command = robot, at_s, said, robot.command
        self.write = robot.write

    def read(self, reading: Any, base: Any) -> None:
        before = base["pose"].copy(), base["wheels"].copy()
        self.robot.read(reading, base)
        if self.robot.world.record[0].time >= self._at_s:
            base["pose"], base["wheels"] = self._said(before[0]), before[1]


@pytest.mark.parametrize(
    ("said", "word"), [(lambda pose: pose, "old"), (lambda pose: np.full_like(pose, math.nan), "not finite")]
)
def test_a_base_that_is_lost_comes_to_rest(said: Callable[[Any], Any], word: str) -> None:
    robots: list[SimBody] = []

    def between(robot: SimBody) -> Blind:
        robots.append(robot)
        return Blind(robot, 2.5, said)

    run = simulate_mission(fetch("start=5.6,1.0,0"), between=between)
    assert run.log[-1].stage == "stopped"
    assert word in run.reason
    assert np.abs(robots[0].world.data.qvel).max() < 1e-6
    at = round(run.log[-2].time_s / run.task.dt)
    assert run.records["base"]["command"][at - 1, 0] > 0.2


def test_a_base_that_stands_is_not_taken_for_one_that_is_lost() -> None:
    watch = FrozenOdometry()
    for _ in range(1000):
        assert watch.update(b"same", np.zeros(2), 0.01) == 0.0
    for _ in range(50):
        watch.update(b"same", np.array((0.1, 0.0)), 0.01)
    assert watch.age_s == pytest.approx(0.5)
    assert watch.update(b"same", np.zeros(2), 0.01) == pytest.approx(0.5)  # what is lost does not come back by standing
    assert watch.update(b"new", np.array((0.1, 0.0)), 0.01) == 0.0


def test_told_to_stop_it_brakes_and_says_so() -> None:
    calls: list[int] = []

    def go_on() -> bool:
        calls.append(1)
        return len(calls) < 30

    run = simulate_mission(fetch(*NEAR), go_on=go_on)
    assert run.log[-1].stage == "stopped"
    assert "stop was requested" in run.reason
    np.testing.assert_array_equal(run.records["base"]["command"][-1], 0.0)
    np.testing.assert_array_equal(run.records["command"]["qd"][-1], 0.0)


# ---- what others hear ----------------------------------------------------------------------------------------------


def test_a_recording_has_twists_joint_targets_and_poses_for_the_tools_of_ros(
    run: MissionRun, recording: Recording
) -> None:
    with AnyReader([recording.path], default_typestore=typestore()) as reader:
        found: dict[str, list[Any]] = {}
        for connection, _, data in reader.messages():
            if not connection.topic.startswith("/pliant"):
                found.setdefault(connection.topic, []).append(reader.deserialize(data, connection.msgtype))
    assert [m.twist.linear.x for m in found["/cmd_vel"]] == run.records["base"]["command"][:, 0].tolist()
    assert [m.twist.angular.z for m in found["/cmd_vel"]] == run.records["base"]["command"][:, 1].tolist()
    assert {m.twist.linear.y for m in found["/cmd_vel"]} == {0.0}
    np.testing.assert_array_equal(found["/joint_command"][-1].position, run.records["command"]["q"][-1, :6])
    assert found["/base_pose"][-1].header.frame_id == "world"
    assert found["/base_pose"][-1].pose.position.x == run.records["base"]["pose"][-1, 0]
    end = found["/tool_pose"][-1].pose.position
    assert math.dist((end.x, end.y, end.z), run.goal[:3]) < 0.001


def test_a_recorded_mission_tells_the_same_as_the_run(run: MissionRun, recording: Recording) -> None:
    mission_log = recorded_mission(recording)
    assert mission_log.log == run.log
    assert mission_log.task == run.task
    np.testing.assert_array_equal(mission_log.grid.occupancy, run.grid.occupancy)
    assert mission_log.path is not None
    assert run.reach_pose is not None
    assert mission_log.path.length_m == pytest.approx(run.reach_pose.plan.path.length_m)
    figures = {figure.name: figure for figure in mission_figures(mission_log)}
    assert all(figure.met for figure in figures.values())
    assert figures["tool: position error"].value < 1.0
    assert figures["stage B: drive"].value == pytest.approx(run.log[2].time_s - run.log[1].time_s)
    driven, planned = figures["path: driven"].value, figures["path: planned"].value
    assert driven == pytest.approx(planned, rel=0.05)


def test_pictures_report_and_animation_come_from_the_recording(recording: Recording, tmp_path: Path) -> None:
    plot_recording(recording, tmp_path / "fetch.png")
    assert (tmp_path / "fetch.png").read_bytes().startswith(b"\x89PNG")
    page = html(recording)
    assert "Mission: C, because the base has stopped" in page
    assert save_animation(recorded_mission(recording), tmp_path / "fetch.gif") >= 1.0
    movie = (tmp_path / "fetch.gif").read_bytes()
    assert movie.startswith(b"GIF89a")
    assert 20_000 < len(movie) < 2_000_000


def test_a_mission_cannot_be_replayed_through_the_tick_of_an_arm(recording: Recording) -> None:
    with pytest.raises(RecordingError, match="is the recording of a mission"):
        replay(recording)


def test_a_recording_whose_map_is_gone_is_told(recording: Recording) -> None:
    recording.attachments.pop("map.npy")
    with pytest.raises(RecordingError, match="cannot be read"):
        recorded_mission(recording)


# ---- as a file -----------------------------------------------------------------------------------------------------

BAD = {
    "a start in a wall": (["start=4.95,1.0,0"], "start"),
    "a start off the map": (["start=40,1.0,0"], "not on the map"),
    "a goal too high": (["goal_m=7.75,3.3,3"], "cannot be reached"),
    "a goal in the middle of a wide obstacle": (["goal_m=6.0,6.6,0.85"], "obstacle"),
    "no way": (["planner.footprint.width_m=1.4", "planner.footprint.front_m=0.7", *NEAR], "touch an obstacle"),
    "a goal off the map": (["goal_m=60,60,0.85"], "are off the map, which extends from"),
    "a YAML map with a resolution beside": (["map_resolution_m=0.1"], "sets resolution and origin. Leave out"),
    "no number": (["start=nan,1,0"], "start"),
    "not a number": (["goal_m=7.75,x,1"], "goal_m"),
    "no such map": (["map=nowhere.yaml"], "nowhere.yaml"),
    "no map": (["map=fetch.txt"], "fetch.txt"),
    "no such parameter": (["travel.limit=3"], "travel.limit_s"),
    "no such arm": (["robot=sim:ur6e"], "ur6e"),
    "no such robot": (["robot=real:ur5e"], "real"),
    "a robot that is not simulated": (["robot=ur:ur5e@localhost"], "sim:<model>"),
    "too few joints": (["start_q=1,2,3"], "start_q"),
    "a park pose beyond the joints": (["park.q=9,9,9,9,9,9"], "park.q"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_done_is_refused_with_its_name_before_anything_moves(case: str) -> None:
    changes, word = BAD[case]
    with pytest.raises(PliantError, match=word):
        begun(fetch(*changes))


def written(folder: Path, text: str) -> str:
    (folder / "own.yaml").write_text(text)
    return str(folder / "own.yaml")


def test_a_mission_of_ones_own_finds_its_map_beside_it(tmp_path: Path) -> None:
    np.save(tmp_path / "hall.npy", np.zeros((40, 60), bool))
    task = find_mission(written(tmp_path, "kind: mission\nmap: hall.npy\nstart: [1, 1, 90]\ngoal_m: [2, 1.5, 0.8]\n"))
    assert task is not None
    assert task.name == "own"
    assert Path(task.map) == tmp_path / "hall.npy"
    assert task.start_pose == pytest.approx((1.0, 1.0, math.pi / 2))
    begun(changed_mission(task, ["goal_rpy_deg=180,0,-90"]))


@pytest.mark.parametrize(("section", "name", "value"), [("base", "forward_m_s", 0.7), ("whole_body", "gain_1_s", 6.0)])
def test_one_value_of_a_section_means_the_same_in_a_file_and_on_the_command_line(
    tmp_path: Path, section: str, name: str, value: float
) -> None:
    np.save(tmp_path / "hall.npy", np.zeros((40, 60), bool))
    text = "kind: mission\nmap: hall.npy\n"
    bare = find_mission(written(tmp_path, text))
    filed = find_mission(written(tmp_path, f"{text}{section}: {{{name}: {value}}}\n"))
    assert bare is not None
    assert filed is not None
    assert filed == changed_mission(bare, [f"{section}.{name}={value}"])
    assert filed.base.delay_s == 0.03
    assert filed.whole_body.facing == 0.0


@pytest.mark.parametrize("task", [MissionTask, Task])
def test_a_section_that_is_left_out_is_as_one_in_which_nothing_is_set(task: type[Section]) -> None:
    kinds = {name: field.annotation for name, field in task.model_fields.items()}
    nested = {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Section)}
    assert nested
    for name, kind in nested.items():
        assert task.model_fields[name].default == kind()


def test_base_and_whole_body_of_a_mission_differ_from_others_in_one_default_each() -> None:
    for own, other, name in ((MissionBase, Base, "delay_s"), (MissionWholeBody, WholeBody, "facing")):
        # kernels are compiled for the records, not for the names of sections
        assert layout_of(own).dtype == layout_of(other).dtype
        pairs = zip(declared(own), declared(other), strict=True)
        assert [mine.name for mine, theirs in pairs if mine != theirs] == [name]
        assert limits_of(own) == limits_of(other)


def test_an_image_is_a_map_with_the_resolution_and_origin_that_the_mission_gives(tmp_path: Path) -> None:
    np.save(tmp_path / "room.npy", np.zeros((40, 60), bool))
    text = "kind: mission\nmap: room.npy\nmap_resolution_m: 0.1\nmap_origin_m: [-3, -2]\n"
    task = find_mission(written(tmp_path, text))
    assert task is not None
    assert place_of(task)[1].extent == pytest.approx((-3.0, 3.0, -2.0, 2.0))


def test_the_search_for_a_way_ends_when_its_time_is_over() -> None:
    with pytest.raises(PliantError, match=r"No path was found to any of .* within the time limit \(travel\.search_s\)"):
        begun(fetch("travel.search_s=1e-9"))


def test_a_mission_that_was_prepared_is_not_prepared_again() -> None:
    task = fetch(*NEAR)
    prepared = begun(task)
    run = simulate_mission(task, go_on=lambda: False, prepared=prepared)
    assert run.body is prepared[0]
    assert run.log is prepared[2].log


def test_a_mission_without_a_map_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="map is missing"):
        find_mission(written(tmp_path, "kind: mission\n"))


def test_a_mistake_in_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"own\.yaml: park\.limit_s"):
        find_mission(written(tmp_path, "kind: mission\nmap: a.png\npark: {limit_s: -1}\n"))
    with pytest.raises(InputError, match="start"):
        find_mission(written(tmp_path, "kind: mission\nmap: a.png\nstart: [.nan, 0, 0]\n"))


def test_a_task_of_an_arm_is_no_mission_and_the_other_way_round() -> None:
    assert find_mission("push") is None
    with pytest.raises(PliantError, match="is a mission"):
        load_task("fetch")
