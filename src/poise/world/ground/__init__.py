"""Grounds: level, sloped, stepped, from a profile or a height map, moving; and the compiled queries of all of them."""
