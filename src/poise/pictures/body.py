"""A character drawn at a pose.

Where a body can be at many poses, from a few points: a box around what each joint carries.

Ghosts: bodies drawn as pale silhouettes with an outline over all else, to compare what is drawn solid with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.body.skeleton import Skeleton
from poise.motion.motion import Pose
from poise.pictures.camera import Camera, find_facing
from poise.pictures.raster import Surface, linear
from poise.spatial import rotation

# sRGB: a pale clay that takes light and shadow well on the grey ground.
BODY_COLOR = (0.870, 0.775, 0.690)
# Three-quarter view: a little to the character's left of its front, from just above eye level.
VIEW_AZIMUTH, VIEW_ELEVATION = 0.60, 0.16


def pose_surface(
    skeleton: Skeleton,
    body: Mapping[str, Mesh] | SkinnedMesh,
    root: np.ndarray,
    rotations: np.ndarray,
    color: tuple[float, float, float] = BODY_COLOR,
    shifts: np.ndarray | None = None,
) -> Surface:
    """The character's surface in the world at one pose.

    body   meshes by joint name in their joints' frames, or the skin made of them, which is quicker for many poses
    root   (3,) m; rotations (J, 4), each joint relative to its parent; shifts (J, 3) m from the ends of their bones
    """
    from poise.pictures import kernels

    skin = body if isinstance(body, SkinnedMesh) else build_skin(skeleton, body)
    positions, orientations = skeleton.pose(np.asarray(root, float), np.asarray(rotations, float), shifts)
    turns = rotation.to_matrix(orientations)
    moves = positions - np.einsum("jab,jb->ja", turns, skeleton.rest_positions())
    matrices = np.concatenate([turns, moves[:, :, None]], axis=2)
    points, normals = np.empty((2, len(skin.vertices), 3))
    kernels.pose_skin(skin.vertices, skin.normals, skin.joints, skin.weights, matrices, points, normals)
    return Surface(points, normals, np.broadcast_to(linear(color), points.shape), skin.faces)


def find_heading(skeleton: Skeleton, positions: np.ndarray) -> float:
    """The azimuth (rad) a pose faces, from its joints' positions (J, 3) m; 0 (+Z) where it cannot be told."""
    pairs = []
    for role in ("UpperLeg", "UpperArm"):
        left, right = skeleton.find_role("left" + role), skeleton.find_role("right" + role)
        if left is not None and right is not None:
            pairs.append(positions[right] - positions[left])
    return find_facing(pairs) or 0.0


class SkinBounds:
    """Boxes around the vertices that each joint moves, in the joint's frame: eight points a joint instead of hundreds.

    A blended vertex lies between where its joints would have it, so the hull of all boxes contains the body.
    """

    def __init__(self, skeleton: Skeleton, skin: SkinnedMesh):
        self.skeleton = skeleton
        rest = skeleton.rest_positions()
        joints, corners = [], []
        for joint in range(len(skeleton)):
            moved = ((skin.joints == joint) & (skin.weights > 0.0)).any(axis=1)
            if moved.any():
                own = skin.vertices[moved] - rest[joint]
                ends = np.stack([own.min(axis=0), own.max(axis=0)])
                joints.append(joint)
                corners.append(
                    [[ends[i, 0], ends[j, 1], ends[k, 2]] for i, j, k in itertools.product((0, 1), repeat=3)]
                )
        self.joints, self.corners = np.array(joints), np.array(corners)  # (K,) and (K, 8, 3) m

    def at(self, pose: Pose) -> np.ndarray:
        """(..., 8 K, 3) m, the boxes' corners in the world at one or more poses."""
        positions, orientations = self.skeleton.pose(*pose)
        turned = rotation.rotate(orientations[..., self.joints, None, :], self.corners)
        points = positions[..., self.joints, None, :] + turned
        return points.reshape(*points.shape[:-3], -1, 3)


Color = tuple[float, float, float]
_VEIL, _LINE = (
    0.35,
    0.9,
)  # of the ghost's color, in its area where nothing solid is and on its outline
_FINE = 2  # samples along each side of a pixel


def draw_ghosts(image: np.ndarray, ghosts: Sequence[tuple[Surface, Color]], solid: Surface, camera: Camera) -> None:
    """Draw ghosts into a picture (H, W, 3) uint8 of something solid, in place: they hide nothing and cast no shadow.

    ghosts  the surface and the color of each, sRGB 0 to 1
    """
    from scipy.ndimage import maximum_filter, minimum_filter

    if not ghosts:
        return
    size = image.shape[1], image.shape[0]
    free = 1.0 - find_cover(solid, camera, size)
    for surface, color in ghosts:
        area = find_cover(surface, camera, size)
        rows, columns = (np.flatnonzero(area.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            continue
        part = tuple(slice(max(each[0] - 1, 0), each[-1] + 2) for each in (rows, columns))
        outline = maximum_filter(area[part], 3) - minimum_filter(area[part], 3)
        share = np.maximum(_VEIL * area[part] * free[part], _LINE * outline)[..., None]
        image[part] = np.rint((1.0 - share) * image[part] + share * 255.0 * np.asarray(color)).astype(np.uint8)


def find_cover(surface: Surface, camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """(H, W) the share of every pixel that a surface covers."""
    from poise.pictures import kernels

    width, height = size
    fine = (width * _FINE, height * _FINE)
    owner = np.full(fine[::-1], -1, np.int32)
    corners = np.ascontiguousarray(camera.project(surface.points, fine))
    faces = np.ascontiguousarray(surface.faces, np.int32)
    kernels.fill_triangles(corners, faces, np.zeros(fine[::-1], np.float32), owner)
    return np.asarray((owner >= 0).reshape(height, _FINE, width, _FINE).mean(axis=(1, 3), dtype=np.float32))
