"""Laws from outside the package: they run like Pliant's own, and a bad one stops the robot safely."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.control.laws.registry import LAWS, PLIANTS
from pliant.errors import PliantError
from pliant.params.declare import changed, validated
from pliant.record.reader import Recording
from pliant.session.in_process.rerun import replay
from pliant.stability.guard import guard_change
from pliant.stability.worst_case import places
from pliant_experiments.scenes.contact_trial import TOOL, plane

EXAMPLE = Path(__file__).parents[2] / "examples" / "12_your_own_law.py"
DOWN = {"at_s": 0.1, "for_s": 2.4, "wrench": (0.0, 0.0, -20.0, 0.0, 0.0, 0.0)}

HEAD = """
import math
import pliant

class Params(pliant.Section):
    gain: float = pliant.param(1.0, live=True, ge=0, le=10, help="A number.")

@pliant.compiled
def step(tick, p, s, dt):
    for i in range(6):
        tick.twist[i] = 0.0
"""
BAD_STEPS = {
    "raises": "    if tick.wrench[2] < -5.0:\n        raise ValueError('too much')\n",
    "indexes outside": "    tick.twist[6 + int(abs(tick.wrench[2]))] = 0.0\n",
    "returns NaN": "    if tick.wrench[2] < -5.0:\n        tick.twist[0] = math.nan\n",
}


@pytest.fixture(autouse=True)
def only_pliants_laws() -> Any:
    yield
    for name in [name for name in LAWS if name not in PLIANTS]:
        del LAWS[name]


def written(folder: Path, body: str, name: str = "wild", ending: str = "") -> Path:
    path = folder / f"{name}.py"
    path.write_text(f'{HEAD}{body}\nLAW = pliant.own_law("{name}", Params, step{ending})\n')
    return path


def task_of(law: Path, **more: Any) -> pliant.Task:
    return validated(pliant.Task, {"law": str(law), "duration_s": 2.5, "sim": {"pushes": [DOWN]}, **more})


def test_the_example_moves_at_force_over_damping_and_stops_in_the_wall() -> None:
    run = pliant.simulate(task_of(EXAMPLE, params={"damper_wall": {"wall_z_m": 0.3}}))
    z, dt = run.records["state"]["pose"][:, 2], run.task.dt
    free = (z > 0.32) & (run.records["time_s"] > 0.4)
    assert np.diff(z[free]).mean() / dt == pytest.approx(-19.0 / 100.0, rel=0.02)  # 1 N of deadband
    assert 0.3 - z[-100] == pytest.approx(19.0 / 2000.0, rel=0.02)
    assert run.records["damper_wall"]["depth_m"][-100] == pytest.approx(0.3 - z[-100], abs=1e-4)
    assert run.fault == ""


def test_its_parameters_can_be_set_by_events_and_are_checked_like_all_others() -> None:
    softer = {"at_s": 1.6, "set": {"damper_wall.wall_n_m": 1000.0}}
    run = pliant.simulate(task_of(EXAMPLE, params={"damper_wall": {"wall_z_m": 0.3}}, events=[softer]))
    assert 0.3 - run.records["state"]["pose"][-100, 2] == pytest.approx(19.0 / 1000.0, rel=0.03)
    with pytest.raises(pliant.InputError, match=r"damper_wall\.wall_n_m is -1"):
        task_of(EXAMPLE, params={"damper_wall": {"wall_n_m": -1.0}})
    with pytest.raises(PliantError, match=r"damper_wall\.walls"):
        task_of(EXAMPLE, params={"damper_wall": {"walls": 1}})


def test_a_recording_of_it_replays_bit_for_bit(tmp_path: Path) -> None:
    law = tmp_path / "walls.py"
    shutil.copy(EXAMPLE, law)
    pliant.simulate(task_of(law)).save(tmp_path / "run.mcap")
    recording = Recording.load(tmp_path / "run.mcap")
    assert replay(recording).largest == 0.0
    law.write_text(law.read_text().replace("0.0, p.wall_z_m", "0.1, p.wall_z_m"))
    with pytest.raises(PliantError, match=r"walls\.py has changed since"):
        replay(recording)


def test_it_is_tuned_while_it_runs_in_a_process_of_its_own() -> None:
    with pliant.Session(task_of(EXAMPLE, duration_s=60.0)) as arm:
        arm.set({"damper_wall.damping_n_s_m": 200.0})
        assert arm.parameters.damper_wall.damping_n_s_m == 200.0  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(pliant.InputError, match=r"damper_wall\.damping_n_s_m is 1"):
            arm.set({"damper_wall.damping_n_s_m": 1.0})
        arm.law("hold")
        arm.law("damper_wall")
        assert arm.history()[-1][2] == {"damper_wall.damping_n_s_m": 200.0}


def test_a_law_of_an_installed_package_runs_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    about = site / "walls_for_pliant-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(EXAMPLE, site / "walls_for_pliant.py")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: walls-for-pliant\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[pliant.laws]\ndamper_wall = walls_for_pliant:LAW\n")
    with pytest.raises(PliantError, match="damper_wall"):
        validated(pliant.Task, {"law": "damper_wall"})
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)  # for the process of the loop
    given = {"law": "damper_wall", "duration_s": 60.0, "params": {"damper_wall": {"wall_z_m": 0.3}}}
    task = validated(pliant.Task, given)
    with pliant.Session(task) as arm:
        arm.set({"damper_wall.damping_n_s_m": 200.0})
        assert arm.parameters.damper_wall.damping_n_s_m == 200.0  # pyright: ignore[reportAttributeAccessIssue]
    pliant.simulate(task.model_copy(update={"duration_s": 0.5})).save(tmp_path / "run.mcap")
    assert replay(Recording.load(tmp_path / "run.mcap")).largest == 0.0


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("raises", "the law wild raised ValueError('too much') (wild.py:13), or used an index outside an array. "),
        ("indexes outside", "the law wild used an index outside an array. "),
        ("returns NaN", "the law wild returned a command that is not finite. "),
    ],
)
def test_a_law_that_fails_stops_the_arm_and_the_fault_names_it(what: str, sentence: str, tmp_path: Path) -> None:
    run = pliant.simulate(task_of(written(tmp_path, BAD_STEPS[what])))
    assert run.fault.startswith(sentence)
    last = run.records[-1]
    assert np.abs(last["reading"]["qd"]).max() < 2e-3
    assert all(np.isfinite(run.records["state"][name]).all() for name in ("q_cmd", "qd_cmd", "twist", "pose"))
    assert np.isfinite(run.records["command"]["q"]).all()


def test_a_law_cannot_exceed_the_tool_speed_limit(tmp_path: Path) -> None:
    wild = written(tmp_path, "    tick.twist[0] = 1e6 if int(tick.pose[0] * 1e4) % 2 == 0 else -1e6\n")
    task = task_of(wild)
    run = pliant.simulate(task)
    speed = np.linalg.norm(run.records["state"]["moved"][:, :3], axis=1)
    assert speed.max() <= task.params.limits.linear_speed_m_s * 1.001


def test_a_law_that_is_too_slow_is_stopped_with_a_sentence(tmp_path: Path) -> None:
    body = "    x = 1.0\n    for i in range(2_000_000):\n        x = math.sqrt(x + tick.pose[0] * i)\n    s.x = x\n"
    slow = written(tmp_path, body, "slow", ', state=(pliant.Field("x", "", "a number"),)')
    sentence = r"a tick with the law slow took .* ms, longer than the period of 2 ms"
    with pytest.raises(pliant.LoopError, match=sentence), pliant.Session(task_of(slow, duration_s=60.0)) as arm:
        arm.wait(60.0)


LAW = 'LAW = pliant.own_law("mine", Params, step)\n'
MISTAKES = {
    "no_law": ("x = 1\n", "contains no law: it must define LAW"),
    "syntax": ("def (:\n", "syntax.py:1: the law cannot be loaded: SyntaxError"),
    "crash": ("import pliant\n1 / 0\n", "crash.py:2: the law cannot be loaded: ZeroDivisionError"),
    "clash": (f'{HEAD}\nLAW = pliant.own_law("contact", Params, step)\n', "another one than hold, admittance"),
    "output": (f'{HEAD}\nLAW = pliant.own_law("mine", Params, step, output="magic")\n', "output of mine is 'magic'"),
    "types": (
        f'{HEAD}    open("x")\nLAW = pliant.own_law("mine", Params, step)\n',
        "types.py:12: the law mine cannot be",
    ),
    "tick_field": (
        f"{HEAD}    tick.wrnch[0] = 1.0\n{LAW}",
        "tick_field.py:12: tick has no field 'wrnch'. Did you mean 'wr",
    ),
    "parameter": (
        f"{HEAD}    x = p.gian\n{LAW}",
        "parameter.py:12: mine has no parameter 'gian'. Did you mean 'gain'?",
    ),
    "state_field": (
        f"{HEAD}    s.depth = 1.0\n{LAW}",
        "state_field.py:12: the state of mine has no field 'depth'. Known",
    ),
    "helper": (
        HEAD.replace("@pliant", "@pliant.compiled\ndef pushed(p):\n    return p.gian\n\n@pliant")
        + f"    x = pushed(p)\n{LAW}",
        "helper.py:10: mine has no parameter 'gian'. Did you mean 'gain'?",
    ),
    "undecorated": (
        f"{HEAD.replace('@pliant.compiled', '')}{LAW}",
        "undecorated.py:9: step must be decorated with @pl",
    ),
    "arguments": (
        f"{HEAD.replace('s, dt', 's')}{LAW}",
        "arguments.py:9: step takes (tick, p, s), but it must take (tick,",
    ),
    "name": (
        f'{HEAD}\nLAW = pliant.own_law("my law", Params, step)\n',
        "name.py:13: the name of the law is 'my law', but",
    ),
    "default": (
        f"{HEAD.replace('(1.0,', '(11.0,')}{LAW}",
        "default.py:12: the default of gain is 11, but it must be 0 to 10",
    ),
    "field": (
        f'{HEAD}\nLAW = pliant.own_law("mine", Params, step, state=(pliant.Field("a b", "", "x"),))\n',
        "field.py:13: the name of a field in the state of mine is 'a b', but it must be a Python name",
    ),
}
MISTAKES_COMPILED = ("types", "tick_field", "parameter", "state_field", "helper")
"""Mistakes that are found when the law is compiled, so it is known by then."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_file_is_reported_before_anything_moves(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(MISTAKES[name][0])
    with pytest.raises(PliantError, match=re.escape(MISTAKES[name][1])) as caught:
        pliant.simulate(task_of(path))
    assert "\n" not in str(caught.value)
    assert tuple(LAWS) == PLIANTS or name in MISTAKES_COMPILED


