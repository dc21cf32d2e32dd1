"""The simulated robot: arm, servo, force sensor and surfaces, all seeded, all compiled."""
