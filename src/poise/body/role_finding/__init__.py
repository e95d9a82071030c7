"""Guesses which joint of a skeleton is which: by its name, or by the shape of the tree.

`guess` decides between both. `names`, `aliases` and `from_names` read joint names; `from_shape` uses `lengths`,
`limbs` and `scores`.
"""
