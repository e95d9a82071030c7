"""A floor as compiled code reads it: one record with named fields, without Numba.

kind               LEVEL, TILTED, STEPS, MAP or PROFILE
height, friction   as in `Ground`
slope_x, slope_z   m a metre, of a tilted one
rise, run, count, start, along_x, along_z      of steps; along: the way they go up, as x and z of a unit vector
heights, rows, columns, spacing, corner_x, corner_z, lowest   of a map; heights: the address of (rows, columns) float64.
                   Of a profile: heights is the address of (rows, 2) float64, how far along and how high
moves, drift, sway, rate    whether it moves, at m/s, and back and forth by m at rad/s
shift, speed, pull          (3,) m, m/s, m/s2: where it is from where it began, how fast, how fast that changes, at the
                            time last told
tops, top_count             address and number of `TOP` records: fixed props, whose upper sides are floor too
address, find               of this record, and of the law that is asked for a floor that is not level and bare
asked, found                x, z and below of the question (3,); height and normal (4,) of the answer

A `TOP` is a convex shape in the world:

kind           BOX, BALL or ROD
center, half, turn   (3,), (3,), (3, 3) of a box;  center, radius of a ball;  center and end (3,), radius of a rod
middle, reach  x and z (2,) m of what is never more than reach (m) away from it, seen from above
"""

from __future__ import annotations

import numpy as np

LEVEL, TILTED, STEPS, MAP, PROFILE = range(5)
BOX, BALL, ROD = range(3)
GROUND = np.dtype(
    [
        ("kind", np.int64), ("height", float), ("friction", float),
        ("slope_x", float), ("slope_z", float),
        ("rise", float), ("run", float), ("count", np.int64), ("start", float), ("along_x", float), ("along_z", float),
        ("heights", np.int64), ("rows", np.int64), ("columns", np.int64), ("spacing", float), ("corner_x", float),
        ("corner_z", float), ("lowest", float),
        ("moves", np.int64), ("drift", float, (3,)), ("sway", float, (3,)), ("rate", float),
        ("shift", float, (3,)), ("speed", float, (3,)), ("pull", float, (3,)),
        ("tops", np.int64), ("top_count", np.int64),
        ("address", np.int64), ("find", np.int64), ("asked", float, (3,)), ("found", float, (4,)),
    ]
)  # fmt: skip
TOP = np.dtype(
    [
        ("kind", np.int64), ("center", float, (3,)), ("half", float, (3,)), ("turn", float, (3, 3)),
        ("end", float, (3,)), ("radius", float), ("middle", float, (2,)), ("reach", float),
    ]
)  # fmt: skip
