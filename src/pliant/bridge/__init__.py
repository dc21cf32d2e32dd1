"""The bridge to ROS 2: a process beside a loop that publishes its telemetry and passes requests on to it."""
