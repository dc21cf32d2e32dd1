"""Benchmarks: how fast Pliant runs on this machine."""
