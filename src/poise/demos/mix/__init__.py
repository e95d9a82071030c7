"""Demos of the mix paper: kinematic and physical parts in one body."""
