"""A simulated body follows a clip by springs."""
