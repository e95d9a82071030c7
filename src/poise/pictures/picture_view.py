"""One camera for a whole film: fixed, or going along with the figures over the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.pictures.camera import FOV, Camera

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
