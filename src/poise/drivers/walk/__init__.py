"""`Walk`: a body walks along a path by planned footholds. Read `walk.py` (driver) and `player.py` first.

`support_foot.py` hangs the root from the stance foot, `clock.py` is the walk's own time, `body.py` reads loads and
heading.
"""
