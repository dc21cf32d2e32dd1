"""The controller: sensing, laws, limits and the tick that runs them. Pure functions on records."""
