"""The points of a body that may rest on something: three of each sole, the knees, and wrists and finger tips.

A knee rests a shin's thickness below its joint, a hand with its fingers or its heel; the height of these points above
the ground does not matter, since what counts is the height at which each rests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.motion.clip import Clip
from poise.spatial import rotation


def foot_points(clip: Clip) -> np.ndarray:
    """(F, 2, 3, 3) m, world positions of heel, ball and toe tip of the left and the right foot."""
    positions, orientations = clip.world
    feet = []
    for sole in find_soles(clip.skeleton):
        toes = sole.foot if sole.toes is None else sole.toes
        carried = ((sole.foot, sole.heel), (toes, sole.ball), (toes, sole.tip))
        points = [positions[:, joint] + rotation.rotate(orientations[:, joint], point) for joint, point in carried]
        feet.append(np.stack(points, axis=1))
    return np.stack(feet, axis=1)


SOLE = ("heel", "ball", "tip")


@dataclass(frozen=True, eq=False)
class TouchPoints:
    """Points of a body in the world.

    places  (F, P, 3) m
    kinds   (P,) "heel", "ball", "tip", "knee", "hand"
    sides   (P,) 0 left, 1 right
    """

    places: np.ndarray
    kinds: np.ndarray
    sides: np.ndarray

    @property
    def soles(self) -> np.ndarray:
        """(P,) whether a point is of a sole."""
        return np.isin(self.kinds, SOLE)

    def of(self, side: int, *kinds: str) -> np.ndarray:
        """(P,) whether a point is of one side and of one of some kinds."""
        return (self.sides == side) & np.isin(self.kinds, kinds)


def find_touch_points(clip: Clip) -> TouchPoints:
    """All points of a clip that may rest on something; hands and knees where the skeleton has them."""
    feet = foot_points(clip)
    places = [feet.reshape(len(clip), 6, 3)]
    kinds, sides = [*SOLE, *SOLE], [0, 0, 0, 1, 1, 1]
    positions, turns = clip.world
    for side, name in enumerate(SIDES):
        knee, hand = (clip.skeleton.find_role(f"{name}{joint}") for joint in ("LowerLeg", "Hand"))
        if knee is not None:
            places.append(positions[:, knee : knee + 1])
            kinds.append("knee")
            sides.append(side)
        if hand is None:
            continue
        for joint, offset in _hand_points(clip, hand):
            places.append((positions[:, joint] + rotation.rotate(turns[:, joint], offset))[:, None])
            kinds.append("hand")
            sides.append(side)
    return TouchPoints(np.concatenate(places, axis=1), np.array(kinds), np.array(sides))


def _hand_points(clip: Clip, hand: int) -> list[tuple[int, np.ndarray]]:
    """The wrist, and the end furthest from it: joint and (3,) m in its axes."""
    skeleton = clip.skeleton
    rest = skeleton.rest_positions()
    ends = [(joint, skeleton.tips[joint]) for joint in skeleton.descendants(hand) if skeleton.has_tip[joint]]
    ends += [(joint, np.zeros(3)) for joint in skeleton.descendants(hand)[1:]]
    points = [(hand, np.zeros(3))]
    if ends:
        points.append(max(ends, key=lambda end: float(np.linalg.norm(rest[end[0]] + end[1] - rest[hand]))))
    return points
