"""BVH. `text` is the grammar, `clip` turns channels into clips and writes clean files, `keep` writes in the source's
form.

`euler` has its rotations, `position_channels` the meaning of positions of joints that are not roots.
"""
