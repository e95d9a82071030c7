"""Walking: where feet can stand, and the way that a body takes."""
