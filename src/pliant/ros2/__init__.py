"""ROS 2 without a ROS installation: messages as bytes, and a node that appears in the ROS graph."""
