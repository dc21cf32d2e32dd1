"""The control laws. A law computes a motion or torques from the wrench and the goal. It has no side effects."""
