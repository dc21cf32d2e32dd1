"""The animated picture of the README: an arm is pushed, tuned while it is pushed, and slid over a dome.

    MUJOCO_GL=egl python docs/film.py        (`make pictures` does it too)

Every frame shows a record of a simulated run: the arm at its joints, the force that acts on it as an arrow, and the
measured values so far.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from pliant.analysis.pictures import style
from pliant.analysis.pictures.render import render_model, view
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task, load_task
from pliant.world.display_scene import scene_model

TARGET = Path(__file__).parent / "pictures" / "pliant.gif"
FRAMES_HZ = 12.5
COLOURS = 96
HOLD_MS = 700
INCHES = (6.4, 2.7)
PUSHED = (0.85, 0.3, 0.05, 1.0)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Scene:
    """A run, the part of it that is shown, and what is plotted beside it."""

    caption: str
    task: Task
    from_s: float
    to_s: float
    speed: float
    """How many times faster than the run it is shown."""
    camera: mujoco.MjvCamera
    quantity: str
    unit: str
    value: Callable[[Array], Array]
    marks: tuple[tuple[float, str], ...] = ()
    """Moments to mark in the plot [s], and what happened."""
    target: float | None = None


def _deflection(records: Array) -> Array:
    pose = records["observed"]["pose"][:, :3]
    return 1e3 * np.linalg.norm(pose - pose[0], axis=1)


def _normal_force(records: Array) -> Array:
    return records["contact"]["force_n"]


def scenes() -> list[Scene]:
    """The three things to show, from the tasks that come with Pliant."""
    demo, dome = load_task("demo"), load_task("dome")
    arm = view((0.26, 0.05, 0.32), 1.3, 140.0, -18.0)
    stiffer = next(event.at_s for event in demo.events if event.set)
    probe = view((0.49, 0.13, 0.34), 0.4, 20.0, -14.0)
    return [
        Scene("Push it: the arm deflects and returns", demo, 0.2, stiffer, 0.6, arm, "Deflection", "mm", _deflection),
        Scene(
            "Tune it while it runs: twice the stiffness", demo, stiffer - 0.1, 2.85, 0.6, arm, "Deflection", "mm",
            _deflection, ((stiffer, "stiffness × 2"),),
        ),
        Scene(
            "Press and slide: 5 N on a dome of unknown shape", dome, 2.0, 11.5, 2.0, probe, "Contact force", "N",
            _normal_force, target=dome.params.contact.target_n,
        ),
    ]  # fmt: skip


def frames(scene: Scene) -> list[Image.Image]:
    """The pictures of a scene, in the order of time."""
    records = simulate(scene.task).records
    time_s, values = records["time_s"], scene.value(records)
    model = scene_model(scene.task.robot.partition(":")[2], scene.task.tool, scene.task.sim)
    shown = np.arange(scene.from_s, scene.to_s, scene.speed / FRAMES_HZ)
    return [_frame(scene, model, records, values, int(np.searchsorted(time_s, now))) for now in shown]


def _frame(scene: Scene, model: mujoco.MjModel, records: Array, values: Array, at: int) -> Image.Image:
    record = records[at]
    tip, force = record["observed"]["pose"][:3], record["observed"]["wrench"][:3]
    pushed = scene.target is None and np.linalg.norm(force) > 1.0  # the arrow of a contact would be inside the dome
    arrows = [(tip - 0.012 * force, tip, PUSHED)] if pushed else []
    picture = render_model(model, record["reading"]["q"][: model.nq], scene.camera, (620, 500), arrows)
    part = (records["time_s"] >= scene.from_s) & (records["time_s"] <= scene.to_s)
    with style.applied():
        fig, axes = style.figure(1, 2, scene.caption, panel_inches=(INCHES[0] / 2, INCHES[1]))
        axes[0, 0].remove()  # it shares the axis of time
        cell = fig.add_subplot(axes[0, 1].get_gridspec()[0, 0])
        cell.imshow(picture)
        cell.set_axis_off()
        ax, so_far = axes[0, 1], part & (np.arange(len(records)) <= at)
        for moment, words in scene.marks:
            ax.axvline(moment, color=style.LIGHT.faint, ls="--", lw=1)
            ax.annotate(words, (moment, 0.97), xycoords=("data", "axes fraction"), xytext=(4, 0),
                        textcoords="offset points", va="top", fontsize=8, color=style.LIGHT.faint)  # fmt: skip
        if scene.target is not None:
            ax.axhline(scene.target, color=style.LIGHT.faint, ls="--", lw=1)
        ax.plot(records["time_s"][so_far], values[so_far], color=style.LIGHT.z)
        ax.plot(records["time_s"][at], values[at], "o", color=style.LIGHT.alarm, ms=4)
        ax.set_xlim(scene.from_s, scene.to_s)
        ax.set_ylim(0.0, 1.15 * float(values[part].max()))
        style.label(ax, scene.quantity, scene.unit)
        ax.set_xlabel("time [s]")
        drawn = BytesIO()
        fig.savefig(drawn, dpi=100)
    return Image.open(drawn).convert("RGB")


def _palette(samples: list[Image.Image]) -> Image.Image:
    """The colours of these frames, with those of the arrow and of the marks, which few pixels have."""
    width, height = samples[0].size
    strip = Image.new("RGB", (width, (len(samples) + 1) * height), style.LIGHT.alarm)
    strip.paste(tuple(round(255 * part) for part in PUSHED[:3]), (0, 0, width // 2, height))
    for k, picture in enumerate(samples, 1):
        strip.paste(picture, (0, k * height))
    return strip.quantize(COLOURS, dither=Image.Dither.NONE)


def film(target: Path = TARGET) -> None:
    """Write the animation."""
    pictures: list[Image.Image] = []
    waits: list[int] = []
    for scene in scenes():
        print(f"{scene.caption} …", flush=True)
        shown = frames(scene)
        pictures += shown
        waits += [round(1e3 / FRAMES_HZ)] * (len(shown) - 1) + [HOLD_MS]
    palette = _palette([pictures[int(share * len(pictures))] for share in (0.2, 0.5, 0.9)])
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    flat[0].save(target, save_all=True, append_images=flat[1:], loop=0, optimize=True, disposal=1, duration=waits)
    print(f"{target}: {len(flat)} frames, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    film(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
