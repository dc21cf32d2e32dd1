"""Is a parameter set stable on the declared surfaces? The plant model, the loop with a law, and the guard."""
