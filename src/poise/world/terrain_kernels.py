"""A mesh of triangles seen from above: how high it is at the places of a grid."""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel


@kernel
def raise_heights(
    points: np.ndarray, faces: np.ndarray, corner: np.ndarray, spacing: float, heights: np.ndarray
) -> None:
    """Heights (R, C) m of the highest triangle at each place; those under none stay as they are (-inf).

    A place on the edge between two belongs to both, and one a hair outside of an outer edge to the triangle inside.
    """
    rows, columns = heights.shape
    slack = 1e-6 * spacing
    for f in range(len(faces)):
        a, b, c = points[faces[f, 0]], points[faces[f, 1]], points[faces[f, 2]]
        # twice the area seen from above
        area = (b[0] - a[0]) * (c[2] - a[2]) - (c[0] - a[0]) * (b[2] - a[2])
        if area == 0.0:
            continue
        long = max(max(abs(b[0] - a[0]), abs(c[0] - a[0])), max(abs(b[2] - a[2]), abs(c[2] - a[2])))
        low_x, high_x = min(min(a[0], b[0]), c[0]), max(max(a[0], b[0]), c[0])
        low_z, high_z = min(min(a[2], b[2]), c[2]), max(max(a[2], b[2]), c[2])
        first = max(int(np.ceil((low_z - slack - corner[1]) / spacing)), 0)
        last = min(int(np.floor((high_z + slack - corner[1]) / spacing)), rows - 1)
        left = max(int(np.ceil((low_x - slack - corner[0]) / spacing)), 0)
        right = min(int(np.floor((high_x + slack - corner[0]) / spacing)), columns - 1)
        near = -slack * long / abs(area)
        top = max(max(a[1], b[1]), c[1])
        for i in range(first, last + 1):
            z = corner[1] + i * spacing
            for j in range(left, right + 1):
                x = corner[0] + j * spacing
                v = ((x - a[0]) * (c[2] - a[2]) - (c[0] - a[0]) * (z - a[2])) / area
                w = ((b[0] - a[0]) * (z - a[2]) - (x - a[0]) * (b[2] - a[2])) / area
                if v >= near and w >= near and v + w <= 1.0 - near:
                    y = a[1] + v * (b[1] - a[1]) + w * (c[1] - a[1])
                    heights[i, j] = max(heights[i, j], min(y, top))
