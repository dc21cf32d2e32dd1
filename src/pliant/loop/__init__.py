"""The control loop in its own process: board, pacing, requests, and what is saved of a run."""
