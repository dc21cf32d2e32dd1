"""An arm that is driven over ROS 2, without a ROS installation."""
