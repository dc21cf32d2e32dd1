"""What to expect of a task that presses on something, before anything moves: `pliant check`."""
