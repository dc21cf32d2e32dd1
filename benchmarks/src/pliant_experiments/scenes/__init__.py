"""What experiments share: a probe, surfaces and contact runs, the two-link lab, paths, maps and signals."""
