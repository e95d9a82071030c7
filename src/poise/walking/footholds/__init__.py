"""Where a foot can be: `terrain` finds a foothold near a place, `stride` the next one along a path.

`sole_contact` finds the part of a sole that lies on the ground. `records` and `kernels` are the search in compiled
code; `region_kernels` has convex regions seen from above.
"""
