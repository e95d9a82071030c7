"""Compiled quadratic programmes: joint accelerations within torque ranges, by weights or by strict priorities."""