def test_a_name_that_is_no_law_is_rejected_with_the_names_that_are() -> None:
    with pytest.raises(PliantError, match=r"Unknown law 'admitance'.*admittance"):
        pliant.Task.model_validate({"law": "admitance"})
    with pytest.raises(
        PliantError, match=r"law is 'nowhere\.py', but it does not exist in .*Give an existing Python file"
    ):
        pliant.Task.model_validate({"law": "nowhere.py"})


def test_a_preflight_may_reject_a_task(tmp_path: Path) -> None:
    body = "\ndef preflight(task):\n    raise pliant.InputError('rate_hz', task.rate_hz, 'at least 1000')\n"
    careful = written(tmp_path, body, "careful", ", preflight=preflight")
    with pytest.raises(pliant.InputError, match="rate_hz is 500"):
        pliant.simulate(task_of(careful))


def test_a_change_of_its_parameters_is_not_held_up_by_the_stability_of_other_laws(tmp_path: Path) -> None:
    task = task_of(written(tmp_path, ""), surface_n_m=1e5)
    before = task.params
    guard_change(task, "wild", before, changed(before, {"wild.gain": 2.0}))


def test_its_own_stability_model_rejects_a_live_change_that_would_be_unstable() -> None:
    task = task_of(EXAMPLE, surface_n_m=1000.0, sim={}, duration_s=60.0)
    with pliant.Simulation(task) as arm:
        arm.step(10)
        with pytest.raises(pliant.PliantError, match=r"law damper_wall has a gain margin of .*lowest value accepted"):
            arm.set({"damper_wall.damping_n_s_m": 20.0})
        assert arm.parameters.damper_wall.damping_n_s_m == 100.0  # pyright: ignore[reportAttributeAccessIssue]
        arm.set({"damper_wall.damping_n_s_m": 80.0})
    with pytest.raises(pliant.PliantError, match=r"Raise damper_wall\.damping_n_s_m.*unchecked"):
        pliant.simulate(task.replace({"surface_n_m": 1e5}))


