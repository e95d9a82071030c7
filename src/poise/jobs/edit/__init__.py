"""Clips are cut, joined and changed as a recipe says."""
