"""The contact law: seek a surface, hold a force, slide along it, lift off. No side effects, like the other laws."""
