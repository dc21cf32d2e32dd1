"""The command line: one executable, one module per verb."""
