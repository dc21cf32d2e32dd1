"""The bridge to ROS 2: a separate process that publishes a loop's telemetry and forwards requests to it."""
