"""The kinds of surfaces, one file each: parameters, distance and normal, shapes to draw. See `world.surface_kind`."""
