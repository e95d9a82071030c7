"""Paths over the ground, around what stands in the way."""
