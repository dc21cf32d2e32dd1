"""The simulated robot: arm, servo, force sensor and surfaces, reproducible by seed and compiled."""
