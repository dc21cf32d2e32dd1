"""Use a robot from Python: connect, attach, simulate, replay."""
