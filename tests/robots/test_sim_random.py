"""Random numbers of the simulator: uniform, normal, independent, and the same wherever they are drawn."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pliant.kernel import kernel
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.random_numbers import normals, uniform
from pliant.world.world_config import SimConfig
from pliant.world.world_layout import WORLD

Array = np.ndarray[Any, Any]


@kernel
def _uniforms(world, out):
    for i in range(out.shape[0]):
        out[i] = uniform(world[0])


@kernel
def _normals(world, out):
    normals(world[0], out)


def draw(function: Any, seed: int, n: int) -> Array:
    world, out = WORLD.new(), np.zeros(n)
    world[0].rng = seed
    function(world, out)
    return out


def splitmix64(seed: int, n: int) -> list[int]:
    """The published algorithm in whole numbers."""
    mask, state, found = 2**64 - 1, seed, []
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        found.append(z ^ (z >> 31))
    return found


def test_the_reference_gives_the_published_numbers() -> None:
    assert splitmix64(1234567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", [0, 1, 7, 2**31 - 1])
def test_numbers_are_those_of_splitmix64(seed: int) -> None:
    expected = [((z >> 11) + 0.5) / 2**53 for z in splitmix64(seed, 1000)]
    assert draw(_uniforms, seed, 1000).tolist() == expected


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_uniform_numbers_are_uniform_and_never_zero_or_one(seed: int) -> None:
    x = draw(_uniforms, seed, 200_000)
    assert (x > 0).all()
    assert (x < 1).all()
    assert abs(x.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(x))
    assert x.var() == pytest.approx(1 / 12, rel=0.01)
    assert stats.kstest(x, "uniform").pvalue > 0.01


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_normal_numbers_are_normal(seed: int) -> None:
    x = draw(_normals, seed, 200_000)
    assert abs(x.mean()) < 4 / np.sqrt(len(x))
    assert x.std() == pytest.approx(1, rel=0.01)
    assert stats.kstest(x, "norm").pvalue > 0.01
    assert abs(stats.kurtosis(x)) < 0.05
    assert abs(stats.skew(x)) < 0.03


@pytest.mark.parametrize("function", [_uniforms, _normals])
def test_successive_numbers_do_not_know_each_other(function: Any) -> None:
    x = draw(function, 3, 200_000)
    for lag in range(1, 13):
        assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) < 4 / np.sqrt(len(x)), lag


def test_neighbouring_seeds_do_not_know_each_other() -> None:
    rows = np.array([draw(_normals, seed, 20_000) for seed in range(8)])
    off = np.corrcoef(rows) - np.eye(8)
    assert np.abs(off).max() < 4.5 / np.sqrt(rows.shape[1])


def digest(seed: int) -> str:
    """Everything that happens in a noisy run, in one number."""
    records = simulate(Task(law="admittance", duration_s=0.5, sim=SimConfig(seed=seed))).records
    return hashlib.sha256(records.tobytes()).hexdigest()


def test_the_same_seed_gives_the_same_run_to_the_last_bit_and_another_one_does_not() -> None:
    assert digest(4) == digest(4)
    assert len({digest(seed) for seed in range(5)}) == 5


def test_threads_do_not_change_a_run() -> None:
    alone = [digest(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(digest, [0, 1, 2, 3] * 3)) == alone * 3


def test_another_process_makes_the_same_run() -> None:
    code = "import test_sim_random; print(test_sim_random.digest(4))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest(4)
