"""Inverse kinematics: joint rotations that meet goals, with the centre of mass over its support."""
