"""A differential-drive base: parameters, drive model, odometry."""
