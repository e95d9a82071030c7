"""The soles of a body: the points of its drawn feet that touch the ground, and the boxes that engines have for them.

The support polygon of a pose is the outline of all points of the drawn soles that touch the ground (`find_region`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.mannequin import build_mannequin_feet
from poise.body.roles import SIDES
from poise.body.shape import Box
from poise.body.skeleton import Skeleton
from poise.body.soles import Sole, find_soles, leg_length
from poise.body.structure import remembered
from poise.ik.support import find_outline
from poise.spatial import rotation

# Breadth over length of the box: the ball of the foot of men and women in Gordon et al. (1989), 1988 Anthropometric
# survey of US Army personnel, is 101 mm broad at a length of 270 mm, and 90 mm at 244 mm.
_BREADTH = 0.37
# A foot is hardly shorter than this fraction of thigh and shank. Foot 0.152, thigh and shank 0.491 of stature (Winter
# 2009, fig. 4.1); less 5 %, as people's feet vary.
_LENGTH = 0.95 * 0.152 / 0.491
_THICKNESS = 0.5  # of the ankle's height: the height of the box; only its sole matters
TOUCHES = 0.003  # m: points of a sole that are no farther above the ground than this touch it
ALOFT = 0.03  # m over the ground, from which on a foot is in the air: recorded feet are off by no more
_ROUND = 24, 6  # directions about the vertical, and tilts, in which the outermost points of a sole are kept


@dataclass(frozen=True, eq=False)
class DrawnSole:
    """The points of one foot that can touch the ground: the outermost vertices of foot and toes as they are drawn.

    foot    the joint of the foot
    joints  (N,) the joint that each point moves with: the foot or its toes
    points  (N, 3) m, in the frames of these joints
    is_flat (N,) whether it is on the outline of what touches the ground while the foot is flat
    """

    foot: int
    joints: np.ndarray
    points: np.ndarray
    is_flat: np.ndarray

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
        boxes = [find_corners(_guess_box(skeleton, side, sole)) for side, sole in zip(SIDES, soles, strict=True)]
        left, right = (
            DrawnSole(sole.foot, np.full(4, sole.foot), box, np.ones(4, bool))
            for sole, box in zip(soles, boxes, strict=True)
        )
        return left, right
    found = []
    for sole, meshes in zip(soles, build_mannequin_feet(skeleton), strict=True):
        joints = np.concatenate([np.full(len(np.unique(mesh.faces)), joint) for joint, mesh in meshes.items()])
        points = np.concatenate([mesh.vertices[np.unique(mesh.faces)] for mesh in meshes.values()])
        level = points + rest[joints] - rest[sole.foot]
        flat = _find_flat(level)
        outer = [np.flatnonzero(joints == j)[_find_outermost(level[joints == j])] for j in meshes]
        kept = np.unique(np.concatenate([flat, *outer]))
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


@remembered
def build_footing(skeleton: Skeleton) -> tuple[Box, Box]:
    """Boxes in the frames of the left and the right foot's joint; their lower faces are the soles of engines.

    Engines touch the ground with boxes as long and as broad as a person's foot. That is more than the part of the drawn
    sole that touches the ground, which margins are measured on.
    """
    boxes = tuple(_guess_box(skeleton, side, sole) for side, sole in zip(SIDES, find_soles(skeleton), strict=True))
    for box in boxes:
        for array in (box.center, box.half, box.turn):
            array.flags.writeable = False
    return boxes[0], boxes[1]


def _guess_box(skeleton: Skeleton, side: str, sole: Sole) -> Box:
    """A foot's box from its heel and the tip of its toes alone."""
    rest = skeleton.rest_positions()
    front = sole.foot if sole.toes is None else sole.toes
    tip = sole.tip + rest[front] - rest[sole.foot]
    along = np.array([tip[0] - sole.heel[0], 0.0, tip[2] - sole.heel[2]])
    length = float(np.linalg.norm(along))
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan2(along[0], along[2])))
    longer = max(1.0, _LENGTH * leg_length(skeleton, side) / length)
    length = longer * length
    thickness = max(_THICKNESS * -float(sole.heel[1]), 0.05 * length)
    center = longer * (sole.heel + tip) / 2.0
    center[1] = sole.heel[1] + thickness / 2.0
    return Box(center, np.array([_BREADTH * length, thickness, length]) / 2.0, turn)


def split_footing(skeleton: Skeleton) -> tuple[tuple[int, Box], ...]:
    """Joints and boxes of both feet, in two where they have toes: from heel to ball, and from there to the tip."""
    found: list[tuple[int, Box]] = []
    rest = skeleton.rest_positions()
    for sole, box in zip(find_soles(skeleton), build_footing(skeleton), strict=True):
        if sole.toes is None:
            found.append((sole.foot, box))
            continue
        ahead = rotation.rotate(box.turn, np.array([0.0, 0.0, 1.0]))
        ball = rest[sole.toes] - rest[sole.foot]
        at = float(np.clip((ball - box.center) @ ahead, -0.1 * box.half[2], 0.9 * box.half[2]))
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

    The same as `place_corners` but for round-off; `feet_kernels.place_soles` is it in the compiled step.
    """
    return p[feet][:, None] + np.matmul(corners, R[feet].swapaxes(1, 2))


__all__ = [
    "ALOFT", "SIDES", "TOUCHES", "DrawnSole", "build_footing", "find_corners", "find_drawn_soles",
    "find_region", "find_soles_of", "find_standing_region", "place_corners", "split_footing",
]  # fmt: skip
