"""The camera of a picture: in perspective, placed so that nothing is cut off; of a film fixed, or going along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


# How far figures may travel (m) before the camera goes along: as far as both arms reach, so that they stay large.
_TRAVEL = 1.5
# s, the deviation of the bell that smooths the camera's way: longer than a step, so as not to rock with the gait.
_EASE = 0.6
# Free at each edge of the picture: room for a line of labels below and the time above.
_MARGIN = 0.09


@dataclass(frozen=True, eq=False)
class PictureView:
    """Where the camera is at any time.

    home    the camera where it starts
    times   (F,) s
    shifts  (F, 3) m that it has moved at each; all zero where it stays
    middles (K,) where each figure is on average, 0 at the picture's left edge and 1 at its right: its label stays there
    """

    home: Camera
    times: np.ndarray
    shifts: np.ndarray
    middles: np.ndarray

    @property
    def is_following(self) -> bool:
        """Whether it moves at all."""
        return bool(np.any(self.shifts != 0.0))

    def camera(self, t: float) -> Camera:
        """It at time t (s)."""
        if not self.is_following:
            return self.home
        shift = np.array([np.interp(t, self.times, axis) for axis in self.shifts.T])
        return Camera(self.home.position + shift, self.home.target + shift, self.home.fov)


def frame_points(
    times: np.ndarray,
    bodies: np.ndarray,
    beside: Mapping[int, np.ndarray],
    roots: np.ndarray,
    size: tuple[int, int],
    *,
    follow: bool | None,
    azimuth: float,
    elevation: float,
    climb: bool = False,
    fov: float = FOV,
) -> PictureView:
    """The nearest camera that sees all points at all times.

    times      (F,) s
    bodies     (F, N, 3) m; beside, further points (M, 3) m by frame
    roots      (K, F, 3) m, of the figures: what it follows is their mean
    follow     None: only where that travels far
    azimuth, elevation, fov  rad, as for `Camera.frame`
    climb      whether it follows up and down, too
    """
    shifts = np.zeros((len(times), 3))
    shared = roots.mean(axis=0)
    if follow or (follow is None and np.ptp(shared[:, [0, 2]], axis=0).max() > _TRAVEL):
        shifts = _smooth(times, shared - shared[0]) * [1.0, float(climb), 1.0]
    seen = [(bodies - shifts[:, None]).reshape(-1, 3), *(points - shifts[k] for k, points in beside.items())]
    camera = Camera.frame(np.concatenate(seen), size, azimuth, elevation, fov, _MARGIN)
    middles = camera.project((roots - shifts).mean(axis=1), size)[:, 0] / size[0]
    return PictureView(camera, times, shifts, middles)


def _smooth(times: np.ndarray, way: np.ndarray) -> np.ndarray:
    """(F, 3) a way (F, 3) m averaged by a bell in time, mirrored through its ends: one at constant speed stays."""
    clock = np.concatenate([2.0 * times[0] - times[:0:-1], times, 2.0 * times[-1] - times[-2::-1]])
    longer = np.concatenate([2.0 * way[0] - way[:0:-1], way, 2.0 * way[-1] - way[-2::-1]])
    weights = np.exp(-0.5 * ((times[:, None] - clock[None, :]) / _EASE) ** 2)
    return np.asarray(weights @ longer / weights.sum(axis=1, keepdims=True))
