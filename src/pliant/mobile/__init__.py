"""A mobile base: its velocity from sampled poses, the way through a map, and following that way. Pure."""
