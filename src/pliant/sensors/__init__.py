"""Where the wrench comes from: the robot, the simulated world, or a sensor with its own clock (`sensor:` in a task)."""
