"""Run the tick: the loop in its own process, the shared-memory board, runs as fast as possible, replay."""
