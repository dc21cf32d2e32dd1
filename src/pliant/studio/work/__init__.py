"""Long computations of the Studio: recordings, experiments, what-if."""
