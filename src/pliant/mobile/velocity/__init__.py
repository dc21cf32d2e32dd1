"""Velocity of a base from sampled poses."""
