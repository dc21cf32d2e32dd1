"""Is a parameter set stable on the declared surfaces? The plant model, its margins and the first touch."""
