"""From the raw force sensor to the external wrench at the tool."""
