"""Forward kinematics by SciPy's rotations alone, and margins by its hulls: nothing is shared with what it measures."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise import Pose, Skeleton


def matrix(q: np.ndarray) -> np.ndarray:
    """A quaternion wxyz as a matrix (3, 3), from the textbook."""
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def plain_positions(skeleton, poses: Pose) -> np.ndarray:
    """(F, J, 3) m: p_j = p_parent + R_parent (offset_j + shift_j), for poses (F, ...)."""
    frames, joints = len(poses.root), len(skeleton)
    places = np.empty((frames, joints, 3))
    for f in range(frames):
        turns = []
        for j in range(joints):
            own, parent = matrix(poses.rotations[f, j]), skeleton.parents[j]
            if parent < 0:
                places[f, j] = poses.root[f]
                turns.append(own)
                continue
            shift = 0.0 if poses.shifts is None else poses.shifts[f, j]
            places[f, j] = places[f, parent] + turns[parent] @ (skeleton.offsets[j] + shift)
            turns.append(turns[parent] @ own)
    return places


def find_world(clip: poise.Clip) -> tuple[np.ndarray, list[Rotation]]:
    """(F, J, 3) m of all joints, and their orientations, J stacks of F."""
    skeleton, turns = clip.skeleton, []
    places = np.zeros((len(clip), len(skeleton), 3))
    for i, parent in enumerate(skeleton.parents):
        own = Rotation.from_quat(clip.rotations[:, i][:, [1, 2, 3, 0]])
        if parent < 0:
            places[:, i] = clip.root
            turns.append(own)
            continue
        places[:, i] = places[:, parent] + turns[parent].apply(skeleton.offsets[i].copy())
        turns.append(turns[parent] * own)
    return places, turns


def find_point(clip: poise.Clip, joint: str, point: np.ndarray) -> np.ndarray:
    """(F, 3) m, a point (3,) of a joint's frame."""
    places, turns = find_world(clip)
    i = clip.skeleton.index(joint)
    return np.asarray(places[:, i] + turns[i].apply(np.asarray(point, float)))


def find_gap(a: np.ndarray, b: np.ndarray, radius: float, other: float, count: int = 60) -> float:
    """m between two capsules, by many points of their middle lines a, b (2, 3)."""
    share = np.linspace(0.0, 1.0, count)[:, None]
    one, two = (ends[0] + share * (ends[1] - ends[0]) for ends in (a, b))
    return float(np.linalg.norm(one[:, None] - two[None], axis=-1).min() - radius - other)


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


def margin_in_hull(points, spot):
    """m, how far a place (2,) is inside the hull of points (N, 2), by SciPy's Qhull; negative outside."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    return float(-(hull.equations[:, :2] @ spot + hull.equations[:, 2]).max())


def soles_of(body, turns, places, feet=("left", "right")):
    """(N, 2) m, x and z of the corners of soles, from the skeleton's own heel and toe and a breadth of 0.37."""
    from poise.body.geometry.soles import find_soles

    corners = []
    for side, sole in zip(("left", "right"), find_soles(body.skeleton), strict=True):
        if side not in feet:
            continue
        toes = sole.foot if sole.toes is None else sole.toes
        heel = places[sole.foot] + turns[sole.foot].apply(sole.heel)
        tip = places[toes] + turns[toes].apply(sole.tip)
        along = (tip - heel)[[0, 2]]
        half = 0.5 * 0.37 * np.array([along[1], -along[0]])
        corners += [end[[0, 2]] + sign * half for end in (heel, tip) for sign in (-1.0, 1.0)]
    return np.array(corners)
