"""Paths over the ground, around obstacles: `planner` plans them, `records` and `kernels` search a line and a grid."""
