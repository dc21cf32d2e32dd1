"""Tasks: found by name or path, and every mistake in one is named with its place and what is allowed."""

import traceback
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import pliant
from pliant.errors import InputError, PliantError, UnknownNameError
from pliant.mobile.mission.mission_task import find_mission
from pliant.mobile.planning.map_files import load_map
from pliant.params.declare import validated
from pliant.session.in_process.fast_run import simulate
from pliant.task.bundled_files import bundled_files
from pliant.task.schema import Task, arm_of, check_fits, is_mission, load_task


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- finding -------------------------------------------------------------------------------------------------------


SHIPPED = sorted(Path(str(entry)) for entry in (resources.files("pliant") / "tasks").iterdir() if entry.is_file())


@pytest.mark.parametrize("name", [path.name for path in SHIPPED if not is_mission(path)])
def test_every_task_that_comes_along_is_found_by_name_and_can_begin(here: Path, name: str) -> None:
    task = load_task(name.removesuffix(".yaml"))
    assert load_task(f"tasks/{name}") == task
    assert task.name == name.removesuffix(".yaml")
    short = task.model_copy(update={"duration_s": 0.01})
    assert len(simulate(short).records) == short.ticks


def test_a_file_of_ones_own_comes_before_one_that_comes_along(here: Path) -> None:
    (here / "push.yaml").write_text("duration_s: 1.5\n")
    assert load_task("push.yaml").duration_s == 1.5
    assert load_task("push").duration_s != 1.5
    assert load_task(here / "push.yaml") == load_task(str(here / "push.yaml"))


def test_a_folder_of_that_name_does_not_hide_a_task(here: Path) -> None:
    (here / "push").mkdir()
    assert load_task("push").name == "push"


def test_python_finds_a_task_by_name_as_the_command_line_does(here: Path) -> None:
    assert pliant.load_task("hand_guiding").law == "admittance"
    assert pliant.load_task(Path("hand_guiding")) == pliant.load_task("tasks/hand_guiding.yaml")


def test_a_file_without_suffix_wins_over_a_bundled_name(here: Path) -> None:
    (here / "push").write_text("duration_s: 1.5\n")
    assert load_task("push").duration_s == 1.5


