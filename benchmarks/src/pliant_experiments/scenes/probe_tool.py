"""The tool of most experiments: a probe with a round tip."""

from __future__ import annotations

from pliant.model.tool import Tool

TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15), tip_radius_m=0.01)
