"""Runs in this process, as fast as they go: simulate, replay, a public `Simulation`."""
