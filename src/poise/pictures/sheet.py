"""A whole motion on one picture: evenly spaced frames, each with its time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.pictures.body import VIEW_AZIMUTH, VIEW_ELEVATION, find_heading, pose_surface
from poise.pictures.camera import Camera
from poise.pictures.image import draw_text
from poise.pictures.raster import Theme, check_pixels, render

_RULE = 2  # pixels between cells
_RULE_COLOR = 255


def draw_contact_sheet(
    clip: Clip,
    meshes: Mapping[str, Mesh] | SkinnedMesh,
    count: int = 12,
    columns: int = 6,
    cell: tuple[int, int] = (320, 400),
    samples: int = 2,
    look: Theme | None = None,
) -> np.ndarray:
    """A picture (H, W, 3) uint8 of `count` poses of a clip, first and last included, row by row.

    meshes   by joint name, in their joints' frames, or the skin made of them
    columns  cells a row; cell is each one's width and height in pixels

    All cells have one scale and one direction of view: three quarters in front of the character as it first stands.
    The camera follows the character over the ground, but not up and down, so that a jump looks like one.
    """
    if count < 1 or columns < 1 or min(cell) < 16:
        raise InputError(
            f"a contact sheet needs 1 frame, 1 column and cells of 16 pixels at least; got {count}, {columns}, {cell}."
        )
    check_pixels(cell[0] * min(columns, count), cell[1] * -(-count // columns))
    frames = np.unique(np.round(np.linspace(0, len(clip) - 1, count)).astype(int))
    skin = meshes if isinstance(meshes, SkinnedMesh) else build_skin(clip.skeleton, meshes)
    shifts = [None] * len(clip) if clip.shifts is None else clip.shifts
    surfaces = [pose_surface(clip.skeleton, skin, clip.root[f], clip.rotations[f], shifts=shifts[f]) for f in frames]
    positions = clip.positions[frames]
    centers = [_ground_center(surface.points) for surface in surfaces]
    azimuth = find_heading(clip.skeleton, positions[0]) + VIEW_AZIMUTH
    gathered = np.concatenate([surface.points - center for surface, center in zip(surfaces, centers, strict=True)])
    camera = Camera.frame(gathered, cell, azimuth, VIEW_ELEVATION, margin=0.07)

    columns = min(columns, len(frames))
    rows = -(-len(frames) // columns)
    width, height = cell
    sheet = np.full((rows * (height + _RULE) - _RULE, columns * (width + _RULE) - _RULE, 3), _RULE_COLOR, np.uint8)
    for i, (frame, surface, center) in enumerate(zip(frames, surfaces, centers, strict=True)):
        followed = Camera(camera.position + center, camera.target + center, camera.fov)
        picture = render(surface, followed, cell, samples, look)
        letters = max(9.0, height / 32.0)
        draw_text(picture, f"{clip.times[frame]:.2f} s", (0.045 * width, 0.035 * height), letters)
        top, left = i // columns * (height + _RULE), i % columns * (width + _RULE)
        sheet[top : top + height, left : left + width] = picture
    return sheet


def _ground_center(points: np.ndarray) -> np.ndarray:
    """(3,) the middle of points (N, 3) as seen from above, at ground level."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    return np.array([middle[0], 0.0, middle[2]])
