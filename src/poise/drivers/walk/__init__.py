"""`Walk`: a body walks along a path by planned footholds."""
