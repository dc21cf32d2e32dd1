"""Findings about the equipment: zero and drift of the force sensor, tool mass, encoders, gears."""
