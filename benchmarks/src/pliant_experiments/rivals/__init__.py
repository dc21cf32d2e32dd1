"""Laws, planners and estimators that Pliant is compared with."""
