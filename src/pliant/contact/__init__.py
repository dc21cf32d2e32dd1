"""Contact that settles: seek a surface, hold a force, slide along it, lift off. Pure, like the laws."""
