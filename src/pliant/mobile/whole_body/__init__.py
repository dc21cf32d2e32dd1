"""Arm and base as one body: kinematics, whole-body motion, and its simulation."""
