"""Universal Robots e-Series arms, by RTDE."""
