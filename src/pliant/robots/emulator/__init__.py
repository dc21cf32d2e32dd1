"""An emulated UR controller: its ports and its protocol, in front of Pliant's simulated arm.

It tests the protocol and the error paths, not the dynamics of a real robot.
"""
