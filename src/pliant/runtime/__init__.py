"""Running the tick: the loop in a process of its own, the shared-memory board, whole runs at full speed, replay."""
