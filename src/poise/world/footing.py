"""What a body stands on: a box under each foot, from its heel to the tip of its toes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.body.mesh import Mesh
from poise.body.roles import SIDES
from poise.body.shape import Box, fit_box
from poise.body.skeleton import Skeleton
from poise.body.structure import remembered
from poise.motion.feet import Sole, find_soles, leg_length
from poise.spatial import rotation

# Breadth of the foot as a share of its length where no mesh shows it: 0.39, ball of the foot of men and women in
# Gordon et al. (1989), 1988 Anthropometric survey of US Army personnel (101 mm of 270 mm and 90 mm of 244 mm: 0.37).
_BREADTH = 0.37
# A foot is hardly shorter than this share of thigh and shank, whatever its joints say: a recording's last marker is
# often at the root of the toes. Foot 0.152, thigh and shank 0.491 of stature (Winter 2009, fig. 4.1); less 5 %, as
# people's feet vary.
_LENGTH = 0.95 * 0.152 / 0.491
_THICKNESS = 0.5  # of the ankle's height: how far up the box goes; only its sole matters


def build_footing(skeleton: Skeleton, meshes: Mapping[str, Mesh] | None = None) -> tuple[Box, Box]:
    """Boxes in the frames of the left and the right foot's joint; their lower faces are the soles.

    meshes  by joint name, in their joints' frames: the feet's give the breadth
    """
    if not meshes:
        return _build_footing(skeleton)
    left, right = (
        _find_box(skeleton, sole, meshes, _LENGTH * leg_length(skeleton, side))
        for side, sole in zip(SIDES, find_soles(skeleton), strict=True)
    )
    return left, right


@remembered
def _build_footing(skeleton: Skeleton) -> tuple[Box, Box]:
    """Without a mesh."""
    left, right = (
        _find_box(skeleton, sole, {}, _LENGTH * leg_length(skeleton, side))
        for side, sole in zip(SIDES, find_soles(skeleton), strict=True)
    )
    for box in (left, right):
        for array in (box.center, box.half, box.turn):
            array.flags.writeable = False
    return left, right


def _find_box(skeleton: Skeleton, sole: Sole, meshes: Mapping[str, Mesh], shortest: float) -> Box:
    rest = skeleton.rest_positions()
    front = sole.foot if sole.toes is None else sole.toes
    tip = sole.tip + rest[front] - rest[sole.foot]
    along = np.array([tip[0] - sole.heel[0], 0.0, tip[2] - sole.heel[2]])
    length = float(np.linalg.norm(along))
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan2(along[0], along[2])))
    name = skeleton.names[sole.foot]
    longer = max(1.0, shortest / length)
    length = longer * length
    breadth = 2.0 * fit_box(meshes[name], turn).half[0] if name in meshes else _BREADTH * length
    thickness = max(_THICKNESS * -float(sole.heel[1]), 0.05 * length)
    center = longer * (sole.heel + tip) / 2.0
    center[1] = sole.heel[1] + thickness / 2.0
    return Box(center, np.array([breadth, thickness, length]) / 2.0, turn)


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


__all__ = ["SIDES", "build_footing", "find_corners", "find_soles_of", "place_corners", "split_footing"]
