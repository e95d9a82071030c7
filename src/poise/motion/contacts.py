"""When which foot touches the ground, found from the motion alone.

A point of the sole is down where it is both low and still. Still is relative to the ground, which may be the belt of a
treadmill; low is relative to the height at which that very point rests when it is still, because the soles of captured
skeletons lie a few centimetres off the floor, and floors give way. Both tests have a strict and a loose limit
(hysteresis): a contact is a stretch of time within the loose ones that somewhere meets the strict ones.

The limits were set on walks with force plates (see `tests/test_motion_contacts.py`): there heels land at 0.5 to 0.9
m/s and toes leave at 0.7 m/s. Durations are in seconds, speeds scale with how fast the feet of the clip get, lengths
with the legs. The ground is one level plane: stairs and slopes are not found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.roles import SIDES
from poise.errors import unknown_name
from poise.motion.clip import Clip
from poise.motion.feet import foot_points, leg_length
from poise.spatial.portable import Portable

_HALF_WINDOW = 0.02  # s, velocities are differences over twice this: 2 mm of noise become 7 cm/s
_LOOSE_SPEED_SHARE = 0.2  # of the feet's top speed; 0.15 to 0.25 agree with the plates alike
_LOOSE_SPEED = (0.25, 0.9)  # m/s, the least and most of the loose limit: noise of a standing foot, landing heels
_STRICT = 0.5  # strict limits as a share of the loose ones
_LOOSE_HEIGHT = 0.05  # of the leg's length (4 cm): soft floors move by 2 cm, a walking toe clears 1 to 3 cm, but fast
_SEARCH_HEIGHT = 0.08  # of the leg's length: where points that may be on the ground are looked for
_SHORTEST_CONTACT, _SHORTEST_GAP = 0.06, 0.05  # s
_BELT_SPREAD, _SLOWEST_BELT = 0.15, 0.3  # m/s


@dataclass(frozen=True, eq=False)
class Contacts(Portable):
    """Which parts of which foot are on the ground. Columns are left, right.

    times            (F,) s, the clip's
    heel, toe        (F, 2) whether the heel, and the ball or the toes, are down
    ground_height    m, where the soles rest
    ground_velocity  (3,) m/s, of a treadmill's belt; zeros on solid ground
    """

    times: np.ndarray
    heel: np.ndarray
    toe: np.ndarray
    ground_height: float
    ground_velocity: np.ndarray

    @property
    def foot(self) -> np.ndarray:
        """(F, 2) whether any part of each foot is down."""
        return self.heel | self.toe

    @property
    def flight(self) -> np.ndarray:
        """(F,) whether neither foot is down."""
        return np.logical_not(self.foot.any(axis=1))

    def intervals(self, side: str) -> np.ndarray:
        """(N, 2) s, first and last time of each contact of the "left" or the "right" foot."""
        if side not in SIDES:
            raise unknown_name("side", side, SIDES)
        return self.times[_runs(self.foot[:, SIDES.index(side)])]


def find_contacts(clip: Clip) -> Contacts:
    """The contacts of both feet with the ground. A single frame has no speed: its low points are down."""
    leg = leg_length(clip.skeleton, "left")
    points = foot_points(clip)
    velocity = point_velocity(clip.times, points)
    belt = _find_belt(points, velocity, leg)
    speed = np.linalg.norm(velocity - belt, axis=-1)
    loose_speed = np.clip(_LOOSE_SPEED_SHARE * np.percentile(speed, 95), *_LOOSE_SPEED)
    heights = points[..., 1]
    ground = _find_ground(heights, speed < _STRICT * loose_speed, leg)
    above = heights - _rest_heights(heights, speed < _STRICT * loose_speed, ground, leg)

    loose = (speed < loose_speed) & (above < _LOOSE_HEIGHT * leg)
    strict = (speed < _STRICT * loose_speed) & (above < _STRICT * _LOOSE_HEIGHT * leg)
    down = _hysteresis(loose, strict)
    heel, toe = down[..., 0], down[..., 1] | down[..., 2]
    for foot in (heel, toe):
        for side in range(2):
            foot[:, side] = _clean(clip.times, foot[:, side])
    return Contacts(clip.times, heel, toe, ground, belt)


def point_velocity(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Velocity (F, ..., 3) m/s of points (F, ..., 3) m, the mean over a window in seconds at any frame rate."""
    if len(times) < 2:
        return np.zeros_like(points)
    half = max(_HALF_WINDOW, 0.5 * float(np.median(np.diff(times))))
    early, late = np.maximum(times - half, times[0]), np.minimum(times + half, times[-1])
    columns = points.reshape(len(times), -1).T
    moved = [np.interp(late, times, column) - np.interp(early, times, column) for column in columns]
    return (np.stack(moved, axis=1) / (late - early)[:, None]).reshape(points.shape)


