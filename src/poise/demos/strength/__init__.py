"""Demos of the strength paper: following within muscle strength, and falls."""
