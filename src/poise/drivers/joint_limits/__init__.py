"""Torques that keep physical joints within their ranges."""
