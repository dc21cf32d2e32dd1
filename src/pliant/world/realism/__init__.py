"""What separates a real arm from an ideal one: friction, gears, encoders, sensor, lost packets, wrong geometry."""
