"""Following a path with a base: tracks, followers and their limits."""