def test_an_unknown_name_lists_the_tasks_there_are(here: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'pusch'.*Did you mean 'push'.*demo"):
        load_task("pusch")


@pytest.mark.parametrize("name", ["nowhere/task.yaml", "task.yml", "run.mcap", "nowhere/push", "push.yaml", "tasks/no"])
def test_a_file_that_does_not_exist_is_named_beside_the_bundled_names(here: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}.*conservative_start, demo, dome.*push"):
        load_task(name)


def test_a_bundled_map_is_found_by_name_and_a_file_of_ones_own_wins(here: Path) -> None:
    bundled = load_map("flat")
    assert load_map("tasks/maps/flat.yaml").occupancy.tobytes() == bundled.occupancy.tobytes()
    (here / "flat.npy").write_bytes(b"")
    with pytest.raises(InputError, match=r"flat\.npy"):
        load_map("flat.npy")
    with pytest.raises(UnknownNameError, match=r"Unknown map 'flatt'.*Did you mean 'flat'"):
        load_map("flatt")
    with pytest.raises(InputError, match=r"other/flat\.yaml.*Maps that come with Pliant: flat"):
        load_map("other/flat.yaml")


def test_a_mission_of_ones_own_may_name_a_bundled_map(here: Path) -> None:
    (here / "trip.yaml").write_text("kind: mission\nmap: flat\nstart: [1, 1, 0]\ngoal_m: [8.3, 3, 0.75]\n")
    mission = find_mission("trip.yaml")
    assert mission is not None
    assert Path(mission.map) == bundled_files("map")["flat"].resolve()


# ---- reading -------------------------------------------------------------------------------------------------------


def test_a_file_gives_its_name_to_a_task_without_one(here: Path) -> None:
    (here / "grind.yaml").write_text("robot: sim:ur10e\n")
    (here / "other.yaml").write_text("name: polish\n")
    assert load_task("grind.yaml").name == "grind"
    assert load_task("other.yaml").name == "polish"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("robot: sim:ur5e\nlaw: [hold\nrate_hz: 500\n", r"bad\.yaml:3.*valid YAML"),
        ("robot: sim:ur5e\n\tlaw: hold\n", r"bad\.yaml:2.*valid YAML"),
        ("law: hold\nrate_hz: 250\nlaw: admittance\n", r"bad\.yaml:3: law is given twice\. Remove one\.$"),
        ("params:\n  sense:\n    cutoff_hz: 20\n    cutoff_hz: 30\n", r"bad\.yaml:4: cutoff_hz is given twice"),
        ("start_q: [0, 1\n", r"bad\.yaml:2 is not valid YAML: expected ',' or ']', but the file ended\. Check"),
        ("map: maps/flat.yaml\n", r"bad\.yaml: unknown entry 'map'\. For a mission, add kind: mission\.$"),
        ("a: 1\n---\nb: 2\n", r"bad\.yaml:2.*valid YAML"),
        ("name: \x07\n", r"bad\.yaml.*valid YAML"),
        ("name: 2024-99-99\n", r"bad\.yaml.*valid YAML"),
        ("- hold\n- push\n", r"bad\.yaml.*mapping"),
        ("hold", r"bad\.yaml.*mapping"),
        ("", r"bad\.yaml is empty, not a task\. A task file has entries such as robot: sim:ur5e"),
        (
            "duration_s: 2\nevents: [{at_s: 5, stop: true}]\n",
            r"bad\.yaml: events\[0\]\.at_s is 5 s, but the task ends after duration_s = 2 s",
        ),
        (
            "duration_s: 1\nsim: {pushes: [{at_s: 3, wrench: [5, 0, 0, 0, 0, 0]}]}\n",
            r"bad\.yaml: sim\.pushes\[0\]\.at_s is 3 s, but the task ends after duration_s = 1 s",
        ),
        ("events: [{at_s: 1, command: go}]\n", r"unknown events\[0\]\.command 'go'. Known: abort, pause"),
        ("sim: {pushes: [{at_s: 1, wrench: [1, 2, 3]}]}\n", r"must be 6 numbers: force \[N\], then moment \[N m\]\.$"),
        ("tool: {com_m: [0, 0]}\n", r"bad\.yaml: tool\.com_m is \[0, 0\], but it must be 3 numbers \[m\]\.$"),
        ("tool: {mass_kg: -1}\n", r"bad\.yaml: tool\.mass_kg is -1 kg, but it must be 0 to 1000 kg\.$"),
    ],
)
def test_what_is_not_yaml_is_refused_with_its_line(here: Path, text: str, words: str) -> None:
    (here / "bad.yaml").write_text(text)
    with pytest.raises(InputError, match=words):
        load_task("bad.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "alice:sesame\nroot:sesame\n", "sesame\n", "- sesame\n", "*sesame\n", "!sesame sesame\n", "!sesame!x sesame\n",
        "alice:sesame\n\tsesame: [sesame\n", "alice: &sesame [sesame\n}sesame\n", '"sesame\\qsesame"\n',
        "alice: sesame\nroot: {bob: sesame}\n", "alice: sesame: sesame\n", "alice: 'sesame\n",
        "%sesame\n@sesame\n", "alice: sesame\nalice: sesame\n",
    ],
)  # fmt: skip
def test_a_file_that_is_no_task_is_refused_without_showing_its_text(here: Path, text: str) -> None:
    (here / "decoy").write_text(text)
    with pytest.raises(PliantError) as caught:
        load_task("decoy")
    assert "decoy" in str(caught.value)
    assert "sesame" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
def test_what_is_not_a_text_file_is_refused(here: Path, content: bytes | None) -> None:
    path = here / "bad.yaml"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.yaml"):
        load_task(path)


@pytest.mark.parametrize(
    ("text", "field", "allowed"),
    [
        ("robott: sim:ur5e", "robott", "unknown entry"),
        ("params: {sense: {cutoff: 3}}", "params.sense.cutoff", "unknown entry"),
        ("sim: {sensor: {noise: 3}}", "sim.sensor.noise", "unknown entry"),
        ("events: [{at: 3}]", "events[0].at", "unknown entry"),
        ("rate_hz: fast", "rate_hz", "a number"),
        ("rate_hz: [500]", "rate_hz", "a number"),
        ("law: springy", "law", "Known: admittance, contact, hold, impedance"),
        ("interface: pneumatic", "interface", "'position'"),
        ("start_q: 0.3", "start_q", r"a list of numbers \[rad\]"),
        ("start_q: [a, b]", "start_q[0]", "a number"),
        ("duration_s: 0", "duration_s", "greater than 0"),
        ("duration_s: .inf", "duration_s", "finite|at most"),
        ("duration_s: .nan", "duration_s", "finite|greater"),
        ("params: {admittance: {mass: [1, 2, 3]}}", "params.admittance.mass", "six numbers"),
        ("params: {admittance: {mass: [1, 1, 1, 1, 1, 0]}}", "params.admittance.mass", "greater than 0"),
        ("params: [1]", "params", "must be"),
        ("sim: {seed: 1.5}", "sim.seed", "a whole number"),
        ("events: [{at_s: -1}]", "events[0].at_s", "at least 0"),
        ("events: [{stop: true}]", "events[0].at_s", "is missing"),
        ("sim: {pushes: [{wrench: [5, 0, 0, 0, 0, 0]}]}", "sim.pushes[0].at_s", "is missing"),
        ("sim: {pushes: [{at_s: 1}]}", "sim.pushes[0].wrench", "is missing"),
        ("sim: {surfaces: [{kind: plane}]}", "sim.surfaces[0].position_m", "is missing"),
        (
            "sim: {pushes: [{at_s: 1, wrnch: [5]}]}",
            "sim.pushes[0].wrnch",
            r"mean 'sim\.pushes\[0\]\.wrench'\?[^(]*$",
        ),
        ("name: ''", "name", "at least one character long"),
        ("notes: 3", "notes", "a list of strings"),
        ("events: {at_s: 1}", "events", "must be"),
        ("1: 2", "1", "must be"),
    ],
)
def test_a_wrong_entry_is_named_with_what_is_allowed(here: Path, text: str, field: str, allowed: str) -> None:
    (here / "bad.yaml").write_text(text + "\n")
    with pytest.raises(InputError, match=allowed) as caught:
        load_task("bad.yaml")
    assert caught.value.field == field
    assert str(caught.value).startswith("bad.yaml: ")


