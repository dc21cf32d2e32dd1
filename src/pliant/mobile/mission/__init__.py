"""Missions: park the arm, drive, reach; on a simulated robot, at full speed or in real time."""
