"""Masses and inertias of body segments.

`tables` has the literature's numbers, `proportions` usual lengths, `stature` finds a skeleton's height; `distribution`
spreads a body's mass over its joints, as `solid` shapes.
"""
