"""From the raw force sensor to what the environment does to the tool."""
