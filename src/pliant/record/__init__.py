"""Recordings: every tick of a run in one MCAP file, readable by Pliant and by ROS 2 tools."""

from pliant.record.reader import ParameterSet, Recording
from pliant.record.writer import RecordingWriter

__all__ = ["ParameterSet", "Recording", "RecordingWriter"]
