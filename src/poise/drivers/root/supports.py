"""Supports: points of a body that can be anchored, the ground under them, and the choice of the one that is.

Supports are the soles' heels, balls and tips, or any points. Which one is anchored

    by a list       of (time, support)
    by a clip       its contacts, changed where the anchors slide least (`support_plan.py`)
    by the motion   of a clip or live motion with a root path, the one that is low and still on that path:
                    the least  s = y + S |v|                                                    [anchored, 7]
                    of joints alone, the one that is lowest over the ground, and will be shortly:
                    the least  s = h + near (h(t + A) - h)                                      [anchored, 8]

with y, v the position and velocity on the motion's path, h the height over the ground as the body is anchored, and
`near` 1 for the lowest support and 0 for those that are some millimetres above it. From joints alone, a foot that
swings through rising ground cannot be told from one that stands: there the ground must be one that the motion steps on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.drivers.body import Body
from poise.drivers.root.support_plan import Plan
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.drivers.kinematic.kinematic import KinematicPlayer
    from poise.drivers.kinematic.live import LivePlayer

Height = Callable[[np.ndarray, np.ndarray], np.ndarray]
NEAR_LOWEST = 0.003  # m over the lowest support, at which another one is no longer near it
LOOK_AHEAD = 0.15  # s, A in eq 8
# m per m/s, S in eq 7. Five walks at 0.6 to 1.4 m/s end within 3 mm of their clips with S from 0.3 to 0.6; by their
# joints alone, which lack the pelvis' rotation, 4 % short with A of 0.15, 6 % with 0.12 or 0.18.
_STILL = 0.6
_MARGIN = 0.002  # m, by which another support must be lower than the one that is anchored
_SLOPE_OVER = 0.04  # m to each side of a support, over which the ground's slope is measured
_STEEPEST = math.radians(35.0)  # of the ground, that a sole is laid down on


@dataclass(frozen=True, eq=False)
class Supports:
    """Points of a body that can be anchored.

    names   (P,) such as "left heel"
    joints  (P,) index of each point's joint
    points  (P, 3) m, in the joints' axes
    """

    names: tuple[str, ...]
    joints: np.ndarray
    points: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def find_motion(self, body: Body, root: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return positions and velocities (2, P, 3) with the root at a position and a velocity (3,)."""
        from poise.drivers.root import kernels

        found = np.zeros((2, len(self), 3))
        kernels.find_points(body.block, root, v, self.joints, self.points, found)
        return found


def find_supports(
    skeleton: Skeleton, given: Mapping[str, tuple[str, Sequence[float]]] | None, whole_feet: bool
) -> Supports:
    """Return the given supports, or those of the soles: the middle of each, or its heel, ball and tip.

    given  name: (joint, (3,) m in its axes)
    """
    rows: list[tuple[str, int, Any]] = []
    if given is not None:
        if not given:
            raise InputError("an anchored root needs a support; none given.")
        rows += [(name, skeleton.index(joint), offset) for name, (joint, offset) in given.items()]
    else:
        for side, sole in zip(SIDES, find_soles(skeleton), strict=True):
            front = sole.foot if sole.toes is None else sole.toes
            if whole_feet:
                rest = skeleton.rest_positions()
                tip = rest[front] + sole.tip - rest[sole.foot]
                rows.append((f"{side} foot", sole.foot, 0.5 * (sole.heel + tip)))
            else:
                parts = (("heel", sole.foot, sole.heel), ("ball", front, sole.ball), ("tip", front, sole.tip))
                rows += [(f"{side} {part}", joint, offset) for part, joint, offset in parts]
    points = np.array([offset for _, _, offset in rows], float)
    if points.shape != (len(rows), 3) or not np.isfinite(points).all():
        raise InputError("a support is a joint and three finite numbers, m in the joint's axes.")
    return Supports(tuple(name for name, _, _ in rows), np.array([joint for _, joint, _ in rows], np.int64), points)


