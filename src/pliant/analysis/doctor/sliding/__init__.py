"""Findings about a tool that slides along a surface: its normal, its friction, its force and its progress."""
