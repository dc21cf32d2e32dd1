"""Verbs that need no running loop: check, plan, inspect, identify, measure."""
