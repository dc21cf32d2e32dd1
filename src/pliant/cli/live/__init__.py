"""Verbs for a loop that runs in another terminal."""
