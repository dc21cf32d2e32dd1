"""The control laws. A law computes a motion or torques from the wrench and the goal. It has no side effects."""

HOLD, ADMITTANCE, IMPEDANCE, CONTACT = 1, 2, 3, 4
LAWS = {"hold": HOLD, "admittance": ADMITTANCE, "impedance": IMPEDANCE, "contact": CONTACT}

TORQUE_LAWS = ("impedance",)
"""Laws that command joint torques instead of a motion; they need the torque interface."""
