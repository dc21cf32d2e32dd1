"""Named, reproducible experiments and benchmarks of Pliant. `experiment_list` names them."""
