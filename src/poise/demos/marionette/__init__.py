"""Demos of the marionette paper: a body played by two hands."""