class SupportGround:
    """The ground under the supports of a body.

    height  height(x, z) in m, of arrays; or a number, the height of a level plane
    """

    def __init__(self, height: Height | float):
        self._height = height

    @classmethod
    def under(cls, body: Body) -> SupportGround:
        """Return the stage's ground, with the props that reach no higher than the root."""
        return cls(lambda x, z: body.floor.find_heights(x, z, float(body.state.root[1])))

    def heights(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the heights (...) m at x and z."""
        return np.asarray(self._height(x, z), float) if callable(self._height) else np.full(np.shape(x), self._height)

    def height(self, x: float, z: float) -> float:
        """Return the height (m) at one place."""
        return float(self.heights(np.array([x]), np.array([z]))[0])

    def normal(self, position: np.ndarray) -> np.ndarray:
        """Return the normal (3,) at a position, no steeper than a sole is laid down on."""
        x = position[0] + _SLOPE_OVER * np.array([1.0, -1.0, 0.0, 0.0])
        z = position[2] + _SLOPE_OVER * np.array([0.0, 0.0, 1.0, -1.0])
        y = self.heights(x, z)
        slope = np.array([y[0] - y[1], y[2] - y[3]]) / (2.0 * _SLOPE_OVER)
        steep = float(np.hypot(*slope))
        if steep > math.tan(_STEEPEST):
            slope *= math.tan(_STEEPEST) / steep
        normal = np.array([-slope[0], 1.0, -slope[1]])
        return np.asarray(normal / np.linalg.norm(normal))


class RootPath:
    """The root as a motion would move it: orients an anchored root, and moves it in flight.

    player  of the motion; None: there is no motion
    start   s of the motion at which it begins
    belt    (3,) m/s, how the ground moves under the motion
    motion  (3, 3) position, velocity and acceleration of the root on the path; zeros without a motion
    """

    def __init__(self, player: KinematicPlayer | LivePlayer | None, start: float):
        self.player, self.start, self.belt, self.motion = player, start, np.zeros(3), np.zeros((3, 3))

    def write(self, body: Body, t: float) -> None:
        """Orient the root as the motion does, and find where the path is."""
        if self.player is not None:
            self.player.write(body, t)
            self.motion[0], self.motion[1], self.motion[2] = body.state.root, body.state.v, body.a
            self.motion -= np.outer(self.find_phase(t), self.belt)

    def find_phase(self, t: float) -> tuple[float, float, float]:
        """Return the motion's own time (s) at time t, its rate, and the rate's change (1/s)."""
        if self.player is None:
            return t - self.start, 1.0, 0.0
        from poise.motion.playback.kernels import phase_at

        return phase_at(self.player.clock, t)


class SupportSelector(Protocol):
    """Chooses the support that is anchored."""

    supports: Supports
    ground: SupportGround

    def choose(self, body: Body, t: float, current: int) -> int:
        """Return the support that is to be anchored from time t (s) on, or len(supports) for flight.

        current  the support that is anchored; -1 before the first
        """

    def find_height(self, support: int, x: float, z: float) -> float:
        """Return the height (m) at which a support, or the root in flight (above its path), comes to rest at x, z."""


class PlannedSupports:
    """Supports by a plan; of several that it allows, by their motion.   [anchored, 7 and 8]

    plan      see `support_plan.py`
    path      of the motion
    in_stage_time  whether the plan's times are of the stage's clock instead of the motion's
    may_fly   whether the body can fly: a motion moves and orients its root then
    """

    def __init__(
        self, supports: Supports, ground: SupportGround, plan: Plan, path: RootPath, in_stage_time: bool, may_fly: bool
    ):
        self.supports, self.ground, self.plan, self.path = supports, ground, plan, path
        self.in_stage_time, self.may_fly = in_stage_time, may_fly

    def choose(self, body: Body, t: float, current: int) -> int:
        """See `SupportSelector.choose`."""
        allowed, liked = self.plan.at(t if self.in_stage_time else self.path.find_phase(t)[0])
        if not allowed.any():
            return len(self.supports) if self.may_fly else max(current, 0)
        if allowed.sum() == 1:
            return int(np.argmax(allowed))
        return choose_least(np.where(allowed, self._score(body, liked), np.inf), current)

    def find_height(self, support: int, x: float, z: float) -> float:
        """See `SupportSelector.find_height`."""
        if support == len(self.supports):
            return self.ground.height(x, z) - self.plan.floor
        return self.ground.height(x, z) + float(self.plan.lifts[support])

    def _score(self, body: Body, liked: int) -> np.ndarray:
        """Return scores (P,) m, of which the least is chosen."""
        by_path = self.path.player is not None and liked < 0
        root, v = (self.path.motion[0], self.path.motion[1]) if by_path else (body.state.root, body.state.v)
        place, speed = self.supports.find_motion(body, root, v)
        if by_path:
            # s = y + S |v|   [anchored, 7]
            return np.asarray(place[:, 1] + _STILL * np.linalg.norm(speed, axis=1))
        height = place[:, 1] - self.ground.heights(place[:, 0], place[:, 2]) - self.plan.lifts
        if liked >= 0:
            height[liked] -= 2.0 * _MARGIN
            return np.asarray(height)
        # s = h + near (h(t + A) - h)   [anchored, 8]
        ahead = place + LOOK_AHEAD * speed
        later = ahead[:, 1] - self.ground.heights(ahead[:, 0], ahead[:, 2])
        return weigh_ahead(height, later)


def weigh_ahead(height: np.ndarray, later: np.ndarray) -> np.ndarray:
    """Return scores (P,) m of supports from their heights over the ground, now and shortly.   [anchored, 8]"""
    near = np.clip(1.0 - (height - height.min()) / NEAR_LOWEST, 0.0, 1.0)
    return np.asarray(height + near * (later - height))


def choose_least(scores: np.ndarray, current: int) -> int:
    """Return the index of the least score, or the current one unless another is less by a margin."""
    best = int(np.argmin(scores))
    stays = 0 <= current < len(scores) and scores[best] > scores[current] - _MARGIN
    return current if stays else best
