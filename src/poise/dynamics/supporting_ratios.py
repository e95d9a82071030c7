"""How much of the ground's push each support takes, by the strength paper's own formula.   [strength, eq 2]

    alpha_i = ((a_m - g) . u_i) (n_i . u_i),   u_i = l_i / |l_i|         clipped below at 0, then made to add up to 1

a_m  acceleration of the centre of mass; m (a_m - g) is the net force of what supports the body
l_i  from the point of contact to the centre of mass
n_i  normal of what is touched, towards the body

Differences from the source: it has a_m where a_m - g stands, and a figure at rest would get zeros. Where all are
clipped nothing carries the body: it flies. Force and torque are shared in proportion to alpha_i (it says a_m).

The formula hardly sees where the centre of mass is: at rest on level ground alpha_i is the squared cosine of how far
l_i leans. Straight over one foot, with the other 0.29 of its height aside, it says 52 : 48 where statics say 100 : 0.
`support.py` has shares that do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

UP = np.array([0.0, 1.0, 0.0])


def compute_supporting_ratios(
    push: np.ndarray,
    center: np.ndarray,
    points: np.ndarray,
    contact: np.ndarray,
    normals: np.ndarray = UP,
    paths: Sequence[int] | None = None,
) -> np.ndarray:
    """(..., n) the share of each of n supports, adding up to 1; all 0 in flight.

    push     (..., 3) along a_m - g, of any length: the net force, say
    center   (..., 3) m, centre of mass
    points   (..., n, 3) m, where each support touches
    contact  (..., n) how far it is in play, 0 (in the air) to 1
    normals  (..., n, 3) unit, of what is touched; level ground if not given
    paths    (n,) supports with the same number lie on one path to the root, as a knee and the foot below it: of these
             the one with the largest ratio carries and the others are neglected. None: no two do
    """
    away = center[..., None, :] - points
    length = np.linalg.norm(away, axis=-1, keepdims=True)
    u = away / np.where(length > 0.0, length, 1.0)
    # alpha_i = ((a_m - g) . l_i / |l_i|) (n_i . l_i / |l_i|)   [strength, eq 2, with its erratum]
    alpha = np.sum(push[..., None, :] * u, axis=-1) * np.sum(normals * u, axis=-1)
    alpha = np.maximum(alpha, 0.0) * contact
    if paths is not None:
        alpha = _keep_largest(alpha, paths)
    total = alpha.sum(axis=-1, keepdims=True)
    return alpha / np.where(total > 0.0, total, 1.0)


def _keep_largest(alpha: np.ndarray, paths: Sequence[int]) -> np.ndarray:
    """The ratios with only the largest of each path, the first of equal ones.   [strength, section 4.1]"""
    kept = np.zeros_like(alpha)
    for path in sorted(set(paths)):
        members = [i for i, other in enumerate(paths) if other == path]
        of_path = alpha[..., members]
        largest = np.arange(len(members)) == np.argmax(of_path, axis=-1)[..., None]
        kept[..., members] = np.where(largest, of_path, 0.0)
    return kept
