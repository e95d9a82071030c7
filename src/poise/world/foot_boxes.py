"""The soles of a body: the points of its drawn feet that touch the ground, and the boxes that engines have for them.

The support polygon of a pose is the outline of all points of the drawn soles that touch the ground (`find_region`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.mannequin import build_mannequin_feet
from poise.body.geometry.primitives import Box
from poise.body.geometry.soles import build_footing, find_crease, find_soles
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton, remembered
from poise.ik.support_polygon import find_outline
from poise.spatial import rotation

TOUCHES = 0.003  # m: points of a sole that are no farther above the ground than this touch it
ALOFT = 0.03  # m over the ground, from which on a foot is in the air: recorded feet are off by no more
_LOW = 0.18  # of a foot's height: all points up to there are kept, to where it is broadest
_ROUND = 24, 6  # directions about the vertical, and tilts, in which the outermost points above are kept


@dataclass(frozen=True, eq=False)
class DrawnSole:
    """The points of one foot that can touch the ground: low and outermost vertices of foot and toes as they are drawn.

    foot    the joint of the foot
    joints  (N,) the joint that each point moves with: the foot or its toes
    points  (N, 3) m, in the frames of these joints
    is_flat (N,) whether it is on the outline of what touches the ground while the foot is flat
    """

    foot: int
    joints: np.ndarray
    points: np.ndarray
    is_flat: np.ndarray

    def pick_flat(self) -> DrawnSole:
        """Only what is on the outline of the flat foot."""
        flat = self.is_flat
        return DrawnSole(self.foot, self.joints[flat], self.points[flat], flat[flat])

    def place(self, positions: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """(..., N, 3) m in the world, from the joints' positions (..., J, 3) and orientations (..., J, 4)."""
        return positions[..., self.joints, :] + rotation.rotate(turns[..., self.joints, :], self.points)


@remembered
def find_drawn_soles(skeleton: Skeleton) -> tuple[DrawnSole, DrawnSole]:
    """The soles of the left and the right foot as drawn (`build_mannequin`).

    They lie in the planes of `find_soles` where the skeleton stands on two legs at rest. A skeleton on which no foot is
    drawn has the rectangles of its recorded or estimated heel and toe tip.
    """
    rest = skeleton.rest_positions()
    soles = find_soles(skeleton)
    if skeleton.find_role("hips") is None:
        left, right = (
            DrawnSole(sole.foot, np.full(4, sole.foot), find_corners(box), np.ones(4, bool))
            for sole, box in zip(soles, build_footing(skeleton), strict=True)
        )
        return left, right
    found = []
    for sole, meshes in zip(soles, build_mannequin_feet(skeleton), strict=True):
        joints = np.concatenate([np.full(len(np.unique(mesh.faces)), joint) for joint, mesh in meshes.items()])
        points = np.concatenate([mesh.vertices[np.unique(mesh.faces)] for mesh in meshes.values()])
        level = points + rest[joints] - rest[sole.foot]
        flat = _find_flat(level)
        low = np.flatnonzero(level[:, 1] < level[:, 1].min() + _LOW * np.ptp(level[:, 1]))
        outer = [np.flatnonzero(joints == j)[_find_outermost(level[joints == j])] for j in meshes]
        kept = np.unique(np.concatenate([low, *outer]))
        is_flat = np.isin(kept, flat)
        found.append(DrawnSole(sole.foot, joints[kept], points[kept], is_flat))
    return found[0], found[1]


def _find_flat(points: np.ndarray) -> np.ndarray:
    """Numbers of those points (N, 3) that are on the outline of the lowest."""
    low = np.flatnonzero(points[:, 1] < points[:, 1].min() + TOUCHES)
    level = points[low][:, [0, 2]]
    return low[(level[:, None] == find_outline(level)[None]).all(axis=-1).any(axis=1)]


def _find_outermost(points: np.ndarray) -> np.ndarray:
    """Numbers of those points (N, 3) that are outermost in any of many directions downwards."""
    around = np.linspace(0.0, 2.0 * np.pi, _ROUND[0], endpoint=False)
    tilts = np.linspace(0.0, 0.5 * np.pi, _ROUND[1])
    directions = np.array([(np.sin(t) * np.sin(a), -np.cos(t), np.sin(t) * np.cos(a)) for t in tilts for a in around])
    return np.unique(np.argmax(points @ directions.T, axis=0))


def find_region(points: np.ndarray, ground: float | np.ndarray) -> np.ndarray:
    """(K, 2) m, x and z of those points (N, 3) of soles that touch ground at a height, or at heights (N,)."""
    return np.asarray(points[points[:, 1] <= ground + TOUCHES][:, [0, 2]])


def find_standing_region(points: np.ndarray, ground: float) -> np.ndarray:
    """(K, 2) m, the contact region of a foot, points (N, 3), that stands on level ground at about a height (m).

    In a recording one foot is a little higher than the other: a sole touches with its lowest points. One that is more
    than `ALOFT` above the ground is in the air.
    """
    low = float(points[:, 1].min())
    return find_region(points, low) if low < ground + ALOFT else np.zeros((0, 2))


def split_footing(skeleton: Skeleton) -> tuple[tuple[int, Box], ...]:
    """Joints and boxes of both feet, in two where they have toes: from heel to ball, and from there to the tip."""
    found: list[tuple[int, Box]] = []
    rest = skeleton.rest_positions()
    for sole, box in zip(find_soles(skeleton), build_footing(skeleton), strict=True):
        at = find_crease(skeleton, sole, box)
        if sole.toes is None or at is None:
            found.append((sole.foot, box))
            continue
        ahead = rotation.rotate(box.turn, np.array([0.0, 0.0, 1.0]))
        ball = rest[sole.toes] - rest[sole.foot]
        for joint, back, front, origin in (
            (sole.foot, -box.half[2], at, np.zeros(3)), (sole.toes, at, box.half[2], ball),
        ):  # fmt: skip
            half = np.array([box.half[0], box.half[1], 0.5 * (front - back)])
            found.append((joint, Box(box.center + 0.5 * (front + back) * ahead - origin, half, box.turn)))
    return tuple(found)


def find_corners(box: Box) -> np.ndarray:
    """(4, 3) m, the corners of a box's lower face, in the frame that the box is in."""
    return box.corners[[0, 1, 4, 5]]


def place_corners(place: np.ndarray, turn: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(..., 4, 3) m, corners (4, 3) of a sole in the world: its foot is at place (..., 3), turned by (..., 4)."""
    return place[..., None, :] + rotation.rotate(turn[..., None, :], corners)


def find_soles_of(R: np.ndarray, p: np.ndarray, feet: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(N, 4, 3) m, corners (N, 4, 3) of some feet's soles in the world, from matrices R (J, 3, 3) and places p (J, 3).

    feet  (N,) joints

    The same as `place_corners` but for round-off; `drivers/balance/foot_kernels.py:place_soles` is it in the compiled
    step.
    """
    return p[feet][:, None] + np.matmul(corners, R[feet].swapaxes(1, 2))


__all__ = [
    "ALOFT", "SIDES", "TOUCHES", "DrawnSole", "build_footing", "find_corners", "find_drawn_soles",
    "find_region", "find_soles_of", "find_standing_region", "place_corners", "split_footing",
]  # fmt: skip
