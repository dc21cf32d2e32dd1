"""The simulator itself: surfaces, servo, sensor, and repeatability."""
