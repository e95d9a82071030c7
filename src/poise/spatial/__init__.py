"""Rotations, inertia, filters, derivatives and splines; no humans, no engine. Read `rotation` first."""
