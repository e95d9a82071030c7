"""Where the shapes of many bodies are and how fast they move, compiled."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.views import floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY, move_bodies, pose_bodies, turn


@kernel
def find_places(
    bodies: np.ndarray,
    first: np.ndarray,
    joint: np.ndarray,
    ends: np.ndarray,
    radius: np.ndarray,
    ahead: float,
    most: int,
    places: np.ndarray,
    speeds: np.ndarray,
    boxes: np.ndarray,
) -> None:
    """Write where lines with a thickness (`overlap.Lines`) are, how fast they are, and a box for each body.

    bodies  (B,) addresses, of at most `most` joints;  first (B + 1,) the lines of body b are first[b] to first[b + 1]
    joint   (N,), ends (N, 2, 3) m in the joint's frame, radius (N,) m, of all lines
    ahead   s: the boxes have room for so long at the present speed
    places  (N, 2, 3) m, both ends in the world;  speeds (N,) m/s, the faster end's;  boxes (B, 2, 3) m, low and high
    """
    R, p = np.empty((most, 3, 3)), np.empty((most, 3))
    om, v = np.empty((most, 3)), np.empty((most, 3))
    for k in range(len(bodies)):
        b = record(bodies[k], BODY)
        j = b.joints
        parents = integers(b.parents, j)
        pose_bodies(parents, vectors(b.offsets, j, 3), floats(b.root, 3), vectors(b.q, j, 4), R[:j], p[:j])
        move_bodies(parents, R[:j], p[:j], floats(b.v, 3), vectors(b.w, j, 3), om[:j], v[:j])
        boxes[k, 0, :] = np.inf
        boxes[k, 1, :] = -np.inf
        for n in range(first[k], first[k + 1]):
            i = joint[n]
            speeds[n] = 0.0
            for e in range(2):
                x, y, z = turn(R[i], ends[n, e])
                u = v[i, 0] + om[i, 1] * z - om[i, 2] * y
                s = v[i, 1] + om[i, 2] * x - om[i, 0] * z
                t = v[i, 2] + om[i, 0] * y - om[i, 1] * x
                speeds[n] = max(speeds[n], np.sqrt(u * u + s * s + t * t))
                places[n, e, 0], places[n, e, 1], places[n, e, 2] = p[i, 0] + x, p[i, 1] + y, p[i, 2] + z
                for a in range(3):
                    moved = ahead * (u if a == 0 else (s if a == 1 else t))
                    at = places[n, e, a]
                    boxes[k, 0, a] = min(boxes[k, 0, a], at - radius[n], at + moved - radius[n])
                    boxes[k, 1, a] = max(boxes[k, 1, a], at + radius[n], at + moved + radius[n])
