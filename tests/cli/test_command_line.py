"""The command line as a user meets it: by its output and its exit code, mostly in a process of its own."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from pliant.cli.options import AMPLITUDE_DEG, AMPLITUDE_MM, RANGES
from pliant.identify.delay_motion import Excitation
from pliant.identify.payload_fit import LEAST_POSES
from pliant.identify.payload_motion import MOST_POSES
from pliant.loop.boards.board_files import board_folder
from pliant.params.declare import limits_of
from pliant.record import Recording, RecordingWriter
from pliant.task.schema import Task, arm_of, load_task
from pliant.world.world_config import SimConfig
from support.needs import needs
from support.words import pliant, say

SHORT = "name: short\nrobot: sim:ur5e\nlaw: admittance\nduration_s: 0.3\n"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    (folder / "short.yaml").write_text(SHORT)
    done = pliant("run", "short.yaml", "--record", "short.mcap", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "short.mcap"


def await_line(lines: IO[str], words: str) -> None:
    """Read what a program says until it has said this."""
    for line in lines:
        if words in line:
            return
    raise AssertionError(f"it has ended without saying: {words}")


BAD = {
    "an unknown verb": ("fly",),
    "an unknown experiment": ("experiment", "pres"),
    "an unknown arm": ("run", "push", "--robot", "sim:ur7"),
    "an unknown kind of robot": ("run", "push", "--robot", "kuka:1"),
    "a robot without a kind": ("run", "push", "--robot", "ur5e"),
    "a virtual mass below zero": ("run", "lab", "--fast", "--set", "impedance.mass=-1"),
    "an impossible rate": ("run", "push", "--rate", "5000"),
    "a rate that is no number": ("run", "push", "--rate", "fast"),
    "a task that is not there": ("run", "missing.yaml"),
    "a task that is no YAML": ("run", "bad.yaml"),
    "a task with a key given twice": ("run", "twice.yaml"),
    "an unknown parameter": ("run", "push", "--set", "admittance.stifness=1"),
    "a value out of bounds": ("run", "push", "--set", "admittance.mass=-1"),
    "an assignment without a value": ("run", "push", "--set", "admittance.mass"),
    "an unreadable URDF": ("run", "push", "--robot", "sim:broken.urdf"),
    "a URDF that is not there": ("run", "push", "--robot", "sim:missing.urdf"),
    "a recording that is not there": ("plot", "missing.mcap"),
    "a file that is no recording": ("plot", "bad.yaml"),
    "a replay of a file that is no recording": ("replay", "bad.yaml"),
    "a diagnosis of a file that is no recording": ("doctor", "bad.yaml"),
    "a diagnosis of nothing": ("doctor", "missing.mcap"),
    "a rival that there is not": ("experiment", "compare", "--rival", "satur"),
    "an option that the experiment has not": ("experiment", "press", "--rival", "saturated"),
    "an option of an experiment without its value": ("experiment", "compare", "--record"),
    "an option before the experiment": ("experiment", "--rival", "saturated", "compare"),
    "an unknown benchmark": ("bench", "everything"),
    "a missing argument": ("run",),
    "watching while simulating": ("run", "push", "--fast", "--watch"),
    "watching a task that is not yours": ("run", "push", "--watch"),
    "a name for a loop that there is not": ("run", "push", "--fast", "--name", "mine"),
    "a loop that does not run": ("set", "--loop", "nobody"),
    "undo of a value": ("set", "--undo", "sense.cutoff_hz", "3"),
    "information on nothing": ("info", "nothing"),
    "no time to plan in": ("plan", "map.yaml", "--start", "0,0,0", "--goal", "1,0,0", "--timeout", "0"),
    "a setting of ROS 2 as a parameter": ("run", "push", "--set", "ros2.node=left"),
    "a word too many": ("replay", "one.mcap", "two.mcap"),
}


@pytest.mark.parametrize("words", BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence_and_exit_code_two(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("law: [admittance\nrobot: :\n")
    (tmp_path / "twice.yaml").write_text("law: hold\nrate_hz: 500\nlaw: hold\n")
    (tmp_path / "broken.urdf").write_text("<robot name='x'><link name='a'></robot>")
    done = say(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    said = done.stderr.strip().splitlines()
    assert said[-1].startswith("pliant: ")
    assert len(said[-1]) > 25
    assert list(tmp_path.glob("*.mcap")) == []


def test_the_doctor_finds_nothing_in_a_sound_run_and_says_what_it_looked_at(recording: Path, tmp_path: Path) -> None:
    done = say("doctor", recording, "--plot", tmp_path / "doctor.png")
    assert done.returncode == 0, done.stderr
    assert "No problems found." in done.stdout
    assert "frozen sensor" in done.stdout
    assert (tmp_path / "doctor.png").read_bytes().startswith(b"\x89PNG")


def test_the_doctor_says_what_is_wrong_with_cause_and_remedy_and_exit_code_one(recording: Path, tmp_path: Path) -> None:
    loaded = Recording.load(recording)
    records = loaded.records.copy()
    records["reading"]["wrench"][50:] = records["reading"]["wrench"][50]
    with RecordingWriter(tmp_path / "frozen.mcap", loaded.meta, loaded.joint_names) as writer:
        writer.append(records)
    done = say("doctor", tmp_path / "frozen.mcap")
    assert done.returncode == 1
    assert "Alarm: frozen sensor" in done.stdout
    assert "Remedy: Check the sensor" in done.stdout
    said = json.loads(say("doctor", tmp_path / "frozen.mcap", "--json").stdout)
    assert said["healthy"] is False
    assert said["findings"][0]["name"] == "frozen sensor"
    assert said["findings"][0]["spans_s"] == [[pytest.approx(0.102), pytest.approx(0.3)]]


@needs("ompl")
def test_a_package_that_counts_its_leftovers_has_none_at_the_end() -> None:
    code = "import sys, ompl.base; sys.argv = ['pliant', '--version']; from pliant.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_word_at_all_shows_the_help_and_complains_of_nothing() -> None:
    done = say()
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout


def test_the_help_shows_a_flag_without_a_value_and_names_the_kind_of_other_values() -> None:
    text = say("push", "--help").stdout
    assert "<bool>" not in text
    assert "--duration" in text
    assert "NUMBER" in text
    assert "[OPTIONS] FORCE..." in text


def test_an_admittance_on_an_arm_with_two_joints_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    from pliant.cli.running.run_task import say_start

    planar, jointed = (Task(robot=robot, law="admittance") for robot in ("sim:two_link", "sim:ur5e"))
    say_start(planar, arm_of(planar))
    assert "two_link has 2 joints, but admittance controls six directions." in " ".join(capsys.readouterr().out.split())
    say_start(jointed, arm_of(jointed))
    assert "Note:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("run", "push", "--rate", "fast"),
            "--rate is 'fast', but it must be a number. Try 'pliant run --help'.",
        ),
        (("run",), "TASK is missing. Try 'pliant run --help'."),
        (("run", "push", "--fast", "--watch"), "--watch needs a real-time run, so it cannot be combined with --fast."),
        (
            ("run", "wrong.yaml"),
            "wrong.yaml: unknown entry 'params.sense.cutof_hz'. Did you mean 'params.sense.cutoff_hz'?",
        ),
        (
            ("run", "tool.yaml"),
            "tool.yaml: unknown entry 'tool.mass'. Did you mean 'tool.mass_kg'? Known in tool: com_m,",
        ),
        (("run", "push.yaml"), "push.yaml: unknown entry 'sim.pushes[0].wrnch'. Did you mean 'sim.pushes[0].wrench'?"),
        (("run", "bad.yaml"), "bad.yaml:2 is not valid YAML: "),
        (("run", "idle.yaml", "--fast"), "idle.yaml: events[0] does nothing. Add one of set, law, goal_q,"),
        (("check", "idle.yaml"), "idle.yaml: events[0] does nothing. Add one of set, law, goal_q,"),
        (
            ("identify", "delay", "push", "--fast", "--robot", "sim:ur5e#3"),
            "ur5e is a built-in arm. Leave out #3.",
        ),
        (("run", "push", "--rate", "2000"), "--rate is 2000 Hz, but it must be 125 to 1000 Hz."),
        (("run", "push", "--seed", "-1"), "--seed is -1, but it must be 0 to 2147483647."),
        (("run", "push", "--seed", "1.5"), "--seed is '1.5', but it must be a whole number."),
        (("push", "1", "2", "--duration", "-1"), "--duration is -1 s, but it must be more than 0 and at most 60 s."),
        (("tare", "--duration", "nan"), "--duration is nan, but it must be 0.05 to 5 s."),
        (("emulate", "--duration", "nan"), "--duration is nan, but it must be 0.1 to 86400 s."),
        (
            ("plan", "flat", "--start", "1,1,0", "--goal", "6,4,90", "--timeout", "nan"),
            "--timeout is nan, but it must be more than 0 and at most 86400 s.",
        ),
        (("studio", "--port", "70000"), "--port is 70000, but it must be 0 to 65535."),
        (("emulate", "--task", "start.yaml"), "start.yaml: start_q has 2 values, but ur5e has 6 joints."),
        (("runn",), "Unknown command 'runn'. Did you mean 'run'? Try 'pliant --help'."),
        (("run", "push", "--robott", "x"), "Unknown option --robott. Did you mean --robot? Try 'pliant run --help'."),
        (("info", "foo"), "'foo' is not a robot, file or task. Examples: sim:ur5e, my_arm.urdf, push."),
        (("info", "fetch"), "fetch is a mission; pliant info does not support missions."),
    ],
)
def test_each_mistake_has_its_own_sentence(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("params: {sense: {cutof_hz: 3}}\n")
    (tmp_path / "idle.yaml").write_text("events: [{at_s: 1}]\n")
    (tmp_path / "start.yaml").write_text("start_q: [1, 2]\n")
    (tmp_path / "tool.yaml").write_text("tool: {mass: 3}\n")
    (tmp_path / "push.yaml").write_text("sim: {pushes: [{wrnch: 3}]}\n")
    (tmp_path / "bad.yaml").write_text("law: [admittance\nrobot: :\n")
    done = say(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_robot_that_is_not_there_is_refused_before_its_start_is_told(tmp_path: Path) -> None:
    for words in ((), ("--fast",)):
        done = say("run", "push", "--robot", "sim:missing.urdf", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")


def test_the_ranges_of_options_are_those_of_the_fields_they_set() -> None:
    task, sim = limits_of(Task), limits_of(SimConfig)
    for name, field in (("rate", "rate_hz"), ("duration", "duration_s")):
        allowed = RANGES["run"][name]
        least, most = task[field]
        assert least is not None
        assert not allowed.allows(least - 1e-3)
        assert allowed.allows(least)
        assert allowed.high == most
    assert (RANGES["run"]["seed"].low, RANGES["run"]["seed"].high) == sim["seed"]
    motion = limits_of(Excitation)
    for name, field in (("bandwidth", "bandwidth_hz"), ("duration", "seconds")):
        assert (RANGES["identify"][name].low, RANGES["identify"][name].high) == motion[field]
    assert (RANGES["identify"]["poses"].low, RANGES["identify"]["poses"].high) == (LEAST_POSES, MOST_POSES)
    assert (AMPLITUDE_MM.low / 1e3, AMPLITUDE_MM.high / 1e3) == pytest.approx(motion["amplitude_m"])
    least, most = motion["amplitude_rad"]
    assert least is not None
    assert most is not None
    assert least <= math.radians(AMPLITUDE_DEG.low) <= 1.1 * least
    assert 0.9 * most <= math.radians(AMPLITUDE_DEG.high) <= most


def test_info_shows_joints_home_payload_and_what_was_assumed() -> None:
    ur = say("info", "sim:ur10e").stdout
    assert "wrist_3_joint" in ur
    assert "Maximum payload: 12.5 kg" in ur
    seven = " ".join(say("info", Path(__file__).parent.parent / "data" / "seven_joints.xml").stdout.split())
    assert "seven_joints: 7 joints" in seven
    assert "The joints have no speed limit; 2 rad/s is assumed." in seven
    assert "The joints have no acceleration limit; 10 rad/s² is assumed" in seven
    assert "The tool is mounted on " in seven
    assert "0.8 kg, tool point at [0, 0, 0.15] m" in " ".join(say("info", "push").stdout.split())


def test_info_shows_where_the_tool_of_a_task_starts(tmp_path: Path) -> None:
    (tmp_path / "there.yaml").write_text("robot: sim:ur5e\nstart_q: [1.0, -1.2, 1.5, -1.571, -1.571, 0]\n")
    said = " ".join(say("info", "there.yaml", cwd=tmp_path).stdout.split())
    task = load_task(tmp_path / "there.yaml")
    x, y, z = arm_of(task).pose(task.start_q)[:3].round(6)
    assert f"Start pose of the tool (start_q): position [{x:g}, {y:g}, {z:g}] m" in said
    assert "Start pose" not in say("info", "push").stdout


def test_a_duplicate_key_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text("law: hold\nrate_hz: 500\nlaw: hold\n")
    done = say("run", "twice.yaml", cwd=tmp_path)
    assert "twice.yaml:3" in done.stderr
    assert "law is given twice. Remove one." in done.stderr


def test_json_is_exactly_one_object_and_agrees_with_the_exit_code() -> None:
    done = say("experiment", "servo", "--json", "--seed", "5")
    found = json.loads(done.stdout)
    assert set(found) == {"name", "seed", "seconds", "figures", "passed"}
    assert (found["name"], found["seed"]) == ("servo", 5)
    assert all(set(figure) == {"name", "value", "unit", "target", "met"} for figure in found["figures"])
    assert found["passed"] == all(figure["met"] for figure in found["figures"])
    assert done.returncode == (0 if found["passed"] else 1)


def test_the_sim_benchmark_prints_json_too() -> None:
    done = say("bench", "sim", "--json", "--duration", "0.5")
    found = json.loads(done.stdout)
    assert found["name"] == "sim"
    assert done.returncode == (0 if found["passed"] else 1)


def test_experiments_are_listed_without_a_name() -> None:
    done = say("experiment")
    assert done.returncode == 0
    assert "press" in done.stdout


def test_a_recorded_run_replays_without_a_difference(recording: Path) -> None:
    done = say("replay", recording)
    assert done.returncode == 0, done.stderr
    assert "150 ticks replayed, 0 gaps, largest difference 0." in done.stdout


def test_plot_makes_a_picture_and_a_page_that_asks_for_nothing_from_outside(recording: Path) -> None:
    done = say("plot", recording)
    assert done.returncode == 0, done.stderr
    assert recording.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    page = recording.with_suffix(".html").read_text()
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page


def test_a_truncated_recording_says_so_and_loads_in_part(recording: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(recording.read_bytes()[:-200])
    done = say("plot", cut)
    assert done.returncode == 2
    assert "truncated" in done.stderr
    assert "--partial" in done.stderr
    assert say("plot", cut, "--partial").returncode == 0


def test_a_fast_run_records_the_same_numbers_as_a_paced_one(recording: Path) -> None:
    from pliant.record.reader import Recording
    from pliant.session.in_process.rerun import difference

    fast = recording.with_name("fast.mcap")
    done = say("run", recording.with_name("short.yaml"), "--fast", "--record", fast)
    assert done.returncode == 0, done.stderr
    assert "real time" in done.stdout
    assert difference(Recording.load(fast).records, Recording.load(recording).records)[0] == 0.0


def test_ctrl_c_is_a_normal_stop_and_leaves_nothing_behind(tmp_path: Path) -> None:
    # slow: a recorder that gets next to nothing of a busy machine has to keep up
    task, text = tmp_path / "long.yaml", SHORT.replace("0.3", "600") + "rate_hz: 125\n"
    task.write_text(text)
    line = [sys.executable, "-u", "-m", "pliant.cli.main", "run", "long.yaml", "--record", "long.mcap", "--watch"]
    process = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    await_line(process.stdout, "Real-time scheduling: ")
    task.write_text(text + "params: {sense: {cutoff_hz: 33}}\n")
    await_line(process.stderr, "Applied: ")  # it has come as far as to look after its loop
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert "ticks" in out
    assert say("replay", "long.mcap", cwd=tmp_path).returncode == 0
    assert not [path for path in board_folder().iterdir() if path.name.startswith(f"pliant-{process.pid}-")]


def test_ctrl_c_while_simulating_is_told_in_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    line = [
        sys.executable,
        "-m",
        "pliant.cli.main",
        "run",
        "push",
        "--fast",
        "--duration",
        "9999",
        "--record",
        "a.mcap",
    ]
    process = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("push: admittance")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert err.strip() == "Stopped by Ctrl-C before the end. No result was produced."
    assert list(tmp_path.iterdir()) == []
