"""Limits that a command never exceeds: free functions applied after the law."""
