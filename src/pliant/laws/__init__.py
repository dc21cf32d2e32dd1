"""The laws of compliance. A law turns what the robot feels into how it wants to move; it touches nothing else."""

HOLD, ADMITTANCE = 1, 2
HYBRID = 4
LAWS = {"hold": HOLD, "admittance": ADMITTANCE, "hybrid": HYBRID}
