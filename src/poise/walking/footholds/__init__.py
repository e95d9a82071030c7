"""Footholds: terrain under the sole, contact of the sole, and the search."""
