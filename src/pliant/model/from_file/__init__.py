"""Arms from URDF and MJCF files."""
