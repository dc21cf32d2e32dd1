"""Make every picture of the README and the docs with the project's own commands: ``make pictures``.

Rendering needs MUJOCO_GL=egl; the Makefile sets it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from film import film

from pliant.analysis.doctor import Case, examine
from pliant.analysis.doctor.diagnosis_picture import save_diagnosis
from pliant.analysis.experiments import find_experiment
from pliant.analysis.mission_figures import mission_history, save_picture
from pliant.analysis.pictures import style
from pliant.analysis.pictures.mission_animation import save_animation
from pliant.analysis.pictures.render import render
from pliant.analysis.pictures.run_picture import title
from pliant.analysis.pictures.state_diagram import draw as draw_states
from pliant.mobile.mission.mission_link import attach_mission
from pliant.mobile.mission.mission_task import find_mission
from pliant.mobile.mission.simulated_mission import simulate_mission
from pliant.model.catalogue import available_models
from pliant.record import Recording
from pliant.session.in_process.fast_run import simulate
from pliant.session.link import attach
from pliant.task.schema import Task, load_task
from pliant_experiments.rivals.rival_contact import RIVALS, run_rival
from pliant_experiments.rivals.rival_record import save_rival
from pliant_experiments.scenes.contact_trial import SLOW, plane

FOLDER = Path(__file__).parent / "pictures"
LAB = (
    *("lab-forces", "lab-parameters", "lab-anisotropic", "lab-cross-coupling", "lab-equilibrium", "lab-model-errors"),
    *("lab-jdot", "impedance-pose"),
)
MOBILE = ("base-velocity", "planner", "follower", "whole-body", "mission")
# Whether every slider of the Studio shows its range of rejected values.
_JUDGED = "[...document.querySelectorAll('#dynamics input[type=range]')].every(slider => slider.dataset.zones)"
# Position of the base when its picture is taken [m]: behind the door.
THROUGH_M = 5.4
PUSHED = (0.85, 0.3, 0.05, 1.0)


def studio() -> None:
    """Screenshots of the Studio with the dome, the lab and a mission, in Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    words = [sys.executable, "-m", "pliant.cli.main", "studio", "dome"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    link = next(word for line in server.stdout for word in line.split() if word.startswith("http"))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    try:
        with sync_playwright() as tools:
            browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
            for task, name in (("dome", "studio"), ("lab", "studio-lab"), ("fetch", "studio-mission")):
                scheme = "light" if task == "lab" else "dark"
                page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
                page.set_default_timeout(120_000)
                page.goto(link)
                _bring_to(page, task)
                page.screenshot(path=FOLDER / f"{name}.png")
                page.close()
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _bring_to(page: Any, task: str) -> None:
    """Start a task on the Studio's page and wait for the right moment."""
    _await(page, "document.body.dataset.time > 0")
    before = page.evaluate("document.body.dataset.loop")
    page.get_by_test_id("task").select_option(task)
    page.get_by_test_id("start").click()
    _await(page, f"!['', '{before}'].includes(document.body.dataset.loop)")
    if task == "fetch":
        page.get_by_test_id("begin").click()
        loop = attach_mission(page.evaluate("document.body.dataset.loop"))
        while loop.state["base"]["pose"][0] < THROUGH_M:
            page.wait_for_timeout(20)
        return
    loop = attach(page.evaluate("document.body.dataset.loop"))
    if task == "dome":  # slow until the page is complete, so that it is still sliding when a slow machine has drawn it
        loop.set({"contact.speed_m_s": 0.0005})
        _await(page, "document.querySelector('.chip.now')?.textContent === 'slide'")
    _await(page, _JUDGED)
    if task == "dome":
        loop.set({"contact.speed_m_s": 0.003})
    else:
        loop.virtual_push([8.0, 5.0, 0.0])
    page.wait_for_timeout(4000)


def _await(page: Any, true: str) -> None:
    """Wait until something is true on the page."""
    while not page.evaluate(true):
        page.wait_for_timeout(50)


def hero() -> None:
    """The demo: the arm during a push, with force and motion, for light and dark pages."""
    task = load_task("demo")
    records = simulate(task).records
    observed, t = records["observed"], records["time_s"]
    push = task.sim.pushes[0]
    at = int(np.searchsorted(t, push.at_s + 0.75 * push.for_s))
    tip, force = observed["pose"][at, :3], observed["wrench"][at, :3]
    picture = render(
        task, records["reading"]["q"][at, :6], size=(1000, 860), distance_m=1.55, look_at=(0.28, 0.0, 0.36),
        arrows=[(tip - 0.01 * force, tip, PUSHED)],
    )  # fmt: skip
    for theme, name in ((style.LIGHT, "demo"), (style.DARK, "demo-dark")):
        _draw_hero(task, records, at, picture, theme, FOLDER / f"{name}.png")


def _draw_hero(task: Task, records: Any, at: int, picture: Any, theme: style.Theme, path: Path) -> None:
    observed, t, fails = records["observed"], records["time_s"], task.sim.sensor.failures[0]
    with style.applied(theme):
        fig, axes = style.figure(
            2, 2, "A simulated UR5e is pushed, deflects and returns",
            "admittance at 500 Hz; red: time of the picture; dashed: stiffness doubled; grey: force sensor fails",
            panel_inches=(6, 2.7), theme=theme,
        )  # fmt: skip
        grid = axes[0, 0].get_gridspec()
        for ax in axes[:, 0]:
            ax.remove()
        scene = fig.add_subplot(grid[:, 0])
        scene.imshow(picture)
        scene.set_axis_off()
        moved = (observed["pose"][:, :3] - observed["pose"][0, :3]) * 1e3
        for axis in range(3):
            axes[0, 1].plot(t, observed["wrench"][:, axis], color=theme.xyz[axis], label="xyz"[axis], lw=1)
            axes[1, 1].plot(t, moved[:, axis], color=theme.xyz[axis], label="xyz"[axis])
        for ax in axes[:, 1]:
            ax.axvline(next(event.at_s for event in task.events if event.set), color=theme.faint, ls="--", lw=1)
            ax.axvline(t[at], color=theme.alarm, lw=0.8)
            ax.axvspan(fails.at_s, fails.at_s + fails.for_s, color=theme.faint, alpha=0.4, lw=0)
        style.label(axes[0, 1], "External force", "N")
        style.label(axes[1, 1], "Deflection", "mm")
        axes[1, 1].set_xlabel("time [s]")
        style.legend(axes[0, 1])
    style.save(fig, path)


def robots() -> None:
    """The included arms."""
    names = [name for name in available_models() if name.startswith("ur")]
    with style.applied():
        fig, axes = style.figure(1, len(names), "The arms", panel_inches=(3.3, 3.2))
        for ax, name in zip(axes[0], names, strict=True):
            task = Task(robot=f"sim:{name}")
            q = simulate(Task(robot=f"sim:{name}", duration_s=0.01)).records["reading"]["q"][0, :6]
            ax.imshow(render(task, q, size=(620, 600), distance_m=1.9, look_at=(0.15, 0.0, 0.33)))
            ax.set_axis_off()
            ax.set_title(name.upper().replace("E", "e"))
    style.save(fig, FOLDER / "robots.png")


def diagnosis() -> None:
    """The doctor's diagnosis of the saturated PI loop on a stiff plane."""
    rival = RIVALS["saturated"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saturated.mcap"
        save_rival(path, rival, SLOW, 0, run_rival(rival, plane(1e5), SLOW, 0)[0])
        recording = Recording.load(path)
    case = Case.of(recording)
    save_diagnosis(case, examine(case), title(recording), FOLDER / "doctor-saturated.png")


def mission() -> None:
    """The preset mission, as a picture and as an animation."""
    task = find_mission("fetch")
    assert task is not None
    mission_log = mission_history(simulate_mission(task))
    save_picture(mission_log, FOLDER / "fetch.png")
    save_animation(mission_log, FOLDER / "fetch.gif")


def main() -> None:
    """Make all pictures."""
    FOLDER.mkdir(exist_ok=True)
    hero()
    film()
    mission()
    robots()
    draw_states(FOLDER / "states.png")
    diagnosis()
    studio()
    shipped = ("push", "press", "bounce", "servo", "sensor", "singularity", "limits", "sensor-faults", "payload", *LAB)
    contact = ("dome", "contact-scenes", "contact-sweep", "compare", "predictions", "delay", "doctor")
    for name in (*shipped, *contact, *MOBILE, "ur-emulator"):
        outcome = find_experiment(name).run(0, lambda share: None)
        if outcome.draw is not None:
            outcome.draw(FOLDER / f"{name}.png")
        print(f"{name}: {'all targets met' if outcome.passed else 'TARGETS MISSED'}")


if __name__ == "__main__":
    main()