def _find_belt(points: np.ndarray, velocity: np.ndarray, leg: float) -> np.ndarray:
    """(3,) m/s, the horizontal velocity that low points have most often; zeros where rest is about as frequent."""
    heights = points[..., 1]
    low = (heights < np.percentile(heights.min(axis=(1, 2)), 5) + _SEARCH_HEIGHT * leg) & (
        np.abs(velocity[..., 1]) < 0.25
    )
    samples = velocity[low][:, [0, 2]]
    if len(samples) == 0:
        return np.zeros(3)
    candidates = samples[np.linspace(0, len(samples) - 1, min(len(samples), 200)).astype(int)]
    near = [np.linalg.norm(samples - candidate, axis=1) < _BELT_SPREAD for candidate in (*candidates, np.zeros(2))]
    votes = np.array([n.sum() for n in near])
    winner = np.median(samples[near[int(np.argmax(votes))]], axis=0)
    if np.linalg.norm(winner) < _SLOWEST_BELT or votes[-1] > 0.5 * votes.max():
        return np.zeros(3)
    return np.array([winner[0], 0.0, winner[1]])


def _find_ground(heights: np.ndarray, still: np.ndarray, leg: float) -> float:
    """m, the median height of each foot's lowest point while it is still and near the lowest of them all."""
    lowest = heights.min(axis=2)
    resting = lowest[still.any(axis=2)] if still.any() else lowest.ravel()
    bottom = np.percentile(resting, 5)
    return float(np.median(resting[resting < bottom + _SEARCH_HEIGHT * leg]))


def _rest_heights(heights: np.ndarray, still: np.ndarray, ground: float, leg: float) -> np.ndarray:
    """(2, 3) m, the height at which each point rests: its median while still near the ground, else the ground's."""
    rest = np.full(heights.shape[1:], ground)
    resting = still & (np.abs(heights - ground) < _SEARCH_HEIGHT * leg)
    for side, point in np.ndindex(rest.shape):
        samples = heights[resting[:, side, point], side, point]
        if len(samples):
            rest[side, point] = np.median(samples)
    return rest


def _hysteresis(loose: np.ndarray, strict: np.ndarray) -> np.ndarray:
    """(F, ...) the stretches of `loose` along time that hold at least one `strict`."""
    out = np.zeros_like(loose)
    for index in np.ndindex(loose.shape[1:]):
        column = (slice(None), *index)
        for first, last in _runs(loose[column]):
            out[(slice(first, last + 1), *index)] = strict[column][first : last + 1].any()
    return out


def _clean(times: np.ndarray, down: np.ndarray) -> np.ndarray:
    """(F,) without gaps and then without contacts that are too short; those cut off by the clip's ends stay."""
    down = down.copy()
    for value, shortest in ((False, _SHORTEST_GAP), (True, _SHORTEST_CONTACT)):
        for first, last in _runs(down == value):
            inside = first > 0 and last < len(times) - 1
            if inside and times[last + 1] - times[first] < shortest:
                down[first : last + 1] = not value
    return down


def _runs(mask: np.ndarray) -> np.ndarray:
    """(N, 2) first and last index of each stretch of True in (F,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1], axis=1)
