"""All parameters, each declared once: type, unit, bounds, live or fixed, and one sentence of help."""
