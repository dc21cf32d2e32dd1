"""Compile the control code ahead of its use: what is compiled for what, and with several processes."""
