"""Joint torque over angle and speed as D. E. Anderson, M. L. Madigan and M. A. Nussbaum (2007) print it, in NumPy.

J Biomech 40:3105, equation 1 and table 3 without the passive part. Angles are theirs: hip and knee flexion, ankle
dorsiflexion, rad; speeds are positive while the muscles shorten, rad/s.
"""

from __future__ import annotations

import numpy as np

# joint (0 hip, 1 knee, 2 ankle), direction (0 extension, 1 flexion), sex (0 man, 1 woman), age group, C1 ... C6
TABLE = np.fromstring(
    """
    0 0 0 0 0.161 0.958 0.932 1.578 3.19 0.242     0 0 1 0 0.181 0.697 1.242 1.567 3.164 0.164
    0 0 0 1 0.171 0.922 1.176 1.601 3.236 0.32     0 0 1 1 0.14 0.83 1.241 1.444 2.919 0.317
    0 0 0 2 0.144 0.896 1.125 1.561 3.152 0.477    0 0 1 2 0.138 0.707 1.542 1.613 3.256 0.36
    0 1 0 0 0.113 0.738 -0.214 2.095 4.267 0.218   0 1 1 0 0.127 0.65 -0.35 2.136 4.349 0.156
    0 1 0 1 0.107 0.712 -0.192 2.038 4.145 0.206   0 1 1 1 0.091 0.812 -0.196 2.145 4.366 0.186
    0 1 0 2 0.101 0.762 -0.269 1.875 3.819 0.296   0 1 1 2 0.081 0.625 -0.422 2.084 4.245 0.196
    1 0 0 0 0.163 1.258 1.133 1.517 3.952 0.095    1 0 1 0 0.159 1.187 1.274 1.393 3.623 0.173
    1 0 0 1 0.156 1.225 1.173 1.518 3.954 0.266    1 0 1 1 0.128 1.286 1.141 1.332 3.469 0.233
    1 0 0 2 0.137 1.31 1.067 1.141 3.152 0.386     1 0 1 2 0.124 1.347 1.14 1.066 2.855 0.464
    1 1 0 0 0.087 0.869 0.522 2.008 5.233 0.304    1 1 1 0 0.08 0.873 0.635 1.698 4.412 0.175
    1 1 0 1 0.081 0.986 0.523 1.83 4.777 0.23      1 1 1 1 0.06 0.967 0.402 1.693 4.41 0.349
    1 1 0 2 0.069 0.838 0.437 1.718 4.476 0.414    1 1 1 2 0.06 0.897 0.445 1.121 2.922 0.389
    2 0 0 0 0.095 1.391 0.408 0.987 3.558 0.295    2 0 1 0 0.104 1.399 0.424 0.862 3.109 0.189
    2 0 0 1 0.114 1.444 0.551 0.593 2.128 0.35     2 0 1 1 0.093 1.504 0.381 0.86 3.126 0.349
    2 0 0 2 0.106 1.465 0.498 0.49 1.767 0.571     2 0 1 2 0.125 1.299 0.58 0.587 1.819 0.348
    2 1 0 0 0.033 1.51 -0.187 0.699 1.94 0.828     2 1 1 0 0.027 1.079 -0.302 0.864 2.399 0.771
    2 1 0 1 0.028 1.293 -0.284 0.634 1.759 0.999   2 1 1 1 0.024 1.308 -0.254 0.596 1.654 1.006
    2 1 0 2 0.029 1.419 -0.174 0.561 1.558 1.198   2 1 1 2 0.022 1.096 -0.369 0.458 1.242 1.401
    """,
    sep=" ",
).reshape(36, 10)


def coefficients(joint: int, direction: int, sex: int, group: int) -> np.ndarray:
    """C1 ... C6 of a row."""
    found = np.flatnonzero(np.all(TABLE[:, :4] == [joint, direction, sex, group], axis=1))
    assert len(found) == 1
    return TABLE[found[0], 4:]


def torque(c: np.ndarray, angle: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """Share of weight times stature."""
    c1, c2, c3, c4, c5, c6 = c
    angle, speed = np.broadcast_arrays(np.asarray(angle, float), np.asarray(speed, float))
    fast = (2 * c4 * c5 + speed * (c5 - 3 * c4)) / (2 * c4 * c5 + speed * (2 * c5 - 4 * c4))
    back = (2 * c4 * c5 - speed * (c5 - 3 * c4)) / (2 * c4 * c5 - speed * (2 * c5 - 4 * c4)) * (1 - c6 * speed)
    return c1 * np.cos(c2 * (angle - c3)) * np.where(speed >= 0, fast, back)
