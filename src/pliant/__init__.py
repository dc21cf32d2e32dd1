"""Robots that feel."""
