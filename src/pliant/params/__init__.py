"""Everything that a user can set, declared once: type, unit, bounds, live or fixed, one sentence of help."""
