"""Random numbers with their state in a record: the same seed gives the same run, bit for bit, in any process."""

from __future__ import annotations

import math

import numpy as np

from pliant.kernel import kernel


@kernel
def uniform(s):
    """The next number in (0, 1) of the generator whose state is `s.rng` (SplitMix64, Steele et al. 2014)."""
    z = np.uint64(s.rng) + np.uint64(0x9E3779B97F4A7C15)
    s.rng = np.int64(z)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (np.float64(z >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@kernel
def normals(s, out):
    """Fill `out` (even length) with standard normal numbers (Box–Muller)."""
    for i in range(0, out.shape[0], 2):
        radius = math.sqrt(-2.0 * math.log(uniform(s)))
        angle = 2.0 * math.pi * uniform(s)
        out[i] = radius * math.cos(angle)
        out[i + 1] = radius * math.sin(angle)
