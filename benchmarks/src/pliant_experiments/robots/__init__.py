"""Drivers at the pace of the clock: an emulated UR controller, and the ROS 2 bridge."""
