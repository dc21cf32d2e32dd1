"""The laws of compliance. A law turns what the robot feels into how it wants to move; it touches nothing else."""

HOLD, ADMITTANCE, IMPEDANCE = 1, 2, 3
LAWS = {"hold": HOLD, "admittance": ADMITTANCE, "impedance": IMPEDANCE}

TORQUE_LAWS = ("impedance",)
"""Laws that answer with joint torques, not with a motion: they need the torque interface."""
