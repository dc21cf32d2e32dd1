"""An arm driven over ROS 2, without a ROS installation."""
