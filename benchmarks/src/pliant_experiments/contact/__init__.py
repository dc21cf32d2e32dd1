"""Contact with surfaces: the dome, stiffness and lag, predictions, and the doctor."""
