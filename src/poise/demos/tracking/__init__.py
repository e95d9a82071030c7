"""Demos of the tracking paper: a simulated body follows motion capture and touches the world."""
