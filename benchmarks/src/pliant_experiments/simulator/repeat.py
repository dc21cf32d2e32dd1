"""The same seed gives the same numbers: in a second run, in real time, and replayed from a recording."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.targets import Outcome, at_least, at_most, reported
from pliant.record.reader import Recording
from pliant.session.in_process.fast_run import simulate
from pliant.session.in_process.rerun import difference, replay
from pliant.session.session import Session
from pliant.task.schema import Task, load_task


def run(seed: int, progress: Progress) -> Outcome:
    """Run the demo task in four ways and compare every number of every tick."""
    began = time.perf_counter()
    demo = load_task("demo")
    task = Task.model_validate({**demo.model_dump(), "sim": {**demo.sim.model_dump(), "seed": seed}})
    first = simulate(task).records
    second = simulate(task).records
    other = simulate(
        Task.model_validate({**task.model_dump(), "sim": {**task.sim.model_dump(), "seed": seed + 1}})
    ).records
    progress(0.2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        with Session(task, record=path, ticks=task.ticks) as session:
            session.join()
        progress(0.8)
        recording = Recording.load(path)
        again = replay(recording)
    paced = recording.records
    apart = difference(first, paced)[0] if len(paced) == len(first) else np.nan
    figures = [
        at_most("largest difference, run twice", difference(first, second)[0], "", 0.0),
        at_most("largest difference, compiled run and real-time loop", apart, "", 0.0),
        at_most("largest difference, recording and replay", again.largest, "", 0.0),
        at_most("ticks lost by the recorder", recording.lost, "", 0.0),
        at_least("largest difference, another seed", difference(first, other)[0], "", 1e-6),
        reported("ticks compared", len(first)),
    ]  # fmt: skip
    return Outcome("repeat", seed, time.perf_counter() - began, figures)
