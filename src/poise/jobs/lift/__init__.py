"""A body follows a clip within its strength, loads in its hands."""
