"""A body poses by what it should reach, balanced."""
