"""ROS 2 without a ROS installation: messages as bytes, and a node that others see in their graph."""
