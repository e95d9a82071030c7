"""Shapes of bodies: primitives, polyhedra, the mannequin of lofts, soles, and skins cut into segments."""
