"""Pictures and reports: everything that is drawn."""
