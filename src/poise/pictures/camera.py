"""Where a picture is taken from: a perspective camera, and how to place one so that nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.errors import InputError

FOV = np.radians(28.0)  # from a picture's bottom to its top
_UP = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Camera:
    """A perspective camera in the world's frame, upright.

    position  (3,) m
    target    (3,) m, the point in the middle of the picture
    fov       radians, from the picture's bottom to its top
    """

    position: np.ndarray
    target: np.ndarray
    fov: float = FOV

    def __post_init__(self) -> None:
        position, target = np.array(self.position, float), np.array(self.target, float)
        if position.shape != (3,) or target.shape != (3,) or np.allclose(position, target):
            raise InputError(
                f"a camera needs a position (3,) and another point to look at; given {position}, {target}."
            )
        if not 0.0 < self.fov < np.pi:
            raise InputError(f"a camera's field of view is between 0 and pi radians; given {self.fov:g}.")
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "target", target)

    @property
    def axes(self) -> np.ndarray:
        """(3, 3) rows: the picture's right, its up, and the view's direction, in the world."""
        return _axes(self.target - self.position)

    def project(self, points: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        """Pixels of world points: (..., 3) to (..., 3), x from the left, y from the top, and 1 / distance ahead (1/m).

        1 / distance varies linearly over the picture of a flat triangle; it is negative behind the camera.
        """
        width, height = size
        x, y, z = np.moveaxis((np.asarray(points, float) - self.position) @ self.axes.T, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1.0 / z
            focal = height / (2.0 * np.tan(self.fov / 2.0))
            return np.stack([width / 2.0 + focal * x * inverse, height / 2.0 - focal * y * inverse, inverse], axis=-1)

    @staticmethod
    def frame(
        points: np.ndarray,
        size: tuple[int, int],
        azimuth: float = 0.6,
        elevation: float = 0.18,
        fov: float = FOV,
        margin: float = 0.06,
    ) -> Camera:
        """The nearest camera in a given direction that sees all points.

        points     (..., 3) m
        azimuth    radians about +Y from the camera in front (+Z) towards the character's left (+X)
        elevation  radians above the horizon
        margin     share of the picture left free at each edge
        """
        points = np.asarray(points, float).reshape(-1, 3)
        if not len(points) or not np.isfinite(points).all():
            raise InputError("a camera can only frame finite points, at least one.")
        backward = np.array(
            [np.sin(azimuth) * np.cos(elevation), np.sin(elevation), np.cos(azimuth) * np.cos(elevation)], float
        )
        axes = _axes(-backward)
        middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
        x, y, z = ((points - middle) @ axes.T).T
        slope = np.tan(fov / 2.0) * (1.0 - 2.0 * margin) * np.array([size[0] / size[1], 1.0])
        # |x - c| <= (d + z) slope for every point: the tightest of both sides meet at c, and need distance d.
        upper = np.array([np.max(x - z * slope[0]), np.max(y - z * slope[1])])
        lower = np.array([np.min(x + z * slope[0]), np.min(y + z * slope[1])])
        center = (upper + lower) / 2.0
        distance = max(np.max((upper - lower) / (2.0 * slope)), 0.1 - z.min())
        target = middle + center @ axes[:2]
        return Camera(target + distance * backward, target, fov)


def find_facing(left_to_right: Sequence[np.ndarray]) -> float | None:
    """The azimuth a character faces, from vectors (3,) from its left to its right; None where these are upright.

    0 is +Z; it grows towards +X, so that it adds to a camera's azimuth.
    """
    across = np.sum([np.asarray(v, float) for v in left_to_right], axis=0) if len(left_to_right) else np.zeros(3)
    forward = np.cross(_UP, across)  # one that faces +Z has its right at -X: Y x (-X) = Z
    if np.hypot(forward[0], forward[2]) < 1e-6:
        return None
    return float(np.arctan2(forward[0], forward[2]))


def _axes(forward: np.ndarray) -> np.ndarray:
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, _UP)
    if (
        np.linalg.norm(right) < 1e-9
    ):  # straight up or down: the picture's right is the character's left, seen from the front
        right = np.array([1.0, 0.0, 0.0])
    right = right / np.linalg.norm(right)
    return np.stack([right, np.cross(right, forward), forward])