def leaning(damping: float) -> pliant.Task:
    """A hand leans the tool on a simulated surface, and taps it once."""
    surface = plane(1e4, damping_n_s_m=0.0)
    x, y, z = surface.position_m
    push = {"at_s": 0.2, "for_s": 10.0, "ramp_s": 1.0, "wrench": (0.0, 0.0, -20.0, 0.0, 0.0, 0.0)}
    surface = surface.model_copy(update={"position_m": (x, y, z + 0.003), "friction": 0.0})
    tap = {"at_s": 2.5, "for_s": 0.05, "ramp_s": 0.0, "wrench": (0.0, 0.0, -15.0, 0.0, 0.0, 0.0)}
    sim = {"pushes": [push, tap], "surfaces": [surface]}
    params = {"damper_wall": {"damping_n_s_m": damping, "wall_z_m": -2.0}}
    return validated(pliant.Task, {"law": str(EXAMPLE), "duration_s": 6.0, "tool": TOOL, "params": params, "sim": sim})


def test_the_simulator_oscillates_where_its_stability_model_says_so() -> None:
    task = leaning(1000.0)
    least = 1000.0 / min(place.margin for place in places(task, task.params, "damper_wall"))
    inside, outside = (
        pliant.simulate(leaning(share * least), unchecked=True).records["state"]["wrench_lp"][-500:, 2].std()
        for share in (1.3, 0.7)
    )
    assert inside < 0.5
    assert outside > 3.0


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("pliant.LinearLaw(lambda now, memory: (math.nan * now.force, memory))", "not finite"),
    ],
)
def test_a_stability_model_that_fails_is_named(response: str, words: str, tmp_path: Path) -> None:
    ending = f", stability=pliant.StabilityModel(lambda press: {response})"
    task = task_of(written(tmp_path, "", ending=ending), surface_n_m=1000.0)
    with pytest.raises(pliant.PliantError, match=f"stability model of the law wild failed .*{words}"):
        pliant.simulate(task)
