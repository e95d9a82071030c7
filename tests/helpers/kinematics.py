"""Forward kinematics by SciPy's rotations alone, and margins by its hulls: an oracle of all that places joints.

Only where a sole is on its foot is Poise's own (`build_footing`, `find_soles`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

import poise
from poise import Pose, Skeleton
from poise.body.geometry.soles import build_footing, find_soles
from poise.stage.take.take import ActorTake
from poise.world.foot_boxes import find_corners


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


def place_joints(
    skeleton: Skeleton, root: np.ndarray, rotations: np.ndarray, shifts: np.ndarray | None = None
) -> tuple[np.ndarray, list[Rotation]]:
    """Places (..., J, 3) m of all joints, and their orientations in the world, J of SciPy's.

    root (..., 3) m, rotations (..., J, 4) wxyz and shifts (..., J, 3) m: one pose, or frames of them.
    """
    places, turns = np.empty((*np.shape(root)[:-1], len(skeleton), 3)), list[Rotation]()
    for i, parent in enumerate(skeleton.parents):
        own = Rotation.from_quat(np.array(rotations[..., i, :]), scalar_first=True)
        if parent < 0:
            places[..., i, :] = root
            turns.append(own)
            continue
        bone = skeleton.offsets[i] + (0.0 if shifts is None else shifts[..., i, :])
        places[..., i, :] = places[..., parent, :] + turns[parent].apply(bone)
        turns.append(turns[parent] * own)
    return places, turns


def find_world(clip: poise.Clip) -> tuple[np.ndarray, list[Rotation]]:
    """(F, J, 3) m of all joints, and their orientations, J stacks of F."""
    return place_joints(clip.skeleton, clip.root, clip.rotations, clip.shifts)


def find_center(
    body: poise.Character, places: np.ndarray, turns: Sequence[Rotation], loads: Sequence[poise.Load] = ()
) -> np.ndarray:
    """(..., 3) m, the center of mass of a body and its loads, of places and orientations of its joints."""
    parts = [(each.joint, each.inertia.mass, each.inertia.center) for each in body.segments]
    parts += [(each.joint, each.mass, each.offset) for each in loads]
    total = np.zeros(places.shape[:-2] + (3,))
    for joint, mass, center in parts:
        i = body.skeleton.index(joint)
        total += mass * (places[..., i, :] + turns[i].apply(np.array(center)))
    return total / sum(mass for _, mass, _ in parts)


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
    places, turns = place_joints(skeleton, root, rotations)
    return places, np.array([turn.as_matrix() for turn in turns])


def angle_by_scipy(a: np.ndarray, b: np.ndarray) -> float:
    """rad between two (3, 3) rotations."""
    return float(Rotation.from_matrix(a.T @ b).magnitude())


def margin_in_hull(points: np.ndarray, spot: np.ndarray) -> float:
    """m, how far inside the hull of points (N, 2) a spot (2,) is; negative outside.

    By SciPy's Qhull. Where points have no area, it is minus the distance to the nearest.
    """
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return -float(np.min(np.linalg.norm(points - spot, axis=1))) if len(points) else -np.inf
    return -float((hull.equations[:, :2] @ spot + hull.equations[:, 2]).max())


def place_soles(
    skeleton: Skeleton, root: np.ndarray, rotations: np.ndarray, shifts: np.ndarray | None = None,
    like: Skeleton | None = None,
) -> np.ndarray:  # fmt: skip
    """(F, 2, 4, 3) m, corners of both soles in frames. The soles' shape is Poise's own, or that of another skeleton."""
    places, turns = place_joints(skeleton, root, rotations, shifts)
    feet, corners = like or skeleton, []
    for side, box in zip(("left", "right"), build_footing(feet), strict=True):
        foot = skeleton.names.index(feet.names[feet.index(side + "Foot")])
        corners.append([places[:, foot] + turns[foot].apply(np.array(corner)) for corner in find_corners(box)])
    return np.moveaxis(np.array(corners), 2, 0)


def place_take_soles(record: ActorTake) -> np.ndarray:
    """(F, 2, 4, 3) m, corners of both soles in the frames of a take."""
    return place_soles(record.character.skeleton, record.root, record.rotations)


def soles_of(body, turns, places, feet=("left", "right")):
    """(N, 2) m, x and z of the corners of soles, from the skeleton's own heel and toe and a breadth of 0.37."""
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
