"""Bodies: skeletons, roles, joint ranges, and characters with mass.

Read `skeleton` first, then `joints` and `character`; `bodies` has ready-made ones. Nothing here knows an
engine.
"""
