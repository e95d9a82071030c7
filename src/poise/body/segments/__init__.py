"""Masses and inertias of body segments from the literature, and their distribution over a skeleton."""
