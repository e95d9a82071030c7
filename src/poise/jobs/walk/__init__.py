"""A body walks over a ground, balanced."""
