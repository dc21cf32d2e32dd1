"""The impedance lab: seven experiments on a two-link arm."""
