"""Verbs that run something: a task, the demo, the Studio, the emulated controller."""
