"""The laws of compliance. A law turns what the robot feels into how it wants to move; it touches nothing else."""

HOLD, ADMITTANCE, IMPEDANCE, CONTACT = 1, 2, 3, 4
LAWS = {"hold": HOLD, "admittance": ADMITTANCE, "impedance": IMPEDANCE, "contact": CONTACT}

TORQUE_LAWS = ("impedance",)
"""Laws that answer with joint torques, not with a motion: they need the torque interface."""
