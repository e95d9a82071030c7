"""Forward kinematics by SciPy's matrices alone: where joints and points of them are, for tests of edits."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.body.skeleton import Skeleton


def pose_by_scipy(skeleton: Skeleton, root: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (J, 3) m and axes (J, 3, 3) of all joints of one pose."""
    local = Rotation.from_quat(rotations, scalar_first=True).as_matrix()
    places, axes = np.zeros((len(skeleton), 3)), np.zeros((len(skeleton), 3, 3))
    for i, parent in enumerate(skeleton.parents):
        if parent < 0:
            places[i], axes[i] = root, local[i]
        else:
            places[i] = places[parent] + axes[parent] @ skeleton.offsets[i]
            axes[i] = axes[parent] @ local[i]
    return places, axes


def angle_by_scipy(a: np.ndarray, b: np.ndarray) -> float:
    """rad between two (3, 3) rotations."""
    return float(Rotation.from_matrix(a.T @ b).magnitude())