# ---- bounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate_hz", [125, 1000])
def test_the_slowest_and_the_fastest_rate_run(rate_hz: float) -> None:
    task = validated(Task, {"rate_hz": rate_hz, "duration_s": 0.2})
    run = simulate(task)
    assert len(run.records) == task.ticks == round(0.2 * rate_hz)
    assert run.records["time_s"][-1] == pytest.approx(0.2 - 1 / rate_hz)
    assert run.records["reading"]["stamp_s"][-1] == pytest.approx(0.2 - 1 / rate_hz)


@pytest.mark.parametrize("rate_hz", [124.9, 1000.1, 0, -500])
def test_a_rate_out_of_bounds_is_refused(rate_hz: float) -> None:
    with pytest.raises(InputError, match="rate_hz"):
        validated(Task, {"rate_hz": rate_hz})


@pytest.mark.parametrize(
    ("start_q", "words"),
    [
        ((0.0,) * 5, r"start_q has 5 values, but ur5e has 6 joints\."),
        ((0.0,) * 7, r"start_q has 7 values, but ur5e has 6 joints\."),
        ((0.0, 0.0, 0.0, 0.0, 0.0, 6.5), r"start_q\[5\] is 6\.5 rad, but wrist_3_joint allows -6\.283 to 6\.283 rad\."),
        ((0.0, -90.0, 0.0, 0.0, 0.0, 0.0), r"start_q\[1\] is -90 rad, but shoulder_lift_joint .* Angles are in rad\."),
    ],
)
def test_a_start_that_the_arm_cannot_take_is_refused(start_q: tuple[float, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate(validated(Task, {"start_q": start_q}))


def test_a_run_starts_where_it_is_told_to() -> None:
    start = (0.1, -1.2, 1.1, -1.3, -1.4, 0.2)
    run = simulate(validated(Task, {"start_q": start, "duration_s": 0.1}))
    assert run.records["reading"]["q"][0, :6].tolist() == list(start)
    assert run.records["reading"]["q"][-1, :6] == pytest.approx(start, abs=1e-6)


def test_an_event_without_an_action_is_refused() -> None:
    with pytest.raises(InputError, match=r"events\[1\] does nothing\. Add one of set, law, "):
        simulate(validated(Task, {"events": [{"at_s": 0.1, "stop": True}, {"at_s": 0.2}]}))


@pytest.mark.parametrize("task", ["push", 3])
def test_only_a_task_is_simulated(task: Any) -> None:
    with pytest.raises(InputError, match=r"simulate needs a Task\. Use pliant\.(load_task\('push'\)|Task or )"):
        simulate(task)


@pytest.mark.parametrize("name", [None, 3, ""])
def test_what_is_no_name_of_a_task_is_refused(name: Any) -> None:
    with pytest.raises(
        InputError, match=r"the task is .*, but it must be the name of a task, or the path of a task file"
    ):
        load_task(name)


def test_too_many_events_are_refused() -> None:
    events: list[dict[str, Any]] = [{"at_s": 0.1, "stop": True}] * 101
    assert validated(Task, {"events": events[:100]})
    with pytest.raises(PliantError, match="events"):
        validated(Task, {"events": events})


def test_an_arm_that_cannot_turn_its_tool_is_no_arm_for_contact() -> None:
    task = validated(Task, {"robot": "sim:two_link", "law": "contact"})
    with pytest.raises(InputError, match="6 joints or more, and two_link has 2"):
        check_fits(task, arm_of(task))
