"""The command line: one executable, one file per verb."""
