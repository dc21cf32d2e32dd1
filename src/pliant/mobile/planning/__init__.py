"""Paths for a base: maps, free space, search and shortening."""
