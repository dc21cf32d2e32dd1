"""The kinds of force sensors, one file each. See `sensors.force_sensor`."""
