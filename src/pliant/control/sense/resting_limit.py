"""The largest resting wrench at which a law may start. More means contact, a wrong offset or a wrong tool weight.

Used twice: a run on a real robot is rejected by it before the first motion (`loop.resting_check`), and the doctor uses
it to find recordings of a law that started with such a wrench.
"""

from __future__ import annotations

# The force before the start is the mean over this time [s]: noise is none.
BEFORE_S = 0.1
# A law that feels is pressed on at its start by more than its deadband and this [N, N m]: noise and drift of a tared
# sensor.
RESTING_N, RESTING_NM = 1.0, 0.2


def most_at_rest_n(deadband_n: float) -> float:
    """The largest residual force [N] at rest, for a law that declares no limit of its own."""
    return deadband_n + RESTING_N


def most_at_rest_nm(deadband_nm: float) -> float:
    """The largest residual moment [N m] at the sensor at rest, for a law that is compliant to moments."""
    return deadband_nm + RESTING_NM
