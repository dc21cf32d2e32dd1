"""Recordings: every tick of a run in one MCAP file, readable by Pliant and by the tools of ROS 2."""

from pliant.record.reader import ParameterSet, Recording
from pliant.record.writer import RecordingWriter

__all__ = ["ParameterSet", "Recording", "RecordingWriter"]
