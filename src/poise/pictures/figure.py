"""A character drawn at a pose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.body.mesh import Mesh
from poise.body.skeleton import Skeleton
from poise.body.skin import SkinnedMesh, build_skin
from poise.pictures.camera import Camera, find_facing
from poise.pictures.raster import Look, Surface, linear, render
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


def render_pose(
    skeleton: Skeleton,
    meshes: Mapping[str, Mesh] | SkinnedMesh,
    root: np.ndarray,
    rotations: np.ndarray,
    size: tuple[int, int] = (960, 720),
    camera: Camera | None = None,
    samples: int = 2,
    look: Look | None = None,
) -> np.ndarray:
    """A picture (H, W, 3) uint8 of one pose, without a camera from three quarters in front.

    root  (3,) m; rotations (J, 4), each joint relative to its parent; size is width and height in pixels
    """
    surface = pose_surface(skeleton, meshes, root, rotations)
    if camera is None:
        positions, _ = skeleton.pose(np.asarray(root, float), np.asarray(rotations, float))
        azimuth = find_heading(skeleton, positions) + VIEW_AZIMUTH
        camera = Camera.frame(surface.points, size, azimuth, VIEW_ELEVATION)
    return render(surface, camera, size, samples, look)
