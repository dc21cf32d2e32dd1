"""A UR controller that exists only here: its ports and its protocol, in front of Pliant's own simulated arm.

It proves protocol and error paths, not the dynamics of a real robot.
"""
