"""Identification: the tool's weight and the robot's delay, measured with the arm itself."""
