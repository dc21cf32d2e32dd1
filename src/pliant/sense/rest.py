"""Force and moment that may act on a tool at rest when a law begins: more is a touch, or offset and weight are wrong.

One judgement for two: a run on a real robot is refused by it before the first motion (`runtime.rest`), and the doctor
finds by it, in a recording, a force with which a law began all the same.
"""

from __future__ import annotations

# The force before the start is the mean over this time [s]: noise is none.
BEFORE_S = 0.1
# A law that feels is pressed on at its start by more than its deadband and this [N, N m]: noise and drift of a tared
# sensor.
RESTING_N, RESTING_NM = 1.0, 0.2


def most_at_rest_n(deadband_n: float, preload_n: float, *, contact: bool) -> float:
    """The largest force [N] left over at rest: a contact law has a parameter for it, the others their deadband."""
    return preload_n if contact else deadband_n + RESTING_N


def most_at_rest_nm(deadband_nm: float) -> float:
    """The largest moment [N m] left over at the sensor, at rest, for a law that gives way to moments."""
    return deadband_nm + RESTING_NM
