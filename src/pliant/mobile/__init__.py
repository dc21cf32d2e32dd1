"""A mobile base: velocity from sampled poses, path planning in a map, and path following. No side effects."""
